//! What a collector of traces is told.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use plethora_serve::{ServeConfig, Server};
use serde_json::Value;
use support::{config, small_model, source, start, systems};

/// Takes one request as a collector does, and gives its head and its body.
fn collector() -> (String, thread::JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let taken = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        loop {
            let mut part = [0; 4096];
            let read = stream.read(&mut part).unwrap();
            bytes.extend_from_slice(&part[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            if body.len() == length {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                    .unwrap();
                return (head.to_owned(), serde_json::from_str(body).unwrap());
            }
        }
    });
    (address, taken)
}

#[test]
fn requests_become_spans_of_their_clients_traces() {
    let (address, taken) = collector();
    let traced = ServeConfig {
        otlp_endpoint: Some(address),
        ..config()
    };
    let (server, client) = start(&traced);
    let parent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let unwanted = parent.replace("-01", "-00").replace("0af7", "1af7");
    for header in [parent, &unwanted] {
        let head = client.head("GET", "/v1/models/small", &format!("{header}\r\n"));
        assert_eq!(client.raw(head.as_bytes()).status, 200);
    }
    client.get("/v1/models/none");
    // What waits is sent before the server ends.
    server.stop();
    let (head, body) = taken.join().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
    let resource = &body["resourceSpans"][0];
    let service = &resource["resource"]["attributes"][0];
    assert_eq!(service["value"]["stringValue"], "plethora");
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 2, "{spans:?}");
    assert_eq!(spans[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(spans[0]["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(spans[0]["name"], "GET /v1/models/{id}");
    assert_eq!(spans[0]["attributes"][3]["value"]["intValue"], "200");
    assert_eq!(spans[1]["attributes"][3]["value"]["intValue"], "404");
    let time = |key: &str| -> u64 { spans[0][key].as_str().unwrap().parse().unwrap() };
    assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
}

#[test]
fn a_collector_that_is_not_there_costs_no_answer() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let traced = ServeConfig {
        otlp_endpoint: Some(format!("http://{}", nobody.unwrap())),
        ..config()
    };
    let (server, client) = start(&traced);
    for _ in 0..20 {
        assert_eq!(client.get("/health").status, 200);
    }
    server.stop();
}

#[test]
fn an_address_that_is_none_is_refused_at_the_start() {
    let wrong = ServeConfig {
        otlp_endpoint: Some("localhost:4318".to_owned()),
        ..config()
    };
    let refused = Server::start(systems(), &wrong, &[source("small", &small_model())]);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("http://localhost:4318"), "{message}");
}
