//! Labels held against what they share with others: what their cluster finds in a text, or the whole
//! of it.
//!
//! With a context m the score of a label is its own vector times a(W m + b), as in Jiang et al. 2021, where m
//! is the document's vector. There are few contexts a document, so that its candidates look up theirs.

use tch::{Device, Kind, Reduction, Tensor};

use super::StatesInput;
use super::attention::LearntApart;
use super::attention_form::own_outputs;
use super::candidate_rows::{CandidateLearner, look_up};
use super::layers::Layer;
use crate::head::Activation;
use crate::head::label_chunks::{chunk_limit, label_chunks};
use crate::parameters::{DenseParameters, DenseParametersBuilder, TableRows};
use crate::start::Start;
use crate::words::clustered_attention_config::DiscriminatorConfig;

/// Numbers of documents x labels x width that are computed at a time on a GPU: 512 MiB in 32 bits, of
/// which a few copies live at a time.
const MAP_SIZE_GPU: i64 = 1 << 27;

/// As [`MAP_SIZE_GPU`], on a processor.
const MAP_SIZE_CPU: i64 = 1 << 22;

/// The layers between contexts and the vectors of labels.
#[derive(Debug)]
pub(crate) struct SharedContext {
    layers: Vec<Layer>,
    output: Option<Layer>,
    activation: Activation,
    /// Width of the last layer.
    width: i64,
    /// Labels computed together; 0 chooses.
    pub(super) chunk: i64,
}

/// Candidates and the contexts they are held against.
pub(crate) struct InContext<'a> {
    /// documents x contexts x width of the last layer.
    pub(crate) hidden: &'a Tensor,
    /// documents x candidates: which context of its document is a candidate's.
    pub(crate) columns: &'a Tensor,
    /// The vectors of labels.
    pub(crate) rows: &'a TableRows,
    /// documents x candidates: places among the rows.
    pub(crate) places: &'a Tensor,
}

impl SharedContext {
    pub(crate) fn new(
        config: &DiscriminatorConfig,
        width: usize,
        num_labels: i64,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let name = "head.discriminator";
        let last = *config.layers.last().expect("validated: there is a layer");
        let head = Self {
            layers: Layer::stack(name, &config.layers, width, builder, start),
            output: (config.shared_output)
                .then(|| Layer::new(&format!("{name}.output"), last, 1, builder, start)),
            activation: config.activation,
            width: last as i64,
            chunk: 0,
        };
        let rows = own_outputs([num_labels, last as i64], config.shared_output, start);
        (head, rows)
    }

    /// Takes contexts through the layers.
    ///
    /// # Shapes
    /// From documents x contexts x width to documents x contexts x width of the last layer.
    pub(crate) fn hidden(&self, parameters: &DenseParameters, contexts: Tensor) -> Tensor {
        self.layers.iter().fold(contexts, |hidden, layer| {
            self.activation.apply(layer.forward(parameters, &hidden))
        })
    }

    /// Learns without the encoder, chunk by chunk, as
    /// [`Attention::learn_apart`](super::Attention::learn_apart) does.
    ///
    /// # Shapes
    /// `weights`, `targets`: documents x candidates.
    pub(crate) fn learn_apart(
        &self,
        input: &StatesInput<'_>,
        candidates: &InContext<'_>,
        (weights, targets): (&Tensor, &Tensor),
        scale: f64,
    ) -> LearntApart {
        let leaf = candidates.hidden.detach().set_requires_grad(true);
        let read = InContext {
            hidden: &leaf,
            ..*candidates
        };
        let total = Tensor::zeros([], (Kind::Float, leaf.device()));
        let mut learner = CandidateLearner::new(candidates.rows, candidates.places);
        for (start, length) in self.chunks(&read) {
            let rows = learner.leaf(start, length);
            let logits = self.chunk_logits(&input.parameters.dense, &read, &rows, start);
            let part = |tensor: &Tensor| tensor.narrow(1, start, length);
            let loss = logits.binary_cross_entropy_with_logits(
                &part(targets),
                Some(part(weights)),
                None,
                Reduction::Sum,
            );
            (&loss * scale).backward();
            learner.add(&rows, start);
            let _ = total.shallow_clone().g_add_(&loss.detach());
        }
        learner.finish();
        LearntApart {
            loss: total,
            back: vec![(candidates.hidden.shallow_clone(), leaf.grad())],
        }
    }

    /// Scores before the sigmoid.
    ///
    /// # Shapes
    /// Gives documents x candidates.
    pub(crate) fn logits(&self, input: &StatesInput<'_>, candidates: &InContext<'_>) -> Tensor {
        let parts: Vec<Tensor> = self
            .chunks(candidates)
            .map(|(start, length)| {
                let rows = look_up(&candidates.rows.leaf, candidates.places, start, length);
                self.chunk_logits(&input.parameters.dense, candidates, &rows, start)
            })
            .collect();
        Tensor::cat(&parts, 1)
    }

    /// Numbers that are made at a time of so many documents and candidates.
    pub(crate) fn map_size(&self, num_documents: i64, num_scored: i64, device: Device) -> i64 {
        let chunk = self.chunk_length(num_documents, device).min(num_scored);
        2 * num_documents * self.width * chunk
    }

    fn chunk_length(&self, num_documents: i64, device: Device) -> i64 {
        match self.chunk {
            0 => {
                let per_label = num_documents * self.width;
                chunk_limit(per_label, MAP_SIZE_GPU, MAP_SIZE_CPU, device)
            }
            chunk => chunk,
        }
    }

    fn chunks(&self, candidates: &InContext<'_>) -> impl Iterator<Item = (i64, i64)> + use<> {
        let size = candidates.places.size();
        let limit = self.chunk_length(size[0], candidates.places.device());
        label_chunks(size[1], limit).map(|chunk| (chunk.start, chunk.end - chunk.start))
    }

    /// In 32 bits, as [`Attention`](super::Attention)'s are. `rows` are those of the candidates from `start`
    /// on.
    fn chunk_logits(
        &self,
        parameters: &DenseParameters,
        candidates: &InContext<'_>,
        rows: &Tensor,
        start: i64,
    ) -> Tensor {
        let hidden = candidates.hidden;
        let (num_documents, num_contexts, width) = hidden.size3().unwrap_or((0, 0, 0));
        let firsts = Tensor::arange(num_documents, (Kind::Int64, hidden.device())) * num_contexts;
        let columns = candidates.columns.narrow(1, start, rows.size()[1]) + firsts.unsqueeze(1);
        let of_contexts =
            |values: &Tensor| Tensor::embedding(values, &columns.contiguous(), -1, false, false);
        let contexts = of_contexts(&hidden.reshape([-1, width])).to_kind(Kind::Float);
        let logits = (contexts * rows).sum_dim_intlist(-1, false, Kind::Float);
        match &self.output {
            Some(output) => {
                let hidden = hidden.to_kind(Kind::Float);
                let shared = output.forward(parameters, &hidden).reshape([-1, 1]);
                logits + of_contexts(&shared).squeeze_dim(-1)
            }
            None => logits,
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::SeedStream;

    use super::*;
    use crate::parameters::{Parameters, RowTable};
    use crate::words::head::Scored;

    /// Logits of three documents' candidates, computed with numbers of a kind.
    fn logits(kind: Kind) -> Tensor {
        let config = DiscriminatorConfig {
            context: crate::words::clustered_attention_config::LabelContext::Cluster,
            layers: vec![16],
            activation: Activation::Relu,
            start_spread: 0.0,
            shared_output: true,
            path_weight: 1.0,
        };
        let mut builder = DenseParametersBuilder::default();
        let start = Start::seeded(SeedStream::new(2));
        let (head, _) = SharedContext::new(&config, 8, 5, &mut builder, start);
        let rows = start.named("rows").normal(&[5, 16], 1.0);
        let table = RowTable::new("labels", &rows, true, Device::Cpu);
        let parameters = Parameters {
            dense: builder.finish(Device::Cpu),
            tables: vec![table],
        };
        let states = start.named("states").normal(&[3, 2, 8], 1.0).to_kind(kind);
        let all = Tensor::arange(5, (Kind::Int64, Device::Cpu));
        let hidden = head.hidden(&parameters.dense, states.shallow_clone());
        let candidates = InContext {
            hidden: &hidden,
            columns: &Tensor::from_slice2(&[[0_i64, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]),
            rows: &parameters.tables[0].gather(0, &all),
            places: &Tensor::from_slice2(&[[0_i64, 1, 2, 3], [4, 3, 2, 1], [1, 0, 4, 2]]),
        };
        let input = StatesInput {
            parameters: &parameters,
            states: &states,
            mask: None,
            scored: Scored::All,
            truth: None,
            paths: None,
        };
        head.logits(&input, &candidates)
    }

    #[test]
    fn scores_have_more_digits_than_what_contexts_are_computed_with() {
        let (short, exact) = (logits(Kind::BFloat16), logits(Kind::Float));
        assert!(short.allclose(&exact, 0.05, 0.05, false));
        let rounded = short.to_kind(Kind::BFloat16).to_kind(Kind::Float);
        let num_rounded = short.eq_tensor(&rounded).sum(Kind::Int64).int64_value(&[]);
        assert!(num_rounded < 4, "{num_rounded}");
    }
}
