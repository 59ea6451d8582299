//! The way of a request to its model: a bounded queue, and a thread that takes what waits together;
//! explanations have a thread of their own.

mod bounded;
mod explainer;
mod job;
mod large_work;
mod worker;

pub(crate) use bounded::{Arrival, Queue, QueueLimits};
pub(crate) use explainer::{ExplainWork, Explainer};
pub(crate) use job::{Job, RankWork, Rankings, WorkError, documents_of};
pub(crate) use worker::Worker;
