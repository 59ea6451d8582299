//! The loss of every label, in runs of labels: logits of one run are there at a time, and its vectors
//! are changed before the next comes, as Renée and ELMO showed.
//!
//! With h the document vector, W and b the vectors and biases of the labels and y the truth, the
//! gradient of the cross-entropy by a logit is e = sigmoid(W h + b) - y. A run gives e W to the
//! document vector and e h to its labels; neither needs the other runs. So labels may lie in shards over
//! several processes, too, which then share the vectors of a batch and add up what their labels say of them.

use std::ops::Range;

use plethora_system::ranks;
use tch::{Device, Kind, Tensor};

use self::gathered::Gathered;
use super::bottleneck::Bottleneck;
use super::label_chunks::{chunk_limit, label_chunks};
use super::vector_input::{LabelPlaces, Prior, Ranked, VectorInput, send_back};
use super::{HeadStep, LabelFacts, LabelHead};
use crate::Result;
use crate::parameters::{DenseParametersBuilder, Parameters, RowShare, RowTable};
use crate::start::Start;
use crate::train::{Learnt, LossScale, MomentumRule, StepPart};

/// Numbers of a run on a GPU (labels x documents, or x width of a label's vector): 512 MiB in
/// 32 bits, of which a few copies live at a time.
const RUN_SIZE_GPU: i64 = 1 << 27;

/// As [`RUN_SIZE_GPU`], on a processor, where a run that stays in its caches is the faster one.
const RUN_SIZE_CPU: i64 = 1 << 20;

/// Every label against the document vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExactConfig {
    /// Numbers of a label's vector; 0 takes as many as the document vector has.
    pub(crate) bottleneck: usize,
    /// Step size of the labels' vectors and biases at its highest.
    pub(crate) learning_rate: f64,
    /// Share of their momentum that a step keeps.
    pub(crate) momentum: f64,
    /// Share by which a step shrinks their vectors, times the step size.
    pub(crate) weight_decay: f64,
    /// Labels that are computed together; 0 chooses by the memory.
    pub(crate) chunk: usize,
}

/// All labels, exactly.
#[derive(Debug)]
pub(crate) struct Exact {
    bottleneck: Option<Bottleneck>,
    num_labels: i64,
    tables: ExactTables,
    rule: MomentumRule,
    chunk: i64,
}

/// Which tables of the parameters hold the labels.
#[derive(Debug, Clone, Copy)]
struct ExactTables {
    /// labels x width.
    vectors: usize,
    /// labels x 1.
    biases: usize,
}

/// What a new head starts from.
pub(crate) struct ExactSetup<'a> {
    pub(crate) config: &'a ExactConfig,
    /// Numbers of a document vector.
    pub(crate) width: usize,
    pub(crate) labels: LabelFacts<'a>,
    /// Which table of the parameters the first of its own will be.
    pub(crate) first_table: usize,
    pub(crate) device: Device,
}

/// What labels learn from.
struct Batch<'a> {
    /// documents x width, apart from the graph.
    hidden: Tensor,
    targets: &'a LabelPlaces,
    prior: Option<&'a Prior<'a>>,
    /// What the loss of a label counts in the label's own step.
    weight: f64,
}

/// The labels and what is needed to learn, in a step.
struct Step<'a> {
    batch: &'a Batch<'a>,
    /// The document vectors times the weight.
    scaled_hidden: Tensor,
    part: &'a StepPart<'a>,
    vectors: &'a Tensor,
    biases: &'a Tensor,
}

/// What the runs of a step add up, before its share.
struct Sums {
    loss: Tensor,
    /// Gradient of the narrow vector.
    of_vector: Tensor,
    /// Gradients of the prior's values.
    of_prior: Option<Tensor>,
}

impl Exact {
    /// A fresh head, and its tables.
    pub(crate) fn new(
        setup: &ExactSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Vec<RowTable>) {
        let config = setup.config;
        let num_labels = setup.labels.train_counts.len() as i64;
        let (bottleneck, width) = match config.bottleneck {
            0 => (None, setup.width),
            narrow => {
                let bottleneck = Bottleneck::new(setup.width, narrow, builder, start);
                (Some(bottleneck), narrow)
            }
        };
        let head = Self {
            bottleneck,
            num_labels,
            tables: ExactTables {
                vectors: setup.first_table,
                biases: setup.first_table + 1,
            },
            rule: MomentumRule {
                rate: config.learning_rate,
                momentum: config.momentum,
                weight_decay: config.weight_decay,
            },
            chunk: config.chunk as i64,
        };
        // Where several processes train, the labels of all may be too many for a device, which will have some.
        let device = if ranks::count() > 1 {
            Device::Cpu
        } else {
            setup.device
        };
        let table = |name: &str, values: &Tensor| {
            RowTable::new(name, values, true, device)
                .of_labels()
                .changed_in_passing()
        };
        // A view of a single zero on the device, so that there are never two matrices of all labels.
        let zero = Tensor::zeros([1, 1], (Kind::Float, device));
        let tables = vec![
            table("labels", &zero.expand([num_labels, width as i64], false)),
            table("label_bias", &setup.labels.log_odds().unsqueeze(1)),
        ];
        (head, tables)
    }

    /// Adds the loss of a run and its part of the gradients, then changes the run's labels.
    fn learn_chunk(
        &self,
        step: &Step<'_>,
        chunk: &Range<i64>,
        (sums, of_prior): (&mut Sums, &mut Vec<Tensor>),
    ) {
        let part = |tensor: &Tensor| tensor.narrow(0, chunk.start, chunk.end - chunk.start);
        let hidden = &step.batch.hidden;
        let vectors = part(step.vectors).to_kind(hidden.kind());
        let mut logits = product(hidden, &vectors.tr());
        let _ = logits.g_add_(&part(step.biases).tr());
        let prior = step.batch.prior;
        let raised = prior.map(|prior| raise(&logits, (prior.places, &prior.values), chunk));
        let positives = positives_of(step.batch.targets, chunk);
        sums.loss += logits.softplus().sum(Kind::Float);
        sums.loss -= logits
            .view([-1])
            .index_select(0, &positives)
            .sum(Kind::Float);
        let errors = logits.sigmoid_();
        let minus = errors.new_full(positives.size(), -1.0, (Kind::Float, errors.device()));
        let _ = errors.view([-1]).index_add_(0, &positives, &minus);
        let small_errors = errors.to_kind(hidden.kind());
        sums.of_vector += product(&small_errors, &vectors);
        if let Some(places) = raised {
            let at_places = errors.view([-1]).index_select(0, &places);
            of_prior.push(at_places);
        }
        let momentum = &step.part.momentum;
        if let Some(momenta) = momentum.momentum_of(self.tables.vectors) {
            let of_vectors = small_errors.tr().matmul(&step.scaled_hidden);
            momentum.apply(&self.rule, part(step.vectors), part(momenta), &of_vectors);
        }
        if let Some(momenta) = momentum.momentum_of(self.tables.biases) {
            let of_biases = errors.sum_dim_intlist(0, false, Kind::Float) * step.batch.weight;
            let rule = MomentumRule {
                weight_decay: 0.0,
                ..self.rule
            };
            let of_biases = of_biases.unsqueeze(1);
            momentum.apply(&rule, part(step.biases), part(momenta), &of_biases);
        }
    }

    /// Has the labels that this process has learn from a batch.
    fn learn_labels(
        &self,
        parameters: &Parameters,
        part: &StepPart<'_>,
        batch: &Batch<'_>,
    ) -> Sums {
        let _no_grad = tch::no_grad_guard();
        let step = Step {
            scaled_hidden: &batch.hidden * batch.weight,
            batch,
            part,
            vectors: parameters.tables[self.tables.vectors].values(),
            biases: parameters.tables[self.tables.biases].values(),
        };
        let mut sums = Sums {
            loss: Tensor::zeros([], (Kind::Float, batch.hidden.device())),
            of_vector: batch.hidden.zeros_like().to_kind(Kind::Float),
            of_prior: None,
        };
        let mut of_prior = Vec::new();
        for chunk in self.chunks(&batch.hidden, step.vectors) {
            self.learn_chunk(&step, &chunk, (&mut sums, &mut of_prior));
        }
        // Runs rise by label, as the places do.
        sums.of_prior = batch.prior.map(|_| Tensor::cat(&of_prior, 0));
        sums
    }

    /// Parts of the loss of a document.
    fn num_parts(&self, loss: LossScale) -> f64 {
        match loss {
            LossScale::Sum => 1.0,
            LossScale::Mean => self.num_labels as f64,
        }
    }

    /// # Shapes
    /// Gives documents x width of a label's vector.
    fn hidden(&self, input: &VectorInput<'_>) -> Tensor {
        match &self.bottleneck {
            Some(bottleneck) => bottleneck.forward(&input.parameters.dense, input.vector),
            None => input.vector.shallow_clone(),
        }
    }

    /// Runs of rows that are computed together.
    fn chunks(
        &self,
        hidden: &Tensor,
        vectors: &Tensor,
    ) -> impl Iterator<Item = Range<i64>> + use<> {
        let limit = match self.chunk {
            0 => {
                let widest = hidden.size()[0].max(hidden.size()[1]);
                chunk_limit(widest, RUN_SIZE_GPU, RUN_SIZE_CPU, hidden.device())
            }
            chunk => chunk,
        };
        label_chunks(vectors.size()[0], limit)
    }
}

impl LabelHead<VectorInput<'_>> for Exact {
    /// Computes the loss of all labels, changes the labels' tables by the step's momentum, adds
    /// the gradients of the step's scale times the loss to those of the bottleneck, and sends those of
    /// the vector back through the encoder. The loss is summed or averaged over labels by the step,
    /// and averaged over documents; labels themselves learn from the sum always, as their steps are
    /// not scaled by their gradients' size. A prior raises scores, and its values learn too.
    ///
    /// Where labels lie in shards, the loss is that of all documents with the labels of this process.
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let (part, parameters) = (step.part, input.parameters);
        let hidden = self.hidden(input);
        let per_label = 1.0 / step.targets.num_documents() as f64;
        let batch = Batch {
            hidden: hidden.detach(),
            targets: step.targets,
            prior: input.prior,
            weight: per_label * part.scale,
        };
        let learn = |batch: &Batch<'_>| self.learn_labels(parameters, part, batch);
        let sums = match parameters.tables[self.tables.vectors].share() {
            None => learn(&batch),
            Some(share) => {
                let form = (hidden.size()[1], hidden.kind(), hidden.device());
                Gathered::of(share, Some(&batch), form)?.learn(learn)?
            }
        };
        let num_parts = self.num_parts(step.loss);
        let share_of_step = batch.weight / num_parts;
        let mut gradients = vec![(hidden, sums.of_vector * share_of_step)];
        if let (Some(prior), Some(of_values)) = (input.prior, sums.of_prior) {
            gradients.push((prior.values.shallow_clone(), of_values * share_of_step));
        }
        send_back(&gradients);
        Ok(Learnt {
            loss: sums.loss * (per_label / num_parts),
            rows: Vec::new(),
        })
    }

    fn assist(&self, parameters: &Parameters, part: &StepPart<'_>, loss: LossScale) -> Result<f64> {
        let vectors = &parameters.tables[self.tables.vectors];
        let Some(share) = vectors.share() else {
            return Ok(0.0);
        };
        let (width, device) = (vectors.size()[1], vectors.values().device());
        let gathered = Gathered::of(share, None, (width, parameters.dense.kind(), device))?;
        let weight = gathered.weight();
        let sums = gathered.learn(|batch| self.learn_labels(parameters, part, batch))?;
        Ok(sums.loss.double_value(&[]) * weight / self.num_parts(loss))
    }

    /// Of the labels that this process has, where they lie in shards.
    fn rank(&self, input: &VectorInput<'_>, _beam: usize, keep: usize) -> Ranked {
        let _no_grad = tch::no_grad_guard();
        let table = &input.parameters.tables[self.tables.vectors];
        let vectors = table.values();
        let biases = input.parameters.tables[self.tables.biases].values();
        let own = table.share().map_or(0..self.num_labels, RowShare::own);
        let keep = (keep as i64).min(own.end - own.start);
        // Labels in other numbers would cost more to make than they save, and those of a device without room
        // are elsewhere.
        let hidden = self.hidden(input).to_kind(vectors.kind());
        let hidden = hidden.to_device(vectors.device());
        let prior = input.prior.map(|prior| prior.within(&own, hidden.device()));
        let best = self
            .chunks(&hidden, vectors)
            .map(|chunk| {
                let part = |tensor: &Tensor| tensor.narrow(0, chunk.start, chunk.end - chunk.start);
                let mut logits = hidden.matmul(&part(vectors).tr()).to_kind(Kind::Float);
                let _ = logits.g_add_(&part(biases).tr());
                if let Some((places, values)) = &prior {
                    let _ = raise(&logits, (places, values), &chunk);
                }
                let (start, end) = (own.start + chunk.start, own.start + chunk.end);
                let labels = Tensor::arange_start(start, end, (Kind::Int64, logits.device()));
                Ranked::best_of(&logits, &labels, keep)
            })
            .reduce(|best, other| best.merge(&other, keep))
            .expect("a data set has labels");
        Ranked {
            log_scores: best.log_scores.log_sigmoid(),
            labels: best.labels,
        }
    }

    fn log_odds_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let tables = &input.parameters.tables;
        let part = |table: usize| tables[table].values().narrow(0, i64::from(label), 1);
        let vector = part(self.tables.vectors);
        let hidden = self.hidden(input).to_kind(vector.kind());
        let hidden = hidden.to_device(vector.device());
        let logits = hidden.matmul(&vector.tr()).to_kind(Kind::Float);
        logits + part(self.tables.biases).to_kind(Kind::Float)
    }
}

/// The places of a run's positives in its matrix of documents x labels, read row by row.
fn positives_of(targets: &LabelPlaces, chunk: &Range<i64>) -> Tensor {
    let Range { start, end } = places_of(targets, chunk);
    let part = |tensor: &Tensor| tensor.narrow(0, start, end - start);
    let length = chunk.end - chunk.start;
    part(&targets.documents()) * length + part(&targets.labels()) - chunk.start
}

/// Which places are those of a run. They are sorted by label, so that they lie side by side and the
/// device is not waited for.
fn places_of(targets: &LabelPlaces, chunk: &Range<i64>) -> Range<i64> {
    let labels = targets.labels_on_host();
    let before = |end: i64| labels.partition_point(|&label| i64::from(label) < end) as i64;
    before(chunk.start)..before(chunk.end)
}

/// Adds the prior of a run to its scores in place; gives its places there.
fn raise(logits: &Tensor, (raised, values): (&LabelPlaces, &Tensor), chunk: &Range<i64>) -> Tensor {
    let Range { start, end } = places_of(raised, chunk);
    let places = positives_of(raised, chunk);
    let values = values.narrow(0, start, end - start);
    let _ = logits.view([-1]).index_add_(0, &places, &values);
    places
}

/// A product in 32 bits, of factors in fewer where they are so.
fn product(left: &Tensor, right: &Tensor) -> Tensor {
    left.matmul(right).to_kind(Kind::Float)
}

mod gathered;
#[cfg(test)]
mod tests;
