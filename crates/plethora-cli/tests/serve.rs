//! The server as a program: its answers equal those of `predict`, and it ends as it should.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Desk;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/model_v1");
const TEXTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/model_v1.predictions.jsonl"
);

/// A server that ends with its test.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(desk: &Desk, args: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
            .current_dir(desk.path())
            .args(["serve", "--port", "0"])
            .args(args)
            .env("OMP_WAIT_POLICY", "passive")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://");
        let address = address.map(str::to_owned);
        Self {
            child,
            address: address.expect("the address"),
        }
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        post(&self.address, path, body)
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(status.success());
    }

    /// Exit status and standard error, within a minute.
    fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let mut log = String::new();
                let mut stderr = self.child.stderr.take().unwrap();
                stderr.read_to_string(&mut log).unwrap();
                return (status.code(), log);
            }
            assert!(start.elapsed() < Duration::from_secs(60), "it goes on");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(address: &str, path: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

/// Compares what `predict` says of the lines of a file with what the server says of them in several
/// requests at once.
fn assert_equal(desk: &Desk, model: &str, file: &str, tolerance: f64) {
    let top_k = "7";
    let lines = desk.succeed(&["predict", model, file, "--text-field", "text", "-k", top_k]);
    let expected: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let documents: Vec<Value> = fs::read_to_string(desk.path().join(file))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].clone())
        .collect();
    let server = Running::start(desk, &[&format!("m={model}")]);
    let top_k: usize = top_k.parse().unwrap();
    thread::scope(|scope| {
        for (part, expected) in documents.chunks(3).zip(expected.chunks(3)) {
            let server = &server;
            scope.spawn(move || {
                let body = json!({"documents": part, "top_k": top_k});
                let (status, answer) = server.post("/v1/models/m/predict", &body);
                assert_eq!(status, 200, "{answer}");
                let answer: Value = serde_json::from_str(&answer).unwrap();
                for (result, expected) in answer["results"].as_array().unwrap().iter().zip(expected)
                {
                    assert_close(result, expected, tolerance);
                }
            });
        }
    });
}

fn assert_close(found: &Value, expected: &Value, tolerance: f64) {
    let ranking = |value: &Value| value["predictions"].as_array().unwrap().clone();
    let (found, expected) = (ranking(found), ranking(expected));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let [score, other] = [found, expected].map(|label| label["score"].as_f64().unwrap());
        assert!((score - other).abs() <= tolerance, "{found} {expected}");
        if tolerance == 0.0 {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn answers_are_those_of_predict() {
    let desk = Desk::empty();
    fs::copy(TEXTS, desk.file("texts.jsonl")).unwrap();
    assert_equal(&desk, MODEL, "texts.jsonl", 0.0);
}

#[test]
fn answers_of_networks_are_those_of_predict() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = Desk::with_catalogue(150);
    let args = support::neural::train_args("attentionxml", "model", &[]);
    desk.succeed(&args);
    let documents = desk.read("documents.jsonl");
    let few: Vec<&str> = documents.lines().take(24).collect();
    desk.write("few.jsonl", &few.join("\n"));
    // Which documents are ranked together shows in the last bits, in `predict` too.
    assert_equal(&desk, "model", "few.jsonl", 1e-5);
}

#[test]
fn sigterm_lets_requests_finish() {
    let desk = Desk::empty();
    let args = [
        &format!("m={MODEL}"),
        "--max-body",
        "100000000",
        "--log-format",
        "json",
    ];
    let server = Running::start(&desk, &args);
    let text = fs::read_to_string(TEXTS).unwrap().repeat(5);
    let body = json!({"documents": vec![text; 400]});
    let address = server.address.clone();
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let (address, body) = (address.clone(), body.clone());
            thread::spawn(move || post(&address, "/v1/models/m/predict", &body))
        })
        .collect();
    // Long enough to be sent, too short for all to be answered.
    thread::sleep(Duration::from_millis(400));
    server.signal("-TERM");
    for client in clients {
        let (status, answer) = client.join().unwrap();
        assert_eq!(status, 200, "{answer}");
        assert!(answer.ends_with("]}"), "all of it is there");
    }
    let (status, log) = server.end();
    assert_eq!(status, Some(0), "{log}");
    assert!(TcpStream::connect(&address).is_err());
    let lines = log.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let requests = lines.iter().filter(|line| line["message"] == "request");
    assert_eq!(requests.count(), 3, "{log}");
    assert!(!log.contains("primogeniture"), "no texts in logs: {log}");
}

#[test]
fn feedback_can_be_trained_on() {
    let desk = Desk::empty();
    let server = Running::start(&desk, &[&format!("m={MODEL}"), "--feedback", "said.jsonl"]);
    for (text, label) in [("Tides of the sea", "Tides"), ("Law of the sea", "Law")] {
        for number in 0..6 {
            let body = json!({"text": format!("{text} {number}"), "missing": [label]});
            assert_eq!(server.post("/v1/models/m/feedback", &body).0, 201);
        }
    }
    server.signal("-INT");
    assert_eq!(server.end().0, Some(0));
    desk.succeed(&["train", "said.jsonl", "-o", "next"]);
    let info: Value = serde_json::from_str(&desk.succeed(&["info", "next", "--json"])).unwrap();
    assert_eq!(info["n_labels"], 2);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let desk = Desk::empty();
    let refused = |status, args: &[&str]| desk.fail(status, &[&["serve"], args].concat());
    assert!(refused(3, &["nowhere"]).contains("nowhere"));
    assert!(refused(2, &[MODEL, MODEL]).contains("two models have the id `model_v1`"));
    assert!(refused(2, &["a b"]).contains("cannot be an id"));
    desk.write("cert.pem", "no certificate");
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "cert.pem"];
    let message = refused(2, &[&[MODEL], &tls[..]].concat());
    assert!(
        message.contains("expected certificates in PEM"),
        "{message}"
    );
    let message = refused(1, &[MODEL, "--host", "192.0.2.1", "--port", "0"]);
    assert!(message.contains("cannot listen"), "{message}");
}
