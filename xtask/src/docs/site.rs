//! `cargo xtask site`: the documents as pages for a browser, which need no server and no script.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::contents::{self, Section};
use super::html::{self, Frame};
use super::{Source, is_foreign, markdown, resolve, sources};
use crate::Result;

/// Where the site is made, from the root.
const FOLDER: &str = "target/site";

/// Makes the site anew, and says where.
pub(crate) fn run(root: &Path) -> Result<PathBuf> {
    super::links::check(root)?;
    let folder = root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let sources = sources(root)?;
    let sections = contents::of(&sources)?;
    let order: Vec<&Path> = order(&sections);
    let addresses: BTreeMap<&Path, String> = sources
        .iter()
        .filter(|source| source.path.starts_with("docs") || order.contains(&source.path.as_path()))
        .map(|source| (source.path.as_path(), address(&source.path)))
        .collect();
    for source in &sources {
        if let Some(address) = addresses.get(source.path.as_path()) {
            let place = order.iter().position(|path| *path == source.path);
            let neighbour = |step: isize| {
                let place = place?.checked_add_signed(step)?;
                let path = *order.get(place)?;
                let title = titles(&sections).find(|(other, _)| *other == path)?.1;
                Some((title, addresses.get(path)?.as_str()))
            };
            let title = contents::title_of(source)?;
            let frame = Frame {
                title: &title,
                address,
                text: &source.text,
                sections: &sections,
                before: neighbour(-1),
                after: neighbour(1),
            };
            let lead = |target: &str| lead(source, address, target, &addresses);
            let address_of = |path: &Path| addresses.get(path).cloned().unwrap_or_default();
            write(
                &folder.join(address),
                html::write(&frame, &lead, &address_of),
            )?;
            pictures(root, &folder, source)?;
        }
    }
    write(&folder.join("site.css"), include_str!("site.css"))?;
    eprintln!(
        "{} pages, from {}",
        addresses.len(),
        folder.join("index.html").display()
    );
    Ok(folder)
}

/// Pages in the order of the table of contents.
fn order(sections: &[Section]) -> Vec<&Path> {
    titles(sections).map(|(path, _)| path).collect()
}

fn titles(sections: &[Section]) -> impl Iterator<Item = (&Path, &str)> {
    let entries = sections.iter().flat_map(|section| &section.pages);
    entries.map(|entry| (entry.path.as_path(), entry.title.as_str()))
}

/// Where a page lies within the site.
fn address(path: &Path) -> String {
    let page = match path.to_str() {
        Some("README.md") => return "index.html".to_owned(),
        Some("docs/README.md") => return "contents.html".to_owned(),
        _ => path.strip_prefix("docs").unwrap_or(path),
    };
    page.with_extension("html")
        .display()
        .to_string()
        .to_lowercase()
}

/// Where a picture lies within the site.
fn picture(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    Path::new("pictures").join(name)
}

/// Where a link leads from a page of the site; files that are no part of it have no address.
fn lead(
    source: &Source,
    from: &str,
    target: &str,
    addresses: &BTreeMap<&Path, String>,
) -> Option<String> {
    if is_foreign(target) || target.starts_with('#') {
        return Some(target.to_owned());
    }
    let (file, heading) = match target.split_once('#') {
        Some((file, heading)) => (file, format!("#{heading}")),
        None => (target, String::new()),
    };
    let path = resolve(source.folder(), file);
    let to = match addresses.get(path.as_path()) {
        Some(address) => address.clone(),
        None if is_picture(&path) => picture(&path).display().to_string(),
        None => return None,
    };
    let up = "../".repeat(from.matches('/').count());
    Some(format!("{up}{to}{heading}"))
}

fn is_picture(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == "png" || end == "svg")
}

/// Copies the pictures of a page.
fn pictures(root: &Path, folder: &Path, source: &Source) -> Result<()> {
    for link in markdown::read(&source.text).links {
        let path = resolve(source.folder(), &link.target);
        if is_picture(&path) && path.components().all(|part| part != Component::ParentDir) {
            let bytes = fs::read(root.join(&path))
                .map_err(|error| format!("{}: {error}", path.display()))?;
            write(&folder.join(picture(&path)), bytes)?;
        }
    }
    Ok(())
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, content))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_page_to_page() {
        let addresses: BTreeMap<&Path, String> =
            ["README.md", "docs/serve.md", "docs/systems/knn.md"]
                .map(|path| (Path::new(path), address(Path::new(path))))
                .into();
        let source = Source {
            path: "docs/systems/knn.md".into(),
            text: String::new(),
        };
        let lead = |target: &str| lead(&source, "systems/knn.html", target, &addresses);
        assert_eq!(lead("../serve.md#safety").unwrap(), "../serve.html#safety");
        assert_eq!(lead("../../README.md").unwrap(), "../index.html");
        assert_eq!(lead("../page.png").unwrap(), "../pictures/page.png");
        assert_eq!(lead("#how").unwrap(), "#how");
        assert_eq!(lead("../../bench"), None);
    }
}
