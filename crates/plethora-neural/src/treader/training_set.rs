//! What TReaderXML is trained on.

use plethora_core::neighbours::DocumentNames;
use plethora_core::text::{TfIdf, TfIdfBuilder, Words, WordsBuilder};
use plethora_core::{IndexRows, Result, SparseMatrix, SparseVector};

use super::config::{NeighbourVectors, TReaderConfig};
use crate::systems::{HeldTexts, ReadsTexts, TextSet, TextSetBuilder, Texts};

/// What TReaderXML is trained on.
pub type TReaderSet = TextSet<TReaderTexts>;

/// Makes a [`TReaderSet`] of documents.
pub type TReaderSetBuilder = TextSetBuilder<TReaderReader>;

/// Training texts as words, and what neighbours are found by.
#[derive(Debug)]
pub struct TReaderTexts {
    /// The words that are known.
    pub words: Words,
    /// The words of each document.
    pub sequences: IndexRows,
    /// What neighbours are found by; absent without a teacher.
    pub(super) known: Option<KnownTexts>,
}

/// What neighbours are found by, and who they are.
#[derive(Debug)]
pub(super) struct KnownTexts {
    /// Who the documents are.
    pub(super) names: DocumentNames,
    /// By what they are compared.
    pub(super) by: Compared,
}

/// By what documents are compared.
#[derive(Debug)]
pub(super) enum Compared {
    /// The terms that they share.
    Terms(Box<Terms>),
    /// The means of their words' first vectors.
    Means,
}

/// The terms of training documents.
#[derive(Debug)]
pub(super) struct Terms {
    /// What makes the features of texts.
    pub(super) tfidf: TfIdf,
    /// The features of each document.
    pub(super) features: SparseMatrix,
}

impl TReaderTexts {
    /// The terms of the documents, where they are compared by them.
    fn terms(&self) -> Option<&Terms> {
        match &self.known.as_ref()?.by {
            Compared::Terms(terms) => Some(terms),
            Compared::Means => None,
        }
    }
}

impl Texts for TReaderTexts {
    fn known(&self) -> (&'static str, u64) {
        ("words", self.words.vocabulary().len() as u64)
    }

    fn sequence(&self, document: usize) -> &[u32] {
        self.sequences.row(document)
    }

    fn sequences_of(&self, texts: &[String]) -> IndexRows {
        self.words.sequences(texts)
    }

    fn features(&self) -> Option<&SparseMatrix> {
        self.terms().map(|terms| &terms.features)
    }

    fn features_of(&self, texts: &[String]) -> Option<SparseMatrix> {
        self.terms().map(|terms| terms.tfidf.transform(texts))
    }
}

/// Reads texts as words, and what neighbours are found by.
#[derive(Debug)]
pub struct TReaderReader {
    words: WordsBuilder,
    known: Option<KnownBuilder>,
}

#[derive(Debug)]
struct KnownBuilder {
    names: DocumentNames,
    /// Absent where documents are compared by their words' vectors.
    terms: Option<Box<TfIdfBuilder>>,
}

impl TReaderReader {
    /// Reads texts as a system with these settings does.
    pub fn new(config: &TReaderConfig) -> Result<Self> {
        let neighbours = &config.neighbours;
        let known = if config.teacher.used {
            let terms = match neighbours.by {
                NeighbourVectors::TfIdf => {
                    let builder = TfIdfBuilder::new(neighbours.text.clone());
                    Some(Box::new(
                        builder.map_err(|error| error.within("neighbours"))?,
                    ))
                }
                NeighbourVectors::Mean => None,
            };
            Some(KnownBuilder {
                names: DocumentNames::default(),
                terms,
            })
        } else {
            None
        };
        Ok(Self {
            words: WordsBuilder::new(config.words.clone())?,
            known,
        })
    }
}

impl ReadsTexts for TReaderReader {
    type Read = TReaderTexts;

    fn note(&mut self, id: &str, text: &str) {
        if let Some(known) = &mut self.known {
            known.names.push(id, Some(text));
        }
    }

    fn push_batch(&mut self, texts: &[String]) {
        self.words.push_batch(texts);
        let known = self.known.as_mut();
        if let Some(terms) = known.and_then(|known| known.terms.as_mut()) {
            terms.push_batch(texts);
        }
    }

    fn finish(self) -> Result<TReaderTexts> {
        let (words, sequences) = self.words.finish()?;
        let known = self.known.map(KnownBuilder::finish).transpose()?;
        Ok(TReaderTexts {
            words,
            sequences,
            known,
        })
    }

    fn finish_without(&self, held: &[u32]) -> Result<(TReaderTexts, HeldTexts)> {
        let (words, sequences, of_held) = self.words.finish_without(held)?;
        let known = self.known.as_ref();
        let known = known.map(|known| known.finish_without(held)).transpose()?;
        let (known, features) = known.unzip();
        let texts = TReaderTexts {
            words,
            sequences,
            known,
        };
        let held = HeldTexts {
            sequences: of_held,
            features: features.unwrap_or_default(),
        };
        Ok((texts, held))
    }
}

impl KnownBuilder {
    /// What is known of all documents but these, and the rows that these are compared by.
    fn finish_without(&self, held: &[u32]) -> Result<(KnownTexts, Vec<SparseVector>)> {
        let (by, features) = match &self.terms {
            Some(terms) => {
                let fitted = terms.finish_without(held);
                let (tfidf, features, of_held) =
                    fitted.map_err(|error| error.within("neighbours"))?;
                let of_held = of_held.rows().map(Into::into).collect();
                let terms = Terms { tfidf, features };
                (Compared::Terms(Box::new(terms)), of_held)
            }
            None => (Compared::Means, Vec::new()),
        };
        let names = self.names.without(held);
        Ok((KnownTexts { names, by }, features))
    }

    fn finish(self) -> Result<KnownTexts> {
        let by = match self.terms {
            Some(terms) => {
                let (tfidf, features) =
                    (terms.finish()).map_err(|error| error.within("neighbours"))?;
                Compared::Terms(Box::new(Terms { tfidf, features }))
            }
            None => Compared::Means,
        };
        Ok(KnownTexts {
            names: self.names,
            by,
        })
    }
}
