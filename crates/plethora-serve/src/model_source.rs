//! Which models to serve, and under which names.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A model folder and the id that requests name it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSource {
    /// What stands in addresses.
    pub id: String,
    /// The model folder.
    pub path: PathBuf,
}

impl ModelSource {
    /// Reads `id=path`, or a path whose last part is the id.
    ///
    /// # Errors
    /// If the last part of a path cannot stand in an address as it is.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some((id, path)) = text.split_once('=')
            && is_id(id)
            && !path.is_empty()
        {
            return Ok(Self {
                id: id.to_owned(),
                path: path.into(),
            });
        }
        let path = PathBuf::from(text);
        match own_name(&path).filter(|name| is_id(name)) {
            Some(id) => Ok(Self { id, path }),
            None => Err(Error::config(
                "MODEL",
                format!("`{text}` cannot be an id (letters, digits, . _ -); name it as ID={text}"),
            )),
        }
    }
}

/// The last part of a path, also of `.` and `models/..`.
fn own_name(path: &Path) -> Option<String> {
    let named = match path.file_name() {
        Some(name) => PathBuf::from(name),
        None => path.canonicalize().ok()?.file_name()?.into(),
    };
    named.to_str().map(str::to_owned)
}

fn is_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && !text.starts_with('.') && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_given_or_taken_from_the_folder() {
        for (text, id, path) in [
            ("models/books", "books", "models/books"),
            ("models/books/", "books", "models/books/"),
            ("b=models/books", "b", "models/books"),
            ("a/x=y", "x=y", ""),
            ("mein modell", "", ""),
            ("=x", "", ""),
        ] {
            let parsed = ModelSource::parse(text);
            match (path, parsed) {
                ("", parsed) => assert!(parsed.is_err(), "{text}"),
                (path, Ok(parsed)) => {
                    assert_eq!((parsed.id.as_str(), parsed.path), (id, path.into()));
                }
                (_, Err(error)) => panic!("{text}: {error}"),
            }
        }
    }
}
