//! `serve`: models over HTTP.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use plethora_serve::{Limits, ModelSource, ServeConfig, Server, TlsFiles};

use plethora_core::Error;

use crate::device_args::DeviceArgs;
use crate::failure;
use crate::{bounds, interrupt, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora serve model
  plethora serve books=models/2026-11 films=models/films --port 8000 --feedback feedback.jsonl
  PLETHORA_API_KEY=sesame plethora serve model --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

  curl localhost:8080/v1/models/model/predict --json '{\"documents\": [\"Tides and harbours\"], \"top_k\": 5}'

The page is at /, the interface is described at /docs/. A model folder that is replaced is reloaded
without a pause; a damaged one is not, and the old one stays in use. SIGTERM and Ctrl-C let requests
finish. Logs are on standard error and never hold texts.";

/// Serve models over HTTP: predictions, explanations, label search, and a page
#[expect(clippy::doc_markdown, reason = "backticks would show in the help")]
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Model folders, each as PATH, whose last part is the id, or as ID=PATH
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<String>,

    /// Address to listen on; 0.0.0.0 for all of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// Port to listen on; 0 takes a free one
    #[arg(short, long, value_name = "PORT", default_value_t = 8080)]
    port: u16,

    /// Key that clients must send as bearer; better given as PLETHORA_API_KEY, where others cannot see it
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,

    /// Certificates in PEM, for HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Answer to this name too, beside numeric addresses and localhost; repeatable, * for every name
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Append feedback to this file, in lines that `train` reads
    #[arg(long, value_name = "FILE")]
    feedback: Option<PathBuf>,

    /// Most bytes of that file; feedback is refused with 507 beyond
    #[arg(long, value_name = "BYTES", default_value_t = ServeConfig::default().feedback_max_bytes)]
    feedback_max_bytes: u64,

    /// Tell every request to this collector of OpenTelemetry, such as http://localhost:4318
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<String>,

    /// Seconds between two checks for new versions of the models; 0 never checks
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "1")]
    reload: Duration,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    device: DeviceArgs,
}

/// What clients may ask for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Most bytes per request; 413 beyond
    #[arg(long, value_name = "BYTES", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_body_bytes)]
    max_body: usize,

    /// Most documents per request; 413 beyond
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_documents)]
    max_documents: usize,

    /// Most labels per document; 422 beyond
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_top_k)]
    max_top_k: usize,

    /// Most bytes of a text to explain labels of; 413 beyond
    #[arg(long, value_name = "BYTES", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_explain_bytes)]
    max_explain: usize,

    /// Labels to rank where a request allows or denies some, before these are filtered
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().filter_depth)]
    filter_depth: usize,

    /// Most documents that wait for a model; 429 beyond
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_queue_documents)]
    max_queue: usize,

    /// Most documents per batch of a model
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_batch_documents)]
    max_batch: usize,

    /// Most words per batch of a model
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_batch_tokens)]
    max_batch_tokens: usize,

    /// Most milliseconds that a request waits for others that are still being read
    #[arg(long, value_name = "MS", default_value_t = Limits::default().batch_wait.as_millis() as u64)]
    batch_wait_ms: u64,

    /// Most seconds for an answer; 503 beyond
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds, default_value = "30")]
    request_timeout: Duration,

    /// Seconds that a client may take to send headers, and again to send the rest; 408 beyond
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds, default_value = "30")]
    read_timeout: Duration,

    /// Seconds that a client may take to read what waits for it, a kilobyte a second at the least;
    /// the connection ends beyond
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds, default_value = "30")]
    write_timeout: Duration,

    /// Most open connections; others wait
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one(), default_value_t = Limits::default().max_connections)]
    max_connections: usize,

    /// Most open connections of one address, 429 beyond; half of all unless given
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one())]
    max_connections_per_address: Option<usize>,

    /// Seconds that requests get to finish after SIGTERM
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    shutdown_timeout: Duration,
}

impl ServeArgs {
    /// Serves until it is told to stop.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let models = self.models.iter().map(|text| ModelSource::parse(text));
        let models: Vec<ModelSource> = models
            .collect::<plethora_serve::Result<_>>()
            .map_err(told)?;
        let stop = stop_signals()?;
        let config = self.into_config();
        let scheme = if config.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let server = Server::start(registry(), &config, &models).map_err(told)?;
        results::print(&format!("{scheme}://{}\n", server.address()))?;
        // It fails where nothing can send any more, which is a reason to stop as well.
        let _ = stop.recv();
        server.stop();
        Ok(())
    }

    fn into_config(self) -> ServeConfig {
        let limits = self.limits;
        ServeConfig {
            address: SocketAddr::from((self.host, self.port)),
            api_key: self.api_key,
            tls: (self.tls_cert.zip(self.tls_key))
                .map(|(certificate, key)| TlsFiles { certificate, key }),
            allow_hosts: self.allow_host,
            feedback: self.feedback,
            feedback_max_bytes: self.feedback_max_bytes,
            otlp_endpoint: self.otlp_endpoint,
            reload_interval: self.reload,
            compute: self.device.compute(),
            limits: Limits {
                max_body_bytes: limits.max_body,
                max_documents: limits.max_documents,
                max_top_k: limits.max_top_k,
                max_explain_bytes: limits.max_explain,
                filter_depth: limits.filter_depth,
                max_queue_documents: limits.max_queue,
                max_batch_documents: limits.max_batch,
                max_batch_tokens: limits.max_batch_tokens,
                batch_wait: Duration::from_millis(limits.batch_wait_ms),
                request_timeout: limits.request_timeout,
                read_timeout: limits.read_timeout,
                write_timeout: limits.write_timeout,
                max_connections: limits.max_connections,
                max_connections_per_address: limits.max_connections_per_address,
                shutdown_timeout: limits.shutdown_timeout,
            },
        }
    }
}

/// Tells when to stop; a second time ends the process at once.
fn stop_signals() -> anyhow::Result<mpsc::Receiver<()>> {
    let (send, receive) = mpsc::channel();
    let handler = move || {
        static IS_STOPPING: std::sync::atomic::AtomicBool =
            std::sync::atomic::AtomicBool::new(false);
        if IS_STOPPING.swap(true, std::sync::atomic::Ordering::Relaxed) {
            interrupt::end_at_once();
        }
        failure::tell("stopping when requests are answered; once more stops at once");
        // Where nobody listens, the server has stopped already.
        let _ = send.send(());
    };
    ctrlc::set_handler(handler).context("listening for signals")?;
    Ok(receive)
}

/// Failures of the models and settings keep their exit status.
fn told(error: plethora_serve::Error) -> anyhow::Error {
    match error {
        plethora_serve::Error::Core(error) => error.into(),
        error @ plethora_serve::Error::Tls { .. } => Error::usage(error.to_string()).into(),
        other => other.into(),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // More than a day is a typing error, and sums of times must not overflow.
    time.filter(|time| *time <= Duration::from_secs(86_400))
        .ok_or_else(|| "expected seconds, up to a day".into())
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("expected more than 0 seconds".into()),
        time => Ok(time),
    }
}
