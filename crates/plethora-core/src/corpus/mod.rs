//! Documents and labels: reading them from every format the field uses, writing them back, and
//! splitting them.

mod bounds;
mod document;
mod filter;
mod format;
mod hidden_file;
mod label_space;
mod lines;
mod memory;
mod options;
mod output;
mod publication;
mod reader;
mod sample;
mod source;
mod split;
mod stratify;
mod vocabulary;
mod writer;

pub(crate) use bounds::{read_row, row_is_too_long};
pub(crate) use source::{ByteReader, Origin, Source};

pub use document::{Content, Document};
pub use filter::Filter;
pub use format::Format;
pub use label_space::{Label, LabelSpace, LabelSpaceBuilder};
pub use memory::DocumentList;
pub use options::{ReadOptions, WriteOptions};
pub use output::Output;
pub use publication::CompleteFile;
pub use reader::CorpusReader;
pub use sample::Sample;
pub use split::{Fractions, RandomSplit, SplitMethod, split};
pub use vocabulary::read_vocabulary;
pub use writer::CorpusWriter;
