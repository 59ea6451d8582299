//! Documents and labels: reading them from every format the field uses, writing them back, and
//! splitting them.

mod bounds;
mod compression;
mod content_hash;
mod csv_records;
mod delimiter;
mod document;
mod encoding;
mod feedback;
mod filter;
mod folder;
mod foreign_file;
mod format;
mod hidden_file;
mod input;
mod label_space;
mod lines;
mod memory;
mod opened;
mod options;
mod origin;
mod output;
mod publication;
mod reader;
mod sample;
mod source;
mod split;
mod stratify;
mod transcoder;
mod vocabulary;
mod writer;

use input::Input;

pub(crate) use bounds::{read_row, row_is_too_long};
pub(crate) use source::{ByteReader, Origin, Source};

pub use delimiter::Delimiter;
pub use document::{Content, Document};
pub use encoding::Encoding;
pub use feedback::{Feedback, FeedbackCounts};
pub use filter::Filter;
pub use format::Format;
pub use label_space::{Label, LabelSpace, LabelSpaceBuilder, is_readable};
pub use memory::DocumentList;
pub use options::{ReadOptions, WriteOptions};
pub use output::Output;
pub use publication::CompleteFile;
pub use reader::CorpusReader;
pub use sample::Sample;
pub use split::{Fractions, RandomSplit, SplitMethod, split};
pub use vocabulary::{NameLanguages, VocabularyFile, VocabularyMistakes};
pub use writer::CorpusWriter;
