//! Multi-label attention: each label reads the states with a vector of its own.
//!
//! With states h, the attention vector w of a label and the first shared layer W, b the paper has
//! m = Σ softmax(w·h) h and z = relu(W m + b). The layer is linear and the attention sums to one, so
//! W m = Σ softmax(w·h) (W h): the states are taken through W once for all labels. That halves the
//! work, and nothing of size documents x labels x state is made.

use tch::{Device, Kind, Reduction, Tensor};

use super::attention_form::{AttentionForm, LabelStore};
use super::barrier::{bar, barrier};
use super::candidate_rows::look_up;
use super::label_rows::{LabelRows, RowLearner};
use super::layers::Layer;
use super::{HeadNeed, Scored, StatesInput};
use crate::head::label_chunks::{chunk_limit, label_chunks};
use crate::head::{Activation, LabelFacts};
use crate::parameters::{DenseParametersBuilder, Parameters};
use crate::start::Start;
use crate::words::config::AttentionConfig;

/// Numbers that a chunk of labels makes of a batch at a time on a GPU (documents x labels x words, or
/// x the widest layer where that is more): 512 MiB in 32 bits, of which a few copies live at a time.
const MAP_SIZE_GPU: i64 = 1 << 27;

/// As [`MAP_SIZE_GPU`], on a processor, where a map that stays in its caches is the faster one.
const MAP_SIZE_CPU: i64 = 1 << 21;

/// Label-wise attention and the layers after it.
#[derive(Debug)]
pub(crate) struct Attention {
    config: AttentionConfig,
    activation: Activation,
    /// Whether what labels find is added to other scores.
    is_added: bool,
    /// Width of a state.
    width: i64,
    pub(super) num_labels: i64,
    /// Labels that a document is compared with at most.
    most_scored: i64,
    labels: LabelStore,
    layers: Vec<Layer>,
    output: Option<Layer>,
    /// Labels computed together; 0 chooses.
    chunk: i64,
}

/// What all chunks of labels share.
struct Read<'a> {
    parameters: &'a Parameters,
    /// documents x words x width.
    states: Tensor,
    /// documents x words x width of the first layer: the states through it.
    values: Tensor,
    /// documents x words: minus infinity where a document is over; absent where all are equally
    /// long.
    barrier: Option<Tensor>,
}

/// What labels are to be learnt of a batch.
pub(crate) struct Lesson<'a> {
    pub(crate) scored: &'a Scored<'a>,
    /// documents x labels or candidates.
    pub(crate) targets: &'a Tensor,
    /// documents x labels, a leaf of its own: scores that what labels find is added to.
    pub(crate) added_to: Option<&'a Tensor>,
    /// What gradients are multiplied by.
    pub(crate) scale: f64,
}

/// What a head found in a batch, before the encoder knows of it.
pub(crate) struct LearntApart {
    /// Summed over documents and labels, without the scale.
    pub(crate) loss: Tensor,
    /// What the head made of the encoder's states, with gradients for
    /// [`send_back`](crate::head::send_back).
    pub(crate) back: Vec<(Tensor, Tensor)>,
}

impl Attention {
    /// A head that scores all labels, which are one of its parameters.
    pub(crate) fn of_all(
        form: AttentionForm,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let rows = form.first_rows(labels, start);
        Self::new(form, labels, builder, start, |name, builder| {
            LabelStore::Parameter(builder.add_label_matrix(format!("{name}.labels"), rows))
        })
    }

    /// A head that scores candidates, and the first rows of all labels for the table of this number.
    pub(crate) fn of_candidates(
        form: AttentionForm,
        table: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let rows = form.first_rows(labels, start);
        let head = Self::new(form, labels, builder, start, |_, _| {
            LabelStore::Table(table)
        });
        (head, rows)
    }

    fn new(
        form: AttentionForm,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
        store: impl FnOnce(&str, &mut DenseParametersBuilder) -> LabelStore,
    ) -> Self {
        let AttentionForm { name, config, .. } = form;
        let layers = Layer::stack(name, &config.layers, form.width, builder, start);
        let last = *config.layers.last().expect("validated: there is a layer");
        let output = (form.has_shared_output)
            .then(|| Layer::new(&format!("{name}.output"), last, 1, builder, start));
        Self {
            config,
            activation: form.activation,
            is_added: form.is_added,
            width: form.width as i64,
            num_labels: labels.train_counts.len() as i64,
            most_scored: labels.train_counts.len() as i64,
            labels: store(name, builder),
            layers,
            output,
            chunk: 0,
        }
    }

    /// Computes the attention of this many labels at a time; 0 chooses by the size of the map.
    pub(crate) fn set_chunk(&mut self, chunk: usize) {
        self.chunk = chunk as i64;
    }

    /// A document brings this many candidates at most.
    pub(crate) fn set_most_candidates(&mut self, most: usize) {
        self.most_scored = self.num_labels.min(most as i64);
    }

    /// What the head makes of a training batch of so many documents and words at most.
    pub(super) fn most_needed(&self, batch: (i64, i64), device: Device) -> HeadNeed {
        HeadNeed {
            map_size: self.map_size(batch, self.most_scored, device),
            num_scored: self.most_scored,
            num_rows: match self.labels {
                LabelStore::Parameter(_) => 0,
                LabelStore::Table(_) => (batch.0 * self.most_scored).min(self.num_labels),
            },
        }
    }

    /// Learns without the encoder. Each chunk of labels goes forward and backward on its own, so
    /// that only one attention map is in memory: the gradients of the states are gathered over the
    /// chunks, to be sent through the encoder once. `see` gets the logits of each chunk.
    pub(crate) fn learn_apart(
        &self,
        input: &StatesInput<'_>,
        lesson: &Lesson<'_>,
        mut see: impl FnMut(&Tensor),
    ) -> LearntApart {
        let Lesson {
            scored, targets, ..
        } = lesson;
        let states = input.states;
        let values = self.layers[0].product(&input.parameters.dense, states);
        let leaf = |tensor: &Tensor| tensor.detach().set_requires_grad(true);
        let read = Read {
            parameters: input.parameters,
            states: leaf(states),
            values: leaf(&values),
            barrier: barrier(input.mask, states.kind()),
        };
        let total = Tensor::zeros([], (Kind::Float, states.device()));
        let mut learner = RowLearner::new(self.labels, scored, input.parameters);
        for (start, length) in self.chunks(states, targets.size()[1]) {
            let rows = learner.leaf(start, length);
            let mut logits = self.chunk_logits(&read, &rows);
            if let Some(scores) = lesson.added_to {
                logits += scores.narrow(1, start, length);
            }
            let loss = chunk_loss(&logits, targets, scored, start, length);
            (&loss * lesson.scale).backward();
            learner.add(&rows, start);
            see(&logits.detach());
            let _ = total.shallow_clone().g_add_(&loss.detach());
        }
        learner.finish();
        LearntApart {
            loss: total,
            back: vec![
                (states.shallow_clone(), read.states.grad()),
                (values, read.values.grad()),
            ],
        }
    }

    /// What some labels find in each document: the mean of its states by their attention.
    ///
    /// # Shapes
    /// From documents x labels, numbers of labels, to documents x labels x width of the states.
    pub(crate) fn contexts(&self, input: &StatesInput<'_>, labels: &Tensor) -> Tensor {
        let states = input.states;
        let all = (self.labels.rows(input.parameters)).narrow(1, 0, self.width);
        let rows = look_up(&all, labels, 0, labels.size()[1]);
        let barrier = barrier(input.mask, states.kind());
        let map = self.map(states, barrier.as_ref(), &LabelRows::OfDocuments(rows));
        map.bmm(states)
    }

    /// Scores before the sigmoid.
    ///
    /// # Shapes
    /// Gives documents x labels or candidates.
    pub(crate) fn logits(&self, input: &StatesInput<'_>, scored: &Scored<'_>) -> Tensor {
        let states = input.states;
        let read = self.read(input);
        let num_scored = match scored {
            Scored::All => self.num_labels,
            Scored::Candidates { places, .. } => places.size()[1],
        };
        let parts: Vec<Tensor> = self
            .chunks(states, num_scored)
            .map(|(start, length)| {
                let run = (start, length);
                let rows = LabelRows::of(self.labels, scored, input.parameters, run);
                self.chunk_logits(&read, &rows)
            })
            .collect();
        Tensor::cat(&parts, 1)
    }

    /// How strongly a label attends to each word.
    ///
    /// # Shapes
    /// Gives documents x words.
    pub(crate) fn weights(&self, input: &StatesInput<'_>, label: u32) -> Tensor {
        let read = self.read(input);
        let all = self.labels.rows(input.parameters);
        let rows = LabelRows::Shared(all.narrow(0, i64::from(label), 1));
        self.map(&read.states, read.barrier.as_ref(), &rows)
            .select(1, 0)
            .to_kind(Kind::Float)
    }

    fn read<'a>(&self, input: &StatesInput<'a>) -> Read<'a> {
        let states = input.states;
        Read {
            parameters: input.parameters,
            states: states.shallow_clone(),
            values: self.layers[0].product(&input.parameters.dense, states),
            barrier: barrier(input.mask, states.kind()),
        }
    }

    /// Labels that are computed together at most, for a batch of so many documents and words.
    fn chunk_length(&self, (num_documents, num_words): (i64, i64), device: Device) -> i64 {
        match self.chunk {
            0 => {
                let per_label = num_documents * num_words.max(self.numbers_per_label());
                chunk_limit(per_label, MAP_SIZE_GPU, MAP_SIZE_CPU, device)
            }
            chunk => chunk,
        }
    }

    /// Numbers that are made at a time of a batch of so many documents and words.
    pub(crate) fn map_size(&self, batch: (i64, i64), num_scored: i64, device: Device) -> i64 {
        let chunk = self.chunk_length(batch, device);
        chunk.min(num_scored) * batch.0 * batch.1.max(self.numbers_per_label())
    }

    /// Numbers that a label makes of a document beside its attention: the widest layer, or the row
    /// that candidates bring along.
    fn numbers_per_label(&self) -> i64 {
        let layer = self.config.layers.iter().max().copied().unwrap_or(0) as i64;
        match self.labels {
            LabelStore::Parameter(_) => layer,
            LabelStore::Table(_) => {
                let own = if self.config.label_outputs { layer } else { 0 };
                layer.max(self.width + own)
            }
        }
    }

    /// Starts and lengths of the runs of labels that are computed together.
    fn chunks(&self, states: &Tensor, num_scored: i64) -> impl Iterator<Item = (i64, i64)> + use<> {
        let size = states.size();
        let most = self.chunk_length((size[0], size[1]), states.device());
        label_chunks(num_scored, most).map(|chunk| (chunk.start, chunk.end - chunk.start))
    }

    /// How strongly each label attends to each word.
    ///
    /// # Shapes
    /// Gives documents x labels x words.
    fn map(&self, states: &Tensor, barrier: Option<&Tensor>, rows: &LabelRows) -> Tensor {
        let (num_documents, num_words, _) = states.size3().unwrap_or((0, 0, 0));
        let vectors = self.scaled(&rows.columns(0, self.width), states.kind());
        match rows {
            LabelRows::Shared(_) => {
                // One product over all words of all documents, laid out so that the softmax runs
                // over neighbours in memory.
                let flat = states.view([num_documents * num_words, self.width]);
                let scores =
                    vectors
                        .matmul(&flat.transpose(0, 1))
                        .view([-1, num_documents, num_words]);
                bar(scores, barrier).softmax(-1, None).transpose(0, 1)
            }
            LabelRows::OfDocuments(_) => {
                let scores = vectors.bmm(&states.transpose(1, 2));
                let barrier = barrier.map(|barrier| barrier.unsqueeze(1));
                bar(scores, barrier.as_ref()).softmax(-1, None)
            }
        }
    }

    /// Attention vectors as they meet the states.
    fn scaled(&self, vectors: &Tensor, kind: Kind) -> Tensor {
        if self.is_added {
            (vectors * (self.width as f64).sqrt().recip()).to_kind(kind)
        } else {
            vectors.to_kind(kind)
        }
    }

    /// In 32 bits: what a label finds is computed with the numbers of the states, the score that it makes of that
    /// is not. Of 16 bits a score would have three digits, and many labels the same one.
    ///
    /// # Shapes
    /// Gives documents x labels of the rows.
    fn chunk_logits(&self, read: &Read<'_>, rows: &LabelRows) -> Tensor {
        let dense = &read.parameters.dense;
        let bias = self.layers[0].bias(dense, read.states.kind());
        let map = self.map(&read.states, read.barrier.as_ref(), rows);
        let mut hidden = self.activation.apply(map.bmm(&read.values) + bias);
        for layer in &self.layers[1..] {
            hidden = (self.activation).apply(layer.forward(dense, &hidden));
        }
        let hidden = hidden.to_kind(Kind::Float);
        let mut column = self.width;
        let mut parts = Vec::new();
        if let Some(output) = &self.output {
            parts.push(output.forward(dense, &hidden).squeeze_dim(-1));
        }
        if self.config.label_outputs {
            let last = hidden.size()[2];
            let own = rows.columns(column, last);
            parts.push((&hidden * own).sum_dim_intlist(-1, false, Kind::Float));
            column += last;
        }
        if self.config.label_bias {
            parts.push(rows.columns(column, 1).squeeze_dim(-1));
        }
        let sum = parts.into_iter().reduce(|sum, part| sum + part);
        sum.expect("labels share an output or have their own")
    }
}

/// Loss summed over documents and labels of the chunk; padding does not count.
fn chunk_loss(
    logits: &Tensor,
    targets: &Tensor,
    scored: &Scored<'_>,
    start: i64,
    length: i64,
) -> Tensor {
    let weights = match scored {
        Scored::All => None,
        Scored::Candidates { filled, .. } => Some(filled.narrow(1, start, length)),
    };
    logits.binary_cross_entropy_with_logits(
        &targets.narrow(1, start, length),
        weights,
        None,
        Reduction::Sum,
    )
}
