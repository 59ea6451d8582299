//! What was read of a label says how likely it is.

use tch::{Kind, Tensor};

use super::attention::{States, norm};
use super::batch::TeacherOnDevice;
use super::config::TReaderConfig;
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;
use crate::transformer::{Linear, Norm};

/// From the state of a label that was read to a score: a layer, then one number.
#[derive(Debug)]
pub(super) struct LabelScores {
    norm: Option<Norm>,
    hidden: Linear,
    output: ParameterId,
}

impl LabelScores {
    pub(super) fn new(
        config: &TReaderConfig,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let width = config.vectors.width as i64;
        let weight = start.named("label scores").glorot([width, width]);
        let zeros = || Tensor::zeros([width], (Kind::Float, tch::Device::Cpu));
        Self {
            norm: (config.reading.norm).then(|| norm("teacher.score.norm", width, builder)),
            hidden: Linear {
                weight: builder.add("teacher.score.hidden", weight),
                bias: Some(builder.add("teacher.score.bias", zeros())),
            },
            // From zero: at first votes alone count.
            output: builder.add("teacher.score.output", zeros()),
        }
    }

    /// # Shapes
    /// From documents x (1 + labels) x width to one number a vote, in 32 bits.
    pub(super) fn forward(
        &self,
        parameters: &DenseParameters,
        labels: &States,
        teacher: &TeacherOnDevice,
    ) -> Tensor {
        let states = labels
            .values
            .flatten(0, 1)
            .index_select(0, &teacher.votes.tokens);
        let states = match &self.norm {
            Some(norm) => norm.apply(parameters, &states),
            None => states,
        };
        let hidden = self.hidden.apply(parameters, &states).relu();
        let scores = hidden.matmul(parameters.computed(self.output));
        scores.to_kind(Kind::Float) * &teacher.votes.is_read
    }
}
