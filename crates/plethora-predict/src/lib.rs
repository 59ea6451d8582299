//! Ranking labels with trained models, whatever system they are of. Nothing here trains.
//!
//! ```no_run
//! use plethora_core::corpus::{Content, Document};
//! use plethora_predict::{Predictor, RankOptions};
//!
//! # fn main() -> plethora_core::Result<()> {
//! let predictor = Predictor::open("model".as_ref())?;
//! let document = Document {
//!     id: "1".into(),
//!     content: Content::Text("Tides and harbours".into()),
//!     labels: Vec::new(),
//! };
//! let options = RankOptions { top_k: 5, beam: None };
//! for scored in &predictor.rank(&[document], options)?[0] {
//!     println!("{} {}", predictor.labels().label(scored.label).name, scored.score);
//! }
//! # Ok(())
//! # }
//! ```

mod explain;
mod features;
mod predictor;

pub use explain::{BIAS, Explanation, Method, SpanWeight, TermContribution};
pub use plethora_linear::RankOptions;
pub use predictor::{Predictor, System};
