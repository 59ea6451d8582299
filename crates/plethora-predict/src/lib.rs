//! Ranking labels with trained models, whatever system they are of. Nothing here trains.
//!
//! Neural systems need the feature `torch`, and libtorch with it; without it their models are
//! refused by name.
//!
//! ```no_run
//! use plethora_core::corpus::{Content, Document};
//! use plethora_predict::{Predictor, RankOptions};
//!
//! # fn main() -> plethora_core::Result<()> {
//! let predictor = Predictor::open("model".as_ref())?;
//! let document = Document {
//!     id: "1".into(),
//!     content: Content::Text("Tides and harbours".into()),
//!     labels: Vec::new(),
//! };
//! let options = RankOptions { top_k: 5, beam: None };
//! for scored in &predictor.rank(&[document], options)?[0] {
//!     println!("{} {}", predictor.labels().label(scored.label).name, scored.score);
//! }
//! # Ok(())
//! # }
//! ```

mod compute;
#[cfg(not(feature = "torch"))]
mod device;
mod ensemble;
mod explain;
mod explain_votes;
mod open_system;
mod predictor;
mod prepared;

pub use compute::{Compute, Precision};
#[cfg(not(feature = "torch"))]
pub use device::Device;
pub use ensemble::{
    Combination, ENSEMBLE, EnsembleConfig, EnsembleModel, EnsembleParts, Member, MemberFolder,
    MemberLink, Stacking, StackingFitter,
};
pub use explain::{
    BIAS, ExplainingMember, ExplainingNeighbour, Explanation, Method, SpanWeight, TermContribution,
};
pub use plethora_linear::RankOptions;
#[cfg(feature = "torch")]
pub use plethora_neural::Device;
pub use predictor::{Predictor, System};
pub use prepared::Prepared;

/// The systems that need the feature `torch`, so that a program without it can say so.
pub const NEURAL_SYSTEMS: [&str; 8] = [
    "attentionxml",
    "attentionxml-plt",
    "xml-rnn",
    "xml-cnn",
    "lightxml",
    "aplc-xlnet",
    "lightattention",
    "treaderxml",
];
