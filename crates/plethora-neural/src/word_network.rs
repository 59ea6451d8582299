//! A network from words to labels: word vectors, an encoder, a head.

use tch::{Device, Kind, Tensor};

use crate::batch::{Targets, WordBatch};
use crate::encoder::{Encoded, Encoder, WordVectors};
use crate::head::{
    Clusters, Head, HeadInput, LabelFacts, LabelPlaces, Ranked, Scored, StatesInput,
};
use crate::network_head::NetworkHead;
use crate::parameters::{DenseParametersBuilder, Parameters, RowTable, TableRows};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::train::{Learnt, LossScale, Network, StepPart};
use crate::word_config::WordConfig;
use crate::{Result, guard};

/// The table of word vectors among the tables of the parameters.
const WORD_TABLE: usize = 0;
/// The table of label rows, where labels are candidates.
pub(crate) const LABEL_TABLE: usize = 1;

/// Words in, scores of labels out.
#[derive(Debug)]
pub(crate) struct WordNetwork {
    parameters: Parameters,
    encoder: Encoder,
    head: NetworkHead,
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
        let (head, label_rows) = NetworkHead::new(setup, encoder.width(), &mut builder);
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
                let NetworkHead::Labels(head) = &self.head else {
                    unreachable!("networks with clusters rank by themselves");
                };
                let rows = self.gather(batch);
                let on_device = OnDevice::new(batch, &rows, self.device);
                let input = self.read(batch, &rows, &on_device, false);
                let scored = on_device.scored(&rows);
                let logits = head.logits(&input, &scored);
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
                Ok(match &self.head {
                    NetworkHead::Labels(head) => {
                        let table = self.parameters.tables.get(LABEL_TABLE);
                        head.attention(&input, table, label)
                    }
                    NetworkHead::Clustered(head) => {
                        Some(head.attention(&self.states_input(&input), label))
                    }
                })
            })
        })
    }

    /// The best `keep` labels of each document through its best `beam` clusters; absent where the
    /// network has no clusters.
    pub(crate) fn rank(
        &self,
        batch: &WordBatch,
        beam: usize,
        keep: usize,
    ) -> Result<Option<Ranked>> {
        let NetworkHead::Clustered(head) = &self.head else {
            return Ok(None);
        };
        guard::guarded(|| {
            tch::no_grad(|| {
                let rows = vec![self.words(batch)];
                let on_device = OnDevice::new(batch, &rows, self.device);
                let input = self.read(batch, &rows, &on_device, false);
                Ok(Some(head.rank(&self.states_input(&input), beam, keep)))
            })
        })
    }

    /// What a head with clusters says of a batch with targets.
    #[cfg(test)]
    pub(crate) fn clustered_logits(&self, batch: &WordBatch) -> crate::head::Said {
        let NetworkHead::Clustered(head) = &self.head else {
            panic!("the head has no clusters");
        };
        let rows = vec![self.words(batch)];
        let on_device = OnDevice::new(batch, &rows, self.device);
        let input = self.read(batch, &rows, &on_device, false);
        let places = self.label_places(batch);
        head.said(&self.states_input(&input), &places, self.loss)
    }

    fn states_input<'a>(&'a self, input: &'a HeadInput<'a>) -> StatesInput<'a> {
        let Encoded::States(states) = &input.encoded else {
            unreachable!("settings with attention and no states are refused");
        };
        StatesInput {
            head: input,
            states,
            table: &self.parameters.tables[LABEL_TABLE],
        }
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
        let size = match &self.head {
            NetworkHead::Labels(Head::Attention(head)) => {
                head.map_size((documents, words), self.num_labels, self.device)
            }
            NetworkHead::Labels(Head::AllLabels(_)) => 0,
            NetworkHead::Clustered(head) => head.map_size(documents, words, self.device),
        };
        size as usize
    }

    /// Numbers in the label rows that a training batch of so many documents takes from their table
    /// at most. What networks take whose batches bring the candidates is part of their map.
    pub(crate) fn num_row_values(&self, num_documents: usize) -> usize {
        match &self.head {
            NetworkHead::Labels(_) => 0,
            NetworkHead::Clustered(head) => {
                let width = self.parameters.tables[LABEL_TABLE].values().size()[1];
                (head.num_rows(num_documents as i64) * width) as usize
            }
        }
    }

    /// Labels or clusters that a document of a training batch is compared with at most.
    pub(crate) fn num_scored(&self) -> usize {
        match &self.head {
            NetworkHead::Labels(_) => self.num_labels as usize,
            NetworkHead::Clustered(head) => head.num_scored() as usize,
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
            Some(Targets::Places(places)) => {
                let shape = [batch.num_documents(), self.num_labels];
                let blank = Tensor::zeros(shape, (Kind::Float, self.device));
                places.to_device(self.device).matrix(&blank)
            }
            Some(Targets::OfCandidates(truth)) => truth.to_device(self.device),
            None => unreachable!("batches to learn from have targets"),
        }
    }

    /// The true labels of a batch, where it brings no candidates.
    fn label_places(&self, batch: &WordBatch) -> LabelPlaces {
        match &batch.targets {
            Some(Targets::Places(places)) => places.to_device(self.device),
            _ => unreachable!("batches to learn from have targets of all labels"),
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
            let mut rows = self.gather(batch);
            let on_device = OnDevice::new(batch, &rows, self.device);
            let input = self.read(batch, &rows, &on_device, true);
            let head = match &self.head {
                NetworkHead::Labels(head) => head,
                NetworkHead::Clustered(head) => {
                    let places = self.label_places(batch);
                    let input = self.states_input(&input);
                    let mut learnt = head.learn(&input, &places, self.loss, step.scale);
                    rows.append(&mut learnt.rows);
                    return Ok(Learnt { rows, ..learnt });
                }
            };
            let targets = self.targets(batch);
            let share = match self.loss {
                LossScale::Sum => 1.0 / batch.num_documents() as f64,
                LossScale::Mean => 1.0 / targets.numel() as f64,
            };
            let scored = on_device.scored(&rows);
            let sum = head.learn(&input, &scored, &targets, step.scale * share);
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
