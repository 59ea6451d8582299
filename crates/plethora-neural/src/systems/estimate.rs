//! What the estimates of all neural systems share. They are of training on a processor.
//!
//! Counted are the multiplications of one pass over the documents, from the settings' own sizes;
//! backwards takes twice as many as forwards. How long a document is follows from its terms.

use plethora_system::TrainingSize;

/// Floating-point operations that a core does per second: measured with all four systems on a
/// processor with AVX-512, from 2.4e10 to 4.2e10.
pub(crate) const OPERATIONS_PER_SECOND: f64 = 2.5e10;

/// A multiplication and an addition, forwards and backwards.
pub(crate) const OPERATIONS_PER_WEIGHT: f64 = 2.0 * 3.0;

/// A weight, two moments of its gradient and an average.
pub(crate) const BYTES_PER_WEIGHT: f64 = 16.0;

/// libtorch itself.
pub(crate) const LIBRARY_BYTES: f64 = 400.0 * 1024.0 * 1024.0;

/// Numbers kept of a word for the way back, for each of its state's.
pub(crate) const KEPT_PER_STATE: f64 = 12.0;

/// Words of a text for each of its terms, which repeat.
const WORDS_PER_TERM: f64 = 1.6;

/// Words of a document, on average.
pub(crate) fn words_per_document(size: &TrainingSize) -> f64 {
    let terms = size.num_entries as f64 / size.num_documents.max(1) as f64;
    WORDS_PER_TERM * terms
}
