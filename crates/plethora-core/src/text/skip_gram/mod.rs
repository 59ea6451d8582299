//! Word vectors learnt from the training documents themselves: skip-gram with negative sampling
//! (Mikolov et al. 2013), for where no pretrained vectors are at hand.
//!
//! The usual way to use several threads, all writing into one table without locks, gives another
//! result each time. Here a round has a fixed number of shards of a few hundred words; each learns
//! on copies of the rows it meets, and afterwards each row moves by what its copies have moved
//! (`merge.rs`). How many threads work on the shards changes nothing.

mod config;
mod kernel;
mod local_rows;
mod merge;
mod noise;
mod plan;
mod shard;
mod train;

pub use config::SkipGramConfig;
pub use train::train_skip_gram;
