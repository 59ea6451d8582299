//! Folders of the user.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where programs keep what they can make again.
pub fn cache() -> Option<PathBuf> {
    cache_of(|name| env::var_os(name))
}

/// Where texts cut into pieces are kept for runs to come, unless somebody says otherwise.
pub fn pieces() -> Option<PathBuf> {
    Some(cache()?.join("plethora").join("pieces"))
}

/// Where Hugging Face's tools keep what they have downloaded.
#[cfg(feature = "torch")]
pub fn hub_cache() -> Option<PathBuf> {
    plethora_neural::hub_cache(|name| env::var_os(name))
}

fn cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match set("XDG_CACHE_HOME") {
        Some(folder) => Some(PathBuf::from(folder)),
        None => Some(PathBuf::from(set("HOME")?).join(".cache")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_is_where_the_user_says_or_at_home() {
        let of = |pairs: &[(&str, &str)]| {
            cache_of(|name| {
                let pair = pairs.iter().find(|(known, _)| *known == name);
                pair.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[("HOME", "/home/ada")]),
            Some("/home/ada/.cache".into())
        );
        let both = [("HOME", "/home/ada"), ("XDG_CACHE_HOME", "/scratch")];
        assert_eq!(of(&both), Some("/scratch".into()));
        let empty = [("HOME", "/home/ada"), ("XDG_CACHE_HOME", "")];
        assert_eq!(of(&empty), Some("/home/ada/.cache".into()));
    }
}
