//! One request to explain takes neither all memory nor the model for longer than anybody waits.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::time::Duration;

use serde_json::json;
use support::{Client, config, eventually, limited, start, texts};

const EXPLAIN: &str = "/v1/models/small/explain";

/// Seconds that the model has worked, once it has ended its first batch.
fn seconds_of_work(client: &Client) -> f64 {
    let value = |name: &str| -> f64 {
        let metrics = client.get("/metrics").body;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0.0, |value| value.trim().parse().unwrap())
    };
    eventually("the batch ends", || {
        value("plethora_batch_seconds_count{model=\"small\"}") > 0.0
    });
    value("plethora_batch_seconds_sum{model=\"small\"}")
}

#[test]
fn texts_and_answers_that_are_too_large_are_refused() {
    let (_server, client) = start(&config());
    let mut text = texts().join(" ");
    while text.len() < 600_000 {
        text = format!("{text} {text}");
    }
    text.truncate(text.floor_char_boundary(600_000));
    let detail = client
        .post(EXPLAIN, &json!({"text": text, "top_k": 50}))
        .problem(413);
    assert!(detail.contains("ask for fewer labels"), "{detail}");
    let one = client.post(EXPLAIN, &json!({"text": text, "top_k": 1}));
    assert_eq!(one.status, 200);
    let longer = json!({"text": format!("{text} {text}"), "top_k": 1});
    let detail = client.post(EXPLAIN, &longer).problem(413);
    assert!(
        detail.contains("expected at most 1048576 bytes"),
        "{detail}"
    );
}

#[test]
fn work_ends_with_the_time_of_its_request() {
    let text = format!("{} {}", texts().join(" "), "qqqq ".repeat(200_000));
    let (_server, client) = start(&config());
    let answer = client.post(EXPLAIN, &json!({"text": text, "top_k": 1}));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let one_label = seconds_of_work(&client);
    let hasty = limited(|limits| limits.request_timeout = Duration::from_millis(20));
    let (_server, client) = start(&hasty);
    client
        .post(EXPLAIN, &json!({"text": text, "top_k": 50}))
        .problem(503);
    let many_labels = seconds_of_work(&client);
    assert!(
        many_labels < 10.0 * one_label,
        "{many_labels} s, {one_label} s for one label"
    );
}
