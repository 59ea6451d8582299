//! Names of labels found in texts: the system `lexical`, which knows labels that no training document
//! has.
//!
//! `name_table.rs` and `mining.rs` collect `phrases.rs`, the names of labels and what training documents
//! let us take for names; `matching.rs` finds them in a text, `candidates.rs` tells what they say of each
//! label, and a forest makes probabilities of that.

mod addition;
mod candidates;
mod config;
mod evidence;
mod explain;
mod family;
mod language;
mod matching;
mod mining;
mod model;
mod name_table;
mod names;
mod phrases;
mod relations;
mod train;
mod training_set;
mod words;

pub use config::{LearntConfig, LexicalConfig, OpenLexicalConfig, RankerConfig};
pub use family::Lexical;
pub use language::Languages;
