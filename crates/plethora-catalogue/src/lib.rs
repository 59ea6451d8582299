//! An invented library catalogue: readable records with subject headings, made from a seed.
//!
//! Every record is drawn from facets (subject, place, period, form, readers, person) and written
//! out by a grammar over the word lists in `tables`. Some headings are named in the text, some only
//! implied by characteristic words, and there is noise, so that a classifier has something to learn
//! and something to miss. A record depends on the seed, the settings and its own number only:
//! catalogues of any size can be streamed, and read at any place.
//!
//! ```
//! use plethora_catalogue::{Catalogue, CatalogueConfig};
//!
//! let config = CatalogueConfig { seed: 7, num_documents: 100, ..CatalogueConfig::default() };
//! let catalogue = Catalogue::new(config)?;
//! let first = catalogue.documents().next().expect("the catalogue has documents");
//! assert_eq!(first, catalogue.document(0));
//! # Ok::<(), plethora_core::Error>(())
//! ```

mod assignment;
mod cast;
mod choice;
mod coin;
mod config;
mod document;
mod draw;
mod facets;
mod generator;
mod headings;
mod label;
mod layout;
mod phrase;
mod prose;
mod subject;
mod tables;
mod typo;

pub use config::CatalogueConfig;
pub use document::{CatalogueDocument, Split};
pub use generator::Catalogue;
