//! What `XLNet`'s attention has beside the usual: scores by the distance of two pieces, and by
//! whether they belong to the same segment.

use tch::{Kind, Tensor};

use super::architecture::LayerShape;
use super::batch::{Batch, PieceInput, Rows};
use super::distances::{distances, shifted};
use super::linear::{Linear, dropped};
use super::loader::{FileTensor, Loader};
use super::tensor_names::LayerNames;
use crate::Result;
use crate::parameters::{DenseParameters, ParameterId};

/// The longest wave of the encoding of distances.
const LONGEST_WAVE: f64 = 10_000.0;

/// Parameters of a layer.
#[derive(Debug)]
pub(super) struct RelativeAttention {
    shape: LayerShape,
    /// From the encoding of a distance to its key.
    keys: ParameterId,
    /// Added to queries that meet keys of pieces, of distances and of segments.
    content_bias: ParameterId,
    distance_bias: ParameterId,
    segment_bias: ParameterId,
    /// Keys of the same segment and of another one.
    segments: ParameterId,
}

/// What all layers share of a batch.
pub(super) struct Distances {
    /// distances x width.
    encodings: Tensor,
    /// documents x 1 x pieces x row width: 1 where pieces are of different segments.
    differs: Tensor,
    /// The same for the documents' own pieces, documents x 1 x 1 x row width.
    document_differs: Tensor,
    /// The distances of documents' own pieces, documents x 1 x 1 x row width.
    document_places: Tensor,
    hidden: Option<Tensor>,
}

impl Distances {
    /// One text and its separator are one segment, the piece that stands for the document is
    /// another.
    pub(super) fn new(input: &PieceInput<'_>, width: i64, clamp_len: i64, kind: Kind) -> Self {
        let device = input.ids.device();
        let (pieces, row_width) = (input.num_pieces(), input.row_width());
        let places = Tensor::arange(row_width, (Kind::Int64, device));
        let last = input.last_pieces();
        let is_document = places.eq_tensor(&last); // [documents, row width]
        let of_rows = is_document.narrow(1, 0, pieces).unsqueeze(2);
        let differs = of_rows.ne_tensor(&is_document.unsqueeze(1)).unsqueeze(1);
        let document_differs = is_document.logical_not().unsqueeze(1).unsqueeze(1);
        let document_places = (places - last + pieces).unsqueeze(1).unsqueeze(1);
        Self {
            encodings: encodings(&distances(input), width, clamp_len).to_kind(kind),
            differs: differs.to_kind(kind),
            document_differs: document_differs.to_kind(kind),
            document_places,
            hidden: input.hidden_pieces(kind),
        }
    }

    /// The same with numbers of the encodings left out, for all documents the same ones.
    pub(super) fn dropped(self, share: f64) -> Self {
        Self {
            encodings: dropped(self.encodings, share),
            ..self
        }
    }
}

/// Waves of all lengths at a distance: sines, then cosines.
fn encodings(distances: &Tensor, width: i64, clamp_len: i64) -> Tensor {
    let distances = distances.to_kind(Kind::Float);
    let distances = if clamp_len > 0 {
        distances.clamp(-clamp_len, clamp_len)
    } else {
        distances
    };
    let steps = Tensor::arange_start_step(0, width, 2, (Kind::Float, distances.device()));
    let frequencies = (steps * (-LONGEST_WAVE.ln() / width as f64)).exp();
    let phases = distances.unsqueeze(1) * frequencies;
    Tensor::cat(&[phases.sin(), phases.cos()], 1)
}

impl RelativeAttention {
    /// The products of ordinary attention, which lie in the files input by input and have no bias.
    pub(super) fn products(
        shape: LayerShape,
        stem: &str,
        names: &LayerNames,
        loader: &mut Loader<'_>,
    ) -> Result<(Linear, Linear)> {
        let qkv = names.qkv.each_ref();
        let qkv = qkv.map(|name| by_heads(shape, name).transposed());
        let linear = |weight| Linear { weight, bias: None };
        let qkv = loader.matrix(&format!("{stem}.attention.qkv.weight"), &qkv)?;
        let output = [by_heads(shape, &names.output)];
        let output = loader.matrix(&format!("{stem}.attention.output.weight"), &output)?;
        Ok((linear(qkv), linear(output)))
    }

    pub(super) fn new(
        shape: LayerShape,
        stem: &str,
        names: &LayerNames,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let files = names.output.trim_end_matches(".o");
        let heads = [shape.num_heads, shape.head_width()];
        let mut bias = |name: &str, file_name: &str| {
            let tensor = FileTensor::viewed(format!("{files}.{file_name}"), &heads, &[shape.width]);
            loader.matrix(&format!("{stem}.attention.{name}"), &[tensor])
        };
        let content_bias = bias("content_bias", "r_w_bias")?;
        let distance_bias = bias("distance_bias", "r_r_bias")?;
        let segment_bias = bias("segment_bias", "r_s_bias")?;
        let segments = FileTensor::viewed(
            format!("{files}.seg_embed"),
            &[2, heads[0], heads[1]],
            &[2, shape.width],
        );
        let segments = loader.matrix(&format!("{stem}.attention.segments"), &[segments])?;
        let keys = [by_heads(shape, &format!("{files}.r")).transposed()];
        Ok(Self {
            shape,
            keys: loader.matrix(&format!("{stem}.attention.distances.weight"), &keys)?,
            content_bias,
            distance_bias,
            segment_bias,
            segments,
        })
    }

    /// Queries as they meet the keys of pieces.
    pub(super) fn content_query(&self, query: &Tensor, parameters: &DenseParameters) -> Tensor {
        query + self.by_head(parameters.computed(self.content_bias))
    }

    /// The scores of everything but the content of pieces.
    ///
    /// # Shapes
    /// From documents x heads x rows x numbers of a head to documents x heads x rows x pieces.
    pub(super) fn bias(
        &self,
        query: &Tensor,
        batch: &Batch<'_>,
        distances: &Distances,
        rows: Rows,
    ) -> Tensor {
        let row_width = batch.input.row_width();
        let by_distance = self.distance_scores(query, batch.parameters, distances);
        let (by_place, differs) = match rows {
            Rows::All => (shifted(&by_distance, row_width), &distances.differs),
            Rows::Document => {
                let places = &distances.document_places;
                let places = places.expand([-1, self.shape.num_heads, -1, -1], false);
                let by_place = by_distance.gather(3, &places, false);
                (by_place, &distances.document_differs)
            }
        };
        let mut bias = by_place.addcmul(&self.segment_scores(query, batch.parameters), differs);
        if let Some(hidden) = &distances.hidden {
            bias += hidden;
        }
        bias.narrow(3, 0, batch.input.num_pieces())
    }

    /// documents x heads x rows x distances.
    fn distance_scores(
        &self,
        query: &Tensor,
        parameters: &DenseParameters,
        distances: &Distances,
    ) -> Tensor {
        let (documents, heads, rows, head_width) = query.size4().unwrap_or_default();
        let keys = distances
            .encodings
            .linear(parameters.computed(self.keys), None::<&Tensor>)
            .view([-1, heads, head_width])
            .permute([1, 2, 0])
            * self.scale();
        // One product a head for all documents: a product a document would copy the keys.
        let query = query
            .transpose(0, 1)
            .reshape([heads, documents * rows, head_width]);
        let of_bias = self
            .by_head(parameters.computed(self.distance_bias))
            .bmm(&keys);
        of_bias
            .baddbmm(&query, &keys, 1.0, 1.0)
            .view([heads, documents, rows, -1])
            .transpose(0, 1)
    }

    /// documents x heads x rows x 1: how much more another segment scores than the same. What both
    /// score would be added to all pieces alike and change no weight.
    fn segment_scores(&self, query: &Tensor, parameters: &DenseParameters) -> Tensor {
        let segments =
            parameters
                .computed(self.segments)
                .diff(1, 0, None::<&Tensor>, None::<&Tensor>);
        let heads = [self.shape.num_heads, self.shape.head_width(), 1];
        let difference = segments.view(heads) * self.scale();
        let of_bias = self
            .by_head(parameters.computed(self.segment_bias))
            .bmm(&difference);
        query.matmul(&difference) + of_bias
    }

    /// heads x 1 x numbers of a head.
    fn by_head(&self, row: &Tensor) -> Tensor {
        row.view([self.shape.num_heads, 1, self.shape.head_width()])
    }

    fn scale(&self) -> f64 {
        1.0 / (self.shape.head_width() as f64).sqrt()
    }
}

/// A matrix of inputs x heads x numbers of a head as one of inputs x outputs.
fn by_heads(shape: LayerShape, name: &str) -> FileTensor {
    let heads = [shape.width, shape.num_heads, shape.head_width()];
    FileTensor::viewed(name, &heads, &[shape.width, shape.width])
}
