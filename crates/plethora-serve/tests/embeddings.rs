//! What clients of `OpenAI` are told of models without vectors; `cargo xtask clients` asks one that has them.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use serde_json::{Value, json};
use support::{Client, config, limited, start};

/// The message of a refusal, where clients look for it.
fn refused(client: &Client, body: &Value, status: u16) -> String {
    let answer = client.post("/v1/embeddings", body);
    assert_eq!(answer.status, status, "{}", answer.body);
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let error = &body["error"];
    assert!(error["type"].is_string());
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_without_vectors_says_so() {
    let (_server, client) = start(&config());
    let message = refused(&client, &json!({"model": "small", "input": "Tides"}), 422);
    assert!(message.contains("has no vectors of texts"), "{message}");
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let (_server, client) = start(&limited(|limits| limits.max_documents = 2));
    for (status, body) in [
        (404, json!({"model": "large", "input": "Tides"})),
        (422, json!({"model": "small", "input": []})),
        (413, json!({"model": "small", "input": ["a", "b", "c"]})),
        // Numbers of tokens are of a tokenizer that we do not have.
        (422, json!({"model": "small", "input": [[1, 2]]})),
        (
            422,
            json!({"model": "small", "input": "a", "encoding_format": "hex"}),
        ),
    ] {
        refused(&client, &body, status);
    }
}
