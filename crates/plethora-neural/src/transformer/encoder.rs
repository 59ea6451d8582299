//! The encoder as a whole.

use tch::{Kind, Tensor};

use super::architecture::{Architecture, ArchitectureKind, DocumentPiece};
use super::batch::{AttentionBias, Batch, PieceInput, Rows};
use super::config::{Pooling, TransformerConfig};
use super::distances::DistanceBias;
use super::embeddings::Embeddings;
use super::layer::Layer;
use super::loader::{Loader, Weights};
use super::relative_attention::Distances;
use super::rotary::{RotaryPositions, RotaryShape};
use crate::Result;
use crate::parameters::{DenseParameters, DenseParametersBuilder};

/// From the pieces of documents to one vector a document.
#[derive(Debug)]
pub(crate) struct Transformer {
    pub(super) config: TransformerConfig,
    width: i64,
    document_piece: DocumentPiece,
    pub(super) embeddings: Embeddings,
    positions: Positions,
    pub(super) layers: Vec<Layer>,
    /// Whether the states of all pieces are wanted beside the vector.
    pub(super) gives_states: bool,
}

/// How attention knows of the places of pieces.
#[derive(Debug)]
enum Positions {
    /// Only by the embeddings.
    Embedded,
    /// By a bias that all layers share.
    Bias(DistanceBias),
    /// By rotations of queries and keys.
    Rotary { shape: RotaryShape, head_width: i64 },
    /// By scores that each layer computes.
    Scores { clamp_len: i64 },
}

/// What the way forward leaves for the way back.
pub(crate) struct Trace {
    /// documents x [`width`](Transformer::width): the states of the layers that are read side by
    /// side, the last layer first.
    pub(crate) vector: Tensor,
    /// documents x pieces x width: what the last layer gives, where it is wanted.
    pub(crate) states: Option<Tensor>,
    /// The input of each layer, where the graph was not kept.
    pub(super) inputs: Vec<Tensor>,
}

impl Transformer {
    /// Adds the encoder's parameters to `builder`.
    ///
    /// # Errors
    ///
    /// Settings that do not fit the encoder, and weights that are missing or damaged or have
    /// another shape.
    pub(crate) fn new(
        architecture: &Architecture,
        config: &TransformerConfig,
        builder: &mut DenseParametersBuilder,
        weights: Weights<'_>,
    ) -> Result<Self> {
        config.check_layers(architecture.num_layers())?;
        let mut loader = Loader::new(architecture, builder, weights)?;
        Ok(Self {
            config: config.clone(),
            width: architecture.shape.width,
            document_piece: architecture.document_piece(),
            embeddings: Embeddings::new(architecture, &mut loader)?,
            positions: match architecture.kind() {
                ArchitectureKind::Mpnet => {
                    let is_trained = config.train_distances;
                    Positions::Bias(DistanceBias::new(architecture, is_trained, &mut loader)?)
                }
                ArchitectureKind::Xlnet => Positions::Scores {
                    clamp_len: architecture.clamp_len,
                },
                _ => match architecture.rotary {
                    Some(shape) => Positions::Rotary {
                        shape,
                        head_width: architecture.shape.head_width(),
                    },
                    None => Positions::Embedded,
                },
            },
            layers: (0..architecture.num_layers())
                .map(|number| Layer::new(architecture, number, &mut loader))
                .collect::<Result<_>>()?,
            gives_states: false,
        })
    }

    /// The same encoder, which gives the states of all pieces beside the vector.
    #[must_use]
    pub(crate) fn giving_states(self) -> Self {
        Self {
            gives_states: true,
            ..self
        }
    }

    /// Numbers of a piece's state.
    pub(crate) fn state_width(&self) -> usize {
        self.width as usize
    }

    /// Numbers of a document vector.
    pub(crate) fn width(&self) -> usize {
        self.config.layers * self.width as usize
    }

    /// Reads documents. In training with checkpointing the vector is a leaf, and
    /// [`backward`](Self::backward) must follow when it has its gradient.
    pub(crate) fn forward(&self, parameters: &DenseParameters, input: &PieceInput<'_>) -> Trace {
        if input.is_training && self.config.checkpointing {
            return self.forward_without_graph(parameters, input);
        }
        let (batch, mut states) = self.begin(parameters, input);
        let mut pooled = Vec::new();
        for number in 0..self.layers.len() {
            states = self.layer(number, &states, &batch);
            if self.is_read(number) {
                pooled.push(self.pool(&states, &batch));
            }
        }
        Trace {
            vector: side_by_side(pooled),
            states: self.gives_states.then_some(states),
            inputs: Vec::new(),
        }
    }

    /// The states of all pieces, documents x pieces x width: first of the embeddings, then of each
    /// layer.
    pub(crate) fn hidden_states(
        &self,
        parameters: &DenseParameters,
        input: &PieceInput<'_>,
    ) -> Vec<Tensor> {
        let (batch, embedded) = self.begin(parameters, input);
        let mut states = vec![embedded];
        for (number, layer) in self.layers.iter().enumerate() {
            self.seed(input, number + 1);
            states.push(layer.forward(&states[number], &batch, Rows::All));
        }
        states
    }

    /// The embeddings, and what all layers share.
    pub(super) fn begin<'a>(
        &self,
        parameters: &'a DenseParameters,
        input: &'a PieceInput<'a>,
    ) -> (Batch<'a>, Tensor) {
        let share = |share| if input.drops { share } else { 0.0 };
        let mut batch = Batch {
            parameters,
            input,
            document_piece: self.document_piece,
            dropout: share(self.config.dropout),
            attention_dropout: share(self.config.attention_dropout),
            bias: None,
            distances: None,
            rotary: None,
        };
        self.seed(input, 0);
        let states = self.embeddings.forward(&batch);
        let kind = states.kind();
        match &self.positions {
            Positions::Embedded => batch.bias = AttentionBias::hiding(input, kind),
            Positions::Rotary { shape, head_width } => {
                batch.bias = AttentionBias::hiding(input, kind);
                batch.rotary = Some(RotaryPositions::new(shape, *head_width, input, kind));
            }
            Positions::Bias(bias) => batch.bias = Some(bias.forward(parameters, input)),
            Positions::Scores { clamp_len } => {
                let distances = Distances::new(input, self.width, *clamp_len, kind);
                batch.distances = Some(distances.dropped(batch.dropout));
            }
        }
        (batch, states)
    }

    /// The states that a layer makes of those below it: of all pieces, or of the last layer those
    /// that are read.
    pub(super) fn layer(&self, number: usize, states: &Tensor, batch: &Batch<'_>) -> Tensor {
        let is_last = number + 1 == self.layers.len();
        let reads_document_piece = self.config.pooling == Pooling::Cls && !self.gives_states;
        let rows = if is_last && reads_document_piece {
            Rows::Document
        } else {
            Rows::All
        };
        self.seed(batch.input, number + 1);
        self.layers[number].forward(states, batch, rows)
    }

    /// Draws the numbers of a part by themselves, so that they can be drawn again.
    fn seed(&self, input: &PieceInput<'_>, part: usize) {
        let drops = self.config.dropout > 0.0 || self.config.attention_dropout > 0.0;
        if input.drops && drops {
            tch::manual_seed(input.seed + part as i64);
        }
    }

    /// Whether the states of a layer are part of the document vector.
    pub(super) fn is_read(&self, number: usize) -> bool {
        number + self.config.layers >= self.layers.len()
    }

    /// documents x width.
    pub(super) fn pool(&self, states: &Tensor, batch: &Batch<'_>) -> Tensor {
        match self.config.pooling {
            Pooling::Cls if states.size()[1] == 1 => states.squeeze_dim(1),
            Pooling::Cls => batch.document_states(states).squeeze_dim(1),
            Pooling::Mean => mean(states, batch.input),
        }
    }
}

/// The states of layers in the order in which they are read.
pub(super) fn side_by_side(mut pooled: Vec<Tensor>) -> Tensor {
    pooled.reverse();
    if pooled.len() == 1 {
        pooled.remove(0)
    } else {
        Tensor::cat(&pooled, 1)
    }
}

/// The mean over the pieces of each document.
fn mean(states: &Tensor, input: &PieceInput<'_>) -> Tensor {
    match input.mask {
        None => states.mean_dim(1, false, states.kind()),
        Some(mask) => {
            let mask = mask.to_kind(states.kind()).unsqueeze(1);
            let sum = mask.bmm(states).squeeze_dim(1);
            // Lengths are no numbers of 16 bits.
            let means = sum / input.lengths.to_kind(Kind::Float).unsqueeze(1);
            means.to_kind(states.kind())
        }
    }
}
