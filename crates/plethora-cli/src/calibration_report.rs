//! What a calibration has brought.

use std::fmt::Write as _;

use plethora_core::calibration::{BandValues, Calibration, Quality, ThresholdScope};
use plethora_core::grouped;
use plethora_jobs::calibration::CalibratedModel;

use crate::figures::percent;

/// A calibrated model as people read it.
pub(crate) fn render(calibrated: &CalibratedModel) -> String {
    let place = if calibrated.is_replaced {
        "replaced by itself with its calibration"
    } else {
        "a copy with its calibration"
    };
    let calibration = &calibrated.calibration;
    let quality = &calibration.quality;
    format!(
        "model       {} ({place})\n{}\nin percent                  before     after\n{}{}{}{}",
        calibrated.model.display(),
        describe(calibration),
        row("calibration error", quality.ece_before, quality.ece_after),
        row(
            "  bins of equal mass",
            quality.ece_equal_mass_before,
            quality.ece_equal_mass_after
        ),
        row("micro-F1", quality.micro_f1_before, quality.micro_f1_after),
        notes(calibration, quality)
    )
}

fn notes(calibration: &Calibration, quality: &Quality) -> String {
    let thresholds = match &calibration.thresholds {
        Some(_) => "at 0.5 before, at the tuned thresholds after",
        None => "at a score of 0.5",
    };
    let measured = if quality.is_held_out {
        "after: each half of the documents by what the other half gave"
    } else {
        "after: on the documents that were fitted to, too few to hold any out"
    };
    format!("\n{measured}\nmicro-F1 {thresholds}\n")
}

fn row(name: &str, before: f64, after: f64) -> String {
    format!("{name:24} {:>9} {:>9}\n", percent(before), percent(after))
}

/// With what a model was calibrated, for `calibrate` and `info`.
pub(crate) fn describe(calibration: &Calibration) -> String {
    let mut text = format!(
        "calibrated  {}{}, on {} documents ({} of {} ranked labels true)\n",
        calibration.config.method.as_str(),
        bands(calibration),
        grouped(calibration.num_documents),
        grouped(calibration.num_true),
        grouped(calibration.num_pairs),
    );
    if let Some(thresholds) = &calibration.thresholds {
        let _ = write!(text, "thresholds  {:.4}", thresholds.global);
        for (band, threshold) in thresholds.bands.iter() {
            let _ = write!(text, ", {} {threshold:.4}", band.as_str());
        }
        if thresholds.scope == ThresholdScope::Label {
            let num_labels = grouped(thresholds.labels.len() as u64);
            let _ = write!(text, ", {num_labels} labels of their own");
        }
        text.push('\n');
    }
    text
}

fn bands(calibration: &Calibration) -> String {
    if !calibration.config.by_frequency {
        return String::new();
    }
    let own: Vec<&str> = (calibration.band_maps.iter())
        .map(|(band, _)| band.as_str())
        .collect();
    match own.len() {
        0 => " (no band has enough true labels of its own)".to_owned(),
        n if n == BandValues::<()>::BANDS.len() => " by frequency".to_owned(),
        _ => format!(" ({} apart)", own.join(" and ")),
    }
}
