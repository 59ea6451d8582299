//! What papers claim, tested: their tables and figures as claims, the runs that test them, what was measured, and a page of
//! all of it.
//!
//! Claims, runs and data are tables in `data/papers/`; nothing here knows a system. A run is a list of commands that
//! [`Papers::steps`] puts together and a front end executes; its [`Figures`] are kept as lines of JSON, so that what was measured on
//! different days and machines adds up.

mod catalogue;
mod claims;
mod commands;
mod measured;
mod page;
mod plan;
mod results;
mod rule;
mod run_settings;
mod statistics;
mod verdict;

pub use catalogue::Papers;
pub use claims::{Claim, Data, Paper, Run};
pub use commands::{Place, Step, report_of};
pub use measured::figures_of;
pub use plan::{Piece, Selection};
pub use results::{Figures, Results};
