//! The training documents nearest to a text, and what their labels say of it.
//!
//! Two indexes, both exact: [`TermIndex`] over sparse rows, by the documents of each term, and
//! [`DenseIndex`] over vectors, block by block. Both lie in mapped files, answer many queries in
//! parallel, and never hold a similarity for each pair of documents. Equal similarities are told
//! apart by the number of the document, so that answers are the same for any number of threads.

mod dense_index;
mod frequent_terms;
mod known_documents;
mod mean_vectors;
mod nearest;
mod neighbour_rows;
mod power;
mod queries;
mod term_index;
mod term_search;
mod votes;

pub use dense_index::DenseIndex;
pub use known_documents::{DocumentNames, KnownDocuments};
pub use mean_vectors::MeanVectors;
pub use nearest::Neighbour;
pub use neighbour_rows::NeighbourRows;
pub use power::{CHOSEN_BY, ChosenPower, choose_power};
pub use queries::Queries;
pub use term_index::{TermIndex, TermVote};
pub use votes::{shares, votes};
