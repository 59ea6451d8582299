//! What all HTML pages have in common: they are one file that needs nothing else.

use crate::explanation::printable;

const BASE_STYLE: &str = include_str!("base.css");

/// A page with a title, which is escaped here, and a style of its own.
pub(crate) fn page(title: &str, style: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{BASE_STYLE}{style}</style>\n</head>\n<body>\n\
         {body}</body>\n</html>\n"
    )
}

/// Text that a page shows as it is, between tags and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escaped("<a href=\"x\">'&\u{1b}</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}&lt;/a&gt;"
        );
        assert!(page("<&>", "", "").contains("<title>&lt;&amp;&gt;</title>"));
    }
}
