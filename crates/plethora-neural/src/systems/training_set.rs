//! From a stream of documents to sequences of words or pieces, label rows and the label space, in one
//! pass.

use std::path::Path;
use std::time::{Duration, Instant};

use plethora_core::corpus::{Content, Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::neighbours::DocumentNames;
use plethora_core::text::{TfIdf, TfIdfBuilder, WordsBuilder};
use plethora_core::{Error, IndexRows, SparseMatrix};

use super::encoder_files::EncoderFiles;
use super::reader::TextReader;
use super::sequences::Sequences;
use crate::config::NeuralConfig;
use crate::pieces::PieceCorpusBuilder;
use crate::transformer::Architecture;
use crate::treader::{NeighbourVectors, TReaderConfig};
use crate::word_config::{WordConfig, below};
use crate::{Result, piece_config::PieceConfig};

/// Documents whose texts are tokenised together.
const DOCUMENTS_PER_BATCH: usize = 4096;

/// What a neural system is trained on.
#[derive(Debug)]
pub struct NeuralSet {
    /// All labels of the documents.
    pub space: LabelSpace,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// How texts become sequences.
    pub reader: TextReader,
    /// The words or pieces of each document.
    pub sequences: Sequences,
    /// By which labels are grouped, where a tree of words is wanted, or documents are compared.
    pub features: Option<SparseMatrix>,
    /// What makes the features of texts, where documents are compared by them.
    pub tfidf: Option<TfIdf>,
    /// Who the documents are; none where nobody will ask.
    pub names: DocumentNames,
    /// The encoder that pieces are for.
    pub architecture: Option<Architecture>,
    /// Seconds of wall time that tokenising took.
    pub reading_s: f64,
}

/// Takes documents one by one; texts are tokenised in batches and then forgotten.
pub struct NeuralSetBuilder {
    space: LabelSpaceBuilder,
    labels_of_documents: IndexRows,
    num_without_labels: u64,
    sequences: SequenceBuilder,
    names: Option<DocumentNames>,
    waiting_texts: Vec<String>,
    time: Duration,
}

/// Makes sequences of texts.
enum SequenceBuilder {
    Words {
        words: WordsBuilder,
        features: Option<Box<TfIdfBuilder>>,
        /// Whether later texts need features too.
        keeps_tfidf: bool,
    },
    Pieces {
        corpus: Box<PieceCorpusBuilder>,
        max_length: usize,
        architecture: Architecture,
    },
}

impl SequenceBuilder {
    fn of_words(config: &WordConfig) -> Result<Self> {
        let features = match &config.plt {
            Some(plt) => Some(Box::new(TfIdfBuilder::new(plt.text.clone())?)),
            None => None,
        };
        Ok(Self::Words {
            words: WordsBuilder::new(config.words.clone())?,
            features,
            keeps_tfidf: false,
        })
    }

    fn of_reader(config: &TReaderConfig) -> Result<Self> {
        let neighbours = &config.neighbours;
        let compares = config.teacher.used && neighbours.by == NeighbourVectors::TfIdf;
        let features = if compares {
            let builder = TfIdfBuilder::new(neighbours.text.clone());
            Some(Box::new(
                builder.map_err(|error| below("neighbours", error))?,
            ))
        } else {
            None
        };
        Ok(Self::Words {
            words: WordsBuilder::new(config.words.clone())?,
            features,
            keeps_tfidf: true,
        })
    }

    fn of_pieces(config: &PieceConfig, cache: Option<&Path>) -> Result<Self> {
        let files = EncoderFiles::open(config)?;
        Ok(Self::Pieces {
            corpus: Box::new(PieceCorpusBuilder::new(
                files.pieces,
                files.max_length,
                cache,
            )),
            max_length: files.max_length,
            architecture: files.architecture,
        })
    }

    fn push_batch(&mut self, texts: &[String]) {
        match self {
            Self::Words {
                words, features, ..
            } => {
                words.push_batch(texts);
                if let Some(features) = features {
                    features.push_batch(texts);
                }
            }
            Self::Pieces { corpus, .. } => corpus.push_batch(texts),
        }
    }
}

impl NeuralSetBuilder {
    /// An empty set for a system with these settings. Texts that `cache` has the pieces of are not
    /// cut again.
    pub fn new(config: &NeuralConfig, cache: Option<&Path>) -> Result<Self> {
        Ok(Self {
            space: LabelSpaceBuilder::default(),
            labels_of_documents: IndexRows::default(),
            num_without_labels: 0,
            sequences: match config {
                NeuralConfig::Words(config) => SequenceBuilder::of_words(config)?,
                NeuralConfig::Pieces(config) => SequenceBuilder::of_pieces(config, cache)?,
                NeuralConfig::TReader(config) => SequenceBuilder::of_reader(config)?,
            },
            names: matches!(config, NeuralConfig::TReader(_)).then(DocumentNames::default),
            waiting_texts: Vec::new(),
            time: Duration::ZERO,
        })
    }

    /// Adds a document; one without labels is counted and left out.
    pub fn add(&mut self, document: Document) -> Result<()> {
        if document.labels.is_empty() {
            self.num_without_labels += 1;
            return Ok(());
        }
        let labels = self.space.add(&document);
        let Content::Text(text) = document.content else {
            return Err(needs_text(&document.id).into());
        };
        self.labels_of_documents.push(labels);
        if let Some(names) = &mut self.names {
            names.push(&document.id, Some(&text));
        }
        self.waiting_texts.push(text);
        if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
            self.tokenize_waiting();
        }
        Ok(())
    }

    /// Number of documents with labels so far.
    pub fn num_documents(&self) -> usize {
        self.labels_of_documents.num_rows()
    }

    /// Numbers words and puts the labels in order.
    pub fn finish(mut self, vocabulary: &[Label]) -> Result<NeuralSet> {
        if self.num_documents() == 0 {
            return Err(Error::Data(match self.num_without_labels {
                0 => "there are no documents to train on".into(),
                count => format!("none of the {count} documents has a label to train on"),
            })
            .into());
        }
        self.tokenize_waiting();
        let started = Instant::now();
        let mut tfidf = None;
        let (reader, sequences, features, architecture) = match self.sequences {
            SequenceBuilder::Words {
                words,
                features,
                keeps_tfidf,
            } => {
                let (words, sequences) = words.finish().map_err(naming("words"))?;
                let features = match features {
                    Some(features) => {
                        let section = if keeps_tfidf {
                            "neighbours.text"
                        } else {
                            "plt.text"
                        };
                        let (fitted, features) = features.finish().map_err(naming(section))?;
                        tfidf = keeps_tfidf.then_some(fitted);
                        Some(features)
                    }
                    None => None,
                };
                (
                    TextReader::Words(words),
                    Sequences::Words(sequences),
                    features,
                    None,
                )
            }
            SequenceBuilder::Pieces {
                corpus,
                max_length,
                architecture,
            } => {
                let (pieces, rows) = corpus.finish();
                tracing::info!("{}", rows.summary());
                let reader = TextReader::Pieces {
                    pieces: Box::new(pieces),
                    max_length,
                };
                (reader, Sequences::Pieces(rows), None, Some(architecture))
            }
        };
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels_of_documents
            .remap(|label| final_ids[label as usize].0);
        Ok(NeuralSet {
            space,
            labels_of_documents: self.labels_of_documents,
            num_without_labels: self.num_without_labels,
            reader,
            sequences,
            features,
            tfidf,
            names: self.names.unwrap_or_default(),
            architecture,
            reading_s: (self.time + started.elapsed()).as_secs_f64(),
        })
    }

    fn tokenize_waiting(&mut self) {
        let started = Instant::now();
        self.sequences.push_batch(&self.waiting_texts);
        self.waiting_texts.clear();
        self.time += started.elapsed();
    }
}

/// Networks of words cannot read feature rows.
pub(super) fn needs_text(id: &str) -> Error {
    Error::Data(format!(
        "document `{id}` has features and no text, which neural systems need"
    ))
}

/// Names settings of terms by the section in which a system has them.
fn naming(section: &str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Data(message) => {
            Error::Data(message.replace("--set text.", &format!("--set {section}.")))
        }
        other => other,
    }
}
