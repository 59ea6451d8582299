//! What models are called in tables.

use std::path::{Path, PathBuf};

/// The names of folders where these differ, else the paths as the user wrote them, with a number
/// behind those that come again.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let long = |path: &PathBuf| Path::display(path).to_string();
    let shorts: Vec<String> = paths.iter().map(short).collect();
    let is_unique = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    let mut names: Vec<String> = Vec::new();
    for (path, short) in paths.iter().zip(&shorts) {
        let name = if is_unique(short) {
            short.clone()
        } else {
            long(path)
        };
        let num_before = names.iter().filter(|other| **other == name).count();
        names.push(match num_before {
            0 => name,
            again => format!("{name} ({})", again + 1),
        });
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_short_and_different() {
        assert_eq!(of(&["models/a", "b/"]), ["a", "b"]);
        assert_eq!(of(&["x/a", "y/a", "c"]), ["x/a", "y/a", "c"]);
        assert_eq!(of(&["a", "a"]), ["a", "a (2)"]);
        assert_eq!(of(&[".."]), [".."]);
    }
}
