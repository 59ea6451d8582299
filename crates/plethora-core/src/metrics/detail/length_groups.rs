//! Documents by how long they are.

use serde::Serialize;

use super::Estimates;

const NUM_GROUPS: usize = 4;

/// Which documents are short and which long: quarters of about as many documents each, where
/// documents of equal length are in one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LengthGroups {
    pub(super) rows: Vec<Vec<u32>>,
    bounds: Vec<(u32, u32)>,
}

/// Metrics of the documents of a length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LengthGroup {
    /// Shortest document.
    pub min_length: u32,
    /// Longest document.
    pub max_length: u32,
    /// Number of documents.
    #[serde(rename = "n_docs")]
    pub num_documents: u64,
    /// `P@k` and `PSP@k`.
    pub metrics: Estimates,
}

impl LengthGroups {
    /// Groups documents, shortest first.
    pub fn new(lengths: &[u32]) -> Self {
        let mut rising: Vec<u32> = (0..lengths.len() as u32).collect();
        rising.sort_by_key(|&row| (lengths[row as usize], row));
        let length = |row: u32| lengths[row as usize];
        let (mut rows, mut bounds) = (Vec::new(), Vec::new());
        let mut start = 0;
        for number in 1..=NUM_GROUPS {
            let mut end = (number * rising.len()).div_ceil(NUM_GROUPS).max(start);
            while 0 < end && end < rising.len() && length(rising[end]) == length(rising[end - 1]) {
                end += 1;
            }
            if let [first, .., last] | [first @ last] = rising[start..end] {
                bounds.push((length(first), length(last)));
                let mut group = rising[start..end].to_vec();
                group.sort_unstable();
                rows.push(group);
            }
            start = end;
        }
        Self { rows, bounds }
    }

    /// Shortest and longest document of each group.
    pub(super) fn bounds(&self) -> &[(u32, u32)] {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(lengths: &[u32]) -> Vec<usize> {
        let groups = LengthGroups::new(lengths);
        groups.rows.iter().map(Vec::len).collect()
    }

    #[test]
    fn quarters_have_as_many_documents_each() {
        let groups = LengthGroups::new(&[8, 1, 7, 2, 6, 3, 5, 4]);
        assert_eq!(
            groups.rows,
            [vec![1, 3], vec![5, 7], vec![4, 6], vec![0, 2]]
        );
        assert_eq!(groups.bounds(), [(1, 2), (3, 4), (5, 6), (7, 8)]);
    }

    #[test]
    fn equal_lengths_stay_together_and_few_documents_make_few_groups() {
        assert_eq!(sizes(&[5; 10]), [10]);
        assert_eq!(sizes(&[1, 1, 1, 1, 1, 9, 9, 9]), [5, 3]);
        assert_eq!(sizes(&[3, 4]), [1, 1]);
        assert_eq!(sizes(&[]), [0_usize; 0]);
    }
}
