//! The neighbours of many documents as a file.

use std::path::Path;

use super::Neighbour;
use crate::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use crate::{Error, Result};

/// The neighbours of each of some documents, mapped from a file.
#[derive(Debug)]
pub struct NeighbourRows {
    starts: MappedArray<u64>,
    documents: MappedArray<u32>,
    similarities: MappedArray<f32>,
}

impl NeighbourRows {
    /// Writes neighbours, which come in blocks of documents; each block is asked for when the one
    /// before is written, so that no more than one is held.
    pub fn write(
        path: &Path,
        blocks: impl Iterator<Item = Result<Vec<Vec<Neighbour>>>>,
    ) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let starts = file.begin("starts", Dtype::U64)?;
        let documents = file.begin("documents", Dtype::U32)?;
        let similarities = file.begin("similarities", Dtype::F32)?;
        file.append(starts, &[0_u64])?;
        for block in blocks {
            for row in block? {
                let numbers: Vec<u32> = row.iter().map(|one| one.document).collect();
                let values: Vec<f32> = row.iter().map(|one| one.similarity).collect();
                file.append(documents, &numbers)?;
                file.append(similarities, &values)?;
                file.append(starts, &[file.len(documents)])?;
            }
        }
        file.finish()
    }

    /// Maps the neighbours of `num_rows` documents among `num_documents`.
    ///
    /// # Errors
    /// [`Error::Model`] if they are of others.
    pub fn open(path: &Path, num_rows: usize, num_documents: usize) -> Result<Self> {
        let arrays = MappedArrays::open_own(path)?;
        let rows = Self {
            starts: arrays.owned("starts")?,
            documents: arrays.owned("documents")?,
            similarities: arrays.owned("similarities")?,
        };
        let fits = rows.starts.len() == num_rows + 1
            && rows.starts.first() == Some(&0)
            && rows.starts.is_sorted()
            && rows.starts.last() == Some(&(rows.documents.len() as u64))
            && rows.similarities.len() == rows.documents.len()
            && (rows.documents.iter()).all(|&document| (document as usize) < num_documents);
        if fits {
            Ok(rows)
        } else {
            Err(Error::model(path, "has the neighbours of other documents"))
        }
    }

    /// Number of documents whose neighbours these are.
    pub fn num_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours of a document, the nearest first.
    pub fn row(&self, index: usize) -> Vec<Neighbour> {
        let range = self.starts[index] as usize..self.starts[index + 1] as usize;
        let documents = self.documents[range.clone()].iter();
        documents
            .zip(&self.similarities[range])
            .map(|(&document, &similarity)| Neighbour {
                document,
                similarity,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_back_and_those_of_others_are_refused() {
        let one = |document, similarity| Neighbour {
            document,
            similarity,
        };
        let blocks = [
            vec![vec![one(3, 0.5), one(0, 0.25)], vec![]],
            vec![vec![one(1, 1.0)]],
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("neighbours.safetensors");
        NeighbourRows::write(&path, blocks.iter().cloned().map(Ok)).unwrap();
        let rows = NeighbourRows::open(&path, 3, 4).unwrap();
        let back: Vec<Vec<Neighbour>> = (0..rows.num_rows()).map(|row| rows.row(row)).collect();
        assert_eq!(back, blocks.concat());
        assert!(NeighbourRows::open(&path, 2, 4).is_err());
        assert!(NeighbourRows::open(&path, 3, 3).is_err());
    }

    #[test]
    fn a_failure_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("neighbours.safetensors");
        let blocks = [Ok(vec![vec![]]), Err(Error::Interrupted)];
        assert!(NeighbourRows::write(&path, blocks.into_iter()).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
