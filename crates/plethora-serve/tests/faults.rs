//! Clients that break off, dawdle, send rubbish or too much: each gets the right status, and everybody
//! else is answered as before.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::client::Answer;
use support::{Client, config, eventually, limited, start, texts};

const PREDICT: &str = "/v1/models/small/predict";
const JSON: &str = "application/json";

fn assert_answers(client: &Client) {
    let answer = client.predict(&json!({"documents": texts()}));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// A request that keeps the small model busy for a while.
fn long_work() -> Value {
    let text = texts().join(" ").repeat(40);
    json!({"documents": vec![text; 1000], "top_k": 60})
}

fn roomy() -> plethora_serve::ServeConfig {
    limited(|limits| limits.max_body_bytes = 1 << 30)
}

#[test]
fn clients_that_go_away_leave_nothing_behind() {
    let (_server, client) = start(&roomy());
    let body = long_work().to_string();
    let head = client.head(
        "POST",
        PREDICT,
        &format!("Content-Type: {JSON}\r\nContent-Length: {}\r\n", body.len()),
    );
    for sent in [
        10,
        head.len(),
        head.len() + body.len() / 2,
        head.len() + body.len(),
    ] {
        let mut stream = client.connect();
        let whole = [head.as_bytes(), body.as_bytes()].concat();
        stream.write_all(&whole[..sent]).unwrap();
        drop(stream);
    }
    eventually("all requests end", || {
        let metrics = client.get("/metrics").body;
        // The one that asks is in flight itself.
        metrics.contains("plethora_requests_in_flight 1\n")
            && metrics.contains("plethora_queue_documents{model=\"small\"} 0\n")
    });
    assert_answers(&client);
}

#[test]
fn a_byte_a_second_is_too_slow() {
    let config = limited(|limits| limits.read_timeout = Duration::from_millis(600));
    let (_server, client) = start(&config);
    let start = Instant::now();
    let mut stream = client.connect();
    let more = format!("Content-Type: {JSON}\r\nContent-Length: 1000\r\n");
    stream
        .write_all(client.head("POST", PREDICT, &more).as_bytes())
        .unwrap();
    let mut writer = stream.try_clone().unwrap();
    let dawdle = thread::spawn(move || {
        while writer.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let answer = Answer::read(&mut stream);
    answer.problem(408);
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(stream);
    dawdle.join().unwrap();
    // Headers that never end have nobody to answer: the connection is closed.
    let mut stream = client.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_answers(&client);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let (_server, client) = start(&config());
    let more = format!(
        "Content-Type: {JSON}\r\nContent-Length: {}\r\n",
        1_u64 << 30
    );
    let answer = client.raw(client.head("POST", PREDICT, &more).as_bytes());
    assert!(answer.problem(413).contains("10485760 bytes"));
    // Without a length it is cut off at the bound.
    let more = format!("Content-Type: {JSON}\r\nTransfer-Encoding: chunked\r\n");
    let mut stream = client.connect();
    stream
        .write_all(client.head("POST", PREDICT, &more).as_bytes())
        .unwrap();
    let mut writer = stream.try_clone().unwrap();
    let flood = thread::spawn(move || {
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let mut sent = 0_u64;
        while sent < 1 << 30 && writer.write_all(chunk.as_bytes()).is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    drop(stream);
    assert!(flood.join().unwrap() < 1 << 29);
    assert_answers(&client);
}

#[test]
fn what_is_no_text_or_no_json_is_unreadable() {
    let (_server, client) = start(&config());
    let send = |body: &[u8]| client.post_bytes(PREDICT, JSON, body);
    let detail = send(b"{\"documents\": [\"\xff\xfe\"]}").problem(400);
    assert!(detail.contains("found other bytes at byte 16"), "{detail}");
    for body in ["", "{", "tides", "{\"documents\": [\"\\ud800\"]}"] {
        send(body.as_bytes()).problem(400);
    }
    let depth = 100_000;
    for bomb in [
        "[".repeat(depth),
        format!("{{\"documents\": {}", "[".repeat(depth)),
        format!(
            "{{\"documents\": [{{\"text\": \"a\", \"metadata\": {}",
            "{\"a\":".repeat(depth)
        ),
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
    ] {
        let answer = send(bomb.as_bytes());
        assert!([400, 422].contains(&answer.status), "{}", answer.body);
        answer.problem(answer.status);
    }
    client.post_bytes(PREDICT, "text/plain", b"{}").problem(415);
    let answer = client.post_bytes("/v1/models/%FF/predict", JSON, b"{}");
    answer.problem(400);
    assert_answers(&client);
}

#[test]
fn too_many_documents_are_refused() {
    let (_server, client) = start(&config());
    let body = json!({"documents": vec!["a"; 10_000]});
    let detail = client.predict(&body).problem(413);
    assert_eq!(detail, "expected at most 1000 documents, found 10000");
    assert_answers(&client);
}

#[test]
fn beyond_the_bound_of_the_queue_clients_are_sent_away() {
    let mut config = roomy();
    config.limits.max_queue_documents = 1;
    config.limits.max_batch_documents = 1;
    let (_server, client) = start(&config);
    thread::scope(|scope| {
        let busy = scope.spawn(|| client.predict(&long_work()).status);
        // Once a batch has begun the queue is empty again, and has room for one.
        eventually("the model is busy", || {
            let metrics = client.get("/metrics").body;
            metrics.contains("plethora_batch_documents_count{model=\"small\"} 1\n")
        });
        let others: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| client.predict(&json!({"documents": ["tides"]}))))
            .collect();
        let answers: Vec<Answer> = others.into_iter().map(|one| one.join().unwrap()).collect();
        assert_eq!(busy.join().unwrap(), 200);
        let refused: Vec<&Answer> = (answers.iter())
            .filter(|answer| answer.status != 200)
            .collect();
        assert!(!refused.is_empty(), "nobody was sent away");
        assert!(refused.len() < 20, "one fits the queue");
        for answer in refused {
            answer.problem(429);
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
    });
    assert!(
        client
            .get("/metrics")
            .body
            .contains("plethora_rejected_total{model=\"small\"} ")
    );
    assert_answers(&client);
}

#[test]
fn answers_that_take_too_long_are_given_up() {
    let mut config = roomy();
    config.limits.request_timeout = Duration::from_millis(5);
    let (_server, client) = start(&config);
    let answer = client.predict(&long_work());
    let detail = answer.problem(503);
    assert_eq!(detail, "the model did not answer in time");
}

#[test]
fn without_the_key_only_probes_page_and_description_answer() {
    let mut config = config();
    config.api_key = Some("sesame".into());
    let (_server, client) = start(&config);
    for path in [
        "/",
        "/health",
        "/health/ready",
        "/v2/health/live",
        "/docs/",
        "/openapi.json",
    ] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    for client in [
        client.clone(),
        client.with_key("sesam"),
        client.with_key(""),
    ] {
        for path in [
            "/v1/models",
            "/metrics",
            "/info",
            "/v2/models/small",
            "/nowhere",
        ] {
            let answer = client.get(path);
            answer.problem(401);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
        client
            .predict(&json!({"documents": ["tides"]}))
            .problem(401);
    }
    assert_answers(&client.with_key("sesame"));
}

#[test]
fn requests_in_flight_finish_when_the_server_stops() {
    let mut config = roomy();
    config.limits.max_queue_documents = 4000;
    let (server, client) = start(&config);
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let client = client.clone();
            thread::spawn(move || client.predict(&long_work()))
        })
        .collect();
    eventually("all have arrived", || {
        let metrics = client.get("/metrics").body;
        metrics.contains("plethora_requests_in_flight 5\n")
    });
    server.stop();
    for answer in busy {
        let answer = answer.join().unwrap().json();
        assert_eq!(answer["results"].as_array().unwrap().len(), 1000);
    }
    assert!(std::net::TcpStream::connect(client.address).is_err());
}
