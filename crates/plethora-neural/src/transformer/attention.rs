//! The first half of a layer: pieces look at each other.

use tch::Tensor;

use super::architecture::{Architecture, ArchitectureKind, LayerShape};
use super::batch::{Batch, Rows};
use super::linear::{Linear, Norm, dropped};
use super::loader::Loader;
use super::relative_attention::RelativeAttention;
use super::tensor_names::LayerNames;
use crate::Result;
use crate::int8::{self, Int8Linear, Normed};

/// Attention of several heads, added to the input.
#[derive(Debug)]
pub(super) struct Attention {
    shape: LayerShape,
    /// Queries, keys and values in one product.
    qkv: Linear,
    output: Linear,
    /// `DistilBERT` leaves out nothing of the output.
    drops_output: bool,
    norm: Norm,
    /// Positions by distance.
    relative: Option<RelativeAttention>,
}

/// Parts of an attention, documents x heads x pieces x numbers of a head.
struct Heads {
    query: Tensor,
    key: Tensor,
    value: Tensor,
}

impl Attention {
    pub(super) fn new(
        architecture: &Architecture,
        stem: &str,
        names: &LayerNames,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let shape = architecture.shape;
        let (qkv, output, relative) = if architecture.kind() == ArchitectureKind::Xlnet {
            let (qkv, output) = RelativeAttention::products(shape, stem, names, loader)?;
            let relative = RelativeAttention::new(shape, stem, names, loader)?;
            (qkv, output, Some(relative))
        } else {
            let square = [shape.width, shape.width];
            let qkv = names.qkv.each_ref().map(String::as_str);
            let qkv = loader.linear(&format!("{stem}.attention.qkv"), &qkv, square)?;
            let output = format!("{stem}.attention.output");
            let output = loader.linear(&output, &[&names.output], square)?;
            (qkv, output, None)
        };
        Ok(Self {
            shape,
            qkv,
            output,
            drops_output: architecture.kind() != ArchitectureKind::Distilbert,
            norm: loader.norm(
                &format!("{stem}.attention.norm"),
                &names.attention_norm,
                shape.width,
                shape.norm_eps,
            )?,
            relative,
        })
    }

    /// # Shapes
    /// From documents x pieces x width to the same for all rows, or documents x 1 x width.
    pub(super) fn forward(&self, states: &Tensor, batch: &Batch<'_>, rows: Rows) -> Tensor {
        let own = match rows {
            Rows::All => states.shallow_clone(),
            Rows::Document => batch.document_states(states),
        };
        let Heads {
            mut query,
            key,
            value,
        } = self.heads(states, &own, batch, rows);
        let bias = match (&self.relative, &batch.distances) {
            (Some(relative), Some(distances)) => {
                let bias = relative.bias(&query, batch, distances, rows);
                query = relative.content_query(&query, batch.parameters);
                Some(bias)
            }
            _ => batch.bias(rows),
        };
        let dropout = batch.attention_dropout;
        let seen = Tensor::scaled_dot_product_attention(
            &query, &key, &value, bias, dropout, false, None, false,
        );
        // Fused kernels write piece by piece, so that this is a view.
        let seen = seen.transpose(1, 2).reshape(own.size());
        let mut output = self.output.apply(batch.parameters, &seen);
        if self.drops_output {
            output = dropped(output, batch.dropout);
        }
        self.norm.apply(batch.parameters, &(output + own))
    }

    /// What all pieces see where products are computed in eight bits, for positions that are no scores; then
    /// the product and the norm that follow.
    pub(super) fn in_int8<'a>(
        &self,
        states: &Tensor,
        batch: &Batch<'a>,
        rows: Rows,
    ) -> Option<(Tensor, &'a Int8Linear, &'a Normed)> {
        if rows == Rows::Document || self.relative.is_some() {
            return None;
        }
        let parameters = batch.parameters;
        let output = self.output.int8(parameters, states)?;
        let norm = self.norm.int8(parameters)?;
        let qkv = self.qkv.apply(parameters, states);
        let num_heads = self.shape.num_heads as usize;
        let seen = int8::attend(&qkv, num_heads, batch.bias(rows).as_ref());
        Some((seen, output, norm))
    }

    /// Queries of `own` states, keys and values of all.
    fn heads(&self, states: &Tensor, own: &Tensor, batch: &Batch<'_>, rows: Rows) -> Heads {
        let parts = match rows {
            Rows::All => self.qkv.apply(batch.parameters, states).chunk(3, -1),
            Rows::Document => {
                let width = self.shape.width;
                let products = self.qkv.parts(batch.parameters, &[width, 2 * width]);
                let (weight, bias) = &products[0];
                let query = own.linear(weight, bias.as_ref());
                let (weight, bias) = &products[1];
                let mut parts = states.linear(weight, bias.as_ref()).chunk(2, -1);
                parts.insert(0, query);
                parts
            }
        };
        let head = |part: &Tensor| {
            let (documents, pieces, _) = part.size3().unwrap_or_default();
            let shape = [
                documents,
                pieces,
                self.shape.num_heads,
                self.shape.head_width(),
            ];
            part.view(shape).transpose(1, 2)
        };
        Heads {
            query: head(&parts[0]),
            key: head(&parts[1]),
            value: head(&parts[2]),
        }
    }
}
