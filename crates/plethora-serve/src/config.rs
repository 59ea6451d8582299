//! How a server behaves.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use plethora_system::Compute;

use crate::{Error, Result};

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// Where to listen; this machine alone unless told otherwise.
    pub address: SocketAddr,
    /// Key that clients send as bearer; everybody may ask without one.
    pub api_key: Option<String>,
    /// Certificate and key, for HTTPS.
    pub tls: Option<TlsFiles>,
    /// Names that clients may ask this server by, beside numeric addresses and `localhost`; `*` for all.
    pub allow_hosts: Vec<String>,
    /// File that feedback is appended to; none is taken without one.
    pub feedback: Option<PathBuf>,
    /// Bytes that this file may grow to.
    pub feedback_max_bytes: u64,
    /// Collector of `OpenTelemetry` that requests are told to, such as `http://localhost:4318`.
    pub otlp_endpoint: Option<String>,
    /// How often to look for new versions of the models; never if zero.
    pub reload_interval: Duration,
    /// Where neural systems compute.
    pub compute: Compute,
    /// What a client may ask for, and how long things may take.
    pub limits: Limits,
}

/// Files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Chain of certificates in PEM.
    pub certificate: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
}

/// Bounds that keep one client from taking everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes per request.
    pub max_body_bytes: usize,
    /// Documents in a request.
    pub max_documents: usize,
    /// Labels for a document.
    pub max_top_k: usize,
    /// Bytes of a text whose labels are explained: each label costs more than a ranking.
    pub max_explain_bytes: usize,
    /// Labels that are ranked where a request allows or denies some.
    pub filter_depth: usize,
    /// Documents that wait for a model; more are refused.
    pub max_queue_documents: usize,
    /// Documents that a model ranks together.
    pub max_batch_documents: usize,
    /// Words per batch of a model.
    pub max_batch_tokens: usize,
    /// Longest time that a request waits for others to come into its batch.
    pub batch_wait: Duration,
    /// Longest time from the last byte of a request to its answer.
    pub request_timeout: Duration,
    /// Longest time that a client may take to send headers, and again to send the rest.
    pub read_timeout: Duration,
    /// Longest time that an answer waits for a client to take a part of it, and unit of time of the least
    /// rate of reading.
    pub write_timeout: Duration,
    /// Open connections.
    pub max_connections: usize,
    /// Those of one address; half of all where none is given.
    pub max_connections_per_address: Option<usize>,
    /// Longest time that requests get to finish once the server is to stop.
    pub shutdown_timeout: Duration,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            api_key: None,
            tls: None,
            allow_hosts: Vec::new(),
            feedback: None,
            feedback_max_bytes: 1 << 30,
            otlp_endpoint: None,
            reload_interval: Duration::from_secs(1),
            compute: Compute::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 10 << 20,
            max_documents: 1000,
            max_top_k: 1000,
            max_explain_bytes: 1 << 20,
            filter_depth: 1000,
            max_queue_documents: 2048,
            max_batch_documents: 256,
            max_batch_tokens: 65_536,
            batch_wait: Duration::from_millis(2),
            request_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_connections: 1024,
            max_connections_per_address: None,
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    pub(crate) fn connections_per_address(&self) -> usize {
        let half = self.max_connections.div_ceil(2);
        self.max_connections_per_address.unwrap_or(half)
    }
}

impl ServeConfig {
    /// Refuses what cannot work.
    pub(crate) fn validate(&self) -> Result<()> {
        let limits = &self.limits;
        let at_least_one = [
            ("max_body_bytes", limits.max_body_bytes),
            ("max_documents", limits.max_documents),
            ("max_top_k", limits.max_top_k),
            ("max_explain_bytes", limits.max_explain_bytes),
            ("filter_depth", limits.filter_depth),
            ("max_queue_documents", limits.max_queue_documents),
            ("max_batch_documents", limits.max_batch_documents),
            ("max_batch_tokens", limits.max_batch_tokens),
            ("max_connections", limits.max_connections),
            (
                "max_connections_per_address",
                limits.connections_per_address(),
            ),
        ];
        if let Some((key, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Err(Error::config(key, "expected at least 1"));
        }
        for (key, time) in [
            ("request_timeout", limits.request_timeout),
            ("read_timeout", limits.read_timeout),
            ("write_timeout", limits.write_timeout),
        ] {
            if time.is_zero() {
                return Err(Error::config(key, "expected a time above 0"));
            }
        }
        let is_blank = |key: &String| key.trim().is_empty();
        if self.api_key.as_ref().is_some_and(is_blank) {
            return Err(Error::config("api_key", "expected a key, found none"));
        }
        Ok(())
    }
}
