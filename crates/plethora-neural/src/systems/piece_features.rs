//! Documents as bags of pieces, by which labels are grouped.

use plethora_core::{SparseMatrix, SparseVector};

/// A row of unit length a document: 1 + ln(count) of each piece, times the logarithm of how rare it
/// is.
pub(crate) fn piece_features<'a>(
    sequences: impl Iterator<Item = &'a [u32]>,
    num_pieces: usize,
) -> SparseMatrix {
    let mut bags: Vec<Vec<(u32, f32)>> = Vec::new();
    let mut documents_of = vec![0_u32; num_pieces];
    for pieces in sequences {
        let mut sorted = pieces.to_vec();
        sorted.sort_unstable();
        let bag: Vec<(u32, f32)> = sorted
            .chunk_by(|one, other| one == other)
            .map(|run| (run[0], 1.0 + (run.len() as f32).ln()))
            .collect();
        for &(piece, _) in &bag {
            documents_of[piece as usize] += 1;
        }
        bags.push(bag);
    }
    let total = bags.len() as f32;
    let rarity: Vec<f32> = documents_of
        .iter()
        .map(|&count| (total / (count as f32).max(1.0)).ln())
        .collect();
    let mut builder = SparseMatrix::builder(num_pieces);
    for bag in bags {
        // Pieces of all documents, as the special ones, tell nothing apart.
        let entries = bag
            .into_iter()
            .map(|(piece, weight)| (piece, weight * rarity[piece as usize]))
            .filter(|&(_, weight)| weight > 0.0);
        let mut row = SparseVector::from_entries(entries.collect());
        row.normalize();
        builder.push(row.as_row());
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_pieces_weigh_more_and_those_of_all_documents_nothing() {
        let sequences: [&[u32]; 3] = [&[1, 5, 5, 7], &[1, 7], &[1, 3]];
        let features = piece_features(sequences.into_iter(), 8);
        let row = |document| features.row(document).iter().collect::<Vec<_>>();
        let (rare, common) = ((1.0 + 2.0_f32.ln()) * 3.0_f32.ln(), 1.5_f32.ln());
        let norm = rare.hypot(common);
        let expected = [(5, rare / norm), (7, common / norm)];
        for ((column, value), expected) in row(0).into_iter().zip(expected) {
            assert_eq!(column, expected.0);
            assert!((value - expected.1).abs() < 1e-6);
        }
        assert_eq!(row(1), [(7, 1.0)]);
        assert_eq!(row(2), [(3, 1.0)]);
    }
}
