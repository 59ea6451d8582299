//! A page of the site: Markdown as HTML between the table of contents and the way to the next page.

use std::fmt::Write as _;

use pulldown_cmark::{CowStr, Event, Tag, TagEnd, html};

use super::contents::Section;
use super::markdown::{self, Heading};

/// What a page is made of.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    /// Its address within the site.
    pub(super) address: &'a str,
    pub(super) text: &'a str,
    pub(super) sections: &'a [Section],
    /// The pages before and after it in the table of contents: title and address.
    pub(super) before: Option<(&'a str, &'a str)>,
    pub(super) after: Option<(&'a str, &'a str)>,
}

/// Writes a page. `lead` says where a link of the Markdown leads from this page; those without an answer become plain text.
/// `address_of` is where a page of the table of contents lies within the site.
pub(super) fn write(
    frame: &Frame<'_>,
    lead: &dyn Fn(&str) -> Option<String>,
    address_of: &dyn Fn(&std::path::Path) -> String,
) -> String {
    let up = "../".repeat(frame.address.matches('/').count());
    let headings = markdown::read(frame.text).headings;
    let mut nav = String::new();
    for section in frame.sections {
        _ = write!(nav, "<h2>{}</h2>\n<ul>\n", escaped(&section.title));
        for entry in &section.pages {
            let address = address_of(&entry.path);
            let current = if address == frame.address {
                " aria-current=\"page\""
            } else {
                ""
            };
            let title = escaped(&entry.title);
            _ = writeln!(
                nav,
                "<li><a href=\"{up}{address}\"{current}>{title}</a></li>"
            );
        }
        nav.push_str("</ul>\n");
    }
    let step = |label: &str, to: Option<(&str, &str)>| {
        to.map_or_else(String::new, |(title, address)| {
            format!(
                "<a href=\"{up}{address}\">{label}: {}</a>\n",
                escaped(title)
            )
        })
    };
    include_str!("page.html")
        .replace("{title}", &escaped(frame.title))
        .replace("{up}", &up)
        .replace("{nav}", &nav)
        .replace("{before}", &step("Previous", frame.before))
        .replace("{after}", &step("Next", frame.after))
        .replace("{content}", &content(frame.text, &headings, lead))
}

/// The Markdown itself. Comments are for the tools and stay out.
fn content(text: &str, headings: &[Heading], lead: &dyn Fn(&str) -> Option<String>) -> String {
    let mut names = headings.iter();
    let mut num_tables = 0;
    let mut is_link = Vec::new();
    let mut is_comment = false;
    let events = markdown::events(text).filter_map(|(event, _)| {
        let event = match event {
            Event::Start(Tag::Heading {
                level,
                classes,
                attrs,
                ..
            }) => Event::Start(Tag::Heading {
                level,
                id: names.next().map(|heading| heading.id.clone().into()),
                classes,
                attrs,
            }),
            // They scroll, so keys have to reach them.
            Event::Start(Tag::CodeBlock(_)) => inline("<pre tabindex=\"0\"><code>"),
            Event::End(TagEnd::CodeBlock) => inline("</code></pre>\n"),
            Event::Start(Tag::HtmlBlock) => {
                is_comment = true;
                return None;
            }
            Event::End(TagEnd::HtmlBlock) => {
                is_comment = false;
                return None;
            }
            Event::Html(_) if is_comment => return None,
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let address = lead(&dest_url);
                is_link.push(address.is_some());
                Event::Start(Tag::Link {
                    link_type,
                    dest_url: address?.into(),
                    title,
                    id,
                })
            }
            Event::End(TagEnd::Link) => {
                if !is_link.pop().unwrap_or(true) {
                    return None;
                }
                event
            }
            Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            }) => Event::Start(Tag::Image {
                link_type,
                dest_url: lead(&dest_url).map_or(dest_url, CowStr::from),
                title,
                id,
            }),
            other => other,
        };
        Some(event)
    });
    // A table is one of several regions that scroll on small screens.
    let events = events.flat_map(|event| match event {
        Event::Start(Tag::Table(_)) => {
            num_tables += 1;
            let region = format!(
                "<div class=\"table\" role=\"region\" aria-label=\"Table {num_tables}\" tabindex=\"0\">\n"
            );
            vec![Event::Html(region.into()), event]
        }
        Event::End(TagEnd::Table) => vec![event, inline("</div>\n")],
        other => vec![other],
    });
    let mut written = String::new();
    html::push_html(&mut written, events);
    written
}

fn inline(html: &'static str) -> Event<'static> {
    Event::Html(CowStr::Borrowed(html))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_they_are_told_or_are_text() {
        let lead = |target: &str| (target == "a.md#b").then(|| "a.html#b".to_owned());
        let text = "# T\n\n<!-- not run: why -->\n\n    x < y\n\n[a](a.md#b) and [file](../x.rs)\n\n| a |\n| - |\n| 1 |\n";
        let headings = markdown::read(text).headings;
        let html = content(text, &headings, &lead);
        assert!(html.contains("<h1 id=\"t\">T</h1>"), "{html}");
        assert!(
            html.contains("<pre tabindex=\"0\"><code>x &lt; y"),
            "{html}"
        );
        assert!(
            html.contains("<a href=\"a.html#b\">a</a> and file"),
            "{html}"
        );
        assert!(html.contains("aria-label=\"Table 1\""), "{html}");
        assert!(!html.contains("not run"), "{html}");
    }
}
