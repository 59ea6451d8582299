//! A network from words to labels: word vectors, an encoder, a head.

use tch::{Device, Kind, Tensor};

use crate::batch::{Targets, WordBatch};
use crate::encoder::{Encoder, WordVectors};
use crate::head::{Head, HeadInput, LabelFacts, Scored};
use crate::parameters::{DenseParametersBuilder, Parameters, RowTable, TableRows};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::train::{Learnt, LossScale, Network, StepPart};
use crate::word_config::WordConfig;
use crate::{Result, guard};

/// The table of word vectors among the tables of the parameters.
const WORD_TABLE: usize = 0;
/// The table of label rows, where labels are candidates.
const LABEL_TABLE: usize = 1;

/// Words in, scores of labels out.
#[derive(Debug)]
pub(crate) struct WordNetwork {
    parameters: Parameters,
    encoder: Encoder,
    head: Head,
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
    pub(crate) device: Device,
    pub(crate) start: Start,
}

impl WordNetwork {
    pub(crate) fn new(setup: &NetworkSetup<'_>) -> Self {
        let config = setup.config;
        let mut builder = DenseParametersBuilder::default();
        let encoder = Encoder::new(
            &config.encoder,
            config.vectors.width,
            &mut builder,
            setup.start.named("encoder"),
        );
        let (mut head, label_rows) = Head::new(
            &config.head,
            encoder.width(),
            &setup.labels,
            setup.has_candidates,
            &mut builder,
            setup.start.named("head"),
        );
        if let Head::Attention(attention) = &mut head {
            attention.set_chunk(config.train.label_chunk);
        }
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
        Self {
            parameters: Parameters {
                dense: builder.finish(device),
                tables,
            },
            encoder,
            head,
            num_labels: setup.labels.train_counts.len() as i64,
            device,
            kind: compute_kind(config.train.precision, device),
            loss: config.train.loss,
        }
    }

    /// Scores before the sigmoid, of all labels or of the candidates; minus infinity for filling.
    ///
    /// # Shapes
    /// Gives documents x labels or candidates, in 32 bits.
    pub(crate) fn logits(&self, batch: &WordBatch) -> Result<Tensor> {
        guard::guarded(|| {
            tch::no_grad(|| {
                let rows = self.gather(batch);
                let on_device = OnDevice::new(batch, &rows, self.device);
                let input = self.read(batch, &rows, &on_device, false);
                let scored = on_device.scored(&rows);
                let logits = self.head.logits(&input, &scored);
                Ok(match &on_device.candidates {
                    Some((_, filled)) => logits.masked_fill(&filled.eq(0.0), f64::NEG_INFINITY),
                    None => logits,
                })
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
                let input = self.read(batch, &rows, &on_device, false);
                let table = self.parameters.tables.get(LABEL_TABLE);
                Ok(self.head.attention(&input, table, label))
            })
        })
    }

    pub(crate) fn is_on_gpu(&self) -> bool {
        self.device != Device::Cpu
    }

    /// Bytes of a number that is computed with.
    pub(crate) fn bytes_per_number(&self) -> usize {
        self.kind.elt_size_in_bytes()
    }

    pub(crate) fn num_labels(&self) -> usize {
        self.num_labels as usize
    }

    /// Numbers that the head makes at a time of a batch of so many documents and words.
    pub(crate) fn map_size(&self, num_documents: usize, num_words: usize) -> usize {
        match &self.head {
            Head::Attention(head) => {
                let batch = (num_documents as i64, num_words as i64);
                let chunk = head.chunk_length(batch, self.num_labels, self.device);
                let per_label = batch.0 * batch.1.max(head.numbers_per_label());
                (chunk.min(self.num_labels) * per_label) as usize
            }
            Head::AllLabels(_) => 0,
        }
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
    fn read<'a>(
        &'a self,
        batch: &'a WordBatch,
        rows: &[TableRows],
        on_device: &'a OnDevice,
        is_training: bool,
    ) -> HeadInput<'a> {
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
        let parameters = &self.parameters.dense;
        HeadInput {
            parameters,
            encoded: self.encoder.forward(parameters, &words, self.kind),
            mask: on_device.mask.as_ref(),
            is_training,
        }
    }

    /// documents x labels or candidates: ones and zeros.
    fn targets(&self, batch: &WordBatch) -> Tensor {
        match &batch.targets {
            Some(Targets::Places { documents, labels }) => {
                let shape = [batch.num_documents(), self.num_labels];
                let mut targets = Tensor::zeros(shape, (Kind::Float, self.device));
                let places = [
                    Some(documents.to_device(self.device)),
                    Some(labels.to_device(self.device)),
                ];
                let one = Tensor::ones([1], (Kind::Float, self.device));
                targets.index_put_(&places, &one, false)
            }
            Some(Targets::OfCandidates(truth)) => truth.to_device(self.device),
            None => unreachable!("batches to learn from have targets"),
        }
    }
}

impl Network for WordNetwork {
    type Batch = WordBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &WordBatch, step: &StepPart<'_>) -> Result<Learnt> {
        guard::guarded(|| {
            let rows = self.gather(batch);
            let on_device = OnDevice::new(batch, &rows, self.device);
            let input = self.read(batch, &rows, &on_device, true);
            let targets = self.targets(batch);
            let share = match self.loss {
                LossScale::Sum => 1.0 / batch.num_documents() as f64,
                LossScale::Mean => 1.0 / targets.numel() as f64,
            };
            let scored = on_device.scored(&rows);
            let sum = (self.head).learn(&input, &scored, &targets, step.scale * share);
            let loss = sum * share;
            Ok(Learnt { loss, rows })
        })
    }
}

/// The parts of a batch that are computed with, on the device.
struct OnDevice {
    words: Tensor,
    mask: Option<Tensor>,
    /// Places and filling.
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
