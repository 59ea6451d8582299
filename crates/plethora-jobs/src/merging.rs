//! A whole model of the pieces that several processes have trained.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use plethora_core::artifact::{ModelCopy, ModelReader, ModelWriter};
use plethora_core::{Error, Result};
use plethora_system::{PieceDetails, Registry, Shard};
use serde::Serialize;

use crate::Session;
use crate::model_folder::{about_model, size_of_model};

/// What to merge, and where to.
#[derive(Debug)]
pub struct MergeJob {
    /// The systems that the pieces may be of.
    pub registry: &'static Registry,
    /// Folders of all pieces, in any order.
    pub pieces: Vec<PathBuf>,
    /// Folder for the model.
    pub output: PathBuf,
    /// Replace a model that is there.
    pub replaces: bool,
}

/// What came out.
#[derive(Debug, Serialize)]
pub struct MergeSummary {
    /// Folder of the model.
    pub model: PathBuf,
    /// The system that was trained.
    pub system: String,
    /// Number of pieces.
    #[serde(rename = "n_pieces")]
    pub num_pieces: usize,
    /// Labels that the model knows.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// Bytes of the model's files.
    pub model_bytes: u64,
}

/// A piece that is complete and undamaged.
#[derive(Debug)]
struct Piece {
    folder: ModelReader,
    details: PieceDetails,
}

impl MergeJob {
    /// Checks that the pieces are all of one model, and writes it: the same files as a run that was not
    /// divided, to the last byte.
    ///
    /// # Errors
    /// [`Error::Model`] if a piece is missing, there twice, damaged or of another run.
    pub fn run(&self, session: &Session) -> Result<MergeSummary> {
        ModelWriter::check_target(&self.output, self.replaces)?;
        let pieces = self.open()?;
        let details = &pieces[0].details.model;
        let progress = session.progress();
        progress.start("merging", None);
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        let shares = copy(&pieces, &writer, session)
            .and_then(|shares| self.join(&details.system, &shares, &writer, session))
            .and_then(|()| writer.finish(&details.system, details.to_json()));
        shares.map_err(|error| about_model(error, &self.output))?;
        progress.finish(&format!("{} pieces", pieces.len()));
        Ok(MergeSummary {
            model: self.output.clone(),
            system: details.system.clone(),
            num_pieces: pieces.len(),
            num_labels: details.num_labels,
            model_bytes: size_of_model(&self.output)?,
        })
    }

    /// All pieces, in their order.
    fn open(&self) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        for path in &self.pieces {
            let folder = ModelReader::open(path)?;
            let details = PieceDetails::of(&folder)?;
            pieces.push(Piece { folder, details });
        }
        let shards = pieces
            .iter()
            .map(|piece| (piece.folder.folder(), piece.details.shard));
        check_complete(shards)?;
        pieces.sort_by_key(|piece| piece.details.shard);
        for piece in &pieces {
            piece.check_like(&pieces[0])?;
        }
        Ok(pieces)
    }

    /// Has the system make whole files of shares.
    fn join(
        &self,
        system: &str,
        files: &BTreeMap<&str, Vec<(Shard, PathBuf)>>,
        writer: &ModelWriter,
        session: &Session,
    ) -> Result<()> {
        let (family, _) = self.registry.find(system).map_err(Error::usage)?;
        for (name, shares) in files {
            session.check_interrupt()?;
            check_complete(shares.iter().map(|(share, path)| (path.as_path(), *share)))?;
            let mut shares = shares.clone();
            shares.sort();
            let paths: Vec<PathBuf> = shares.into_iter().map(|(_, path)| path).collect();
            family.join(&paths, &writer.path(name))?;
        }
        Ok(())
    }
}

/// Copies the files that need no joining; returns the shares of those that do.
fn copy<'a>(
    pieces: &'a [Piece],
    writer: &ModelWriter,
    session: &Session,
) -> Result<BTreeMap<&'a str, Vec<(Shard, PathBuf)>>> {
    let mut shares = BTreeMap::<_, Vec<_>>::new();
    let mut copied = BTreeSet::new();
    for Piece { folder, .. } in pieces {
        for name in folder.manifest().files.keys() {
            session.check_interrupt()?;
            if let Some((file, share)) = Shard::of_part_name(name) {
                let found = (share, folder.path(name)?);
                shares.entry(file).or_default().push(found);
            } else if copied.insert(name) {
                ModelCopy::copy_file(folder, name, writer, name)?;
            }
        }
    }
    Ok(shares)
}

impl Piece {
    /// Refuses pieces of different runs.
    fn check_like(&self, first: &Self) -> Result<()> {
        let differ = |what: &str| {
            let message = format!(
                "{what} other than in {}; pieces of one model have equal data, settings and programs",
                first.folder.folder().display()
            );
            Err(Error::model(self.folder.folder(), message))
        };
        let manifest = self.folder.manifest();
        let of_first = first.folder.manifest();
        if manifest.program_version != of_first.program_version {
            return differ("was trained by a program");
        }
        if self.details.run != first.details.run || self.details.model != first.details.model {
            return differ("was trained on data or with settings");
        }
        for (name, entry) in &manifest.files {
            if of_first.files.get(name).is_some_and(|found| found != entry) {
                return differ(&format!("has a {name}"));
            }
        }
        Ok(())
    }
}

/// Refuses shares of which one is missing or there twice.
///
/// # Errors
/// [`Error::Model`], which names what is wrong.
pub fn check_complete<'a>(shards: impl Iterator<Item = (&'a Path, Shard)>) -> Result<()> {
    let mut found = BTreeMap::<usize, &Path>::new();
    let mut count = None;
    for (path, shard) in shards {
        let (first, all) = *count.get_or_insert((path, shard.count()));
        if shard.count() != all {
            let message = format!(
                "is piece {shard}, but {} is one of {all} pieces",
                first.display()
            );
            return Err(Error::model(path, message));
        }
        if let Some(other) = found.insert(shard.index(), path) {
            let message = format!("is piece {shard}, and so is {}", other.display());
            return Err(Error::model(path, message));
        }
    }
    let Some((first, count)) = count else {
        return Err(Error::usage("there are no pieces to merge"));
    };
    let missing: Vec<String> = (0..count)
        .filter(|index| !found.contains_key(index))
        .filter_map(|index| Some(Shard::new(index, count)?.to_string()))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(Error::model(first, format!("piece {one} is missing"))),
        many => {
            let message = format!("pieces {} are missing", many.join(", "));
            Err(Error::model(first, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_double_and_foreign_shares_are_named() {
        let check = |shards: &[&str]| {
            let shards: Vec<(PathBuf, Shard)> = (shards.iter().enumerate())
                .map(|(number, shard)| (format!("p{number}").into(), shard.parse().unwrap()))
                .collect();
            check_complete(shards.iter().map(|(path, shard)| (path.as_path(), *shard)))
        };
        check(&["1/3", "0/3", "2/3"]).unwrap();
        for (shards, expected) in [
            (&["0/2"][..], "p0: piece 1/2 is missing"),
            (&["1/4"], "p0: pieces 0/4, 2/4, 3/4 are missing"),
            (&["0/2", "0/2"], "p1: is piece 0/2, and so is p0"),
            (
                &["0/2", "1/3"],
                "p1: is piece 1/3, but p0 is one of 2 pieces",
            ),
            (&[], "there are no pieces to merge"),
        ] {
            assert_eq!(check(shards).unwrap_err().to_string(), expected);
        }
    }
}
