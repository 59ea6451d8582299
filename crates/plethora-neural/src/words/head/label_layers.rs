//! Layers that all labels share, and an output layer over all of them: XML-CNN's head, and with states
//! pooled by their maximum XML-RNN's.

use tch::{Device, Tensor};

use super::layers::Layer;
use super::{HeadNeed, StatesHead, StatesInput};
use crate::Result;
use crate::head::{AllLabels, HeadStep, LabelFacts, LabelHead, OutputKind, Ranked, VectorInput};
use crate::parameters::DenseParametersBuilder;
use crate::start::Start;
use crate::train::Learnt;
use crate::words::config::AllLabelsConfig;

/// Fully connected layers and an output layer.
#[derive(Debug)]
pub(crate) struct LabelLayers {
    layers: Vec<Layer>,
    dropout: f64,
    output: AllLabels,
    num_labels: i64,
}

impl LabelLayers {
    pub(crate) fn new(
        config: &AllLabelsConfig,
        width: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let layers = Layer::stack("head", &config.layers, width, builder, start);
        let last = config.layers.last().copied().unwrap_or(width);
        Self {
            layers,
            dropout: config.dropout,
            output: AllLabels::new(last, OutputKind::Sigmoid, labels, builder),
            num_labels: labels.train_counts.len() as i64,
        }
    }

    /// What the layers make of document vectors.
    fn hidden(&self, input: &VectorInput<'_>, is_training: bool) -> Tensor {
        let vector = input.vector.shallow_clone();
        self.layers.iter().fold(vector, |vector, layer| {
            let hidden = layer.forward(&input.parameters.dense, &vector);
            hidden.relu().dropout(self.dropout, is_training)
        })
    }

    /// What a training batch takes at most.
    pub(crate) fn need(&self) -> HeadNeed {
        HeadNeed {
            num_scored: self.num_labels,
            ..HeadNeed::default()
        }
    }
}

impl LabelHead<VectorInput<'_>> for LabelLayers {
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let vector = &self.hidden(input, true);
        self.output.learn(&VectorInput { vector, ..*input }, step)
    }

    fn rank(&self, input: &VectorInput<'_>, beam: usize, keep: usize) -> Ranked {
        let vector = &self.hidden(input, false);
        let input = VectorInput { vector, ..*input };
        self.output.rank(&input, beam, keep)
    }

    fn log_odds_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let vector = &self.hidden(input, false);
        let input = VectorInput { vector, ..*input };
        self.output.log_odds_of(&input, label)
    }

    #[cfg(test)]
    fn logits(&self, input: &VectorInput<'_>) -> Tensor {
        let vector = &self.hidden(input, false);
        self.output.logits(&VectorInput { vector, ..*input })
    }
}

/// The same, where the strongest states of a document are its vector.
#[derive(Debug)]
pub(crate) struct Pooled(pub(crate) LabelLayers);

impl LabelHead<StatesInput<'_>> for Pooled {
    fn learn(&self, input: &StatesInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        self.0.learn(&pooled(input, &strongest(input)), step)
    }

    fn rank(&self, input: &StatesInput<'_>, beam: usize, keep: usize) -> Ranked {
        self.0.rank(&pooled(input, &strongest(input)), beam, keep)
    }

    fn log_odds_of(&self, input: &StatesInput<'_>, label: u32) -> Tensor {
        self.0.log_odds_of(&pooled(input, &strongest(input)), label)
    }

    #[cfg(test)]
    fn logits(&self, input: &StatesInput<'_>) -> Tensor {
        self.0.logits(&pooled(input, &strongest(input)))
    }
}

impl StatesHead for Pooled {
    fn need(&self, _batch: (i64, i64), _device: Device) -> HeadNeed {
        self.0.need()
    }
}

fn pooled<'a>(input: &StatesInput<'a>, vector: &'a Tensor) -> VectorInput<'a> {
    VectorInput {
        parameters: input.parameters,
        vector,
        prior: None,
        recall: None,
    }
}

/// The maximum of the states of each document.
///
/// # Shapes
/// Gives documents x width.
fn strongest(input: &StatesInput<'_>) -> Tensor {
    let inside = match input.mask {
        Some(mask) => {
            let behind = mask.logical_not().unsqueeze(2);
            input.states.masked_fill(&behind, f64::NEG_INFINITY)
        }
        None => input.states.shallow_clone(),
    };
    inside.amax(1, false)
}

#[cfg(test)]
mod tests {
    use plethora_core::SeedStream;
    use tch::Kind;

    use super::*;
    use crate::parameters::Parameters;

    #[test]
    fn dropout_falls_on_what_a_layer_gives() {
        let config = AllLabelsConfig {
            layers: vec![64],
            dropout: 0.5,
        };
        let mut builder = DenseParametersBuilder::default();
        let start = Start::seeded(SeedStream::new(2));
        let labels = LabelFacts {
            train_counts: &[1, 1],
            num_documents: 2,
        };
        let head = LabelLayers::new(&config, 5, &labels, &mut builder, start);
        let parameters = Parameters {
            dense: builder.finish(Device::Cpu),
            tables: Vec::new(),
        };
        let vector = start.named("vectors").normal(&[3, 5], 1.0);
        let input = VectorInput {
            parameters: &parameters,
            vector: &vector,
            prior: None,
            recall: None,
        };
        let clean = head.hidden(&input, false);
        tch::manual_seed(1);
        let dropped = head.hidden(&input, true);
        let kept = dropped.ne(0.0).to_kind(Kind::Float);
        assert!(dropped.allclose(&(&clean * &kept * 2.0), 1e-5, 1e-6, false));
        let count = |of: &Tensor| of.ne(0.0).sum(Kind::Double).double_value(&[]);
        assert!((0.3..0.7).contains(&(count(&dropped) / count(&clean))));
    }
}
