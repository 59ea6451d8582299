//! A request as a span of a trace, and how W3C and OTLP write it.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use serde_json::{Value, json};

/// Kind of a span: of one who answers.
const SERVER: u8 = 2;

/// Status of a span that failed.
const ERROR: u8 = 2;

/// The header by which clients say which trace they are in.
const PARENT: &str = "traceparent";

/// A request whose answer is not there yet.
#[derive(Debug)]
pub(crate) struct SpanStart {
    trace: u128,
    parent: Option<u64>,
    start: SystemTime,
}

/// A request with its answer.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(super) start: SpanStart,
    end: SystemTime,
    id: u64,
    pub(crate) method: &'static str,
    pub(crate) route: String,
    pub(crate) path: String,
    pub(crate) status: u16,
}

impl SpanStart {
    /// Begins a span, in the trace of the client if it has one; none where the client wants none.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let start = SystemTime::now();
        let told = headers.get(PARENT).and_then(|value| value.to_str().ok());
        match told.and_then(parent) {
            Some((_, _, false)) => None,
            Some((trace, parent, true)) => Some(Self {
                trace,
                parent: Some(parent),
                start,
            }),
            None => Some(Self {
                trace: u128::from(random()) << 64 | u128::from(random()),
                parent: None,
                start,
            }),
        }
    }

    /// Ends it.
    pub(crate) fn end(
        self,
        method: &'static str,
        route: String,
        path: String,
        status: u16,
    ) -> Ended {
        Ended {
            start: self,
            end: SystemTime::now(),
            id: random(),
            method,
            route,
            path,
            status,
        }
    }
}

impl Ended {
    /// As OTLP has it in JSON: numbers of 64 bits are strings, ids are hexadecimal.
    pub(super) fn json(&self) -> Value {
        let mut span = json!({
            "traceId": format!("{:032x}", self.start.trace),
            "spanId": hex(self.id),
            "name": format!("{} {}", self.method, self.route),
            "kind": SERVER,
            "startTimeUnixNano": nanoseconds(self.start.start),
            "endTimeUnixNano": nanoseconds(self.end),
            "attributes": [
                text("http.request.method", self.method),
                text("http.route", &self.route),
                text("url.path", &self.path),
                {"key": "http.response.status_code", "value": {"intValue": self.status.to_string()}},
            ],
        });
        if let Some(parent) = self.start.parent {
            span["parentSpanId"] = hex(parent).into();
        }
        if self.status >= 500 {
            span["status"] = json!({"code": ERROR});
        }
        span
    }
}

/// An attribute that is a text.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn hex(id: u64) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{id:016x}");
    text
}

fn nanoseconds(time: SystemTime) -> String {
    let elapsed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    elapsed.as_nanos().to_string()
}

/// Reads `00-TRACE-SPAN-FLAGS`: trace, span, and whether the trace is recorded. Later versions may have more.
fn parent(told: &str) -> Option<(u128, u64, bool)> {
    let mut parts = told.trim().split('-');
    let mut number = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let is_hex = part
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        u128::from_str_radix(part, 16).ok().filter(|_| is_hex)
    };
    let (version, trace, span, flags) = (number(2)?, number(32)?, number(16)?, number(2)?);
    let has_more = parts.next().is_some();
    let is_valid = version != 0xff && trace != 0 && span != 0 && !(version == 0 && has_more);
    is_valid.then_some((trace, span as u64, flags & 1 == 1))
}

/// A number that nobody else has; the standard library seeds its hash tables with such.
fn random() -> u64 {
    let number = RandomState::new().build_hasher().finish();
    // Zero stands for no id.
    number.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_is_read_as_w3c_writes_it() {
        let trace = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
        let found = parent(TOLD).unwrap();
        assert_eq!(found, (trace, 0xb7ad_6b71_6920_3331, true));
        assert!(!parent(&TOLD.replace("-01", "-00")).unwrap().2);
        assert!(parent(&TOLD.replacen("00-", "cc-", 1).replace("-01", "-01-more")).is_some());
        for wrong in [
            "",
            "00",
            &TOLD.replacen("00-", "ff-", 1),
            &TOLD.replace("-01", "-01-more"),
            &TOLD.to_uppercase(),
            &TOLD.replace("b7ad6b7169203331", "0000000000000000"),
            &TOLD.replace("0af7", "+af7"),
        ] {
            assert!(parent(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_request_without_trace_begins_one() {
        let start = SpanStart::of(&HeaderMap::new()).unwrap();
        let other = SpanStart::of(&HeaderMap::new()).unwrap();
        assert_ne!(start.trace, other.trace);
        let span = start.end("POST", "/predict".into(), "/predict".into(), 503);
        let json = span.json();
        assert_eq!(json["traceId"].as_str().unwrap().len(), 32);
        assert!(json["parentSpanId"].is_null());
        assert_eq!(json["status"]["code"], 2);
        assert_eq!(json["name"], "POST /predict");
    }
}
