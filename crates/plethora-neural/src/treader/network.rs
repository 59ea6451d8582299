//! A network from words, and from the labels of neighbours where they are read, to labels.

use tch::{Device, Kind, Tensor};

use super::attention::{Pass, States};
use super::batch::{OnDevice, TReaderBatch, TeacherOnDevice};
use super::config::TReaderConfig;
use super::mixture::{Mixture, NUM_SIGNS, UNFITTED};
use super::sides::{Side, TeacherSide, meet};
use super::tokens::TokenSources;
use crate::Result;
use crate::head::{
    Activation, Bottleneck, HeadStep, LabelFacts, Phase, Prior, Ranked, VectorHead, VectorInput,
};
use crate::parameters::{DenseParametersBuilder, ParameterId, Parameters, RowTable, TableRows};
use crate::precision::compute_kind;
use crate::start::{Start, zeros};
use crate::systems::attribution::contributions;
use crate::train::{Learnt, LossScale, Network, StepPart};

/// The table of word vectors among the tables of the parameters.
const WORD_TABLE: usize = 0;

/// Words and labels of neighbours in, scores of labels out.
#[derive(Debug)]
pub(crate) struct TReaderNetwork {
    parameters: Parameters,
    text: Side,
    teacher: Option<TeacherSide>,
    positions: Option<ParameterId>,
    word_dropout: f64,
    bottleneck: Bottleneck,
    activation: Activation,
    dropout: f64,
    head: Box<VectorHead>,
    /// How much votes raise scores.
    prior: Option<ParameterId>,
    /// How scores are mixed with votes. No step changes it.
    mixture: Option<ParameterId>,
    device: Device,
    kind: Kind,
    loss: LossScale,
}

/// What a new network starts from.
pub(crate) struct TReaderSetup<'a> {
    pub(crate) config: &'a TReaderConfig,
    /// rows x width: the first vectors of all words.
    pub(crate) word_vectors: &'a Tensor,
    pub(crate) labels: LabelFacts<'a>,
    /// Number of labels and of the parents that are none.
    pub(crate) num_known: usize,
    pub(crate) device: Device,
    pub(crate) start: Start,
}

/// A batch on its way through the network.
struct Encoded {
    /// documents x bottleneck.
    vector: Tensor,
    rows: Vec<TableRows>,
    /// One a vote: what was read of its label adds.
    label_scores: Option<Tensor>,
}

impl TReaderNetwork {
    /// A fresh network.
    ///
    /// # Errors
    /// If its weights are to come from a file that is too small for it.
    pub(crate) fn new(setup: &TReaderSetup<'_>) -> Result<Self> {
        let TReaderSetup {
            config,
            device,
            start,
            ..
        } = *setup;
        let width = config.vectors.width;
        start.check(setup.word_vectors.numel())?;
        let mut builder = DenseParametersBuilder::default();
        let mut tables = vec![RowTable::new(
            "words",
            setup.word_vectors,
            config.vectors.trained,
            device,
        )];
        let text = Side::new("text", config, &mut builder, start);
        let teacher =
            (config.teacher.is_read()).then(|| TeacherSide::new(setup, &mut builder, &mut tables));
        let positions = config.reading.positions.then(|| {
            let shape = [config.words.max_length as i64, width as i64];
            let id = builder.add("text.positions", zeros(&shape));
            builder.leave_undecayed(id);
            id
        });
        let sides = if teacher.is_some() { 2 } else { 1 };
        let head = start.named("head");
        let bottleneck = Bottleneck::new(sides * width, config.head.bottleneck, &mut builder, head);
        let (head, label_tables) = setup.head(tables.len(), &mut builder);
        tables.extend(label_tables);
        let has_prior = config.teacher.is_read() && config.teacher.prior;
        let prior = has_prior.then(|| {
            let one = Tensor::ones([1], (Kind::Float, Device::Cpu));
            builder.add("head.prior", one)
        });
        let mixture = config.teacher.is_mixed().then(|| {
            let start = Tensor::from_slice(&UNFITTED).to_kind(Kind::Float);
            builder.add("teacher.mixture", start)
        });
        let kind = compute_kind(config.train.precision, device);
        let of_tables = tables.iter().map(|table| table.values().numel());
        start.check(builder.num_values() + of_tables.sum::<usize>())?;
        Ok(Self {
            parameters: Parameters {
                dense: builder.finish_in(device, kind),
                tables,
            },
            text,
            teacher,
            positions,
            word_dropout: config.reading.word_dropout,
            bottleneck,
            activation: config.head.activation,
            dropout: config.head.dropout,
            head,
            prior,
            mixture,
            device,
            kind,
            loss: config.train.loss,
        })
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// Bytes of a number that is computed with.
    pub(crate) fn bytes_per_number(&self) -> usize {
        self.kind.elt_size_in_bytes()
    }

    /// Makes what is computed with what the weights are now; wanted before ranking, where they have
    /// changed.
    pub(crate) fn refresh(&self) {
        self.parameters.dense.refresh();
    }

    /// Whether it reads what neighbours bring.
    pub(crate) fn reads_neighbours(&self) -> bool {
        self.teacher.is_some()
    }

    /// How scores are mixed with votes; absent where they are the network's alone.
    pub(crate) fn mixture(&self) -> Option<Mixture> {
        let kept = self.parameters.dense.get(self.mixture?);
        let kept = kept.detach().to_device(Device::Cpu).to_kind(Kind::Double);
        let mut weights = [0.0; NUM_SIGNS];
        kept.copy_data(&mut weights, NUM_SIGNS);
        Some(Mixture::new(weights))
    }

    /// Mixes scores with votes in another way, where they are mixed.
    pub(crate) fn set_mixture(&self, mixture: &Mixture) {
        if let Some(id) = self.mixture {
            let weights = Tensor::from_slice(mixture.weights());
            let mut kept = self.parameters.dense.get(id).shallow_clone();
            tch::no_grad(|| kept.copy_(&weights));
            self.refresh();
        }
    }

    /// Gives up what only training needs.
    pub(crate) fn end_training(&mut self) {
        self.parameters.dense.end_training();
    }

    /// The best `keep` labels of each document.
    pub(crate) fn rank(&self, batch: &TReaderBatch, keep: usize) -> Ranked {
        tch::no_grad(|| {
            let on_device = batch.to_device(self.device);
            let encoded = self.encode(batch, &on_device, false);
            let prior = self.prior(on_device.teacher.as_ref(), &encoded);
            (self.head).rank(&self.input(&encoded, prior.as_ref()), 0, keep)
        })
    }

    /// What each word of one document adds to the log-odds of a label, of a network that reads texts
    /// alone.
    pub(crate) fn contributions(&self, batch: &TReaderBatch, label: u32) -> Vec<f32> {
        let pass = Pass {
            parameters: &self.parameters.dense,
            is_training: false,
        };
        let on_device = batch.to_device(self.device);
        let rows = self.parameters.tables[WORD_TABLE].gather(WORD_TABLE, &batch.rows);
        let leaf = rows.leaf.detach().to_kind(self.kind);
        let vectors = Tensor::embedding(&leaf, &on_device.words, 0, false, false);
        contributions(&vectors, |vectors| {
            let text = self.read_vectors(pass, vectors.shallow_clone(), &on_device);
            let vector = self.text.pooling.forward(pass.parameters, &text);
            let hidden = self.bottleneck.forward(pass.parameters, &vector);
            let input = VectorInput {
                parameters: &self.parameters,
                vector: &self.activation.apply(hidden),
                prior: None,
                recall: None,
            };
            self.head.log_odds_of(&input, label)
        })
    }

    /// documents x labels, in 32 bits; only in the flat form.
    #[cfg(test)]
    pub(super) fn logits(&self, batch: &TReaderBatch) -> Tensor {
        tch::no_grad(|| {
            let on_device = batch.to_device(self.device);
            let encoded = self.encode(batch, &on_device, false);
            let prior = self.prior(on_device.teacher.as_ref(), &encoded);
            self.head.logits(&self.input(&encoded, prior.as_ref()))
        })
    }

    fn input<'a>(&'a self, encoded: &'a Encoded, prior: Option<&'a Prior<'a>>) -> VectorInput<'a> {
        VectorInput {
            parameters: &self.parameters,
            vector: &encoded.vector,
            prior,
            recall: None,
        }
    }

    /// What votes add to scores, and what was read of their labels.
    fn prior<'a>(
        &self,
        teacher: Option<&'a TeacherOnDevice>,
        encoded: &Encoded,
    ) -> Option<Prior<'a>> {
        let teacher = teacher?;
        let of_votes = self.prior.map(|factor| {
            let factor = self.parameters.dense.computed(factor);
            &teacher.votes.gains * factor.to_kind(Kind::Float)
        });
        let of_reading = encoded.label_scores.as_ref().map(Tensor::shallow_clone);
        let values = match (of_votes, of_reading) {
            (Some(votes), Some(reading)) => votes + reading,
            (Some(values), None) | (None, Some(values)) => values,
            (None, None) => return None,
        };
        Some(Prior {
            places: &teacher.votes.places,
            values,
        })
    }

    /// Both sides up to the vector that labels are compared with.
    fn encode(&self, batch: &TReaderBatch, on_device: &OnDevice, is_training: bool) -> Encoded {
        let pass = Pass {
            parameters: &self.parameters.dense,
            is_training,
        };
        let mut rows = vec![self.parameters.tables[WORD_TABLE].gather(WORD_TABLE, &batch.rows)];
        let words = rows[WORD_TABLE].leaf.to_kind(self.kind);
        let text = self.read_text(pass, &words, on_device);
        let taught = self.teacher.as_ref().zip(on_device.teacher.as_ref());
        let (vector, label_scores) = match taught.zip(batch.teacher.as_ref()) {
            None => (self.text.pooling.forward(pass.parameters, &text), None),
            Some(((side, teacher), brought)) => {
                let sources = TokenSources {
                    parameters: &self.parameters,
                    words: &words,
                    labels: &brought.rows,
                };
                let (tokens, label_rows) = side.tokens.forward(teacher, &sources);
                rows.extend(label_rows);
                self.read_both(pass, text, (side, teacher), tokens)
            }
        };
        let hidden = self.bottleneck.forward(pass.parameters, &vector);
        let hidden = self.activation.apply(hidden);
        Encoded {
            vector: hidden.dropout(self.dropout, is_training),
            rows,
            label_scores,
        }
    }

    fn read_text(&self, pass: Pass<'_>, words: &Tensor, on_device: &OnDevice) -> States {
        let states = Tensor::embedding(words, &on_device.words, 0, false, false);
        self.read_vectors(pass, states, on_device)
    }

    fn read_vectors(&self, pass: Pass<'_>, mut states: Tensor, on_device: &OnDevice) -> States {
        if let Some(positions) = self.positions {
            let positions = pass.parameters.computed(positions);
            let positions = positions.narrow(0, 0, states.size()[1]);
            states += positions;
        }
        let text = States {
            values: states.dropout(self.word_dropout, pass.is_training),
            mask: on_device.mask.as_ref().map(Tensor::shallow_clone),
            has_gaps: false,
        };
        self.text.reading.forward(pass, text)
    }

    /// The vector of both sides, and what was read of labels.
    fn read_both(
        &self,
        pass: Pass<'_>,
        text: States,
        (side, teacher): (&TeacherSide, &TeacherOnDevice),
        mut tokens: States,
    ) -> (Tensor, Option<Tensor>) {
        let dense = pass.parameters;
        tokens.values = tokens.values.dropout(self.word_dropout, pass.is_training);
        let labels = side.side.reading.forward(pass, tokens);
        let (text, labels) = meet(pass, (&self.text, text), (&side.side, labels));
        let (text, labels) = match &side.joint {
            Some(joint) => joint.forward(pass, &text, &labels),
            None => (text, labels),
        };
        let scores = side.scores.as_ref();
        let scores = scores.map(|scores| scores.forward(dense, &labels, teacher));
        let parts = [
            side.side.pooling.forward(dense, &labels),
            self.text.pooling.forward(dense, &text),
        ];
        (Tensor::cat(&parts, 1), scores)
    }
}

impl Network for TReaderNetwork {
    type Batch = TReaderBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &TReaderBatch, step: &StepPart<'_>) -> Result<Learnt> {
        self.parameters.dense.refresh();
        let on_device = batch.to_device(self.device);
        let encoded = self.encode(batch, &on_device, true);
        let targets = batch
            .targets
            .as_ref()
            .expect("batches to learn from have targets")
            .to_device(self.device);
        let prior = self.prior(on_device.teacher.as_ref(), &encoded);
        let step = HeadStep {
            targets: &targets,
            part: step,
            loss: self.loss,
            phase: Phase::Joint,
            drops: true,
        };
        let learnt = (self.head).learn(&self.input(&encoded, prior.as_ref()), &step)?;
        self.parameters.dense.collect();
        Ok(Learnt {
            loss: learnt.loss,
            rows: encoded.rows,
        })
    }

    fn assist(&self, step: &StepPart<'_>) -> Result<f64> {
        self.head.assist(&self.parameters, step, self.loss)
    }
}
