//! What the tests of the server share: a server on loopback, and a client that sends bytes as they are.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

pub(crate) mod client;
pub(crate) mod training;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use plethora_serve::{Limits, ModelSource, ServeConfig, Server};
use plethora_system::{Ensembles, Registry};
use serde_json::Value;

pub(crate) use client::Client;

/// The linear systems.
pub(crate) fn systems() -> &'static Registry {
    static SYSTEMS: LazyLock<Registry> =
        LazyLock::new(|| Registry::new(plethora_linear::FAMILIES).with(&Ensembles));
    &SYSTEMS
}

/// A model that an earlier version of the program saved.
pub(crate) fn small_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/model_v1")
}

/// Texts that the small model knows something of.
pub(crate) fn texts() -> Vec<String> {
    let path = small_model().with_file_name("model_v1.predictions.jsonl");
    let lines = fs::read_to_string(path).unwrap();
    let text = |line: &str| -> String {
        let value: Value = serde_json::from_str(line).unwrap();
        value["text"].as_str().unwrap().to_owned()
    };
    lines.lines().map(text).collect()
}

/// Settings for a free port of this machine.
pub(crate) fn config() -> ServeConfig {
    ServeConfig {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        reload_interval: Duration::ZERO,
        ..ServeConfig::default()
    }
}

/// The same with other limits.
pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> ServeConfig {
    let mut config = config();
    change(&mut config.limits);
    config
}

/// A model to serve.
pub(crate) fn source(id: &str, path: &Path) -> ModelSource {
    ModelSource {
        id: id.into(),
        path: path.into(),
    }
}

/// Copies the files of a model.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A server of the small model, as `small`.
pub(crate) fn start(config: &ServeConfig) -> (Server, Client) {
    start_with(config, &[source("small", &small_model())])
}

/// A server of these models.
pub(crate) fn start_with(config: &ServeConfig, models: &[ModelSource]) -> (Server, Client) {
    let server = Server::start(systems(), config, models).unwrap();
    let client = Client::new(server.address());
    (server, client)
}

/// Waits until something holds, and fails where it does not within half a minute.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
