//! One file per group of addresses. A new address is a handler with its description, and a line in
//! [`described_router`].

mod annif;
mod explain;
mod feedback;
mod health;
mod kserve;
mod label_studio;
mod labels;
mod models;
mod openai;
mod page;
mod predict;
mod tei;
mod viewer;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::SharedApp;
use crate::host::check_host;
use crate::large_answers::bound_answers;
use crate::observe::{after_panic, authorize, observe, protect};
use crate::openapi::Description;
use crate::problem::Problem;

/// All addresses of a server.
pub(crate) fn router(app: SharedApp) -> Router {
    let (router, description) = described_router().split_for_parts();
    // Pages and the viewer are part of the program and take no memory of their own.
    router
        .merge(annif::slashed_router())
        .layer(from_fn_with_state(app.clone(), bound_answers))
        .merge(page::router())
        .with_state(app.clone())
        .merge(viewer::router(description))
        .fallback(async || Problem::not_found("there is nothing at this address; see /docs/"))
        .method_not_allowed_fallback(async || Problem::wrong_method())
        .layer(from_fn_with_state(app.clone(), authorize))
        .layer(from_fn_with_state(app.clone(), check_host))
        .layer(CatchPanicLayer::custom(after_panic))
        .layer(from_fn(protect))
        .layer(from_fn_with_state(app, observe))
}

/// The description of all addresses.
pub(crate) fn described() -> OpenApi {
    described_router().split_for_parts().1
}

fn described_router() -> OpenApiRouter<SharedApp> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(models::list))
        .routes(routes!(models::one))
        .routes(routes!(predict::predict))
        .routes(routes!(explain::explain))
        .routes(routes!(openai::embeddings))
        .routes(routes!(labels::search))
        .routes(routes!(labels::one))
        .routes(routes!(feedback::store))
        .routes(routes!(annif::about))
        .routes(routes!(annif::projects))
        .routes(routes!(annif::project))
        .routes(routes!(annif::suggest))
        .routes(routes!(annif::suggest_batch))
        .routes(routes!(tei::predict))
        .routes(routes!(tei::info))
        .routes(routes!(kserve::server))
        .routes(routes!(kserve::live))
        .routes(routes!(kserve::ready))
        .routes(routes!(kserve::model))
        .routes(routes!(kserve::model_ready))
        .routes(routes!(kserve::infer))
        .routes(routes!(label_studio::health))
        .routes(routes!(label_studio::setup))
        .routes(routes!(label_studio::predict))
        .routes(routes!(label_studio::webhook))
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
}
