//! Reading corpora to see what is in them.

use plethora_core::Result;
use plethora_core::corpus::VocabularyFile;
use plethora_system::Registry;

use super::{CheckReport, CorpusProfile};
use crate::Session;
use crate::training::Corpus;

/// What to look at.
#[derive(Debug)]
pub struct CheckJob {
    /// The systems whose cost is estimated.
    pub registry: &'static Registry,
    /// The corpus.
    pub data: Corpus,
    /// Test documents, to be looked for among those of the corpus.
    pub against: Option<Corpus>,
    /// File with names of the labels, to look for those it lacks.
    pub vocabulary: Option<VocabularyFile>,
}

impl CheckJob {
    /// Reads everything once.
    pub fn run(&self, session: &Session) -> Result<CheckReport> {
        let vocabulary = self.vocabulary.as_ref().map(VocabularyFile::read);
        let vocabulary = vocabulary.transpose()?;
        let profile = CorpusProfile::read(self.data.open()?, None, session)?;
        let against = match &self.against {
            Some(corpus) => Some(CorpusProfile::read(
                corpus.open()?,
                Some(&profile),
                session,
            )?),
            None => None,
        };
        CheckReport::new(
            self.registry,
            &profile,
            against.as_ref(),
            vocabulary.as_deref(),
        )
    }
}
