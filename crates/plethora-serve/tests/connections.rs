//! Clients that hold connections, ask by names that are not ours, or make things up to be counted.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;
use support::client::Answer;
use support::{Client, config, eventually, limited, start, texts};

/// A client that asks for megabytes and reads nothing.
fn ask_without_reading(client: &Client) -> TcpStream {
    let mut stream = client.connect();
    let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // Where the address has its share the server may have hung up already.
    let _ = stream.write_all(request.repeat(8).as_bytes());
    stream
}

fn raw(client: &Client, request: &str) -> Answer {
    client.raw(request.as_bytes())
}

#[test]
fn clients_that_do_not_read_are_let_go() {
    let config = limited(|limits| {
        limits.max_connections = 4;
        limits.max_connections_per_address = Some(4);
        limits.write_timeout = Duration::from_millis(500);
    });
    let (_server, client) = start(&config);
    let silent: Vec<TcpStream> = (0..4).map(|_| ask_without_reading(&client)).collect();
    let start = Instant::now();
    assert_eq!(client.get("/health").status, 200);
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(silent);
}

#[test]
fn who_has_asked_and_closes_its_side_gets_the_answer() {
    let (_server, client) = start(&limited(|limits| limits.max_connections = 4));
    let body = json!({"documents": vec![texts().join(" "); 200]}).to_string();
    let length = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    let head = client.head("POST", "/v1/models/small/predict", &length);
    let closed = |sent: &str| {
        let mut stream = client.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream
    };
    // More than there may be connections: each is let go of once it is answered.
    for _ in 0..20 {
        let answer = Answer::read(&mut closed(&format!("{head}{body}")));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    // Half a request is none, and is not waited for.
    let started = Instant::now();
    for half in [&head[..20], &format!("{head}{}", &body[..100])] {
        let mut rest = String::new();
        let _ = closed(half).read_to_string(&mut rest);
        assert!(
            rest.is_empty() || rest.starts_with("HTTP/1.1 400"),
            "{rest}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn who_closes_its_side_and_does_not_read_is_let_go() {
    let config = limited(|limits| {
        limits.max_connections = 2;
        limits.max_connections_per_address = Some(2);
        limits.write_timeout = Duration::from_millis(500);
    });
    let (_server, client) = start(&config);
    let silent: Vec<TcpStream> = (0..2)
        .map(|_| {
            let stream = ask_without_reading(&client);
            let _ = stream.shutdown(Shutdown::Write);
            stream
        })
        .collect();
    let start = Instant::now();
    assert_eq!(client.get("/health").status, 200);
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(silent);
}

#[test]
fn a_client_that_reads_slowly_gets_all_of_it() {
    let config = limited(|limits| limits.write_timeout = Duration::from_secs(1));
    let (_server, client) = start(&config);
    let mut stream = client.connect();
    let request = client.head("GET", "/docs/swagger-ui-bundle.js", "");
    stream.write_all(request.as_bytes()).unwrap();
    // Longer than the timeout in all, and never idle as long.
    let (mut sum, mut part) = (0, vec![0; 1 << 16]);
    loop {
        let length = stream.read(&mut part).unwrap();
        if length == 0 {
            break;
        }
        sum += length;
        std::thread::sleep(Duration::from_millis(if sum < 1 << 20 { 120 } else { 0 }));
    }
    assert!(sum > 1 << 20, "{sum} bytes");
}

#[test]
fn an_address_has_half_of_all_connections_unless_told() {
    let (_server, client) = start(&limited(|limits| limits.max_connections = 8));
    let held: Vec<TcpStream> = (0..4).map(|_| client.connect()).collect();
    let mut fifth = client.connect();
    let answer = Answer::read(&mut fifth);
    assert!(answer.problem(429).contains("from this address"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    drop(held);
    eventually("the address may come again", || {
        let mut stream = client.connect();
        let _ = stream.write_all(client.head("GET", "/health", "").as_bytes());
        Answer::read(&mut stream).status == 200
    });
}

#[test]
fn names_that_are_not_ours_are_sent_away() {
    let mut config = config();
    config.allow_hosts = vec!["models.example.org".into()];
    let (_server, client) = start(&config);
    let ask = |host: &str| {
        raw(
            &client,
            &format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
        )
    };
    for ours in ["localhost:1", "127.0.0.1", "[::1]:80", "Models.example.org"] {
        assert_eq!(ask(&format!("Host: {ours}\r\n")).status, 200, "{ours}");
    }
    let detail = ask("Host: evil.example:8080\r\n").problem(421);
    assert!(detail.contains("--allow-host"), "{detail}");
    ask("").problem(400);
    ask("Host: localhost\r\nHost: evil.example\r\n").problem(400);
    let absolute = "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
    raw(&client, absolute).problem(421);
    assert_eq!(raw(&client, "GET /health HTTP/1.0\r\n\r\n").status, 200);
}

#[test]
fn a_line_feed_alone_ends_no_line() {
    let (_server, client) = start(&config());
    for request in [
        "GET /health HTTP/1.1\nHost: localhost\n\n",
        "GET /health HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
    ] {
        let detail = raw(&client, request).problem(400);
        assert!(detail.contains("CR and LF"), "{detail}");
    }
    // In a later request of the connection too.
    let mut stream = client.connect();
    let first = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(first.as_bytes()).unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    stream
        .write_all(b"GET / HTTP/1.1\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    assert!(rest.contains("HTTP/1.1 400 Bad Request"), "{rest}");
}

#[test]
fn headers_that_come_too_slowly_are_told_so() {
    let config = limited(|limits| limits.read_timeout = Duration::from_millis(300));
    let (_server, client) = start(&config);
    let mut stream = client.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    let answer = Answer::read(&mut stream);
    answer.problem(408);
    assert_eq!(answer.header("connection"), Some("close"));
    // Who has asked nothing gets no answer.
    let mut idle = client.connect();
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest);
    assert!(rest.is_empty());
}

#[test]
fn methods_that_clients_make_up_are_counted_as_one() {
    let (_server, client) = start(&config());
    for number in 0..50 {
        let method = format!("M{number:07}{}", "Z".repeat(1000));
        client.raw(client.head(&method, "/health", "").as_bytes());
        client.raw(client.head(&method, &format!("/{method}"), "").as_bytes());
    }
    let metrics = client.get("/metrics").body;
    assert!(!metrics.contains("M0000001"), "{metrics}");
    let folded = "plethora_requests_total{route=\"/health\",method=\"other\",status=\"405\"} 50\n";
    assert!(metrics.contains(folded), "{metrics}");
}
