//! The family of systems that read subword pieces through a pretrained transformer. `LightXML` is a
//! network of pieces, or several with clusterings of their own; APLC-XLNet one with another head.

mod adaptive;
mod batch;
mod batches;
mod choices;
mod config;
mod encoder_files;
mod estimate;
mod explain;
mod family;
mod label_attention;
mod label_names;
mod memory;
mod model;
mod neighbours;
mod neighbours_config;
mod network;
mod open;
mod pieces;
mod ranker;
mod reader;
mod run;
mod training_set;
mod tuned;
mod validator;
mod votes;
mod windows;

pub use adaptive::{AdaptiveConfig, Projection, Roots, TailLoss};
pub use choices::Choices;
pub use config::{
    ClustersBy, DocumentConfig, HeadForm, OpenPieceConfig, PieceConfig, PieceHeadConfig,
};
pub use encoder_files::check_encoder;
pub use family::PRETRAINED;
pub use model::PieceModel;
pub use neighbours_config::VectorNeighboursConfig;
pub use pieces::{PieceCorpusBuilder, PieceRows, Pieces, TOKENIZER_FILE, resolve_encoder};
pub use reader::PieceReader;
pub use training_set::{CutsTexts, PieceSet, PieceSetBuilder, PieceTexts};

pub(crate) use batch::{Cut, PieceBatch};
pub(crate) use encoder_files::{EncoderFiles, check_fit};
pub(crate) use estimate::{EncoderSizes, estimate};
pub(crate) use family::recipe;
pub(crate) use network::at_rest;
pub(crate) use ranker::{ON_CPU, ON_GPU};
pub(crate) use training_set::weight_files;

/// Trains a system of pieces.
pub type PieceTrainer<'a> = crate::systems::SystemTrainer<'a, PieceConfig>;
