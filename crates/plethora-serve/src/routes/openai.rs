//! Vectors of texts, as clients of `OpenAI` ask for them.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use plethora_system::Embeddings;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::read_json;
use crate::large_answers::written_aside;
use crate::problem::Problem;
use crate::queue::{AsideWork, EmbedWork};
use crate::ranking::{answered, check_documents};

/// Texts whose vectors are wanted.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingsRequest {
    /// A text, or several.
    input: EmbeddingsInput,
    /// Id of a model.
    model: String,
    /// `float` for lists of numbers, `base64` for their bytes (32 bits each, the lowest first).
    #[serde(default)]
    encoding_format: EncodingFormat,
    /// As many as the vectors of the model have; not to be chosen.
    dimensions: Option<usize>,
}

/// A text, or several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum EmbeddingsInput {
    /// One text.
    One(String),
    /// Several texts.
    Many(Vec<String>),
}

/// How vectors are written.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum EncodingFormat {
    /// Lists of numbers.
    #[default]
    Float,
    /// Bytes, as base64.
    Base64,
}

/// Vectors of texts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EmbeddingsResponse {
    /// `list`.
    object: &'static str,
    /// One per text, in their order.
    data: Vec<Embedding>,
    /// Id of the model.
    model: String,
    /// What was read.
    usage: Usage,
}

/// The vector of a text.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are OpenAI's")]
struct Embedding {
    /// `embedding`.
    object: &'static str,
    /// Number of the text, from 0.
    index: usize,
    /// The vector, of length 1.
    embedding: Vector,
}

/// The numbers of a vector.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Vector {
    /// One by one.
    Float(Vec<f32>),
    /// Their bytes.
    Base64(String),
}

/// What was read.
#[derive(Debug, Serialize, ToSchema)]
struct Usage {
    /// Words, which stand for tokens.
    prompt_tokens: usize,
    /// The same.
    total_tokens: usize,
}

/// The body of a failed request.
#[derive(Debug, Serialize, ToSchema)]
struct OpenAiErrorBody {
    error: OpenAiError,
}

/// What was wrong.
#[derive(Debug, Serialize, ToSchema)]
struct OpenAiError {
    /// What was wrong, and what was expected.
    message: String,
    /// One word for the kind of problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Never given.
    param: Option<String>,
    /// Never given.
    code: Option<String>,
}

/// A failed request, as these clients read it.
#[derive(Debug)]
pub(super) struct Refusal(Problem);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (message, kind) = self.0.told();
        let error = OpenAiError {
            message,
            kind,
            param: None,
            code: None,
        };
        self.0.respond(&OpenAiErrorBody { error })
    }
}

/// Gives vectors of texts, with a model that reads them by a pretrained encoder. The nearer two vectors are, the more alike are the
/// texts.
#[utoipa::path(
    post,
    path = "/v1/embeddings",
    tag = "models",
    request_body = EmbeddingsRequest,
    responses(
        (status = OK, body = EmbeddingsResponse),
        (status = "4XX", body = OpenAiErrorBody),
        (status = "5XX", body = OpenAiErrorBody),
    )
)]
pub(super) async fn embeddings(
    State(app): State<SharedApp>,
    request: Request,
) -> Result<Response, Refusal> {
    let request: EmbeddingsRequest = read_json(request, &app.limits).await?;
    let model = app.model(&request.model)?;
    let texts = match request.input {
        EmbeddingsInput::One(text) => vec![text],
        EmbeddingsInput::Many(texts) => texts,
    };
    check_documents(texts.len(), &app.limits)?;
    let num_words = texts
        .iter()
        .map(|text| text.split_whitespace().count())
        .sum();
    let (reply, answer) = oneshot::channel();
    let work = EmbedWork { texts, reply };
    let sent = model.aside.submit(AsideWork::Embed(work));
    sent.map_err(Problem::from)?;
    let found = answered(answer, app.limits.request_timeout).await?;
    if let Some(wanted) = request.dimensions.filter(|wanted| *wanted != found.width) {
        let width = found.width;
        let detail = format!(
            "dimensions: vectors of this model have {width} numbers, and {wanted} were asked for"
        );
        return Err(Problem::invalid(detail).into());
    }
    let num_values = found.values.len();
    Ok(written_aside(num_values, || {
        Json(EmbeddingsResponse {
            object: "list",
            data: written(&found, request.encoding_format),
            model: request.model,
            usage: Usage {
                prompt_tokens: num_words,
                total_tokens: num_words,
            },
        })
        .into_response()
    }))
}

fn written(found: &Embeddings, format: EncodingFormat) -> Vec<Embedding> {
    let vectors = found.values.chunks(found.width.max(1));
    vectors
        .enumerate()
        .map(|(index, vector)| Embedding {
            object: "embedding",
            index,
            embedding: match format {
                EncodingFormat::Float => Vector::Float(vector.to_vec()),
                EncodingFormat::Base64 => {
                    let bytes: Vec<u8> = vector
                        .iter()
                        .flat_map(|value| value.to_le_bytes())
                        .collect();
                    Vector::Base64(base64(&bytes))
                }
            },
        })
        .collect()
}

/// The 64 digits of RFC 4648, which `=` fills up to groups of four.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut written = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |place: usize| group.get(place).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_there = digit <= group.len();
            let value = bits >> (18 - 6 * digit) & 63;
            written.push(if is_there {
                char::from(DIGITS[value as usize])
            } else {
                '='
            });
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_rfc_4648_has_them() {
        let written =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(
            written,
            [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"
            ]
        );
    }

    #[test]
    fn vectors_are_cut_by_their_width() {
        let found = Embeddings {
            width: 2,
            values: vec![1.0, 0.0, 0.5, -2.0],
        };
        let json = serde_json::to_value(written(&found, EncodingFormat::Float)).unwrap();
        assert_eq!(json[1]["index"], 1);
        assert_eq!(json[1]["embedding"], serde_json::json!([0.5, -2.0]));
        let json = serde_json::to_value(written(&found, EncodingFormat::Base64)).unwrap();
        assert_eq!(json[0]["embedding"], "AACAPwAAAAA=");
    }
}
