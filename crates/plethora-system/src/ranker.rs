//! Trained systems that rank.

use std::fmt;

use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::{Error, LabelId, Result, ScoredLabel};

use crate::Explanation;

/// The trained part of a model: ranks, explains and saves itself. Threads share it, so that a server can rank while
/// it explains.
pub trait Ranker: Send + Sync + fmt::Debug {
    /// The best labels of each document, best first. A document gets the same scores alone and among
    /// others.
    ///
    /// # Errors
    /// [`Error::Data`](plethora_core::Error::Data) if a document is a text and the model takes
    /// features, or the reverse.
    fn rank(&self, documents: &[Document], options: RankOptions) -> Result<Rankings>;

    /// Why a label has its score for a text.
    ///
    /// # Errors
    /// [`Error::Data`](plethora_core::Error::Data) if the system cannot tell.
    fn explain(&self, text: &str, label: LabelId) -> Result<Explanation>;

    /// Vectors of texts, which are the nearer the more alike texts are; none where the system reads texts in no such way.
    ///
    /// # Errors
    /// [`Error::Compute`](plethora_core::Error::Compute) if the computation fails.
    fn embed(&self, _texts: &[&str]) -> Result<Option<Embeddings>> {
        Ok(None)
    }

    /// Writes settings and trained values into a model folder; `work` is where training left its
    /// files. Labels, metrics and manifest are not its business.
    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()>;

    /// From now on ranks with the first so many of its members alone: trees, or networks with clusters of their own.
    ///
    /// # Errors
    /// [`Error::Usage`](plethora_core::Error::Usage) if it has fewer, or none at all.
    fn keep_members(&mut self, _num_members: usize) -> Result<()> {
        Err(Error::usage(
            "the model is not made of members that it could rank without",
        ))
    }

    /// Documents to rank together: enough to keep the machine busy, few enough that a
    /// batch takes seconds.
    fn documents_per_batch(&self) -> usize {
        512
    }
}

/// Leaves the first `num_members` of a model's members.
///
/// # Errors
/// [`Error::Usage`](plethora_core::Error::Usage) if there are fewer, or none is asked for.
pub fn keep_first<Member>(members: &mut Vec<Member>, num_members: usize) -> Result<()> {
    if !(1..=members.len()).contains(&num_members) {
        return Err(Error::usage(format!(
            "the model has {} members, so it cannot rank with the first {num_members}",
            members.len()
        )));
    }
    members.truncate(num_members);
    Ok(())
}

/// How to rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankOptions {
    /// Labels per document.
    pub top_k: usize,
    /// Tree nodes or clusters kept at each level; the model's own number where absent.
    pub beam: Option<usize>,
}

/// Vectors of texts, one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// Numbers of a vector.
    pub width: usize,
    /// The numbers of all vectors.
    pub values: Vec<f32>,
}

/// The best labels of documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rankings {
    /// One ranking per document, best label first.
    pub labels: Vec<Vec<ScoredLabel>>,
    /// Seconds of CPU that turning documents into features took, where the system has any.
    pub features_s: f64,
}

impl From<Vec<Vec<ScoredLabel>>> for Rankings {
    fn from(labels: Vec<Vec<ScoredLabel>>) -> Self {
        Self {
            labels,
            features_s: 0.0,
        }
    }
}
