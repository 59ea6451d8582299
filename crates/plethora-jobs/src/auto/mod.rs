//! The best model that a budget of time allows: members of several systems, fused on documents that
//! they did not learn from.
//!
//! `encoders.rs` looks for pretrained encoders, `plan.rs` chooses members by what families propose and what training them will cost, `planned_member.rs` says what a plan knows of each, `held_back.rs`
//! which documents they are judged by, `members.rs` trains them, `rankings.rs` keeps what they rank for these, `consensus.rs` makes
//! one model of them, `job.rs` is the way from corpus to model folder.

mod consensus;
mod encoders;
mod held_back;
mod job;
mod members;
mod objective;
mod plan;
mod planned_member;
mod progress;
mod rankings;
mod report;

pub use job::{AutoJob, EncoderChoice};
pub use objective::Objective;
pub use plan::Plan;
pub use planned_member::PlannedMember;
pub use report::{AutoReport, HeldBackFigures, MemberReport};
