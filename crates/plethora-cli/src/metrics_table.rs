//! An evaluation as people read it.

use std::fmt::Write as _;

use plethora_core::grouped;
use plethora_core::metrics::Evaluation;

use crate::evaluation::MeasuredModel;
use crate::figures::percent;

/// Width of the first column.
const NAMES: usize = 12;
/// Width of a number's column.
const NUMBERS: usize = 9;

/// All metrics in percent, then head, torso and tail, then what they were measured on.
pub(crate) fn render(measured: &MeasuredModel) -> String {
    let evaluation = &measured.evaluation;
    let mut text = depths(evaluation);
    text.push('\n');
    text.push_str(&singles(evaluation));
    text.push('\n');
    text.push_str(&buckets(evaluation));
    text.push('\n');
    text.push_str(&notes(measured));
    text
}

/// Metrics by depth of the ranking: a row per metric, a column per depth.
fn depths(evaluation: &Evaluation) -> String {
    let ks = &evaluation.config().ks;
    let mut text = format!("{:NAMES$}", "percent");
    for k in ks {
        let _ = write!(text, "{:>NUMBERS$}", format!("@{k}"));
    }
    text.push('\n');
    let first = format!("@{}", ks[0]);
    let families = evaluation
        .values()
        .iter()
        .filter_map(|(key, _)| key.strip_suffix(&first));
    for family in families {
        let _ = write!(text, "{family:NAMES$}");
        for k in ks {
            let value = evaluation.get(&format!("{family}@{k}")).unwrap_or_default();
            let _ = write!(text, "{:>NUMBERS$}", percent(value));
        }
        text.push('\n');
    }
    text
}

/// Metrics without a depth.
fn singles(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let values = evaluation.values().iter();
    for (key, value) in values.filter(|(key, _)| !key.contains('@')) {
        let _ = writeln!(text, "{key:NAMES$}{:>NUMBERS$}", percent(*value));
    }
    text
}

/// Head, torso, tail and unseen labels: how many there are and how much of them is found.
fn buckets(evaluation: &Evaluation) -> String {
    let mut text = format!(
        "{:NAMES$}{:>NUMBERS$}{:>NUMBERS$}{:>NUMBERS$}",
        "labels", "in train", "number", "in test"
    );
    let buckets = evaluation.buckets();
    for (key, _) in buckets.first().map_or(&[][..], |bucket| &bucket.values) {
        let _ = write!(text, "{key:>NUMBERS$}");
    }
    text.push('\n');
    for bucket in buckets {
        let _ = write!(
            text,
            "{:NAMES$}{:>NUMBERS$}{:>NUMBERS$}{:>NUMBERS$}",
            bucket.bucket.as_str(),
            match bucket.min_train_frequency {
                0 => "0".to_owned(),
                lowest => format!("{}+", grouped(u64::from(lowest))),
            },
            grouped(bucket.num_labels),
            grouped(bucket.num_test_labels),
        );
        for (_, value) in &bucket.values {
            let _ = write!(text, "{:>NUMBERS$}", percent(*value));
        }
        text.push('\n');
    }
    text
}

fn notes(measured: &MeasuredModel) -> String {
    let MeasuredModel {
        evaluation,
        depth,
        num_unseen_labels,
        num_unseen_assignments,
        speed,
        is_tuned,
        ..
    } = measured;
    let config = evaluation.config();
    let threshold = if *is_tuned {
        "their tuned thresholds".to_owned()
    } else {
        config.threshold.to_string()
    };
    format!(
        "documents   {} ({} without labels)\n\
         unseen      {} true labels were never seen in training, {} assignments\n\
         F1          labels with a score from {threshold} among the best {depth}\n\
         propensity  A = {}, B = {}, from training frequencies\n\
         speed       {:.3} ms CPU a document for ranking, {:.3} for features\n",
        grouped(evaluation.num_documents()),
        grouped(evaluation.num_documents_without_labels()),
        grouped(*num_unseen_labels),
        grouped(*num_unseen_assignments),
        config.a,
        config.b,
        speed.ranking_ms_cpu_per_doc,
        speed.features_ms_cpu_per_doc,
    )
}
