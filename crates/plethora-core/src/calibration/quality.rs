//! How good scores are before and after a calibration.

use serde::{Deserialize, Serialize};

use super::collector::totals;
use super::f1_sweep::f1_of;
use super::score_table::merged;
use super::{Calibration, CalibrationData, ScoreCount};
use crate::metrics::{BucketName, NUM_BINS, Reliability};

/// What scores are compared with where no threshold is tuned.
const PLAIN_THRESHOLD: f32 = 0.5;

/// Expected calibration error, F1 and reliability diagrams of scores as they were and as they are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Quality {
    /// True if "after" was measured on documents that the maps were not fitted to: each half by what
    /// was fitted to the other. False where a half alone has too little to fit to.
    pub is_held_out: bool,
    /// Expected calibration error in bins of equal width, before.
    pub ece_before: f64,
    /// The same after.
    pub ece_after: f64,
    /// Expected calibration error in bins of equal numbers of pairs, before.
    pub ece_equal_mass_before: f64,
    /// The same after.
    pub ece_equal_mass_after: f64,
    /// F1 of all decisions at the score 0.5, before.
    pub micro_f1_before: f64,
    /// The same after: at the tuned thresholds if there are any.
    pub micro_f1_after: f64,
    /// Reliability diagram before, in bins of equal width.
    pub reliability_before: Reliability,
    /// The same after.
    pub reliability_after: Reliability,
}

impl Quality {
    /// Measures scores as they are in `all`, and by what `fit` gives for either half on the other.
    pub(super) fn measure(
        halves: &[CalibrationData; 2],
        all: &CalibrationData,
        fit: impl Fn(&CalibrationData) -> Calibration,
    ) -> Self {
        let before = Measured::of(all, None);
        let is_held_out = halves.iter().all(|half| {
            let (num_pairs, num_true) = totals(&half.counts());
            num_true > 0 && num_true < num_pairs
        });
        let after = if is_held_out {
            let [first, second] = halves;
            let on_first = Measured::of(first, Some(&fit(second)));
            on_first.joined(&Measured::of(second, Some(&fit(first))))
        } else {
            Measured::of(all, Some(&fit(all)))
        };
        let width = |measured: &Measured| Reliability::equal_width(&measured.counts, NUM_BINS);
        let mass = |measured: &Measured| {
            let bins = Reliability::equal_mass(&measured.counts, NUM_BINS);
            bins.expected_calibration_error()
        };
        let (reliability_before, reliability_after) = (width(&before), width(&after));
        Self {
            is_held_out,
            ece_before: reliability_before.expected_calibration_error(),
            ece_after: reliability_after.expected_calibration_error(),
            ece_equal_mass_before: mass(&before),
            ece_equal_mass_after: mass(&after),
            micro_f1_before: before.f1(),
            micro_f1_after: after.f1(),
            reliability_before,
            reliability_after,
        }
    }
}

/// Scores with what they decide.
struct Measured {
    counts: Vec<ScoreCount>,
    num_hits: u64,
    num_assigned: u64,
    num_true: u64,
}

impl Measured {
    fn of(data: &CalibrationData, calibration: Option<&Calibration>) -> Self {
        let mapped = BucketName::ALL.map(|band| match calibration {
            Some(calibration) => calibration.map_of(band).apply_to(data.table(band)),
            None => data.table(band).to_vec(),
        });
        let mut measured = Self {
            counts: merged(mapped.iter().map(Vec::as_slice)),
            num_hits: 0,
            num_assigned: 0,
            num_true: data.num_true.iter().sum(),
        };
        let thresholds = calibration.and_then(|calibration| calibration.thresholds.as_ref());
        for (band, counts) in BucketName::ALL.into_iter().zip(&mapped) {
            let own = thresholds.map(|thresholds| thresholds.bands.get(band).copied());
            let threshold = match (own, thresholds) {
                (Some(Some(threshold)), _) => threshold,
                (_, Some(thresholds)) => thresholds.global,
                _ => PLAIN_THRESHOLD,
            };
            measured.assign(counts, threshold, 1);
            // Labels with thresholds of their own leave those of their band.
            let labels = data.labels.iter().filter(|scores| scores.band == band);
            for scores in labels {
                let Some(own) = thresholds.and_then(|all| all.labels.get(&scores.label)) else {
                    continue;
                };
                let Some(calibration) = calibration else {
                    continue;
                };
                let counts = calibration.map_of(band).apply_to(&scores.counts);
                measured.assign(&counts, threshold, -1);
                measured.assign(&counts, *own, 1);
            }
        }
        measured
    }

    /// Counts what reaches a threshold, or takes it away.
    fn assign(&mut self, counts: &[ScoreCount], threshold: f32, sign: i64) {
        let assigned = &counts[counts.partition_point(|count| count.score < threshold)..];
        let (num_pairs, num_true) = totals(assigned);
        self.num_assigned = (self.num_assigned).saturating_add_signed(sign * num_pairs as i64);
        self.num_hits = (self.num_hits).saturating_add_signed(sign * num_true as i64);
    }

    fn joined(&self, other: &Self) -> Self {
        Self {
            counts: merged([&self.counts[..], &other.counts]),
            num_hits: self.num_hits + other.num_hits,
            num_assigned: self.num_assigned + other.num_assigned,
            num_true: self.num_true + other.num_true,
        }
    }

    fn f1(&self) -> f64 {
        f1_of(self.num_hits, self.num_assigned, self.num_true)
    }
}
