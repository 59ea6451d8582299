//! What a system is. A [`Family`] has systems with settings; [`Trainable`] is one of them ready to be
//! trained, [`Ranker`] what training gives. A [`Registry`] of families is all that jobs, servers and
//! front ends know: none of them names a system.
//!
//! A family of one's own is one file that implements these three traits and one line,
//! `registry.with(&Mine)`; `examples/own_system` is one.

mod compute;
mod ensemble;
mod estimate;
mod explanation;
mod family;
mod label_change;
mod label_choice;
mod piece;
mod predictor;
mod ranker;
pub mod ranks;
mod registry;
pub mod resources;
mod scores;
mod selection;
pub mod settings;
mod shard;
mod trainable;

pub use compute::{Compute, Device, Precision};
pub use ensemble::{
    Candidates, Combination, ENSEMBLE, EnsembleConfig, EnsembleModel, EnsembleParts, Ensembles,
    FUSION_RANKS, FittedFusion, Fusion, LabelWeights, Member, MemberFolder, MemberLink, Powers,
    Stacking, StackingFitter,
};
pub use estimate::{BASE_BYTES, ENTRY_BYTES, Estimate, TERM_BYTES, TrainingSize};
pub use explanation::{
    BIAS, ExplainingMember, ExplainingNeighbour, Explanation, FeatureContribution, Method,
    ShownExplanation, ShownNeighbour, ShownSpan, SpanWeight, TermContribution, spans_of, terms_of,
};
pub use family::{AutoMember, Family, NameUse, OpenParts, Preset, SystemSpec};
pub use label_change::{LabelChange, LabelEdit};
pub use label_choice::{UnclearLabel, find_label};
pub use piece::{PIECE, PieceDetails};
pub use predictor::Predictor;
pub use ranker::{Embeddings, RankOptions, Ranker, Rankings, keep_first};
pub use registry::{Absent, Registry, warn_of_device};
pub use scores::ScoreKind;
pub use selection::{Cutoff, Depth, Selection, USUAL_TOP_K};
pub use shard::Shard;
pub use trainable::{
    DocumentSource, DocumentStream, Effort, Facts, RunContext, Stages, Trainable, Trained,
};
