//! The way of a request to its model: a bounded queue, and a thread that owns the predictor and takes
//! what waits together.

mod bounded;
mod job;
mod worker;

pub(crate) use bounded::{Arrival, Queue, QueueLimits};
pub(crate) use job::{
    ExplainWork, Explained, Job, RankWork, Rankings, Work, WorkError, documents_of,
};
pub(crate) use worker::Worker;
