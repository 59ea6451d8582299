//! The description of the interface, made from the code.

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::routes;

/// Head of the description; the routes add themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Plethora",
        description = "Ranked labels for texts. Errors are problem+json with `error` and `error_type`.",
        license(name = "MIT OR Apache-2.0")
    ),
    modifiers(&BearerKey),
    security((), ("key" = [])),
    tags(
        (name = "models", description = "Models, predictions, explanations, labels, feedback"),
        (name = "annif", description = "As Annif answers"),
        (name = "tei", description = "As text-embeddings-inference answers; of the first model"),
        (name = "kserve", description = "The second protocol of KServe: texts as BYTES in, labels and scores out"),
        (name = "label-studio", description = "As a model that Label Studio is connected to"),
        (name = "operations", description = "Probes and counts")
    )
)]
pub(crate) struct Description;

struct BearerKey;

impl Modify for BearerKey {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
    }
}

/// The description of the interface as JSON.
pub fn openapi_json() -> String {
    let description = routes::described();
    // It is made of strings and numbers, which always have a form in JSON.
    description.to_pretty_json().unwrap_or_default()
}
