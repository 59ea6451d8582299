//! Fits the maps and thresholds of a calibration.

use std::collections::BTreeMap;

use super::collector::{LabelScores, totals};
use super::score_table::merged;
use super::{
    BandValues, BestThreshold, Calibration, CalibrationConfig, CalibrationData, FrequencyBands,
    Quality, ScoreCount, ScoreMap, ThresholdScope, Thresholds, best_threshold,
};
use crate::metrics::BucketName;
use crate::{Error, LabelId, Result};

/// Where no threshold has a hit: only certain labels are assigned.
const NO_HIT: f32 = 1.0;

impl Calibration {
    /// Fits to both halves of the validation documents, and measures what is fitted to one half on
    /// the other.
    ///
    /// # Errors
    /// [`Error::Config`] if a setting cannot work; [`Error::Data`] if there are too few documents or
    /// too few true labels among the ranked ones.
    pub fn fit(
        halves: &[CalibrationData; 2],
        bands: FrequencyBands,
        config: &CalibrationConfig,
    ) -> Result<Self> {
        config.validate()?;
        let all = CalibrationData::joined(halves);
        check(&all, config)?;
        let quality = Quality::measure(halves, &all, |data| fit_maps(data, bands, config));
        Ok(Self {
            quality,
            ..fit_maps(&all, bands, config)
        })
    }
}

fn check(data: &CalibrationData, config: &CalibrationConfig) -> Result<()> {
    let refuse = |message: String| Err(Error::data(message));
    match data.num_documents {
        0 => return refuse("no document has labels, so there is nothing to calibrate with".into()),
        1 => {
            return refuse(
                "only one document has labels: calibration needs many, at least two".into(),
            );
        }
        _ => {}
    }
    let (num_pairs, num_true) = totals(&data.counts());
    if num_true < config.min_true {
        return refuse(format!(
            "only {num_true} of the labels that the model ranks are true: calibration needs at \
             least {}; are these documents of the model's kind?",
            config.min_true
        ));
    }
    if num_true == num_pairs {
        return refuse(
            "all labels that the model ranks are true: calibration needs false ones too; rank \
             more labels per document"
                .into(),
        );
    }
    Ok(())
}

/// All but how good it is. The data has at least one pair.
fn fit_maps(
    data: &CalibrationData,
    bands: FrequencyBands,
    config: &CalibrationConfig,
) -> Calibration {
    let counts = data.counts();
    let (num_pairs, num_true) = totals(&counts);
    let band_map = |band: BucketName| {
        let own = data.table(band);
        let is_enough = config.by_frequency && totals(own).1 >= config.min_band_true;
        is_enough.then(|| ScoreMap::fit(config.method, own))
    };
    let mut fitted = Calibration {
        config: config.clone(),
        num_documents: data.num_documents,
        num_pairs,
        num_true,
        bands,
        map: ScoreMap::fit(config.method, &counts),
        band_maps: BandValues::from_fn(band_map),
        thresholds: None,
        quality: Quality::default(),
    };
    fitted.thresholds = config
        .thresholds
        .map(|scope| fit_thresholds(data, &fitted, scope));
    fitted
}

fn fit_thresholds(
    data: &CalibrationData,
    fitted: &Calibration,
    scope: ThresholdScope,
) -> Thresholds {
    let config = &fitted.config;
    let mapped = BucketName::ALL.map(|band| fitted.map_of(band).apply_to(data.table(band)));
    let all = merged(mapped.iter().map(Vec::as_slice));
    let threshold = |counts: &[ScoreCount], num_true: u64, at_least: u64| {
        let is_enough = totals(counts).1 >= at_least;
        let best = is_enough
            .then(|| best_threshold(counts, num_true))
            .flatten();
        best.map(|BestThreshold { threshold, .. }| threshold)
    };
    let of_band = |band: BucketName| {
        let place = band as usize;
        threshold(&mapped[place], data.num_true[place], config.min_band_true)
    };
    let of_label = |scores: &LabelScores, band: BucketName| {
        let counts = fitted.map_of(band).apply_to(&scores.counts);
        threshold(&counts, scores.num_true, config.min_label_true)
    };
    Thresholds {
        scope,
        global: threshold(&all, data.num_true.iter().sum(), 1).unwrap_or(NO_HIT),
        bands: match scope {
            ThresholdScope::Global => BandValues::default(),
            ThresholdScope::Band | ThresholdScope::Label => BandValues::from_fn(of_band),
        },
        labels: match scope {
            ThresholdScope::Global | ThresholdScope::Band => BTreeMap::new(),
            ThresholdScope::Label => label_thresholds(data, of_label),
        },
    }
}

fn label_thresholds(
    data: &CalibrationData,
    of_label: impl Fn(&LabelScores, BucketName) -> Option<f32>,
) -> BTreeMap<LabelId, f32> {
    let labels = data.labels.iter();
    labels
        .filter_map(|scores| Some((scores.label, of_label(scores, scores.band)?)))
        .collect()
}
