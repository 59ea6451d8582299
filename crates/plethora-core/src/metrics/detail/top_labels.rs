//! The first labels of each ranking, to see how far models agree.

/// The first places of rankings, as keys that mean the same label in all models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopLabels {
    depth: usize,
    /// `depth` places per document; `None`-like zeros where a ranking is shorter.
    keys: Vec<u64>,
}

/// Stands where a ranking ends early.
const NO_LABEL: u64 = 0;

impl TopLabels {
    /// Without rankings; `depth` places of each will be kept.
    pub fn new(depth: usize) -> Self {
        Self {
            depth,
            keys: Vec::new(),
        }
    }

    /// Places kept of a ranking.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Takes in a document's ranking. Keys are hashes of label names or the like; 0 stands for no
    /// label.
    pub fn add(&mut self, keys: impl IntoIterator<Item = u64>) {
        let end = self.keys.len() + self.depth;
        self.keys.extend(keys.into_iter().take(self.depth));
        self.keys.resize(end, NO_LABEL);
    }

    /// The mean share of the first `k` labels that two models have in common, for each `k` from 1 to
    /// the depth.
    ///
    /// # Panics
    /// If the other has another depth or number of documents.
    pub fn overlaps(&self, other: &Self) -> Vec<f64> {
        assert_eq!(self.depth, other.depth, "depths differ");
        assert_eq!(self.keys.len(), other.keys.len(), "documents differ");
        let mut common = vec![0_u64; self.depth];
        let depth = self.depth.max(1);
        let documents = self
            .keys
            .chunks_exact(depth)
            .zip(other.keys.chunks_exact(depth));
        for (one, other) in documents {
            for (place, common) in common.iter_mut().enumerate() {
                let other = &other[..=place];
                let is_common = |&&key: &&u64| key != NO_LABEL && other.contains(&key);
                *common += one[..=place].iter().filter(is_common).count() as u64;
            }
        }
        let num_documents = (self.keys.len() / depth).max(1) as f64;
        let share =
            |(place, common): (usize, u64)| common as f64 / ((place + 1) as f64 * num_documents);
        common.into_iter().enumerate().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_labels_count_whatever_their_order() {
        let (mut one, mut other) = (TopLabels::new(3), TopLabels::new(3));
        one.add([1, 2, 3]);
        other.add([2, 1, 4]);
        one.add([5]);
        other.add([5, 6, 7, 8]);
        assert_eq!(one.overlaps(&other), [0.5, 0.75, 0.5]);
        assert_eq!(one.overlaps(&one)[..1], [1.0]);
        assert_eq!(TopLabels::new(2).overlaps(&TopLabels::new(2)), [0.0, 0.0]);
    }
}
