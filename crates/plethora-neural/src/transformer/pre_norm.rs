//! A layer of `ModernBERT`: norms come before its parts, queries and keys are turned by their places, and the
//! second part has a gate.

use tch::Tensor;

use super::architecture::{Architecture, LayerShape};
use super::batch::{Batch, Rows};
use super::linear::{Linear, Norm, dropped};
use super::loader::{FileTensor, Loader};
use crate::Result;
use crate::curve::Curve;

/// Attention between pieces, then each piece for itself, each added to what comes in.
#[derive(Debug)]
pub(super) struct PreNormLayer {
    shape: LayerShape,
    /// Whether it looks at all pieces.
    is_global: bool,
    /// The embeddings of the first layer are normed already.
    attention_norm: Option<Norm>,
    qkv: Linear,
    output: Linear,
    norm: Norm,
    /// What goes in and what gates it.
    inner: Linear,
    activation: Curve,
    outer: Linear,
    /// Of the last layer: what brings its states to one size.
    final_norm: Option<Norm>,
}

impl PreNormLayer {
    pub(super) fn new(
        architecture: &Architecture,
        number: usize,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let shape = architecture.shape;
        let stem = format!("encoder.layer.{number}");
        let (width, inner) = (shape.width, shape.inner_width);
        let mut linear = |name: &str, file_name: &str, size: [i64; 2]| -> Result<Linear> {
            let file_name = format!("layers.{number}.{file_name}.weight");
            let tensor = FileTensor::plain(file_name, &size);
            Ok(Linear {
                weight: loader.matrix(&format!("{stem}.{name}.weight"), &[tensor])?,
                bias: None,
            })
        };
        let qkv = linear("attention.qkv", "attn.Wqkv", [3 * width, width])?;
        let output = linear("attention.output", "attn.Wo", [width, width])?;
        let gated = linear("feed_forward.inner", "mlp.Wi", [2 * inner, width])?;
        let outer = linear("feed_forward.outer", "mlp.Wo", [width, inner])?;
        let mut norm = |name: &str, file_name: &str| {
            loader.norm_without_bias(name, file_name, width, shape.norm_eps)
        };
        let of_layer = |part: &str| format!("layers.{number}.{part}");
        Ok(Self {
            shape,
            is_global: architecture.is_global(number),
            attention_norm: match number {
                0 => None,
                _ => Some(norm(
                    &format!("{stem}.attention.norm"),
                    &of_layer("attn_norm"),
                )?),
            },
            qkv,
            output,
            norm: norm(&format!("{stem}.feed_forward.norm"), &of_layer("mlp_norm"))?,
            inner: gated,
            activation: shape.activation,
            outer,
            final_norm: if number + 1 == architecture.num_layers() {
                Some(norm("encoder.norm", "final_norm")?)
            } else {
                None
            },
        })
    }

    /// # Shapes
    /// From documents x pieces x width to the same for all rows, or documents x 1 x width.
    pub(super) fn forward(&self, states: &Tensor, batch: &Batch<'_>, rows: Rows) -> Tensor {
        let parameters = batch.parameters;
        let own = match rows {
            Rows::All => states.shallow_clone(),
            Rows::Document => batch.document_states(states),
        };
        let seen = self.attention(states, batch, rows);
        let output = dropped(self.output.apply(parameters, &seen), batch.dropout);
        let states = own + output;
        let normed = self.norm.apply(parameters, &states);
        let parts = self.inner.apply(parameters, &normed).chunk(2, -1);
        let gated = self.activation.apply(&parts[0]) * &parts[1];
        let outer = dropped(self.outer.apply(parameters, &gated), batch.dropout);
        let states = states + outer;
        match &self.final_norm {
            Some(norm) => norm.apply(parameters, &states),
            None => states,
        }
    }

    fn attention(&self, states: &Tensor, batch: &Batch<'_>, rows: Rows) -> Tensor {
        let normed = match &self.attention_norm {
            Some(norm) => norm.apply(batch.parameters, states),
            None => states.shallow_clone(),
        };
        let positions = batch.rotary.as_ref().expect("the encoder has rotations");
        let rotation = if self.is_global {
            &positions.global
        } else {
            &positions.local
        };
        let (documents, pieces, width) = normed.size3().unwrap_or_default();
        let parts = self.qkv.apply(batch.parameters, &normed).chunk(3, -1);
        let head = |part: &Tensor| {
            let shape = [
                documents,
                pieces,
                self.shape.num_heads,
                self.shape.head_width(),
            ];
            part.view(shape).transpose(1, 2)
        };
        let (mut query, key) = (
            rotation.turned(&head(&parts[0])),
            rotation.turned(&head(&parts[1])),
        );
        let mut bias = match &positions.local_bias {
            Some(bias) if !self.is_global => Some(bias.shallow_clone()),
            _ => batch.bias(Rows::All),
        };
        let mut num_rows = pieces;
        if rows == Rows::Document {
            // The piece that stands for a document is its first.
            query = query.narrow(2, 0, 1);
            bias = bias.map(|bias| bias.narrow(2, 0, 1));
            num_rows = 1;
        }
        let dropout = batch.attention_dropout;
        let value = head(&parts[2]);
        let seen = Tensor::scaled_dot_product_attention(
            &query, &key, &value, bias, dropout, false, None, false,
        );
        seen.transpose(1, 2).reshape([documents, num_rows, width])
    }
}
