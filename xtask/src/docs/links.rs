//! Links between the pages, and from them into the repository, lead to something that is there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{is_foreign, markdown, resolve, sources};
use crate::Result;

/// Looks at every link and picture of every page. Addresses on the web are not asked for.
pub(crate) fn check(root: &Path) -> Result<()> {
    let pages: Vec<(super::Source, markdown::Page)> = sources(root)?
        .into_iter()
        .map(|source| {
            let page = markdown::read(&source.text);
            (source, page)
        })
        .collect();
    let ids: HashMap<PathBuf, Vec<&str>> = pages
        .iter()
        .map(|(source, page)| {
            let ids = page.headings.iter().map(|heading| heading.id.as_str());
            (source.path.clone(), ids.collect())
        })
        .collect();
    let mut dead = Vec::new();
    for (source, page) in &pages {
        let local = page.links.iter().filter(|link| !is_foreign(&link.target));
        for link in local {
            if let Err(why) = follow(root, source, &link.target, &ids) {
                dead.push(format!("{}:{}: {why}", source.name(), link.line));
            }
        }
    }
    if dead.is_empty() {
        Ok(())
    } else {
        Err(format!("dead links:\n  {}", dead.join("\n  ")))
    }
}

fn follow(
    root: &Path,
    source: &super::Source,
    target: &str,
    ids: &HashMap<PathBuf, Vec<&str>>,
) -> Result<()> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => source.path.clone(),
        _ => resolve(source.folder(), file),
    };
    if !root.join(&path).exists() {
        return Err(format!("there is no {}", path.display()));
    }
    if heading.is_empty() {
        return Ok(());
    }
    match ids.get(&path) {
        Some(ids) if ids.contains(&heading) => Ok(()),
        Some(_) => Err(format!("{} has no heading `#{heading}`", path.display())),
        None => Err(format!("{} is no page with headings", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    #[test]
    fn links_are_followed_to_files_and_headings() {
        let root = crate::repository();
        let source = Source {
            path: "docs/serve.md".into(),
            text: String::new(),
        };
        let ids = HashMap::from([(PathBuf::from("docs/serve.md"), vec!["safety"])]);
        let follow = |target: &str| follow(&root, &source, target, &ids);
        assert!(follow("#safety").is_ok() && follow("serve.md#safety").is_ok());
        assert!(follow("../README.md").is_ok() && follow("../bench").is_ok());
        assert!(
            follow("nowhere.md")
                .unwrap_err()
                .contains("docs/nowhere.md")
        );
        assert!(follow("#unsafety").unwrap_err().contains("#unsafety"));
        assert!(follow("../README.md#a").unwrap_err().contains("is no page"));
    }
}
