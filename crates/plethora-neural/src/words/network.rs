//! A network from words to labels: word vectors, an encoder, a head.

use std::cell::Cell;

use tch::{Device, Kind, Tensor};

use super::batch::WordBatch;
use super::config::WordConfig;
use super::encoder::WordVectors;
use super::head::{HeadNeed, Scored, StatesInput, Truth};
use super::reader::Reader;
use crate::Result;
use crate::head::{Clusters, HeadStep, LabelFacts, LabelHead as _, Phase, Ranked, VectorInput};
use crate::parameters::{DenseParametersBuilder, Parameters, RowTable, TableRows};
use crate::precision::{Numbers, compute_kind};
use crate::start::Start;
use crate::systems::attribution::contributions;
use crate::train::{Learnt, LossScale, Network, StepPart};

/// The table of word vectors among the tables of the parameters.
const WORD_TABLE: usize = 0;
/// The table of label rows, where labels are candidates.
pub(crate) const LABEL_TABLE: usize = 1;

/// Words in, scores of labels out.
#[derive(Debug)]
pub(crate) struct WordNetwork {
    parameters: Parameters,
    reader: Reader,
    device: Device,
    kind: Kind,
    loss: LossScale,
    /// Which parts learn.
    phase: Cell<Phase>,
}

/// What a new network starts from.
pub(crate) struct NetworkSetup<'a> {
    pub(crate) config: &'a WordConfig,
    /// rows x width: the first vectors of all words.
    pub(crate) word_vectors: &'a Tensor,
    pub(crate) labels: LabelFacts<'a>,
    /// Most labels that a document brings to choose from; absent where all labels are scored.
    pub(crate) candidates: Option<usize>,
    /// The groups of labels and the documents of each, where the head has clusters.
    pub(crate) clusters: Option<(&'a Clusters, LabelFacts<'a>)>,
    pub(crate) device: Device,
    pub(crate) start: Start,
}

impl WordNetwork {
    /// A fresh network.
    ///
    /// # Errors
    /// [`Config`](plethora_core::Error::Config) if encoder and head do not go together.
    pub(crate) fn new(setup: &NetworkSetup<'_>) -> Result<Self> {
        let config = setup.config;
        let mut builder = DenseParametersBuilder::default();
        let (reader, label_rows) = Reader::new(setup, &mut builder)?;
        let of_labels = label_rows.as_ref().map_or(0, Tensor::numel);
        let of_tables = setup.word_vectors.numel() + of_labels;
        setup.start.check(builder.num_values() + of_tables)?;
        let is_trained = config.vectors.trained;
        let device = setup.device;
        let mut tables = vec![RowTable::new(
            "words",
            setup.word_vectors,
            is_trained,
            device,
        )];
        tables.extend(
            label_rows.map(|rows| RowTable::new("labels", &rows, true, device).of_labels()),
        );
        Ok(Self {
            parameters: Parameters {
                dense: builder.finish(device),
                tables,
            },
            reader,
            device,
            kind: compute_kind(config.train.precision, device),
            loss: config.train.loss,
            phase: Cell::new(Phase::Joint),
        })
    }

    /// Has what is slow be computed in eight bits from now on, where these numbers are of such; otherwise a
    /// network reads with the numbers that it is trained with.
    pub(crate) fn only_read(&mut self, numbers: Numbers) {
        if numbers.is_int8 {
            self.kind = numbers.kind;
            self.parameters.dense.read_with(numbers);
        }
    }

    /// Which parts learn from now on, where the head has two.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// The best `keep` labels of each document, or of its candidates by their columns, which `paths` leads to;
    /// a network with clusters of labels looks into the best `beam` ones.
    pub(crate) fn rank(
        &self,
        batch: &WordBatch,
        paths: Option<&Tensor>,
        beam: usize,
        keep: usize,
    ) -> Ranked {
        tch::no_grad(|| {
            let pass = self.pass(batch, false);
            match &self.reader {
                Reader::Vectors { head, .. } => head.rank(&self.vectors(&pass), beam, keep),
                Reader::States { head, .. } => {
                    let paths = paths.map(|paths| paths.to_device(self.device));
                    let input = StatesInput {
                        paths: paths.as_ref(),
                        ..self.states(&pass)
                    };
                    head.rank(&input, beam, keep)
                }
            }
        })
    }

    /// How strongly a label attends to each word of the documents; absent without attention.
    ///
    /// # Shapes
    /// Gives documents x words.
    pub(crate) fn attention(&self, batch: &WordBatch, label: u32) -> Option<Tensor> {
        tch::no_grad(|| match &self.reader {
            Reader::Vectors { .. } => None,
            Reader::States { head, .. } => {
                head.attention(&self.states(&self.pass(batch, false)), label)
            }
        })
    }

    /// What each word of one document adds to the log-odds of a label, of a network without attention.
    pub(crate) fn contributions(&self, batch: &WordBatch, label: u32) -> Vec<f32> {
        let rows = self.parameters.tables[WORD_TABLE].gather(WORD_TABLE, &batch.rows);
        let words = batch.words.to_device(self.device);
        let leaf = rows.leaf.detach().to_kind(self.kind);
        let vectors = Tensor::embedding(&leaf, &words, 0, false, false);
        contributions(&vectors, |vectors| {
            let pass = self.pass_vectors(batch, vectors, Vec::new(), false);
            match &self.reader {
                Reader::Vectors { head, .. } => head.log_odds_of(&self.vectors(&pass), label),
                Reader::States { head, .. } => head.log_odds_of(&self.states(&pass), label),
            }
        })
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// Bytes of a number that is computed with.
    pub(crate) fn bytes_per_number(&self) -> usize {
        self.kind.elt_size_in_bytes()
    }

    /// What the head makes of a training batch of so many documents and words at most.
    pub(crate) fn head_need(&self, num_documents: usize, num_words: usize) -> HeadNeed {
        let batch = (num_documents as i64, num_words as i64);
        self.reader.need(batch, self.device)
    }

    /// Numbers of a row of the label table, where there is one.
    pub(crate) fn label_width(&self) -> usize {
        let labels = self.parameters.tables.get(LABEL_TABLE);
        labels.map_or(0, |table| table.values().size()[1] as usize)
    }

    /// Starts from the weights of another network, but for those of the labels, which are others.
    pub(crate) fn take_over(&mut self, other: &Self) {
        tch::no_grad(|| {
            for (name, value) in other.parameters.dense.iter() {
                let same = self.parameters.dense.iter().find(|(own, _)| *own == name);
                if let Some((_, own)) = same.filter(|(_, own)| own.size() == value.size())
                    && !name.starts_with("head.labels")
                {
                    own.shallow_clone().copy_(value);
                }
            }
            let words = &self.parameters.tables[WORD_TABLE];
            let mut words = words.values().shallow_clone();
            words.copy_(other.parameters.tables[WORD_TABLE].values());
        });
    }

    /// Takes a batch through the encoder.
    fn pass(&self, batch: &WordBatch, is_training: bool) -> Pass {
        let gather = |table: usize, rows| self.parameters.tables[table].gather(table, rows);
        let mut rows = vec![gather(WORD_TABLE, &batch.rows)];
        let candidates = batch.candidates.as_ref();
        rows.extend(candidates.map(|candidates| gather(LABEL_TABLE, &candidates.rows)));
        let words = batch.words.to_device(self.device);
        let leaf = rows[WORD_TABLE].leaf.to_kind(self.kind);
        let vectors = Tensor::embedding(&leaf, &words, 0, false, false);
        self.pass_vectors(batch, &vectors, rows, is_training)
    }

    /// Takes the vectors of a batch's words through the encoder.
    fn pass_vectors(
        &self,
        batch: &WordBatch,
        vectors: &Tensor,
        rows: Vec<TableRows>,
        is_training: bool,
    ) -> Pass {
        let candidates = batch.candidates.as_ref();
        let words = WordVectors {
            vectors,
            lengths: &batch.lengths,
            is_training,
        };
        Pass {
            encoded: (self.reader).encode(&self.parameters.dense, &words, self.kind),
            mask: batch.mask(self.device),
            candidates: candidates.map(|candidates| PassCandidates {
                places: candidates.places.to_device(self.device),
                filled: candidates.filled.to_device(self.device),
                truth: candidates.truth.to_device(self.device),
                number: candidates.total,
            }),
            rows,
        }
    }

    /// What a head over document vectors takes.
    fn vectors<'a>(&'a self, pass: &'a Pass) -> VectorInput<'a> {
        VectorInput {
            parameters: &self.parameters,
            vector: &pass.encoded,
            prior: None,
            recall: None,
        }
    }

    /// What a head over states takes.
    fn states<'a>(&'a self, pass: &'a Pass) -> StatesInput<'a> {
        StatesInput {
            parameters: &self.parameters,
            states: &pass.encoded,
            mask: pass.mask.as_ref(),
            scored: match &pass.candidates {
                Some(candidates) => Scored::Candidates {
                    rows: &pass.rows[LABEL_TABLE],
                    places: &candidates.places,
                    filled: &candidates.filled,
                },
                None => Scored::All,
            },
            truth: pass.candidates.as_ref().map(|candidates| Truth {
                of_candidates: &candidates.truth,
                num_candidates: candidates.number,
            }),
            paths: None,
        }
    }
}

impl Network for WordNetwork {
    type Batch = WordBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &WordBatch, step: &StepPart<'_>) -> Result<Learnt> {
        let is_at_rest = self.phase.get() == Phase::Rank;
        let pass = if is_at_rest {
            tch::no_grad(|| self.pass(batch, false))
        } else {
            self.pass(batch, true)
        };
        let step = HeadStep {
            targets: &batch.labels.to_device(self.device),
            part: step,
            loss: self.loss,
            phase: self.phase.get(),
            drops: true,
        };
        let learnt = match &self.reader {
            Reader::Vectors { head, .. } => head.learn(&self.vectors(&pass), &step)?,
            Reader::States { head, .. } => head.learn(&self.states(&pass), &step)?,
        };
        if is_at_rest {
            return Ok(learnt);
        }
        Ok(Learnt {
            loss: learnt.loss,
            rows: pass.rows.into_iter().chain(learnt.rows).collect(),
        })
    }
}

/// A batch behind the encoder, on the device.
struct Pass {
    /// States or vectors.
    encoded: Tensor,
    mask: Option<Tensor>,
    candidates: Option<PassCandidates>,
    /// The table rows that it works with.
    rows: Vec<TableRows>,
}

/// The candidates of a batch, on the device; see [`Candidates`](super::batch::Candidates).
struct PassCandidates {
    places: Tensor,
    filled: Tensor,
    truth: Tensor,
    number: usize,
}

/// What tests look at.
#[cfg(test)]
impl WordNetwork {
    /// The scores of a network without clusters.
    pub(crate) fn logits(&self, batch: &WordBatch) -> Tensor {
        tch::no_grad(|| {
            let pass = self.pass(batch, false);
            match &self.reader {
                Reader::Vectors { head, .. } => head.logits(&self.vectors(&pass)),
                Reader::States { head, .. } => head.logits(&self.states(&pass)),
            }
        })
    }

    /// Whether the head has clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        matches!(&self.reader, Reader::States { head, .. } if head.as_clustered().is_some())
    }

    /// What a head with clusters says of a batch with targets.
    pub(crate) fn clustered_logits(&self, batch: &WordBatch) -> super::head::Said {
        let Reader::States { head, .. } = &self.reader else {
            panic!("the head has no states");
        };
        let head = head.as_clustered().expect("the head has clusters");
        let pass = tch::no_grad(|| self.pass(batch, false));
        let places = batch.labels.to_device(self.device);
        head.said(&self.states(&pass), &places, self.loss)
    }
}
