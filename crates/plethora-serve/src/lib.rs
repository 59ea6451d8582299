//! Serves trained models over HTTP: several models beside each other, requests batched for each,
//! new versions taken up while the old one answers.
//!
//! Every answer comes from [`plethora_system::Predictor`], so that it equals what the command line
//! predicts.
//!
//! ```no_run
//! use plethora_serve::{ModelSource, ServeConfig, Server};
//! use plethora_system::Registry;
//!
//! # fn serve(systems: &'static Registry) -> plethora_serve::Result<()> {
//! let models = [ModelSource::parse("books=models/books")?];
//! let server = Server::start(systems, &ServeConfig::default(), &models)?;
//! println!("http://{}", server.address());
//! server.stop();
//! # Ok(())
//! # }
//! ```

mod api_key;
mod app;
mod body;
mod config;
mod connection;
mod error;
mod feedback;
mod filter;
mod host;
mod label_config;
mod label_index;
mod large_answers;
mod metrics;
mod model;
mod model_source;
mod observe;
mod openapi;
mod problem;
mod queue;
mod ranking;
mod reload;
mod routes;
mod served_models;
mod server;
mod timestamp;
mod tls;
mod traces;

pub use config::{Limits, ServeConfig, TlsFiles};
pub use error::{Error, Result};
pub use model_source::ModelSource;
pub use openapi::openapi_json;
pub use server::Server;
