//! The batches of training: documents, and the labels that they are compared with.

use plethora_core::{IndexRows, SeedStream};
use rand::RngExt;
use rustc_hash::FxHashSet;
use tch::{Kind, Tensor};

use super::tensors::rows_of;
use super::training_set::{SiameseSet, Texts};
use crate::pretrained::{Cut, PieceBatch};
use crate::train::BatchMaker;

/// Documents or names of a batch.
#[derive(Debug)]
pub(super) enum Side {
    /// texts x width.
    Vectors(Tensor),
    Pieces(PieceBatch),
}

/// What a step learns from.
#[derive(Debug)]
pub(super) struct SiameseBatch {
    pub(super) documents: Side,
    /// Of the labels in the pool.
    pub(super) names: Side,
    /// labels x 1: 0 where nobody can read the name of a label.
    pub(super) is_named: Tensor,
    /// The labels with documents, by their numbers among these; they come first in the pool, others behind.
    pub(super) known: Tensor,
    /// documents x labels: true where a document has a label.
    pub(super) truth: Tensor,
}

/// Makes batches of training documents.
pub(super) struct SiameseBatches<'a> {
    pub(super) set: &'a SiameseSet,
    /// Numbers of the documents that are trained on.
    pub(super) documents: &'a [u32],
    pub(super) known: &'a KnownLabels,
    /// The nearest wrong labels of each of these documents, by their numbers among labels with documents.
    pub(super) mined: &'a IndexRows,
    /// Labels that a batch is compared with, filled up with random ones.
    pub(super) pool: usize,
    pub(super) cut: Cut,
    pub(super) seed: SeedStream,
}

/// Labels that documents to train on have.
#[derive(Debug)]
pub(super) struct KnownLabels {
    /// Their numbers among all labels, rising.
    pub(super) labels: Vec<u32>,
    /// The number of each label among them.
    places: Vec<Option<u32>>,
}

impl KnownLabels {
    pub(super) fn new(set: &SiameseSet, documents: &[u32]) -> Self {
        let mut is_known = vec![false; set.space.len()];
        for &document in documents {
            for &label in set.labels_of_documents.row(document as usize) {
                is_known[label as usize] = true;
            }
        }
        let mut places = vec![None; set.space.len()];
        let mut labels = Vec::new();
        for (label, _) in (0..).zip(&is_known).filter(|(_, is_known)| **is_known) {
            places[label as usize] = Some(labels.len() as u32);
            labels.push(label);
        }
        Self { labels, places }
    }

    /// The number of a label among those with documents.
    pub(super) fn place(&self, label: u32) -> Option<u32> {
        self.places.get(label as usize).copied().flatten()
    }
}

impl SiameseBatches<'_> {
    fn truth_of(&self, document: u32) -> impl Iterator<Item = u32> {
        let labels = self.set.labels_of_documents.row(document as usize);
        labels.iter().filter_map(|&label| self.known.place(label))
    }

    /// The labels that these documents, by their places among those trained on, are compared with: those with
    /// documents by their numbers among these, and others by their own. Without the latter nothing would
    /// keep labels that no document has away from everything.
    fn pool(&self, places: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let num_labels = self.set.space.len() as u32;
        let mut pool = FxHashSet::default();
        if num_labels as usize <= self.pool {
            pool.extend(0..num_labels);
        } else {
            for &place in places {
                let document = self.documents[place as usize] as usize;
                pool.extend(self.set.labels_of_documents.row(document));
                let mined = self.mined.row(place as usize).iter();
                pool.extend(mined.map(|&known| self.known.labels[known as usize]));
            }
            // Follows from the documents alone.
            let seed = (places.iter()).fold(self.seed, |seed, &place| seed.child(u64::from(place)));
            let mut rng = seed.rng();
            while pool.len() < self.pool {
                pool.insert(rng.random_range(0..num_labels));
            }
        }
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for label in pool {
            match self.known.place(label) {
                Some(place) => known.push(place),
                None => others.push(label),
            }
        }
        known.sort_unstable();
        others.sort_unstable();
        (known, others)
    }

    fn side(&self, texts: &Texts, rows: &[u32]) -> Side {
        match texts {
            Texts::Vectors(vectors) => Side::Vectors(rows_of(vectors, rows.iter().copied())),
            Texts::Pieces(sequences) => {
                let rows: Vec<&[u32]> = (rows.iter())
                    .map(|&row| sequences.row(row as usize))
                    .collect();
                Side::Pieces(PieceBatch::new(&rows, self.cut))
            }
        }
    }
}

impl BatchMaker for SiameseBatches<'_> {
    type Batch = SiameseBatch;

    fn num_documents(&self) -> usize {
        self.documents.len()
    }

    fn length(&self, document: usize) -> usize {
        match &self.set.documents {
            Texts::Vectors(_) => 1,
            Texts::Pieces(rows) => {
                let document = self.documents[document] as usize;
                self.cut.length(rows.row(document))
            }
        }
    }

    fn make(&self, places: &[u32]) -> SiameseBatch {
        let (known, others) = self.pool(places);
        let num_labels = known.len() + others.len();
        let documents: Vec<u32> = (places.iter())
            .map(|&place| self.documents[place as usize])
            .collect();
        let labels: Vec<u32> = (known.iter())
            .map(|&place| self.known.labels[place as usize])
            .chain(others)
            .collect();
        let mut truth = vec![false; documents.len() * num_labels];
        for (&document, row) in documents.iter().zip(truth.chunks_mut(num_labels)) {
            for label in self.truth_of(document) {
                let place = known.binary_search(&label);
                row[place.expect("the pool has all true labels")] = true;
            }
        }
        let is_named: Vec<f32> = (labels.iter())
            .map(|&label| f32::from(u8::from(self.set.is_named[label as usize])))
            .collect();
        let numbers: Vec<i64> = known.iter().map(|&place| i64::from(place)).collect();
        SiameseBatch {
            documents: self.side(&self.set.documents, &documents),
            names: self.side(&self.set.names, &labels),
            is_named: Tensor::from_slice(&is_named).unsqueeze(1),
            known: Tensor::from_slice(&numbers),
            truth: Tensor::from_slice(&truth)
                .to_kind(Kind::Bool)
                .view([documents.len() as i64, num_labels as i64]),
        }
    }
}
