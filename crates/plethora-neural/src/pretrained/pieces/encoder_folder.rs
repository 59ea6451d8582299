//! Where the folder of an encoder is: a path, or a name in the Hugging Face cache.

use std::path::{Path, PathBuf};

use plethora_core::Error;

use super::family::CONFIG_FILE;
use crate::Result;
use crate::transformer::trained_folder;

/// The setting that errors about names are reported for.
const SETTING: &str = "encoder";

/// Files that an encoder's weights may be in, of which one must be there.
const WEIGHT_FILES: [&str; 2] = ["model.safetensors", "model.safetensors.index.json"];

/// Weights in a format that runs code when it is read.
const PICKLED_FILES: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];

/// The version of an encoder where a name says none.
const MAIN: &str = "main";

/// The folder of the encoder `name`: a folder as it is (of Hugging Face, or a model whose encoder was
/// trained here), or `org/name`, `name` or `org/name@version`
/// in the Hugging Face cache `cache`. With the feature `hub`, what is missing there is downloaded
/// into it.
///
/// # Errors
///
/// [`Config`](plethora_core::Error::Config) for a name that leads nowhere,
/// [`Model`](plethora_core::Error::Model) for a folder without settings or weights.
pub fn resolve_encoder(name: &str, cache: Option<&Path>) -> Result<PathBuf> {
    let folder = Path::new(name);
    if folder.is_dir() {
        check_folder(folder)?;
        return Ok(folder.to_owned());
    }
    let Some(hub_name) = HubName::parse(name) else {
        let message = format!("{name}: no such folder");
        return Err(Error::config(SETTING, message).into());
    };
    let Some(cache) = cache else {
        let message = format!(
            "{name}: no such folder, and it is not known where the Hugging Face cache is; set \
             HF_HOME or give the folder of an encoder"
        );
        return Err(Error::config(SETTING, message).into());
    };
    let found = hub_name.snapshot(cache).map(|folder| {
        let checked = check_folder(&folder);
        checked.map(|()| folder)
    });
    match found {
        Some(Ok(folder)) => Ok(folder),
        // A download may also complete what is there.
        Some(Err(error)) => download(&hub_name, cache, Some(error)),
        None => download(&hub_name, cache, None),
    }
}

/// Makes sure that a folder has what every encoder has.
fn check_folder(folder: &Path) -> Result<()> {
    if trained_folder::is_model(folder) {
        return Ok(trained_folder::check_model(folder)?);
    }
    let has = |name: &str| folder.join(name).exists();
    if !has(CONFIG_FILE) {
        let message = "no config.json: this is no folder of a Hugging Face encoder";
        return Err(Error::model(folder, message).into());
    }
    if WEIGHT_FILES.into_iter().any(has) {
        return Ok(());
    }
    let message = match PICKLED_FILES.into_iter().find(|name| has(name)) {
        Some(name) => format!(
            "no model.safetensors, only {name}, which is not read because reading it runs code; \
             convert it to safetensors"
        ),
        None => "no weights: neither model.safetensors nor model.safetensors.index.json".to_owned(),
    };
    Err(Error::model(folder, message).into())
}

/// The name of an encoder on the hub.
struct HubName<'a> {
    /// `org/name`, or `name` alone for the oldest.
    repository: &'a str,
    version: &'a str,
}

impl<'a> HubName<'a> {
    /// `None` for what can only be meant as a path.
    fn parse(name: &'a str) -> Option<Self> {
        let (repository, version) = name.split_once('@').unwrap_or((name, MAIN));
        let is_part = |part: &str| {
            let is_allowed = |at: char| at.is_ascii_alphanumeric() || "._-".contains(at);
            !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed)
        };
        let is_name = repository.split('/').count() <= 2 && repository.split('/').all(is_part);
        // A version may be a branch such as refs/pr/1.
        let is_version = version.split('/').all(is_part);
        (is_name && is_version).then_some(Self {
            repository,
            version,
        })
    }

    /// The repository's folder in a cache.
    fn folder_name(&self) -> String {
        format!("models--{}", self.repository.replace('/', "--"))
    }

    /// The repository's folder; a name alone may be that of the only organisation that has one.
    fn folder(&self, cache: &Path) -> Option<PathBuf> {
        let exact = cache.join(self.folder_name());
        if exact.is_dir() || self.repository.contains('/') {
            return Some(exact);
        }
        let suffix = format!("--{}", self.repository);
        let entries = std::fs::read_dir(cache).ok()?.flatten();
        let mut found = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.and_then(|name| name.strip_prefix("models--"));
            name.is_some_and(|name| name.ends_with(&suffix))
        });
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// Where the cache has the version, if it has it.
    fn snapshot(&self, cache: &Path) -> Option<PathBuf> {
        let folder = self.folder(cache)?;
        let commit = std::fs::read_to_string(folder.join("refs").join(self.version));
        let commit = commit.as_deref().map_or(self.version, str::trim);
        let snapshot = folder.join("snapshots").join(commit);
        snapshot.is_dir().then_some(snapshot)
    }
}

/// What is to be said of an encoder that the cache lacks, or of which it has a part.
#[cfg(not(feature = "hub"))]
fn download(name: &HubName, cache: &Path, found: Option<crate::Error>) -> Result<PathBuf> {
    if let Some(error) = found {
        return Err(error);
    }
    let HubName {
        repository,
        version,
    } = name;
    let option = match *version {
        MAIN => String::new(),
        version => format!(" --revision {version}"),
    };
    let message = format!(
        "{repository}: no such folder, and version {version} is not in the Hugging Face cache: \
         {} has no {}; get it with `hf download {repository}{option}`, or give the folder of an \
         encoder; this program was built without the feature hub, so that it downloads nothing",
        cache.display(),
        name.folder_name()
    );
    Err(Error::config(SETTING, message).into())
}

#[cfg(feature = "hub")]
fn download(name: &HubName, cache: &Path, found: Option<crate::Error>) -> Result<PathBuf> {
    let HubName {
        repository,
        version,
    } = name;
    if let Err(reason) = super::hub_download::download(repository, version, cache) {
        let message = format!(
            "{repository}: no such folder, and version {version} is neither in the Hugging Face \
             cache {} nor can it be downloaded: {reason}",
            cache.display()
        );
        return Err(found.unwrap_or_else(|| Error::config(SETTING, message).into()));
    }
    match name.snapshot(cache) {
        Some(folder) => check_folder(&folder).map(|()| folder),
        None => Err(Error::model(cache, "the download is not where it should be").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, names: &[&str]) {
        std::fs::create_dir_all(folder).unwrap();
        for name in names {
            std::fs::write(folder.join(name), "{}").unwrap();
        }
    }

    fn message(name: &str, cache: Option<&Path>) -> String {
        resolve_encoder(name, cache).unwrap_err().to_string()
    }

    #[test]
    fn folders_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let name = path.to_str().unwrap();
        for weights in WEIGHT_FILES {
            write(path, &["config.json", weights]);
            assert_eq!(resolve_encoder(name, None).unwrap(), path);
            std::fs::remove_file(path.join(weights)).unwrap();
        }
        assert_eq!(
            message(name, None),
            format!(
                "{name}: no weights: neither model.safetensors nor model.safetensors.index.json"
            )
        );
        write(path, &["pytorch_model.bin"]);
        let error = message(name, None);
        assert!(error.ends_with("convert it to safetensors"), "{error}");
        assert!(error.contains("only pytorch_model.bin"), "{error}");
        std::fs::remove_file(path.join("config.json")).unwrap();
        assert!(message(name, None).contains("no config.json"));
    }

    #[test]
    fn names_lead_to_the_version_in_the_cache() {
        let cache = tempfile::tempdir().unwrap();
        let repository = cache.path().join("models--ada--engine");
        for commit in ["1111", "2222"] {
            let snapshot = repository.join("snapshots").join(commit);
            write(&snapshot, &["config.json", "model.safetensors"]);
        }
        write(&repository.join("refs/tags"), &[]);
        std::fs::write(repository.join("refs/main"), "1111\n").unwrap();
        std::fs::write(repository.join("refs/tags/v2"), "2222").unwrap();
        write(
            &cache.path().join("models--loom/snapshots/3333"),
            &["config.json", "model.safetensors"],
        );
        for (name, expected) in [
            ("ada/engine", "models--ada--engine/snapshots/1111"),
            ("ada/engine@main", "models--ada--engine/snapshots/1111"),
            ("ada/engine@2222", "models--ada--engine/snapshots/2222"),
            ("ada/engine@tags/v2", "models--ada--engine/snapshots/2222"),
            ("loom@3333", "models--loom/snapshots/3333"),
        ] {
            let found = resolve_encoder(name, Some(cache.path())).unwrap();
            assert_eq!(found, cache.path().join(expected), "{name}");
        }
    }

    #[cfg(not(feature = "hub"))]
    #[test]
    fn missing_encoder_is_told_with_where_and_how() {
        let cache = tempfile::tempdir().unwrap();
        assert_eq!(
            message("ada/engine", Some(cache.path())),
            format!(
                "encoder: ada/engine: no such folder, and version main is not in the Hugging Face \
                 cache: {} has no models--ada--engine; get it with `hf download ada/engine`, or \
                 give the folder of an encoder; this program was built without the feature hub, so \
                 that it downloads nothing",
                cache.path().display()
            )
        );
        let error = message("ada/engine@v2", Some(cache.path()));
        assert!(
            error.contains("`hf download ada/engine --revision v2`"),
            "{error}"
        );
        // A part of an encoder, as when only its tokenizer was fetched.
        let snapshot = cache.path().join("models--ada--engine/snapshots/1111");
        write(&snapshot, &["config.json"]);
        let error = message("ada/engine@1111", Some(cache.path()));
        assert!(error.contains("no weights"), "{error}");
    }

    #[test]
    fn what_can_only_be_a_path_is_not_looked_up() {
        let cache = Path::new("/nowhere");
        for name in [
            "/no/such", "./x", "../x", "a/b/c", "a//b", "", "é", "x@../y",
        ] {
            let expected = format!("encoder: {name}: no such folder");
            assert_eq!(message(name, Some(cache)), expected);
        }
        let error = message("ada/engine", None);
        assert!(
            error.contains("not known where the Hugging Face cache is"),
            "{error}"
        );
    }
}
