//! A network from words to labels: word vectors, an encoder, a head.

use tch::{Device, Kind, Tensor};

use super::batch::WordBatch;
use super::config::WordConfig;
use super::encoder::WordVectors;
use super::head::{ClusteredAttention, HeadInput, Lesson, Scored, StatesInput, strongest};
use super::reader::{Reader, StatesHead};
use crate::head::{Clusters, LabelFacts, Ranked};
use crate::parameters::{DenseParametersBuilder, Parameters, RowTable, TableRows};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::train::{Learnt, LossScale, Network, StepPart};
use crate::{Result, guard};

/// The table of word vectors among the tables of the parameters.
const WORD_TABLE: usize = 0;
/// The table of label rows, where labels are candidates.
pub(crate) const LABEL_TABLE: usize = 1;

/// Words in, scores of labels out.
#[derive(Debug)]
pub(crate) struct WordNetwork {
    parameters: Parameters,
    reader: Reader,
    num_labels: i64,
    device: Device,
    kind: Kind,
    loss: LossScale,
}

/// What a new network starts from.
pub(crate) struct NetworkSetup<'a> {
    pub(crate) config: &'a WordConfig,
    /// rows x width: the first vectors of all words.
    pub(crate) word_vectors: &'a Tensor,
    pub(crate) labels: LabelFacts<'a>,
    /// True where each document brings labels to choose from.
    pub(crate) has_candidates: bool,
    /// The groups of labels and the documents of each, where the head has clusters.
    pub(crate) clusters: Option<(&'a Clusters, LabelFacts<'a>)>,
    pub(crate) device: Device,
    pub(crate) start: Start,
}

/// What a network says of documents.
pub(crate) enum Said {
    /// documents x labels or candidates, in 32 bits: scores before the sigmoid; minus infinity for
    /// padding.
    Logits(Tensor),
    /// The best labels, through the best clusters of labels.
    Ranked(Ranked),
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
            num_labels: setup.labels.train_counts.len() as i64,
            device,
            kind: compute_kind(config.train.precision, device),
            loss: config.train.loss,
        })
    }

    /// The scores of all labels or of the candidates, or, where the network has clusters of labels, the
    /// best `keep` labels of each document through its best `beam` clusters.
    pub(crate) fn say(&self, batch: &WordBatch, beam: usize, keep: usize) -> Result<Said> {
        guard::guarded(|| {
            tch::no_grad(|| {
                let rows = self.gather(batch);
                let on_device = OnDevice::new(batch, &rows, self.device);
                let encoded = self.encode(batch, &rows, &on_device, false);
                let input = self.input(&on_device, false);
                let logits = match &self.reader {
                    Reader::Vectors { head, .. } => head.logits(&input, &encoded),
                    Reader::States { head, .. } => match head {
                        StatesHead::Pooled(head) => {
                            head.logits(&input, &strongest(&input, &encoded))
                        }
                        StatesHead::Attention(head) => {
                            head.logits(&input, &encoded, &on_device.scored(&rows))
                        }
                        StatesHead::Clustered(head) => {
                            let input = StatesInput::new(&input, &encoded);
                            return Ok(Said::Ranked(head.rank(&input, beam, keep)));
                        }
                    },
                };
                Ok(Said::Logits(match &on_device.candidates {
                    Some((_, filled)) => logits.masked_fill(&filled.eq(0.0), f64::NEG_INFINITY),
                    None => logits,
                }))
            })
        })
    }

    /// How strongly a label attends to each word of the documents; absent without attention.
    ///
    /// # Shapes
    /// Gives documents x words.
    pub(crate) fn attention(&self, batch: &WordBatch, label: u32) -> Result<Option<Tensor>> {
        guard::guarded(|| {
            tch::no_grad(|| {
                let rows = vec![self.words(batch)];
                let on_device = OnDevice::new(batch, &rows, self.device);
                let encoded = self.encode(batch, &rows, &on_device, false);
                let input = self.input(&on_device, false);
                Ok(match &self.reader {
                    Reader::States {
                        head: StatesHead::Attention(head),
                        ..
                    } => Some(head.attention(&input, &encoded, label)),
                    Reader::States {
                        head: StatesHead::Clustered(head),
                        ..
                    } => Some(head.attention(&StatesInput::new(&input, &encoded), label)),
                    _ => None,
                })
            })
        })
    }

    /// The scores of a network without clusters.
    #[cfg(test)]
    pub(crate) fn logits(&self, batch: &WordBatch) -> Result<Tensor> {
        match self.say(batch, 1, 1)? {
            Said::Logits(logits) => Ok(logits),
            Said::Ranked(_) => panic!("the head has clusters"),
        }
    }

    /// The best labels of a network with clusters.
    #[cfg(test)]
    pub(crate) fn rank(
        &self,
        batch: &WordBatch,
        beam: usize,
        keep: usize,
    ) -> Result<Option<Ranked>> {
        Ok(match self.say(batch, beam, keep)? {
            Said::Logits(_) => None,
            Said::Ranked(ranked) => Some(ranked),
        })
    }

    /// What a head with clusters says of a batch with targets.
    #[cfg(test)]
    pub(crate) fn clustered_logits(&self, batch: &WordBatch) -> super::head::Said {
        let head = self.reader.clustered().expect("the head has clusters");
        let rows = vec![self.words(batch)];
        let on_device = OnDevice::new(batch, &rows, self.device);
        let states = self.encode(batch, &rows, &on_device, false);
        let input = self.input(&on_device, false);
        let places = batch.labels.to_device(self.device);
        head.said(&StatesInput::new(&input, &states), &places, self.loss)
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// Bytes of a number that is computed with.
    pub(crate) fn bytes_per_number(&self) -> usize {
        self.kind.elt_size_in_bytes()
    }

    /// Numbers that the head makes at a time of a batch of so many documents and words.
    pub(crate) fn map_size(&self, num_documents: usize, num_words: usize) -> usize {
        let (documents, words) = (num_documents as i64, num_words as i64);
        let size = match &self.reader {
            Reader::States {
                head: StatesHead::Attention(head),
                ..
            } => head.map_size((documents, words), self.num_labels, self.device),
            Reader::States {
                head: StatesHead::Clustered(head),
                ..
            } => head.map_size(documents, words, self.device),
            _ => 0,
        };
        size as usize
    }

    /// Numbers in the label rows that a training batch of so many documents takes from their table
    /// at most. What networks take whose batches bring the candidates is part of their map.
    pub(crate) fn num_row_values(&self, num_documents: usize) -> usize {
        self.reader.clustered().map_or(0, |head| {
            let width = self.parameters.tables[LABEL_TABLE].values().size()[1];
            (head.num_rows(num_documents as i64) * width) as usize
        })
    }

    /// Labels or clusters that a document of a training batch is compared with at most.
    pub(crate) fn num_scored(&self) -> usize {
        let clustered = self.reader.clustered();
        clustered.map_or(self.num_labels, ClusteredAttention::num_scored) as usize
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

    /// The table rows that a batch works with.
    fn gather(&self, batch: &WordBatch) -> Vec<TableRows> {
        let mut rows = vec![self.words(batch)];
        if let Some(candidates) = &batch.candidates {
            rows.push(self.parameters.tables[LABEL_TABLE].gather(LABEL_TABLE, &candidates.rows));
        }
        rows
    }

    fn words(&self, batch: &WordBatch) -> TableRows {
        self.parameters.tables[WORD_TABLE].gather(WORD_TABLE, &batch.rows)
    }

    /// Takes a batch through the encoder.
    fn encode(
        &self,
        batch: &WordBatch,
        rows: &[TableRows],
        on_device: &OnDevice,
        is_training: bool,
    ) -> Tensor {
        let vectors = Tensor::embedding(
            &rows[WORD_TABLE].leaf.to_kind(self.kind),
            &on_device.words,
            0,
            false,
            false,
        );
        let words = WordVectors {
            vectors: &vectors,
            lengths: &batch.lengths,
            is_training,
        };
        self.reader
            .encode(&self.parameters.dense, &words, self.kind)
    }

    fn input<'a>(&'a self, on_device: &'a OnDevice, is_training: bool) -> HeadInput<'a> {
        HeadInput {
            parameters: &self.parameters,
            mask: on_device.mask.as_ref(),
            is_training,
        }
    }

    /// documents x labels or candidates: ones and zeros.
    fn targets(&self, batch: &WordBatch) -> Tensor {
        if let Some(candidates) = &batch.candidates {
            return candidates.truth.to_device(self.device);
        }
        let shape = [batch.num_documents(), self.num_labels];
        let blank = Tensor::zeros(shape, (Kind::Float, self.device));
        batch.labels.to_device(self.device).matrix(&blank)
    }
}

impl Network for WordNetwork {
    type Batch = WordBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &WordBatch, step: &StepPart<'_>) -> Result<Learnt> {
        guard::guarded(|| {
            let mut rows = self.gather(batch);
            let on_device = OnDevice::new(batch, &rows, self.device);
            let encoded = self.encode(batch, &rows, &on_device, true);
            let input = self.input(&on_device, true);
            let learn_all = |learn: &dyn Fn(&Tensor, f64) -> Tensor| {
                let targets = self.targets(batch);
                let share = match self.loss {
                    LossScale::Sum => 1.0 / batch.num_documents() as f64,
                    LossScale::Mean => 1.0 / targets.numel() as f64,
                };
                learn(&targets, step.scale * share) * share
            };
            let head = match &self.reader {
                Reader::Vectors { head, .. } => {
                    let loss =
                        learn_all(&|targets, scale| head.learn(&input, &encoded, targets, scale));
                    return Ok(Learnt { loss, rows });
                }
                Reader::States { head, .. } => head,
            };
            let loss = match head {
                StatesHead::Pooled(head) => {
                    let vector = strongest(&input, &encoded);
                    learn_all(&|targets, scale| head.learn(&input, &vector, targets, scale))
                }
                StatesHead::Attention(head) => {
                    let scored = &on_device.scored(&rows);
                    learn_all(&|targets, scale| {
                        let lesson = Lesson {
                            scored,
                            targets,
                            scale,
                        };
                        head.learn(&input, &encoded, &lesson)
                    })
                }
                StatesHead::Clustered(head) => {
                    let places = batch.labels.to_device(self.device);
                    let input = StatesInput::new(&input, &encoded);
                    let mut learnt = head.learn(&input, &places, self.loss, step.scale);
                    rows.append(&mut learnt.rows);
                    learnt.loss
                }
            };
            Ok(Learnt { loss, rows })
        })
    }
}

/// The parts of a batch that are computed with, on the device.
struct OnDevice {
    words: Tensor,
    mask: Option<Tensor>,
    /// Places and padding.
    candidates: Option<(Tensor, Tensor)>,
}

impl OnDevice {
    fn new(batch: &WordBatch, rows: &[TableRows], device: Device) -> Self {
        let candidates = batch
            .candidates
            .as_ref()
            .filter(|_| rows.len() > LABEL_TABLE)
            .map(|candidates| {
                (
                    candidates.places.to_device(device),
                    candidates.filled.to_device(device),
                )
            });
        Self {
            words: batch.words.to_device(device),
            mask: batch.mask(device),
            candidates,
        }
    }

    fn scored<'a>(&'a self, rows: &'a [TableRows]) -> Scored<'a> {
        match &self.candidates {
            Some((places, filled)) => Scored::Candidates {
                rows: &rows[LABEL_TABLE],
                places,
                filled,
            },
            None => Scored::All,
        }
    }
}
