//! Attention of several heads over the states of a sequence.

use tch::{Kind, Tensor};

use super::config::{Look, MaskSide, ReadingConfig};
use crate::parameters::{DenseParameters, DenseParametersBuilder};
use crate::start::Start;
use crate::transformer::{Linear, Norm};

/// Keeps norms from dividing by zero.
const NORM_EPS: f64 = 1e-5;

/// States of the places of a batch's sequences.
pub(super) struct States {
    /// documents x places x width.
    pub(super) values: Tensor,
    /// documents x places: true where a sequence has a place; absent where all are equally long.
    pub(super) mask: Option<Tensor>,
    /// Whether sequences may have places that are none before others, not only behind their ends.
    pub(super) has_gaps: bool,
}

impl States {
    /// Each sequence with that of `other` behind it.
    pub(super) fn followed_by(&self, other: &Self) -> Self {
        let all = |side: &Self| {
            let shape = &side.values.size()[..2];
            side.values
                .new_ones(shape, (Kind::Bool, side.values.device()))
        };
        let mask = |side: &Self| {
            side.mask
                .as_ref()
                .map_or_else(|| all(side), Tensor::shallow_clone)
        };
        let is_full = self.mask.is_none() && other.mask.is_none();
        Self {
            values: Tensor::cat(&[&self.values, &other.values], 1),
            mask: (!is_full).then(|| Tensor::cat(&[mask(self), mask(other)], 1)),
            has_gaps: self.mask.is_some(),
        }
    }
}

/// How a batch is computed.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) parameters: &'a DenseParameters,
    /// True in training: then dropout is on.
    pub(super) is_training: bool,
}

/// Softmax(Q K^T / sqrt(d)) V of each head, side by side, through a matrix.
#[derive(Debug)]
pub(super) struct Attention {
    query: Linear,
    /// Keys and values in one product.
    key_value: Linear,
    output: Linear,
    norms: Option<Norms>,
    num_heads: i64,
    mask_side: MaskSide,
    has_tanh: bool,
    dropout: f64,
}

/// Where an attention stands.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    /// Numbers of a state.
    pub(super) width: usize,
    /// Whether what is found is added to the states. It starts from nothing then: random findings
    /// would drown the words before anything is learnt.
    pub(super) is_added: bool,
}

/// What states go through before they are attended from and to.
#[derive(Debug)]
struct Norms {
    own: Norm,
    /// Absent where states attend to themselves.
    other: Option<Norm>,
}

impl Attention {
    /// An attention of states to themselves, or `to_others`.
    pub(super) fn new(
        place: &Place<'_>,
        config: &ReadingConfig,
        to_others: bool,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let (name, width) = (place.name, place.width as i64);
        let start = start.named(name);
        let mut matrix = |part: &str, outputs: i64| {
            // Each matrix of a product starts as if it stood alone.
            let single = (0..outputs / width).map(|number| {
                start
                    .named(part)
                    .child(number as usize)
                    .glorot([width, width])
            });
            let weight = Tensor::cat(&single.collect::<Vec<_>>(), 0);
            Linear {
                weight: builder.add(format!("{name}.{part}"), weight),
                bias: None,
            }
        };
        let query = matrix("query", width);
        let key_value = matrix("key_value", 2 * width);
        let output = matrix("output", width);
        if place.is_added {
            builder.clear(output.weight);
        }
        let norms = config.norm.then(|| Norms {
            own: norm(&format!("{name}.norm"), width, builder),
            other: to_others.then(|| norm(&format!("{name}.other_norm"), width, builder)),
        });
        Self {
            query,
            key_value,
            output,
            norms,
            num_heads: config.heads as i64,
            mask_side: config.mask,
            has_tanh: config.tanh,
            dropout: config.dropout,
        }
    }

    /// What each place finds among those of its own sequence.
    ///
    /// # Shapes
    /// Gives documents x places x width.
    pub(super) fn to_itself(&self, pass: Pass<'_>, own: &States, look: Look) -> Tensor {
        let states = match &self.norms {
            Some(norms) => norms.own.apply(pass.parameters, &own.values),
            None => own.values.shallow_clone(),
        };
        let places = own.values.size()[1];
        match (look, self.mask_side) {
            // Before a place of a sequence there are only places of it.
            (Look::Masked, MaskSide::Future) if !own.has_gaps => {
                self.attend(pass, &states, &states, None, true)
            }
            (Look::Masked, side) => {
                let seen = one_side(places, side, own.mask.as_ref(), &states);
                self.attend(pass, &states, &states, Some(&seen), false)
            }
            (Look::Full | Look::None, _) => {
                let seen = keys(own.mask.as_ref());
                self.attend(pass, &states, &states, seen.as_ref(), false)
            }
        }
    }

    /// What each place finds among those of another sequence.
    ///
    /// # Shapes
    /// Gives documents x own places x width.
    pub(super) fn to_other(&self, pass: Pass<'_>, own: &States, other: &States) -> Tensor {
        let (own_states, other_states) = match &self.norms {
            Some(Norms {
                own: own_norm,
                other: Some(other_norm),
            }) => (
                own_norm.apply(pass.parameters, &own.values),
                other_norm.apply(pass.parameters, &other.values),
            ),
            _ => (own.values.shallow_clone(), other.values.shallow_clone()),
        };
        let seen = keys(other.mask.as_ref());
        self.attend(pass, &own_states, &other_states, seen.as_ref(), false)
    }

    fn attend(
        &self,
        pass: Pass<'_>,
        own: &Tensor,
        other: &Tensor,
        seen: Option<&Tensor>,
        is_causal: bool,
    ) -> Tensor {
        let heads = |states: &Tensor| {
            let size = states.size();
            let shape = [size[0], size[1], self.num_heads, size[2] / self.num_heads];
            states.view(shape.as_slice()).transpose(1, 2)
        };
        let query = self.query.apply(pass.parameters, own);
        let key_value = self.key_value.apply(pass.parameters, other).chunk(2, -1);
        let found = Tensor::scaled_dot_product_attention(
            &heads(&query),
            &heads(&key_value[0].contiguous()),
            &heads(&key_value[1].contiguous()),
            seen,
            0.0,
            is_causal,
            None,
            false,
        );
        let found = found.transpose(1, 2).reshape(own.size());
        let output = self.output.apply(pass.parameters, &found);
        let output = if self.has_tanh { output.tanh() } else { output };
        output.dropout(self.dropout, pass.is_training)
    }
}

/// A norm that changes nothing but mean and variance at first.
pub(super) fn norm(name: &str, width: i64, builder: &mut DenseParametersBuilder) -> Norm {
    let options = (Kind::Float, tch::Device::Cpu);
    Norm {
        weight: builder.add(format!("{name}.weight"), Tensor::ones([width], options)),
        bias: Some(builder.add(format!("{name}.bias"), Tensor::zeros([width], options))),
        width,
        eps: NORM_EPS,
    }
}

/// documents x 1 x 1 x places, for all heads and places alike.
fn keys(mask: Option<&Tensor>) -> Option<Tensor> {
    mask.map(|mask| mask.unsqueeze(1).unsqueeze(1))
}

/// True where a place sees another: itself, and those of its sequence on the side that is not masked.
fn one_side(places: i64, masked: MaskSide, mask: Option<&Tensor>, like: &Tensor) -> Tensor {
    let all = Tensor::ones([places, places], (Kind::Bool, like.device()));
    let seen = match masked {
        MaskSide::Future => all.tril(0),
        MaskSide::Past => all.triu(0),
    };
    let seen = seen.unsqueeze(0).unsqueeze(0);
    match keys(mask) {
        // Places that are none see themselves: a softmax over nothing is no number.
        Some(keys) => {
            let itself = Tensor::eye(places, (Kind::Bool, like.device()));
            seen.logical_and(&keys).logical_or(&itself)
        }
        None => seen,
    }
}
