//! The page, which is inside the program and asks nobody but this server.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::SharedApp;

/// Only what the page brings along may run, and it may talk to this server alone.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file of the page.
struct PageFile {
    path: &'static str,
    media_type: &'static str,
    content: &'static str,
}

/// One file of the folder `page`, with its address.
macro_rules! page_file {
    ($path:literal, $media_type:ident, $name:literal) => {
        PageFile {
            path: $path,
            media_type: $media_type,
            content: include_str!(concat!("../../page/", $name)),
        }
    };
}

static FILES: [PageFile; 11] = [
    page_file!("/", HTML, "index.html"),
    page_file!("/page/page.css", CSS, "page.css"),
    page_file!("/page/icon.svg", PICTURE, "icon.svg"),
    page_file!("/page/app.js", SCRIPT, "app.js"),
    page_file!("/page/api.js", SCRIPT, "api.js"),
    page_file!("/page/dom.js", SCRIPT, "dom.js"),
    page_file!("/page/explanation.js", SCRIPT, "explanation.js"),
    page_file!("/page/feedback.js", SCRIPT, "feedback.js"),
    page_file!("/page/label_search.js", SCRIPT, "label_search.js"),
    page_file!("/page/marked_text.js", SCRIPT, "marked_text.js"),
    page_file!("/page/ranking.js", SCRIPT, "ranking.js"),
];

/// The addresses of the page.
pub(super) fn router() -> Router<SharedApp> {
    FILES.iter().fold(Router::new(), |router, file| {
        router.route(file.path, get(async move || answer(file)))
    })
}

fn answer(file: &'static PageFile) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, file.media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, file.content)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let there: BTreeSet<String> = (std::fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let served: BTreeSet<String> = (FILES.iter())
            .map(|file| match file.path {
                "/" => "index.html".to_owned(),
                path => path.trim_start_matches("/page/").to_owned(),
            })
            .collect();
        assert_eq!(there, served);
    }

    #[test]
    fn the_page_names_nothing_that_is_elsewhere() {
        // The one address is a name of XML, which nobody asks for.
        let namespace = "http://www.w3.org/2000/svg";
        for file in &FILES {
            let content = file.content.replace(namespace, "");
            assert!(!content.contains("://"), "{}", file.path);
            assert!(!content.contains("innerHTML"), "{}", file.path);
        }
    }
}
