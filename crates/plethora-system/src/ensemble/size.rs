//! How large an ensemble of ensembles may be. Links cost nothing to write: fourteen ensembles that each
//! name the next twice are sixteen thousand models.

use plethora_core::artifact::{Check, ModelReader};
use plethora_core::{Error, Result};

use super::ENSEMBLE;
use super::config::EnsembleConfig;
use super::member_folder::member_name;

/// Models in all, those of inner ensembles too.
const MAX_MEMBERS: usize = 256;

/// Ensembles inside each other.
const MAX_DEPTH: usize = 8;

/// Counts the models of an ensemble before any is opened.
///
/// # Errors
/// [`Error::Model`] if there are too many, or ensembles lie too deep.
pub(super) fn check_size(ensemble: &ModelReader, config: &EnsembleConfig) -> Result<()> {
    let too_large = |what: String| Err(Error::model(ensemble.folder(), what));
    let mut waiting = folders(ensemble, config, 1);
    let mut num_members = 0;
    while let Some((folder, depth)) = waiting.pop() {
        num_members += 1;
        if num_members + waiting.len() > MAX_MEMBERS {
            return too_large(format!("has more than {MAX_MEMBERS} models in all"));
        }
        // Whoever opens it says better what is wrong.
        let Ok(member) = ModelReader::open_with(&folder, Check::Sizes) else {
            continue;
        };
        if member.manifest().kind == ENSEMBLE {
            if depth == MAX_DEPTH {
                return too_large(format!("has ensembles more than {MAX_DEPTH} deep"));
            }
            let config = EnsembleConfig::of(&member)?;
            waiting.extend(folders(&member, &config, depth + 1));
        }
    }
    Ok(())
}

/// Where the members of an ensemble are, and how deep.
fn folders(
    ensemble: &ModelReader,
    config: &EnsembleConfig,
    depth: usize,
) -> Vec<(std::path::PathBuf, usize)> {
    let numbers = 0..config.weights.len().min(MAX_MEMBERS + 1);
    let folder = |number: usize| match config.links.get(number) {
        Some(link) => ensemble.folder().join(&link.path),
        None => ensemble.folder().join(member_name(number)),
    };
    numbers.map(|number| (folder(number), depth)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plethora_core::artifact::{CONFIG_FILE, ModelWriter};

    use super::super::link::MemberLink;
    use super::*;

    /// An ensemble that links to models by their names, whether these are there or not.
    fn write(desk: &Path, name: &str, members: &[String]) -> ModelReader {
        let link = |member: &String| MemberLink {
            path: format!("../{member}"),
            manifest_sha256: String::new(),
        };
        let config = EnsembleConfig {
            links: members.iter().map(link).collect(),
            ..EnsembleConfig::equal(members.len())
        };
        let target = desk.join(name);
        let writer = ModelWriter::create(&target, true).unwrap();
        writer.write_json(CONFIG_FILE, &config).unwrap();
        writer.finish(ENSEMBLE, serde_json::Value::Null).unwrap();
        ModelReader::open(&target).unwrap()
    }

    fn check(ensemble: &ModelReader) -> Result<(), String> {
        let config = EnsembleConfig::of(ensemble).unwrap();
        check_size(ensemble, &config).map_err(|error| error.to_string())
    }

    #[test]
    fn links_that_multiply_and_chains_without_end_are_refused() {
        let desk = tempfile::tempdir().unwrap();
        for (level, next) in [(6, 7), (5, 6), (4, 5), (3, 4), (2, 3), (1, 2)] {
            let twice = vec![format!("twice-{next}"); 2];
            write(desk.path(), &format!("twice-{level}"), &twice);
        }
        let inner = ModelReader::open(&desk.path().join("twice-3")).unwrap();
        assert_eq!(check(&inner), Ok(()));
        let outer = write(desk.path(), "outer", &vec!["twice-1".into(); 3]);
        assert!(
            check(&outer)
                .unwrap_err()
                .ends_with("has more than 256 models in all")
        );
        let own = write(desk.path(), "own", &["nowhere".into(), "own".into()]);
        assert!(
            check(&own)
                .unwrap_err()
                .ends_with("has ensembles more than 8 deep")
        );
        let wide = write(desk.path(), "wide", &vec!["nowhere".into(); 300]);
        assert!(check(&wide).is_err());
    }
}
