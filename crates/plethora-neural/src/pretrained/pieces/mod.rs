//! Texts as the subword pieces that a pretrained encoder was trained on: the tokenizer of a Hugging
//! Face folder, the place of such a folder, and whole corpora as rows of piece ids.
//!
//! [`Pieces`] reads the `tokenizer.json` of a folder, or builds one from the older files that came
//! with the encoder; either way a model folder gets a `tokenizer.json`. **A new architecture** is an
//! arm in `family.rs`, and one file here where its vocabulary is of a new kind.

mod added_tokens;
mod assemble;
#[cfg(any(feature = "hub", test))]
mod blob_sum;
mod block_cache;
mod byte_pair;
mod corpus;
mod encoder_folder;
mod family;
mod folder;
mod frame;
#[cfg(test)]
mod golden;
#[cfg(feature = "hub")]
mod hub_download;
mod json;
mod layout;
mod prefix;
mod probe;
mod protobuf;
mod sentence_piece;
mod subwords;
mod word_piece;

pub use corpus::{PieceCorpusBuilder, PieceRows};
pub use encoder_folder::resolve_encoder;
pub use subwords::{Pieces, TOKENIZER_FILE};
