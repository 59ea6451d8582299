//! Scores as probabilities: maps from the scores of a model to how often they are right, and the
//! scores from which on labels are worth assigning.
//!
//! Maps are learnt from pairs of a validation document and a label of its ranking, and whether that
//! label is true. True labels that the ranking does not hold are in no pair: a calibrated
//! score is the share of true labels among the ranked ones that score alike. Thresholds do count
//! them, because F1 misses them.

mod bands;
mod collector;
mod config;
mod f1_sweep;
mod fit;
mod isotonic;
mod map;
mod platt;
mod quality;
mod reliability;
mod score_map;
mod score_table;
mod thresholds;

pub use bands::{BandValues, FrequencyBands};
pub use collector::{CalibrationCollector, CalibrationData};
pub use config::{CalibrationConfig, Method, ThresholdScope};
pub use f1_sweep::{BestThreshold, best_threshold};
pub use isotonic::{Isotonic, IsotonicBlock};
pub use map::{CALIBRATION_FILE, Calibration};
pub use platt::{Platt, logistic};
pub use quality::Quality;
pub use score_map::ScoreMap;
pub use score_table::{ScoreCount, ScoreTable};
pub use thresholds::Thresholds;
