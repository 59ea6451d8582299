//! Nearest documents by the terms they share.

use std::path::Path;
use std::sync::OnceLock;

use super::frequent_terms::FrequentTerms;
use super::{Neighbour, shares};
use crate::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use crate::{Error, Result, SparseMatrix, SparseRow, TermId};

/// The documents of each term with the term's weight in them, mapped from a file.
///
/// Rows have unit length, so that sums of products are cosines. `term_search.rs` finds the nearest.
#[derive(Debug)]
pub struct TermIndex {
    num_documents: usize,
    /// Where the documents of each term start, and where those of the last one end.
    starts: MappedArray<u64>,
    /// Rising for each term.
    documents: MappedArray<u32>,
    values: MappedArray<f32>,
    /// Made when the first query asks for it.
    frequent: OnceLock<FrequentTerms>,
}

/// What a term of a query adds to the votes for a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermVote {
    /// The term.
    pub term: TermId,
    /// Its weight in the query.
    pub value: f32,
    /// Its part of the votes.
    pub contribution: f32,
}

impl TermIndex {
    /// Writes the index of documents with these rows.
    pub fn write(rows: &SparseMatrix, path: &Path) -> Result<()> {
        let mut starts = vec![0_u64; rows.num_columns() + 1];
        for row in rows.rows() {
            for &column in row.columns {
                starts[column as usize + 1] += 1;
            }
        }
        for column in 0..rows.num_columns() {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut documents = vec![0_u32; rows.num_entries()];
        let mut values = vec![0.0_f32; rows.num_entries()];
        for (document, row) in (0_u32..).zip(rows.rows()) {
            for (column, value) in row.iter() {
                let place = next[column] as usize;
                (documents[place], values[place]) = (document, value);
                next[column] += 1;
            }
        }
        let mut file = ArrayFileWriter::create(path)?;
        let size = file.begin("num_documents", Dtype::U64)?;
        file.append(size, &[rows.num_rows() as u64])?;
        let array = file.begin("starts", Dtype::U64)?;
        file.append(array, &starts)?;
        let array = file.begin("documents", Dtype::U32)?;
        file.append(array, &documents)?;
        let array = file.begin("values", Dtype::F32)?;
        file.append(array, &values)?;
        file.finish()
    }

    /// Maps the index at `path` into memory.
    ///
    /// # Errors
    /// [`Error::Model`] if its arrays do not fit together.
    pub fn open(path: &Path) -> Result<Self> {
        let arrays = MappedArrays::open(path)?;
        let index = Self {
            num_documents: match arrays.array::<u64>("num_documents")? {
                [count] => *count as usize,
                _ => return Err(Error::model(path, "has no number of documents")),
            },
            starts: arrays.owned("starts")?,
            documents: arrays.owned("documents")?,
            values: arrays.owned("values")?,
            frequent: OnceLock::new(),
        };
        if index.is_consistent() {
            Ok(index)
        } else {
            Err(Error::model(
                path,
                "the arrays of the index do not fit together",
            ))
        }
    }

    fn is_consistent(&self) -> bool {
        self.starts.first() == Some(&0)
            && self.starts.is_sorted()
            && self.starts.last() == Some(&(self.documents.len() as u64))
            && self.values.len() == self.documents.len()
            && u32::try_from(self.num_documents).is_ok()
            && (0..self.num_terms()).all(|term| {
                let (documents, _) = self.postings(term as u32);
                documents.is_sorted_by(|left, right| left < right)
                    && documents
                        .last()
                        .is_none_or(|&last| (last as usize) < self.num_documents)
            })
    }

    /// Number of documents.
    pub fn num_documents(&self) -> usize {
        self.num_documents
    }

    /// Number of terms.
    pub fn num_terms(&self) -> usize {
        self.starts.len() - 1
    }

    /// The documents as they were written: a row of terms each.
    pub fn rows(&self) -> SparseMatrix {
        let mut ends = vec![0_usize; self.num_documents + 1];
        for &document in self.documents.iter() {
            ends[document as usize + 1] += 1;
        }
        for document in 0..self.num_documents {
            ends[document + 1] += ends[document];
        }
        let starts = ends.clone();
        let mut columns = vec![0_u32; self.documents.len()];
        let mut values = vec![0.0_f32; self.documents.len()];
        for term in 0..self.num_terms() as u32 {
            let (documents, weights) = self.postings(term);
            for (&document, &weight) in documents.iter().zip(weights) {
                let place = &mut ends[document as usize];
                (columns[*place], values[*place]) = (term, weight);
                *place += 1;
            }
        }
        SparseMatrix::from_parts(self.num_terms(), starts, columns, values)
            .expect("terms come in their order")
    }

    /// What each term of a query adds to the votes of some of its `neighbours`, those that `speaks`
    /// picks: the share of each of their votes that falls to the term. They sum to these votes.
    pub fn term_votes(
        &self,
        row: SparseRow<'_>,
        neighbours: &[Neighbour],
        power: f32,
        speaks: impl Fn(u32) -> bool,
    ) -> Vec<TermVote> {
        let speaking: Vec<(Neighbour, f32)> = (neighbours.iter().copied())
            .zip(shares(neighbours, power))
            .filter(|(neighbour, _)| speaks(neighbour.document))
            .collect();
        let terms = row.columns.iter().zip(row.values);
        terms
            .filter_map(|(&term, &value)| {
                let (documents, values) = self.postings(term);
                let parts = speaking.iter().filter_map(|(neighbour, share)| {
                    let place = documents.binary_search(&neighbour.document).ok()?;
                    Some(share * value * values[place] / neighbour.similarity)
                });
                let contribution: f32 = parts.sum();
                (contribution != 0.0).then_some(TermVote {
                    term: TermId(term),
                    value,
                    contribution,
                })
            })
            .collect()
    }

    /// Looks weights of terms up that many documents have.
    pub(super) fn frequent(&self) -> &FrequentTerms {
        self.frequent.get_or_init(|| FrequentTerms::new(self))
    }

    /// The documents of a term and its weights in them.
    pub(super) fn postings(&self, term: u32) -> (&[u32], &[f32]) {
        let range = self.starts[term as usize] as usize..self.starts[term as usize + 1] as usize;
        (&self.documents[range.clone()], &self.values[range])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Queries;
    use super::*;
    use crate::SparseVector;

    pub(in crate::neighbours) fn matrix(rows: &[Vec<(u32, f32)>]) -> SparseMatrix {
        let mut builder = SparseMatrix::builder(12);
        for row in rows {
            let mut row = SparseVector::from_entries(row.clone());
            row.normalize();
            builder.push(row.as_row());
        }
        builder.finish()
    }

    pub(in crate::neighbours) fn index(rows: &SparseMatrix) -> TermIndex {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.safetensors");
        TermIndex::write(rows, &path).unwrap();
        TermIndex::open(&path).unwrap()
    }

    #[test]
    fn terms_share_the_votes_of_the_documents_that_speak() {
        let rows = matrix(&[
            vec![(0, 1.0), (1, 2.0)],
            vec![(1, 1.0), (2, 1.0)],
            vec![(0, 3.0)],
        ]);
        let index = index(&rows);
        let query = matrix(&[vec![(0, 1.0), (1, 1.0), (5, 1.0)]]);
        let found = index.nearest(&query, &Queries::of_others(3)).remove(0);
        let all = index.term_votes(query.row(0), &found, 2.0, |_| true);
        assert_eq!(all.len(), 2, "the last term is nobody's");
        let sum: f32 = all.iter().map(|one| one.contribution).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        let of_last = index.term_votes(query.row(0), &found, 2.0, |document| document == 2);
        assert_eq!(of_last.len(), 1);
        let place = found.iter().position(|one| one.document == 2).unwrap();
        let share = shares(&found, 2.0)[place];
        assert!((of_last[0].contribution - share).abs() < 1e-6);
    }

    #[test]
    fn damaged_arrays_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.safetensors");
        for (starts, documents) in [
            (vec![0_u64, 2], vec![0_u32]),
            (vec![0, 2], vec![1, 0]),
            (vec![0, 1], vec![9]),
            (vec![], vec![]),
        ] {
            let mut file = ArrayFileWriter::create(&path).unwrap();
            let array = file.begin("num_documents", Dtype::U64).unwrap();
            file.append(array, &[2_u64]).unwrap();
            let array = file.begin("starts", Dtype::U64).unwrap();
            file.append(array, &starts).unwrap();
            let array = file.begin("documents", Dtype::U32).unwrap();
            file.append(array, &documents).unwrap();
            let array = file.begin("values", Dtype::F32).unwrap();
            file.append(array, &vec![1.0_f32; documents.len()]).unwrap();
            file.finish().unwrap();
            let message = TermIndex::open(&path).unwrap_err().to_string();
            assert!(message.ends_with("do not fit together"), "{message}");
        }
    }
}
