//! Which row of a chunk a feature has, for the chunk at hand.

#![expect(
    clippy::inline_always,
    reason = "the look-up must be compiled into each processor's version of the loops around it"
)]

/// By feature: a bit where the chunk has it, and the rows of those before. Features of a document rise and most of them are
/// missing in a chunk, so that look-ups go through a few kilobytes from front to back. Reused from search to search, all zero
/// between chunks.
#[derive(Default)]
pub(crate) struct FeatureTable(Vec<Word>);

/// 64 features.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    present: u64,
    /// The row of the first of them.
    first_row: u32,
}

/// The word of a feature, and the feature's bit in it.
fn place(feature: u32) -> (usize, u64) {
    ((feature / u64::BITS) as usize, 1 << (feature % u64::BITS))
}

impl FeatureTable {
    /// Makes room for so many features.
    pub(crate) fn resize(&mut self, num_features: usize) {
        let num_words = num_features.div_ceil(u64::BITS as usize);
        self.0.resize(num_words, Word::default());
    }

    /// Lays out the features of a chunk, which rise.
    pub(crate) fn fill(&mut self, features: &[u32]) {
        for (row, &feature) in (0..).zip(features) {
            let (word, bit) = place(feature);
            let word = &mut self.0[word];
            if word.present == 0 {
                word.first_row = row;
            }
            word.present |= bit;
        }
    }

    /// Takes them out again.
    pub(crate) fn clear(&mut self, features: &[u32]) {
        for &feature in features {
            self.0[place(feature).0] = Word::default();
        }
    }

    /// The row of a feature, where the chunk has it.
    #[inline(always)]
    pub(crate) fn row(&self, feature: u32) -> Option<usize> {
        let (word, bit) = place(feature);
        let word = self.0[word];
        let before = (word.present & (bit - 1)).count_ones();
        (word.present & bit != 0).then_some((word.first_row + before) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_has_the_row_of_its_place_among_those_of_the_chunk() {
        let mut table = FeatureTable::default();
        table.resize(300);
        for features in [
            vec![0, 1, 63, 64, 200, 299],
            vec![5],
            vec![],
            (0..300).collect(),
        ] {
            table.fill(&features);
            for feature in 0..300 {
                assert_eq!(table.row(feature), features.binary_search(&feature).ok());
            }
            table.clear(&features);
            assert!((0..300).all(|feature| table.row(feature).is_none()));
        }
    }
}
