//! Pretrained vectors of words: GloVe's text, the text of word2vec and fastText's `.vec`, and
//! word2vec's binary format, plain or compressed, told apart by their content.
//!
//! A file has millions of words of which a vocabulary knows some, so the numbers of a word are
//! looked at only after the word itself was found worth it.

mod binary;
mod collector;
mod layout;
mod text_lines;
mod vectors;

pub use vectors::{Coverage, WordVectors};
