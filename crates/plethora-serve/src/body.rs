//! Reading what clients send, within bounds of size and time.

use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::Limits;
use crate::problem::Problem;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Reads a body of JSON.
pub(crate) async fn read_json<T: DeserializeOwned>(
    request: Request,
    limits: &Limits,
) -> Result<T, Problem> {
    if !is_json(request.headers()) {
        return Err(Problem::wrong_media_type(JSON).closing());
    }
    let bytes = read(request, limits).await?;
    let text = as_text(&bytes)?;
    serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Problem::invalid(error.to_string())
        } else {
            Problem::unreadable(format!("expected JSON: {error}"))
        }
    })
}

/// Reads a form.
pub(crate) async fn read_form<T: DeserializeOwned>(
    request: Request,
    limits: &Limits,
) -> Result<T, Problem> {
    if media_type(request.headers()).as_deref() != Some(FORM) {
        return Err(Problem::wrong_media_type(FORM).closing());
    }
    let bytes = read(request, limits).await?;
    serde_urlencoded::from_str(as_text(&bytes)?)
        .map_err(|error| Problem::invalid(error.to_string()))
}

async fn read(request: Request, limits: &Limits) -> Result<Bytes, Problem> {
    let max = limits.max_body_bytes;
    let too_large = || {
        let detail = format!("expected a body of at most {max} bytes");
        Problem::too_large(detail).closing()
    };
    let announced = (request.headers().get(header::CONTENT_LENGTH))
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max as u64) {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), max);
    match timeout(limits.read_timeout, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::unreadable("the body ended too early").closing()),
        Err(_) => Err(Problem::too_slow()),
    }
}

fn as_text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        Problem::unreadable(format!(
            "expected UTF-8, found other bytes at byte {}",
            error.valid_up_to()
        ))
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|name| name == JSON || name.ends_with("+json"))
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let name = value.split(';').next()?.trim();
    Some(name.to_ascii_lowercase())
}

/// The part of an address behind `?`.
#[derive(Debug)]
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::invalid(error.to_string())),
        }
    }
}

/// The parts of an address that vary.
#[derive(Debug)]
pub(crate) struct PathOf<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(path)) => Ok(Self(path)),
            Err(error) => Err(Problem::unreadable(error.body_text())),
        }
    }
}
