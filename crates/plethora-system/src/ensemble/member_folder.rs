//! The members of an ensemble as they lie in its folder.

use plethora_core::artifact::{Check, ModelDetails, ModelReader};
use plethora_core::{Error, Result};

use super::config::EnsembleConfig;
use super::link::MemberLink;
use super::size::check_size;

/// A member of an ensemble, undamaged but not opened yet.
#[derive(Debug)]
pub struct MemberFolder {
    /// Its folder from that of the ensemble (`member-0`, or `../parabel` where it was not copied).
    pub name: String,
    /// How much it counts.
    pub weight: f64,
    /// The folder.
    pub folder: ModelReader,
    /// System and sizes.
    pub details: ModelDetails,
}

impl MemberFolder {
    /// The members of the ensemble in `ensemble`, in their order.
    ///
    /// # Errors
    /// [`Error::Model`] if a member is missing or not the one that was saved, or there are too many.
    pub fn all(ensemble: &ModelReader, config: &EnsembleConfig) -> Result<Vec<Self>> {
        check_size(ensemble, config)?;
        let weights = config.weights.iter().enumerate();
        weights
            .map(|(number, &weight)| match config.links.get(number) {
                Some(link) => Self::follow(ensemble, link, weight),
                None => Self::open(ensemble, member_name(number), weight),
            })
            .collect()
    }

    fn follow(ensemble: &ModelReader, link: &MemberLink, weight: f64) -> Result<Self> {
        let folder = link.open(ensemble.folder())?;
        let details = ModelDetails::of(&folder)?;
        Ok(Self {
            name: link.path.clone(),
            weight,
            folder,
            details,
        })
    }

    /// The contents of all files were compared with the manifest of the ensemble when that was
    /// opened, so that it is enough to compare this with the manifest of the member.
    fn open(ensemble: &ModelReader, name: String, weight: f64) -> Result<Self> {
        let path = ensemble.folder().join(&name);
        let folder = ModelReader::open_with(&path, Check::Sizes)?;
        let known = &ensemble.manifest().files;
        for (file, entry) in &folder.manifest().files {
            if known.get(&format!("{name}/{file}")) != Some(entry) {
                return Err(Error::model(
                    &path.join(file),
                    "the file is not the one that the ensemble was made with",
                ));
            }
        }
        let details = ModelDetails::of(&folder)?;
        Ok(Self {
            name,
            weight,
            folder,
            details,
        })
    }
}

/// The folder of a member.
pub(super) fn member_name(number: usize) -> String {
    format!("member-{number}")
}
