//! What happened to each label.

use std::collections::BTreeMap;
use std::io;

use super::judged_document::JudgedDocument;
use crate::{LabelId, one_field};

/// Counts of one label over all documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LabelCounts {
    /// Documents for which the label is true.
    pub(super) num_true: u32,
    /// Documents that give the label a score that reaches the threshold.
    pub(super) num_assigned: u32,
    /// Documents with both.
    pub(super) num_assigned_hits: u32,
    /// The best place of a hit, counted from 0; `u32::MAX` without any.
    pub(super) best_rank: u32,
}

impl LabelCounts {
    const NONE: Self = Self {
        num_true: 0,
        num_assigned: 0,
        num_assigned_hits: 0,
        best_rank: u32::MAX,
    };

    fn merge(&mut self, other: &Self) {
        self.num_true += other.num_true;
        self.num_assigned += other.num_assigned;
        self.num_assigned_hits += other.num_assigned_hits;
        self.best_rank = self.best_rank.min(other.best_rank);
    }
}

/// Counts of all labels: an array for those of the label space, a map for the few beyond it.
#[derive(Debug, Clone)]
pub(super) struct LabelTable {
    known: Vec<LabelCounts>,
    unknown: BTreeMap<LabelId, LabelCounts>,
}

impl LabelTable {
    pub(super) fn new(num_labels: usize) -> Self {
        Self {
            known: vec![LabelCounts::NONE; num_labels],
            unknown: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, document: &JudgedDocument) {
        for &label in &document.truth {
            self.entry(label).num_true += 1;
        }
        for (rank, place) in (0..).zip(&document.places) {
            if place.is_hit || place.is_assigned {
                let counts = self.entry(place.label);
                counts.num_assigned += u32::from(place.is_assigned);
                if place.is_hit {
                    counts.num_assigned_hits += u32::from(place.is_assigned);
                    counts.best_rank = counts.best_rank.min(rank);
                }
            }
        }
    }

    fn entry(&mut self, label: LabelId) -> &mut LabelCounts {
        match self.known.get_mut(label.index()) {
            Some(counts) => counts,
            None => self.unknown.entry(label).or_insert(LabelCounts::NONE),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (label, counts) in other.entries() {
            self.entry(label).merge(counts);
        }
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = &LabelCounts> {
        self.known.iter().chain(self.unknown.values())
    }

    /// Labels with their counts, in the order of their ids.
    pub(super) fn entries(&self) -> impl Iterator<Item = (LabelId, &LabelCounts)> {
        let known = (0..).map(LabelId).zip(&self.known);
        known.chain(self.unknown.iter().map(|(&label, counts)| (label, counts)))
    }
}

/// One label's row in the table of labels, at the evaluation's threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelEvaluation {
    /// The label.
    pub label: LabelId,
    /// Training documents with the label.
    pub train_frequency: u32,
    /// Test documents with the label.
    pub test_frequency: u32,
    /// Test documents with the label that were given it.
    pub true_positives: u32,
    /// Test documents without the label that were given it.
    pub false_positives: u32,
    /// Test documents with the label that were not given it.
    pub false_negatives: u32,
}

impl LabelEvaluation {
    pub(super) fn new(label: LabelId, train_frequency: u32, counts: &LabelCounts) -> Self {
        Self {
            label,
            train_frequency,
            test_frequency: counts.num_true,
            true_positives: counts.num_assigned_hits,
            false_positives: counts.num_assigned - counts.num_assigned_hits,
            false_negatives: counts.num_true - counts.num_assigned_hits,
        }
    }

    /// Share of the documents that were given the label for which it is true; 0 if none was.
    pub fn precision(&self) -> f64 {
        share(
            self.true_positives,
            self.true_positives + self.false_positives,
        )
    }

    /// Share of the documents with the label that were given it; 0 if none has it.
    pub fn recall(&self) -> f64 {
        share(self.true_positives, self.test_frequency)
    }

    /// Harmonic mean of precision and recall; 0 if both are.
    pub fn f1(&self) -> f64 {
        let denominator = f64::from(self.test_frequency)
            + f64::from(self.true_positives)
            + f64::from(self.false_positives);
        if denominator > 0.0 {
            2.0 * f64::from(self.true_positives) / denominator
        } else {
            0.0
        }
    }
}

fn share(part: u32, whole: u32) -> f64 {
    if whole > 0 {
        f64::from(part) / f64::from(whole)
    } else {
        0.0
    }
}

/// Writes rows as tab-separated values: the columns of Annif's per-subject results, and after them
/// the training frequency. `describe` gives a label's key and name.
pub(super) fn write_tsv<'a>(
    rows: impl Iterator<Item = LabelEvaluation>,
    output: &mut dyn io::Write,
    mut describe: impl FnMut(LabelId) -> (&'a str, &'a str),
) -> io::Result<()> {
    writeln!(
        output,
        "URI\tLabel\tSupport\tTrue_positives\tFalse_positives\tFalse_negatives\t\
         Precision\tRecall\tF1_score\tTrain_frequency"
    )?;
    for row in rows {
        let (key, name) = describe(row.label);
        writeln!(
            output,
            "{}\t{}\t{}\t{}\t{}\t{}\t{:.6}\t{:.6}\t{:.6}\t{}",
            one_field(key),
            one_field(name),
            row.test_frequency,
            row.true_positives,
            row.false_positives,
            row.false_negatives,
            row.precision(),
            row.recall(),
            row.f1(),
            row.train_frequency
        )?;
    }
    Ok(())
}
