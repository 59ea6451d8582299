//! The page that shows the HTTP interface. Its files are compressed inside the program, where they would be a tenth of it;
//! clients that do not take gzip get them unpacked.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::problem::Problem;

const GZIP: &str = "gzip";

/// Files as they are unpacked, each once for all clients, by what they are packed: one file has many paths (`%69ndex.html`).
type Unpacked = Arc<Mutex<HashMap<Bytes, Bytes>>>;

pub(super) fn router(description: OpenApi) -> Router {
    let viewer = SwaggerUi::new("/docs")
        .url("/openapi.json", description)
        .config(Config::default().validator_url("none"));
    Router::from(viewer).layer(from_fn_with_state(Unpacked::default(), unpack))
}

/// Unpacks what the client would not read as it is.
async fn unpack(State(unpacked): State<Unpacked>, request: Request, next: Next) -> Response {
    let takes_gzip = takes_gzip(request.headers());
    let mut response = next.run(request).await;
    if response.headers().get(header::CONTENT_ENCODING) != Some(&HeaderValue::from_static(GZIP)) {
        return response;
    }
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().insert(header::VARY, vary);
    if takes_gzip {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Some(plain) = plain(&unpacked, body).await else {
        return Problem::internal().into_response();
    };
    head.headers.remove(header::CONTENT_ENCODING);
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(plain))
}

async fn plain(unpacked: &Unpacked, body: Body) -> Option<Bytes> {
    let packed = to_bytes(body, usize::MAX).await.ok()?;
    let mut unpacked = unpacked.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plain) = unpacked.get(&packed) {
        return Some(plain.clone());
    }
    let mut plain = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut plain).ok()?;
    let plain = Bytes::from(plain);
    unpacked.insert(packed, plain.clone());
    Some(plain)
}

/// Whether a client reads gzip: it says so, and not with a weight of zero.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter();
    let codings = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','));
    codings
        .filter_map(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
            let weight = weight.trim().strip_prefix("q=")?.parse::<f32>().ok()?;
            (name.trim().eq_ignore_ascii_case(GZIP)).then_some(weight)
        })
        .any(|weight| weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_those_who_ask_for_it() {
        let takes = |value: Option<&'static str>| {
            let value =
                value.map(|value| (header::ACCEPT_ENCODING, HeaderValue::from_static(value)));
            takes_gzip(&value.into_iter().collect())
        };
        assert!(takes(Some("gzip")));
        assert!(takes(Some("br, GZIP;q=0.5")));
        assert!(!takes(None));
        assert!(!takes(Some("identity, br")));
        assert!(!takes(Some("gzip;q=0, br")));
    }
}
