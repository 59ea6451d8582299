//! What the tools need to know of a page in Markdown: its headings, where its links lead, and its blocks of code.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A heading, by which pages link into each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) level: HeadingLevel,
    pub(super) text: String,
    pub(super) id: String,
}

/// Where something leads: a link or a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) line: usize,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The word behind the fence; none where the block is indented.
    pub(super) language: Option<String>,
    pub(super) text: String,
    pub(super) line: usize,
}

/// What stands in a page, in its order, as far as commands are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Block(Block),
    /// A comment, without its marks; readers do not see it.
    Comment(String),
    /// Anything else.
    Prose,
}

/// A page, read.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) headings: Vec<Heading>,
    pub(super) links: Vec<Link>,
    pub(super) parts: Vec<Part>,
}

/// The Markdown that the pages are written in: `CommonMark` and tables.
pub(super) fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// Reads a page.
pub(super) fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut ids = HashMap::new();
    let mut open: Option<Open> = None;
    for (event, range) in events(text) {
        let line = text[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                open = Some(Open::Heading(level, String::new()));
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Indented => None,
                    CodeBlockKind::Fenced(language) => Some(language.into_string()),
                };
                let text = String::new();
                open = Some(Open::Block(Block {
                    language,
                    text,
                    line,
                }));
            }
            Event::Start(Tag::HtmlBlock) => open = Some(Open::Html(String::new())),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let target = dest_url.into_string();
                page.links.push(Link { target, line });
            }
            Event::Text(more) | Event::Code(more) | Event::Html(more) => {
                if let Some(open) = &mut open {
                    open.text().push_str(&more);
                }
            }
            Event::End(TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                match open.take() {
                    Some(Open::Heading(level, text)) => {
                        let id = unique(slug(&text), &mut ids);
                        page.headings.push(Heading { level, text, id });
                        page.parts.push(Part::Prose);
                    }
                    Some(Open::Block(block)) => page.parts.push(Part::Block(block)),
                    Some(Open::Html(text)) => page.parts.push(comment(&text)),
                    None => {}
                }
            }
            Event::End(_) if open.is_none() && page.parts.last() != Some(&Part::Prose) => {
                page.parts.push(Part::Prose);
            }
            _ => {}
        }
    }
    page
}

/// What is being read.
enum Open {
    Heading(HeadingLevel, String),
    Block(Block),
    Html(String),
}

impl Open {
    fn text(&mut self) -> &mut String {
        match self {
            Self::Heading(_, text) | Self::Html(text) => text,
            Self::Block(block) => &mut block.text,
        }
    }
}

fn comment(html: &str) -> Part {
    let inside = html.trim().strip_prefix("<!--");
    match inside.and_then(|rest| rest.strip_suffix("-->")) {
        Some(text) => Part::Comment(text.trim().to_owned()),
        None => Part::Prose,
    }
}

/// The name of a heading in addresses, as the hosts of repositories make it.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// Equal headings of a page get numbers.
fn unique(slug: String, seen: &mut HashMap<String, usize>) -> String {
    let times = seen.entry(slug.clone()).or_insert(0);
    *times += 1;
    match *times {
        1 => slug,
        times => format!("{slug}-{}", times - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Adding `labels`: how?\n\nSee [there](a.md#b).\n\n    plethora info model\n\n\
        <!-- not run: no -->\n```sh\nplethora x\n```\n\n## Same\n\n## Same\n\n![p](p.png)\n";

    #[test]
    fn headings_have_the_names_that_links_use() {
        let page = read(PAGE);
        let ids: Vec<&str> = page
            .headings
            .iter()
            .map(|found| found.id.as_str())
            .collect();
        assert_eq!(ids, ["adding-labels-how", "same", "same-1"]);
        assert_eq!(page.headings[0].text, "Adding labels: how?");
    }

    #[test]
    fn links_and_pictures_have_lines() {
        let found = read(PAGE).links;
        let link = |target: &str, line| Link {
            target: target.to_owned(),
            line,
        };
        assert_eq!(found, [link("a.md#b", 3), link("p.png", 16)]);
    }

    #[test]
    fn blocks_come_with_the_comments_before_them() {
        let block = |language: Option<&str>, text: &str, line| {
            let (language, text) = (language.map(str::to_owned), text.to_owned());
            Part::Block(Block {
                language,
                text,
                line,
            })
        };
        let parts = read(PAGE).parts;
        assert_eq!(
            parts[..4],
            [
                Part::Prose,
                block(None, "plethora info model\n", 5),
                Part::Comment("not run: no".to_owned()),
                block(Some("sh"), "plethora x\n", 8)
            ]
        );
    }
}
