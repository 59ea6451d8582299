//! Which documents of a batch visit which tail.

use tch::{Kind, Tensor};

/// The documents of a batch, ordered for each tail.
#[derive(Debug)]
pub(super) struct Visits {
    /// tails x documents: for each tail those with a label in it first, both parts rising.
    documents: Tensor,
    /// Documents with a label in each tail.
    counts: Vec<i64>,
}

impl Visits {
    /// Waits for the device once: what is computed next depends on how many visit.
    ///
    /// # Shapes
    /// `has_label`: documents x tails, one where a document has a label in the tail and zero
    /// elsewhere.
    pub(super) fn new(has_label: &Tensor) -> Self {
        let counts = has_label.sum_dim_intlist(0, false, Kind::Int64);
        Self {
            documents: has_label.argsort_stable(true, 0, true).transpose(0, 1),
            counts: Vec::try_from(counts).expect("one row of whole numbers"),
        }
    }

    /// Documents with a label in a tail.
    pub(super) fn num_visiting(&self, tail: usize) -> i64 {
        self.counts[tail]
    }

    /// The documents that a tail is computed for, those with a label in it first: these alone, or all
    /// where the others are compared with some of its labels. Absent where there are none.
    pub(super) fn documents(&self, tail: usize, with_others: bool) -> Option<Tensor> {
        let documents = self.documents.select(0, tail as i64);
        let number = if with_others {
            documents.size()[0]
        } else {
            self.counts[tail]
        };
        (number > 0).then(|| documents.narrow(0, 0, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_labels_come_first() {
        let has_label = [[0.0_f32, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
        let visits = Visits::new(&Tensor::from_slice2(&has_label));
        let documents = |tail, with_others| {
            let documents = visits.documents(tail, with_others);
            documents.map(|documents| Vec::<i64>::try_from(documents).unwrap())
        };
        assert_eq!(documents(0, false), Some(vec![1]));
        assert_eq!(documents(0, true), Some(vec![1, 0, 2]));
        assert_eq!(documents(1, false), None);
        assert_eq!(documents(1, true), Some(vec![0, 1, 2]));
        assert_eq!(documents(2, false), Some(vec![0, 1, 2]));
        let counts: Vec<i64> = (0..3).map(|tail| visits.num_visiting(tail)).collect();
        assert_eq!(counts, [1, 0, 3]);
    }
}
