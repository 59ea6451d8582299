//! A system that was registered from outside does everything that the others do.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own_system"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = program(folder, arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn as_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_ordinary_jobs_take_it_from_corpus_to_server() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = [("tides", "Sea"), ("ships", "Sea"), ("bees", "Hives")].map(|(text, label)| {
        let text = format!("a book of {text}");
        format!("{}\n", json!({"text": text, "labels": [label]}))
    });
    std::fs::write(folder.join("books.jsonl"), lines.concat()).unwrap();

    let systems = as_json(&run(folder, &["check", "books.jsonl", "--json"]));
    let estimates = systems["estimates"].as_array().unwrap();
    assert!(estimates.iter().any(|one| one["system"] == "popularity"));

    let train = [
        "train",
        "books.jsonl",
        "-o",
        "model",
        "--system",
        "popularity",
    ];
    run(
        folder,
        &[&train[..], &["--set", "smoothing=1", "-q"]].concat(),
    );
    let info = as_json(&run(folder, &["info", "model", "--json"]));
    assert_eq!(info["system"], "popularity");
    assert_eq!(info["config"]["smoothing"], 1.0);

    let measured = as_json(&run(folder, &["eval", "model", "books.jsonl", "--json"]));
    let precision = measured["P@1"].as_f64().unwrap();
    assert!((precision - 2.0 / 3.0).abs() < 1e-9, "{measured}");
    let predicted = as_json(&run(
        folder,
        &["predict", "model", "books.jsonl", "--docs-limit", "1"],
    ));
    let best = &predicted["predictions"][0];
    assert_eq!((&best["key"], &best["score"]), (&json!("Sea"), &json!(0.6)));
    let explained = as_json(&run(
        folder,
        &["explain", "model", "any text", "-f", "json"],
    ));
    let why = &explained["explanations"][0];
    assert_eq!(why["terms"][0]["term"], "(frequency)");
    assert_eq!(why["score"], best["score"]);

    let output = program(
        folder,
        &["train", "books.jsonl", "-o", "x", "--system", "popularty"],
    );
    let told = { output }.output().unwrap().stderr;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("did you mean `popularity`?"), "{told}");
    assert_eq!(served(folder), best["score"]);
}

/// The best score that a server of the model gives.
fn served(folder: &Path) -> Value {
    let mut server = program(folder, &["serve", "model", "--port", "0", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = server.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let body = json!({"documents": ["any text"], "top_k": 1}).to_string();
    write!(
        stream,
        "POST /v1/models/model/predict HTTP/1.1\r\nHost: {address}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    as_json(body)["results"][0]["predictions"][0]["score"].clone()
}
