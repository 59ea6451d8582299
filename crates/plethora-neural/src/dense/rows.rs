//! TF-IDF features and vectors side by side.

use plethora_core::SparseMatrix;

use super::vectors::Vectors;

/// Documents as the classifiers take them: the features of each, and behind them the numbers of its vector
/// times `weight`.
pub(super) fn side_by_side(
    features: &SparseMatrix,
    vectors: &Vectors,
    weight: f32,
) -> SparseMatrix {
    assert_eq!(features.num_rows(), vectors.len());
    if weight == 0.0 {
        return features.clone();
    }
    let num_terms = features.num_columns();
    let num_columns = num_terms + vectors.width();
    let vector_columns: Vec<u32> = (num_terms as u32..num_columns as u32).collect();
    let num_entries = features.num_entries() + vectors.bits().len();
    let mut columns = Vec::with_capacity(num_entries);
    let mut values = Vec::with_capacity(num_entries);
    let mut starts = Vec::with_capacity(features.num_rows() + 1);
    starts.push(0);
    let numbers = vectors.to_f32();
    for (row, vector) in features.rows().zip(numbers.chunks(vectors.width())) {
        columns.extend_from_slice(row.columns);
        columns.extend_from_slice(&vector_columns);
        values.extend_from_slice(row.values);
        values.extend(vector.iter().map(|number| weight * number));
        starts.push(columns.len());
    }
    SparseMatrix::from_parts(num_columns, starts, columns, values)
        .expect("vectors come behind all features")
}

/// Some rows of a matrix.
pub(super) fn some_rows(features: &SparseMatrix, documents: &[u32]) -> SparseMatrix {
    let mut rows = SparseMatrix::builder(features.num_columns());
    for &document in documents {
        rows.push(features.row(document as usize));
    }
    rows.finish()
}

#[cfg(test)]
mod tests {
    use plethora_core::SparseVector;

    use super::super::vectors::unit_halves;
    use super::*;

    #[test]
    fn vectors_follow_the_features_with_their_weight() {
        let mut rows = SparseMatrix::builder(3);
        rows.push(SparseVector::from_entries(vec![(1, 0.5)]).as_row());
        rows.push(SparseVector::default().as_row());
        let rows = rows.finish();
        let mut vectors = Vectors::new(2);
        vectors.push(&unit_halves(&[1.0, 0.0]));
        vectors.push(&unit_halves(&[0.0, -1.0]));
        let joined = side_by_side(&rows, &vectors, 2.0);
        assert_eq!(joined.num_columns(), 5);
        assert_eq!(joined.row(0).columns, [1, 3, 4]);
        assert_eq!(joined.row(0).values, [0.5, 2.0, 0.0]);
        assert_eq!(joined.row(1).values, [0.0, -2.0]);
        assert_eq!(side_by_side(&rows, &vectors, 0.0), rows);
        assert_eq!(some_rows(&joined, &[1]).row(0), joined.row(1));
    }
}
