//! One layer over document vectors, and labels that read the text themselves.
//!
//! With v the document's vector and `h_1` ... `h_n` the states of all its pieces, in all its windows, the score of
//! label l before the sigmoid is
//!
//! ```text
//! w_l v + b_l + o_l relu(W m_l + c),   m_l = sum_i a_li h_i,   a_l = softmax_i(q_l h_i / sqrt(width))
//! ```
//!
//! with w, b, q and o of the labels' own. All o start at zero: the network begins as one with the layer
//! alone, and labels learn to look for more.

use tch::Tensor;

use crate::Result;
use crate::head::{
    Activation, AllLabels, HeadStep, LabelFacts, LabelHead, OutputKind, Ranked, VectorInput,
    send_back,
};
use crate::parameters::{DenseParametersBuilder, RateGroup};
use crate::start::Start;
use crate::train::{Learnt, LossScale};
use crate::words::AttentionConfig;
use crate::words::head::{Attention, AttentionForm, Lesson, Scored, StatesInput};

/// Spread of the attention vectors at the start: attention to all pieces, nearly alike.
const START_SPREAD: f64 = 0.02;

/// A batch between an encoder that gives a vector per document and a state per piece, and a head.
pub(crate) struct DocumentInput<'a> {
    pub(crate) vector: VectorInput<'a>,
    /// documents x pieces x width, after dropout.
    pub(crate) states: &'a Tensor,
    /// documents x pieces: true where a document has a piece; absent where all are equally long.
    pub(crate) mask: Option<&'a Tensor>,
}

/// A layer over all labels, and their attention.
#[derive(Debug)]
pub(crate) struct LabelAttention {
    layer: AllLabels,
    attention: Attention,
}

/// What a new head starts from.
pub(crate) struct LabelAttentionSetup<'a> {
    /// Numbers of a document's vector.
    pub(crate) vector_width: usize,
    /// Numbers of a piece's state.
    pub(crate) state_width: usize,
    /// Numbers of what a label finds.
    pub(crate) found_width: usize,
    pub(crate) labels: LabelFacts<'a>,
    /// Labels that are computed together; 0 chooses by the memory.
    pub(crate) chunk: usize,
}

impl LabelAttention {
    pub(crate) fn new(
        setup: &LabelAttentionSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let form = AttentionForm {
            name: "head.attention",
            config: AttentionConfig {
                layers: vec![setup.found_width],
                start_spread: START_SPREAD,
                label_outputs: true,
                label_bias: false,
            },
            activation: Activation::Relu,
            has_shared_output: false,
            is_added: true,
            width: setup.state_width,
        };
        let labels = &setup.labels;
        let layer = AllLabels::new(setup.vector_width, OutputKind::Sigmoid, labels, builder);
        // The layer is as new as the labels' vectors are: at the encoder's rate it would stay as drawn.
        let mut attention = builder.at_rate(RateGroup::Hidden, |builder| {
            Attention::of_all(form, labels, builder, start)
        });
        attention.set_chunk(setup.chunk);
        Self { layer, attention }
    }

    /// documents x labels, in 32 bits: scores before the sigmoid.
    fn scores(&self, input: &DocumentInput<'_>) -> Tensor {
        let found = self.attention.logits(&input.for_attention(), &Scored::All);
        self.layer.scores(&input.vector) + found
    }
}

impl<'a> DocumentInput<'a> {
    fn for_attention(&self) -> StatesInput<'a> {
        StatesInput {
            parameters: self.vector.parameters,
            states: self.states,
            mask: self.mask,
            scored: Scored::All,
            truth: None,
            paths: None,
        }
    }
}

impl LabelHead<DocumentInput<'_>> for LabelAttention {
    /// Labels are learnt chunk by chunk, so that the attention of all of them is never there at once.
    fn learn(&self, input: &DocumentInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let scores = self.layer.scores(&input.vector);
        let leaf = scores.detach().set_requires_grad(true);
        let targets = step.targets.matrix(&leaf.detach());
        let share = match step.loss {
            LossScale::Sum => 1.0 / targets.size()[0] as f64,
            LossScale::Mean => 1.0 / targets.numel() as f64,
        };
        let lesson = Lesson {
            scored: &Scored::All,
            targets: &targets,
            added_to: Some(&leaf),
            scale: step.part.scale * share,
        };
        let input = input.for_attention();
        let mut learnt = self.attention.learn_apart(&input, &lesson, |_| {});
        learnt.back.push((scores, leaf.grad()));
        send_back(&learnt.back);
        Ok(Learnt {
            loss: learnt.loss * share,
            rows: Vec::new(),
        })
    }

    fn rank(&self, input: &DocumentInput<'_>, _beam: usize, keep: usize) -> Ranked {
        let scores = self.scores(input);
        let (logits, labels) = scores.topk((keep as i64).min(scores.size()[1]), 1, true, true);
        Ranked {
            log_scores: logits.log_sigmoid(),
            labels,
        }
    }

    #[cfg(test)]
    fn logits(&self, input: &DocumentInput<'_>) -> Tensor {
        self.scores(input)
    }
}

#[cfg(test)]
mod tests;
