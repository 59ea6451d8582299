//! The wrong labels that a network takes for right ones: what it learns most from.

use plethora_core::IndexRows;
use tch::Device;

use super::batches::KnownLabels;
use super::search::nearest;
use crate::systems::vectors::Vectors;

/// The `count` nearest wrong labels of each document, by their numbers among the known ones.
pub(super) fn wrong_labels(
    documents: &Vectors,
    labels: &Vectors,
    truth: &IndexRows,
    (count, device): (usize, Device),
) -> IndexRows {
    let most_true = truth.rows().map(<[u32]>::len).max().unwrap_or(0);
    let found = nearest(documents, labels, count + most_true, device);
    let rows = found.iter().zip(truth.rows()).map(|(ranking, truth)| {
        let wrong = ranking.iter().map(|one| one.label.0);
        let wrong = wrong.filter(|label| !truth.contains(label));
        wrong.take(count).collect::<Vec<u32>>()
    });
    rows.collect()
}

/// The labels of documents, by their numbers among the known ones.
pub(super) fn truth_among(
    labels_of_documents: &IndexRows,
    documents: &[u32],
    known: &KnownLabels,
) -> IndexRows {
    let rows = documents.iter().map(|&document| {
        let labels = labels_of_documents.row(document as usize).iter();
        let places = labels.filter_map(|&label| known.place(label));
        places.collect::<Vec<u32>>()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::vectors::unit_halves;

    #[test]
    fn near_labels_that_are_true_are_none() {
        let mut labels = Vectors::new(2);
        for vector in [[1.0, 0.0], [1.0, 0.2], [1.0, 0.5], [0.0, 1.0]] {
            labels.push(&unit_halves(&vector));
        }
        let mut documents = Vectors::new(2);
        documents.push(&unit_halves(&[1.0, 0.0]));
        documents.push(&unit_halves(&[0.0, 1.0]));
        let truth: IndexRows = [vec![0, 2], vec![]].into_iter().collect();
        let found = wrong_labels(&documents, &labels, &truth, (1, Device::Cpu));
        assert_eq!(found.row(0), [1]);
        assert_eq!(found.row(1), [3]);
    }
}
