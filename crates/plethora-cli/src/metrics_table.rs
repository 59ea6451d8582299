//! An evaluation as people read it.

use std::fmt::Write as _;

use plethora_core::grouped;
use plethora_core::metrics::{BucketEvaluation, Evaluation};

use crate::evaluation::MeasuredModel;
use crate::figures::percent;

/// Width of the first column.
const NAMES: usize = 12;
/// Width of a number's column.
const NUMBERS: usize = 9;

/// All metrics in percent, then head, torso and tail, then what they were measured on; no wider than a
/// terminal for a few depths.
pub(crate) fn render(measured: &MeasuredModel) -> String {
    let evaluation = &measured.evaluation;
    let mut text = singles(evaluation);
    text.push('\n');
    text.push_str(&depths(evaluation));
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

/// Metrics without a depth, which are few: F1 first.
fn singles(evaluation: &Evaluation) -> String {
    let values = evaluation.values().iter();
    let (f1, others): (Vec<_>, Vec<_>) = values
        .filter(|(key, _)| !key.contains('@'))
        .partition(|(key, _)| key.ends_with("F1"));
    let mut names = " ".repeat(NAMES);
    let mut numbers = format!("{:NAMES$}", "percent");
    for (key, value) in f1.into_iter().chain(others) {
        let _ = write!(names, "{key:>NUMBERS$}");
        let _ = write!(numbers, "{:>NUMBERS$}", percent(*value));
    }
    format!("{names}\n{numbers}\n")
}

/// Head, torso, tail and unseen labels, a column each: how many there are and how much of them is found.
fn buckets(evaluation: &Evaluation) -> String {
    let buckets = evaluation.buckets();
    let row = |name: &str, cell: &dyn Fn(&BucketEvaluation) -> String| {
        let cells = buckets
            .iter()
            .map(|bucket| format!("{:>NUMBERS$}", cell(bucket)));
        format!("{name:NAMES$}{}\n", cells.collect::<String>())
    };
    let mut text = row("labels", &|bucket| bucket.bucket.as_str().to_owned());
    text += &row("in train", &|bucket| match bucket.min_train_frequency {
        0 => "0".to_owned(),
        lowest => format!("{}+", grouped(u64::from(lowest))),
    });
    text += &row("number", &|bucket| grouped(bucket.num_labels));
    text += &row("in test", &|bucket| grouped(bucket.num_test_labels));
    let keys = buckets.first().map_or(&[][..], |bucket| &bucket.values);
    for (place, (key, _)) in keys.iter().enumerate() {
        text += &row(key, &|bucket| percent(bucket.values[place].1));
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
