//! From the numbers of pieces to their first states.

use tch::Tensor;

use super::architecture::{Architecture, ArchitectureKind};
use super::batch::Batch;
use super::linear::{Linear, Norm, dropped};
use super::loader::{FileTensor, Loader};
use super::tensor_names;
use crate::Result;
use crate::parameters::ParameterId;

/// Vectors of pieces, and of their places where those count from the start.
#[derive(Debug)]
pub(super) struct Embeddings {
    words: ParameterId,
    places: Option<Places>,
    /// Where there are no places: `ModernBERT`'s.
    norm: Option<Norm>,
    /// From vectors of pieces to states, where these are wider.
    projection: Option<Linear>,
}

#[derive(Debug)]
struct Places {
    positions: ParameterId,
    /// The row of the first piece: some architectures count from behind their padding piece. A
    /// padding piece inside a text would not be counted by them; here it is, so that all documents
    /// of a batch have the same rows.
    first: i64,
    /// All texts are of the first type.
    types: Option<ParameterId>,
    norm: Norm,
}

impl Embeddings {
    pub(super) fn new(architecture: &Architecture, loader: &mut Loader<'_>) -> Result<Self> {
        let shape = architecture.shape;
        let width = architecture.embedding_width;
        let table = |name: &str, rows| [FileTensor::plain(name, &[rows, width])];
        let words = table(
            tensor_names::word_table(architecture.kind()),
            architecture.vocab_size,
        );
        let words = loader.matrix("encoder.embeddings.word", &words)?;
        if architecture.kind() == ArchitectureKind::Xlnet {
            return Ok(Self {
                words,
                places: None,
                norm: None,
                projection: None,
            });
        }
        if architecture.kind() == ArchitectureKind::Modernbert {
            let name = "encoder.embeddings.norm";
            let eps = shape.norm_eps;
            let norm = loader.norm_without_bias(name, "embeddings.norm", width, eps)?;
            return Ok(Self {
                words,
                places: None,
                norm: Some(norm),
                projection: None,
            });
        }
        let positions = table(
            "embeddings.position_embeddings.weight",
            architecture.num_positions,
        );
        let positions = loader.matrix("encoder.embeddings.position", &positions)?;
        let types = if architecture.num_types > 0 {
            let types = table(
                "embeddings.token_type_embeddings.weight",
                architecture.num_types,
            );
            Some(loader.matrix("encoder.embeddings.type", &types)?)
        } else {
            None
        };
        let norm = loader.norm(
            "encoder.embeddings.norm",
            "embeddings.LayerNorm",
            width,
            shape.norm_eps,
        )?;
        let projection = if width == shape.width {
            None
        } else {
            let name = "encoder.embeddings.projection";
            Some(loader.linear(name, &["embeddings_project"], [shape.width, width])?)
        };
        Ok(Self {
            words,
            places: Some(Places {
                positions,
                first: architecture.first_position,
                types,
                norm,
            }),
            norm: None,
            projection,
        })
    }

    /// # Shapes
    /// Gives documents x pieces x width.
    pub(super) fn forward(&self, batch: &Batch<'_>) -> Tensor {
        let parameters = batch.parameters;
        let words = parameters.computed(self.words);
        let states = Tensor::embedding(words, batch.input.ids, -1, false, false);
        let Some(places) = &self.places else {
            let states = match &self.norm {
                Some(norm) => norm.apply(parameters, &states),
                None => states,
            };
            return dropped(states, batch.dropout);
        };
        let positions = parameters.computed(places.positions);
        let positions = positions.narrow(0, places.first, batch.input.num_pieces());
        let beside = match places.types {
            Some(types) => positions + parameters.computed(types).narrow(0, 0, 1),
            None => positions,
        };
        let states = places.norm.apply(parameters, &(states + beside));
        let states = dropped(states, batch.dropout);
        match &self.projection {
            Some(projection) => projection.apply(parameters, &states),
            None => states,
        }
    }
}
