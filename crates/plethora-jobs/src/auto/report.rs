//! What came out of an automatic choice of systems.

use std::path::PathBuf;

use serde::Serialize;

use super::objective::Objective;
use super::plan::Plan;

/// Figures on held-back documents, as shares.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct HeldBackFigures {
    /// P@1.
    #[serde(rename = "P@1")]
    pub precision_at_1: f64,
    /// P@5.
    #[serde(rename = "P@5")]
    pub precision_at_5: f64,
    /// nDCG@5.
    #[serde(rename = "nDCG@5")]
    pub ndcg_at_5: f64,
    /// How far nDCG@5 may be off, either way, in 95 of 100 such samples.
    pub ndcg_interval: f64,
    /// PSP@5.
    #[serde(rename = "PSP@5")]
    pub psp_at_5: f64,
}

/// One member.
#[derive(Debug, Serialize)]
pub struct MemberReport {
    /// What the plan calls it.
    pub name: String,
    /// Wall time of all its training.
    pub seconds: f64,
    /// How it does by itself.
    pub held_back: HeldBackFigures,
    /// Whether the model has it.
    pub is_kept: bool,
    /// Whether it has learnt from the held-back documents in the end.
    pub saw_all: bool,
}

/// What came out.
#[derive(Debug, Serialize)]
pub struct AutoReport {
    /// Folder of the model.
    pub model: PathBuf,
    /// What it should be best at.
    pub objective: Objective,
    /// What was planned, and why.
    pub plan: Plan,
    /// The members that were trained.
    pub members: Vec<MemberReport>,
    /// How they do together, judged by documents that neither members nor fusion had seen.
    pub consensus: HeldBackFigures,
    /// How their scores become one: `fused`, `mean`, or the name of the one member that is left.
    pub combination: String,
    /// Documents that they were judged by.
    #[serde(rename = "n_held_back")]
    pub num_held_back: u64,
    /// Whether the user stopped it before the end.
    pub is_interrupted: bool,
    /// Bytes of the model.
    pub model_bytes: u64,
    /// Wall time of everything.
    pub seconds: f64,
}
