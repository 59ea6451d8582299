//! What a model is asked to do.

use plethora_core::corpus::{Content, Document};
use plethora_core::{Error, ScoredLabel};
use plethora_system::{Depth, ScoreKind};
use tokio::sync::oneshot;

/// A ranking a document.
pub(crate) type Rankings = Vec<Vec<ScoredLabel>>;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkError {
    /// Too much waits already.
    Full,
    /// The server or this version of the model is on its way out.
    Closed,
    /// The documents cannot be used.
    Data(String),
    /// The answer would be too large.
    TooLarge(String),
    /// The computation failed, as when memory runs out.
    Compute(String),
    /// A bug of ours.
    Panicked,
}

impl From<Error> for WorkError {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(message) => Self::Data(message.to_string()),
            other => Self::Compute(other.to_string()),
        }
    }
}

/// Something to do, of a size that batches are made by.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) work: RankWork,
    pub(crate) num_documents: usize,
    pub(crate) num_tokens: usize,
}

/// Documents to rank labels for.
#[derive(Debug)]
pub(crate) struct RankWork {
    pub(crate) documents: Vec<Document>,
    /// Labels per document.
    pub(crate) depth: Depth,
    pub(crate) scores: ScoreKind,
    pub(crate) reply: oneshot::Sender<Result<Rankings, WorkError>>,
}

impl Job {
    /// A job that ranks.
    pub(crate) fn rank(work: RankWork) -> Self {
        let texts = work.documents.iter().filter_map(Document::text);
        Self {
            num_documents: work.documents.len(),
            num_tokens: texts.map(count_words).sum(),
            work,
        }
    }

    /// True if nobody waits for the answer any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.work.reply.is_closed()
    }
}

/// Documents without labels, numbered from 1.
pub(crate) fn documents_of(texts: impl IntoIterator<Item = String>) -> Vec<Document> {
    let document = |(number, text): (u64, String)| Document {
        id: number.to_string(),
        content: Content::Text(text),
        labels: Vec::new(),
    };
    (1..).zip(texts).map(document).collect()
}

/// What stands for the tokens of a text before a model has read it.
fn count_words(text: &str) -> usize {
    text.split_ascii_whitespace().count()
}
