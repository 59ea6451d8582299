//! From raw text to features: words with their offsets, the vocabulary of a training set, TF-IDF
//! rows, word sequences and the vectors of words. Everything is fitted on training documents only and saved with the model.

mod normalize;
mod parts;
mod skip_gram;
mod term_counts;
mod term_table;
mod tfidf;
mod tfidf_builder;
mod tfidf_config;
mod tfidf_files;
mod tokenizer;
mod vocabulary;
mod vocabulary_builder;
mod vocabulary_files;
mod word_vectors;
mod words;
mod words_builder;
mod words_config;
mod words_files;

pub use parts::PartsConfig;
pub use skip_gram::{SkipGramConfig, train_skip_gram};
pub use tfidf::TfIdf;
pub use tfidf_builder::TfIdfBuilder;
pub use tfidf_config::TfIdfConfig;
pub use tokenizer::{TermRuns, Token, Tokenizer, TokenizerConfig};
pub use vocabulary::Vocabulary;
pub use vocabulary_builder::{TermSelection, VocabularyBuilder};
pub use word_vectors::{Coverage, WordVectors};
pub use words::Words;
pub use words_builder::WordsBuilder;
pub use words_config::WordsConfig;
