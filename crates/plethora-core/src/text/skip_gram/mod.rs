//! Word vectors learnt from the training documents themselves: skip-gram with negative sampling
//! (Mikolov et al. 2013), for where no pretrained vectors are at hand.
//!
//! The usual way to use several threads, all writing into one table without locks, gives another
//! result each time. Here a round has up to [`MAX_SHARDS`](plan::MAX_SHARDS) shards of some
//! thousand words; each learns on copies of the rows it meets, and afterwards a row becomes the
//! mean of its copies. Shards are so small that only very frequent words meet more than one, so
//! little is lost in the mean, and nothing depends on how many threads there are.

mod config;
mod kernel;
mod local_rows;
mod noise;
mod plan;
mod shard;
mod train;

pub use config::SkipGramConfig;
pub use train::train_skip_gram;
