//! Which pages the site has, in which order: those that `docs/README.md` names, under its headings.

use std::path::{Path, PathBuf};

use pulldown_cmark::HeadingLevel;

use super::{Source, is_foreign, markdown, resolve};
use crate::Result;

/// The page whose tables are the table of contents.
const INDEX: &str = "docs/README.md";

/// Pages under a heading of the index.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) pages: Vec<Entry>,
}

/// A page in the table of contents.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its own heading.
    pub(super) title: String,
    /// From the root of the repository.
    pub(super) path: PathBuf,
}

/// Sorts the pages as the index does, and refuses pages that it does not name.
pub(super) fn of(sources: &[Source]) -> Result<Vec<Section>> {
    let index = sources
        .iter()
        .find(|source| source.path == Path::new(INDEX));
    let index = index.ok_or_else(|| format!("there is no {INDEX}"))?;
    let mut sections: Vec<Section> = Vec::new();
    let page = markdown::read(&index.text);
    let headings = page
        .headings
        .iter()
        .filter(|heading| heading.level == HeadingLevel::H2);
    let lines: Vec<(usize, &str)> = headings
        .filter_map(|heading| {
            let line = line_of(&index.text, &heading.text)?;
            Some((line, heading.text.as_str()))
        })
        .collect();
    for (place, &(line, title)) in lines.iter().enumerate() {
        let end = lines.get(place + 1).map_or(usize::MAX, |&(line, _)| line);
        let links = page
            .links
            .iter()
            .filter(|link| (line..end).contains(&link.line) && !is_foreign(&link.target));
        let mut section = Section {
            title: title.to_owned(),
            pages: Vec::new(),
        };
        for link in links {
            let file = link.target.split('#').next().unwrap_or_default();
            let path = resolve(index.folder(), file);
            let is_new = sections
                .iter()
                .chain([&section])
                .all(|section| section.pages.iter().all(|entry| entry.path != path));
            let source = sources.iter().find(|source| source.path == path);
            if let Some(source) = source.filter(|_| is_new) {
                let title = title_of(source)?;
                section.pages.push(Entry { title, path });
            }
        }
        sections.push(section);
    }
    let is_named = |path: &Path| {
        let mut entries = sections.iter().flat_map(|section| &section.pages);
        path == Path::new(INDEX) || entries.any(|entry| entry.path == path)
    };
    let forgotten: Vec<String> = sources
        .iter()
        .filter(|source| source.path.starts_with("docs") && !is_named(&source.path))
        .map(Source::name)
        .collect();
    if forgotten.is_empty() {
        Ok(sections)
    } else {
        Err(format!("{INDEX} does not name {}", forgotten.join(", ")))
    }
}

/// The heading of a page.
pub(super) fn title_of(source: &Source) -> Result<String> {
    let first = markdown::read(&source.text).headings.into_iter().next();
    first
        .map(|heading| heading.text)
        .ok_or_else(|| format!("{}: there is no heading", source.name()))
}

fn line_of(text: &str, heading: &str) -> Option<usize> {
    let wanted = format!("## {heading}");
    text.lines()
        .position(|line| line == wanted)
        .map(|place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn pages_are_in_the_order_of_the_index_once() {
        let index = source(
            INDEX,
            "# Docs\n\n## Begin\n\n[a](a.md) [b](b.md)\n\n## More\n\n[b](b.md#x) [home](../README.md)\n",
        );
        let pages = [
            index,
            source("README.md", "# Home"),
            source("docs/a.md", "# All of it"),
            source("docs/b.md", "# Both"),
        ];
        let sections = of(&pages).unwrap();
        let titles = |place: usize| -> Vec<&str> {
            let pages = &sections[place].pages;
            pages.iter().map(|entry| entry.title.as_str()).collect()
        };
        assert_eq!(titles(0), ["All of it", "Both"]);
        assert_eq!(titles(1), ["Home"]);
    }

    #[test]
    fn a_page_that_the_index_forgets_is_told() {
        let pages = [
            source(INDEX, "# Docs\n\n## Begin\n"),
            source("docs/a.md", "# A"),
        ];
        assert!(of(&pages).unwrap_err().contains("docs/a.md"));
    }
}
