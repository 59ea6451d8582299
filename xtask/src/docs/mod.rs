//! The documents: links that lead somewhere, commands that run, and the site that is made of them.

mod commands;
mod contents;
mod html;
mod links;
mod markdown;
mod site;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

pub(crate) use commands::run as run_commands;
pub(crate) use links::check as check_links;
pub(crate) use site::run as make_site;

/// A page that readers see, by its path from the root of the repository.
#[derive(Debug, Clone)]
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// All pages: those in the root, in `docs/`, and the one of the Python package.
fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    for folder in ["", "docs", "docs/systems", "crates/plethora-python"] {
        let entries = fs::read_dir(root.join(folder))
            .map_err(|error| format!("{}: {error}", root.join(folder).display()))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let pages = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"));
        paths.extend(pages.map(|name| Path::new(folder).join(name)));
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root.join(&path));
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Source { path, text })
    };
    paths.into_iter().map(read).collect()
}

/// A path from the root, of one that a page in `folder` names.
fn resolve(folder: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            std::path::Component::ParentDir => {
                path.pop();
            }
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// True where a link leads out of the repository.
fn is_foreign(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}
