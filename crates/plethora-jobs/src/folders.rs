//! Folders of the user.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where programs keep what they can make again.
pub fn cache() -> Option<PathBuf> {
    cache_of(|name| env::var_os(name))
}

/// Where texts cut into pieces are cached for later runs, unless somebody says otherwise.
pub fn pieces() -> Option<PathBuf> {
    Some(cache()?.join("plethora").join("pieces"))
}

/// Where Hugging Face's tools keep what they have downloaded.
pub fn encoders() -> Option<PathBuf> {
    hub_cache_of(|name| env::var_os(name))
}

fn cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match set("XDG_CACHE_HOME") {
        Some(folder) => Some(PathBuf::from(folder)),
        None => Some(PathBuf::from(set("HOME")?).join(".cache")),
    }
}

/// As Hugging Face's own tools look for it.
fn hub_cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    if let Some(cache) = set("HF_HUB_CACHE") {
        return Some(cache);
    }
    if let Some(home) = set("HF_HOME") {
        return Some(home.join("hub"));
    }
    Some(cache_of(variable)?.join("huggingface").join("hub"))
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

    #[test]
    fn encoders_are_where_hugging_face_keeps_them() {
        let cache = |set: &[(&str, &str)]| {
            let get = |key: &str| {
                let found = set.iter().find(|(name, _)| *name == key);
                found.map(|(_, value)| OsString::from(value))
            };
            hub_cache_of(get).map(|path| path.display().to_string())
        };
        let all = [
            ("HOME", "/h"),
            ("XDG_CACHE_HOME", "/x"),
            ("HF_HOME", "/f"),
            ("HF_HUB_CACHE", "/c"),
        ];
        assert_eq!(cache(&all).unwrap(), "/c");
        assert_eq!(cache(&all[..3]).unwrap(), "/f/hub");
        assert_eq!(cache(&all[..2]).unwrap(), "/x/huggingface/hub");
        assert_eq!(cache(&all[..1]).unwrap(), "/h/.cache/huggingface/hub");
        let empty = [("HF_HUB_CACHE", ""), ("HOME", "/h")];
        assert_eq!(cache(&empty).unwrap(), "/h/.cache/huggingface/hub");
        assert_eq!(cache(&[]), None);
    }
}
