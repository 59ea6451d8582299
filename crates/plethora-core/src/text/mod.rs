//! From raw text to features: words with their offsets, the vocabulary of a training set, and
//! TF-IDF rows. Everything is fitted on training documents only and saved with the model.

mod normalize;
mod term_counts;
mod term_table;
mod tfidf;
mod tfidf_builder;
mod tfidf_config;
mod tfidf_files;
mod tokenizer;
mod vocabulary;
mod vocabulary_builder;

pub use tfidf::TfIdf;
pub use tfidf_builder::TfIdfBuilder;
pub use tfidf_config::TfIdfConfig;
pub use tokenizer::{Token, Tokenizer, TokenizerConfig};
pub use vocabulary::Vocabulary;
pub use vocabulary_builder::{TermSelection, VocabularyBuilder};
