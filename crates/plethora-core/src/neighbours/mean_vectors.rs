//! Documents as means of their words' vectors.

use rayon::prelude::*;

use crate::IndexRows;
use crate::text::Words;

/// Vectors of words, by which documents become vectors of unit length.
#[derive(Debug, Clone, Copy)]
pub struct MeanVectors<'a> {
    /// The vectors of the rows of [`Words`], one behind the other.
    pub words: &'a [f32],
    /// Numbers of a vector.
    pub width: usize,
}

impl MeanVectors<'_> {
    /// The mean of each document's known words, brought to unit length; zero where it knows none.
    pub fn of_all(&self, sequences: &IndexRows) -> Vec<f32> {
        let mut vectors = vec![0.0; sequences.num_rows() * self.width];
        vectors
            .par_chunks_mut(self.width.max(1))
            .enumerate()
            .for_each(|(document, vector)| self.fill(sequences.row(document), vector));
        vectors
    }

    fn fill(&self, words: &[u32], vector: &mut [f32]) {
        for &word in words.iter().filter(|&&word| word >= Words::FIRST_WORD) {
            let start = word as usize * self.width;
            let of_word = &self.words[start..start + self.width];
            for (sum, value) in vector.iter_mut().zip(of_word) {
                *sum += value;
            }
        }
        let squares = vector.iter().map(|&value| f64::from(value).powi(2));
        let length = squares.sum::<f64>().sqrt();
        if length > 0.0 {
            for value in vector {
                *value = (f64::from(*value) / length) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_unit_length_and_unknown_words_count_nothing() {
        let words = [0.0, 0.0, 9.0, 9.0, 3.0, 0.0, 0.0, 4.0];
        let means = MeanVectors {
            words: &words,
            width: 2,
        };
        let sequences: IndexRows = [vec![2, 3, 1], vec![1], vec![3, 3]].into_iter().collect();
        let vectors = means.of_all(&sequences);
        let expected = [0.6, 0.8, 0.0, 0.0, 0.0, 1.0];
        for (found, expected) in vectors.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{vectors:?}");
        }
    }
}
