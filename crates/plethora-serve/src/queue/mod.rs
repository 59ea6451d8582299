//! The way of a request to its model: a bounded queue, and a thread that takes what waits together;
//! explanations and vectors of texts have a thread of their own.

mod aside;
mod bounded;
mod job;
mod large_work;
mod worker;

pub(crate) use aside::{Aside, AsideWork, EmbedWork, ExplainWork};
pub(crate) use bounded::{Arrival, Queue, QueueLimits};
pub(crate) use job::{Job, RankWork, Rankings, WorkError, documents_of};
pub(crate) use worker::Worker;
