//! A client that can also misbehave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than any answer may take, so that a server that hangs fails a test instead of holding it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks one server, with a connection for each request.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    key: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Client {
    /// A client of the server at this address.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, key: None }
    }

    /// The same with a key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.into()),
            ..self.clone()
        }
    }

    /// An open connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The head of a request.
    pub(crate) fn head(&self, method: &str, path: &str, more: &str) -> String {
        let key = self.key.as_ref();
        let key = key.map_or_else(String::new, |key| {
            format!("Authorization: Bearer {key}\r\n")
        });
        format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{key}{more}\r\n"
        )
    }

    /// Sends bytes as they are and reads the answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    /// Asks without a body.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(self.head("GET", path, "").as_bytes())
    }

    /// Sends a body of this type.
    pub(crate) fn post_bytes(&self, path: &str, media_type: &str, body: &[u8]) -> Answer {
        let more = format!(
            "Content-Type: {media_type}\r\nContent-Length: {}\r\n",
            body.len()
        );
        let head = self.head("POST", path, &more);
        self.raw(&[head.as_bytes(), body].concat())
    }

    /// Sends JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_bytes(path, "application/json", body.to_string().as_bytes())
    }

    /// Asks the small model.
    pub(crate) fn predict(&self, body: &Value) -> Answer {
        self.post("/v1/models/small/predict", body)
    }
}

impl Answer {
    /// Reads an answer until the server closes.
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        // Some ways to close are errors, after a whole answer too.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            panic!("no answer: {text:?}");
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            body: if head.to_lowercase().contains("transfer-encoding: chunked") {
                unchunked(body)
            } else {
                body.to_owned()
            },
            head: head.to_owned(),
        }
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// The body as JSON of an answer that must have succeeded.
    pub(crate) fn json(&self) -> Value {
        assert!(self.status < 300, "{} {}", self.status, self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// What went wrong; the body must be a problem of this status.
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        let body: Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(body["status"], status);
        assert_eq!(body["error"], body["detail"]);
        for key in ["type", "title", "detail", "error_type"] {
            assert!(body[key].is_string(), "{key}: {}", self.body);
        }
        body["detail"].as_str().unwrap().to_owned()
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        body.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
        if length == 0 {
            break;
        }
    }
    body
}
