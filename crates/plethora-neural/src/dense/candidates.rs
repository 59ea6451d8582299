//! The labels that a network ranks highest for each training document, as a file of a run.

use std::path::Path;

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArrays};
use plethora_core::{Error, IndexRows, Result};

/// Name of the file in a work folder.
pub(super) const CANDIDATES_FILE: &str = "candidates.safetensors";

/// Writes them into a file that appears when it is complete.
pub(super) fn write(candidates: &IndexRows, path: &Path) -> Result<()> {
    let partial = path.with_extension("partial");
    let mut writer = ArrayFileWriter::create(&partial)?;
    let counts: Vec<u32> = candidates.rows().map(|row| row.len() as u32).collect();
    let array = writer.begin("counts", Dtype::U32)?;
    writer.append(array, &counts)?;
    let array = writer.begin("labels", Dtype::U32)?;
    for row in candidates.rows() {
        writer.append(array, row)?;
    }
    writer.finish()?;
    std::fs::rename(&partial, path).map_err(Error::write(path))
}

/// Reads what [`write`] wrote.
pub(super) fn read(path: &Path) -> Result<IndexRows> {
    let arrays = MappedArrays::open_own(path)?;
    let (counts, mut labels) = (
        arrays.array::<u32>("counts")?,
        arrays.array::<u32>("labels")?,
    );
    let mut candidates = IndexRows::default();
    for &count in counts {
        let Some((row, rest)) = labels.split_at_checked(count as usize) else {
            return Err(Error::model(path, "damaged: labels are missing"));
        };
        candidates.push(row.iter().copied());
        labels = rest;
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CANDIDATES_FILE);
        let candidates: IndexRows = [vec![3, 1], vec![], vec![0, 2, 5]].into_iter().collect();
        write(&candidates, &path).unwrap();
        let found = read(&path).unwrap();
        assert!(found.rows().eq(candidates.rows()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
