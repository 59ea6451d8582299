//! Numbers of which each document has others, as a matrix.

use tch::{Kind, Tensor};

/// The numbers of each document, each once and rising. Documents with fewer are filled up.
#[derive(Debug)]
pub(crate) struct DocumentLists {
    /// documents x longest list; zero behind the end of a list.
    pub(crate) numbers: Tensor,
    /// documents x longest list: false behind the end of a list.
    pub(crate) is_listed: Tensor,
    /// Document times `limit` and number of each entry, rising.
    keys: Tensor,
    /// Where each entry lies in the matrix, read row by row.
    slots: Tensor,
    limit: i64,
}

impl DocumentLists {
    /// Lists pairs of a document and a number below `limit`; equal pairs are one. Waits for the
    /// device.
    pub(crate) fn new(
        documents: &Tensor,
        numbers: &Tensor,
        num_documents: i64,
        limit: i64,
    ) -> Self {
        let (keys, _, _) = (documents * limit + numbers).internal_unique2(true, false, false);
        let documents = keys.divide_scalar_mode(limit, "floor");
        let numbers = &keys - &documents * limit;
        let counts = documents.bincount(None::<&Tensor>, num_documents);
        let longest = counts.max().int64_value(&[]).max(1);
        let before = counts.cumsum(0, Kind::Int64) - &counts;
        let order = Tensor::arange(keys.size()[0], (Kind::Int64, keys.device()));
        let slots = order - before.index_select(0, &documents) + documents * longest;
        let shape = [num_documents * longest];
        let mut matrix = Tensor::zeros(shape, (Kind::Int64, keys.device()));
        let _ = matrix.index_copy_(0, &slots, &numbers);
        let mut is_listed = Tensor::zeros(shape, (Kind::Bool, keys.device()));
        let _ = is_listed.index_fill_(0, &slots, 1);
        Self {
            numbers: matrix.view([num_documents, longest]),
            is_listed: is_listed.view([num_documents, longest]),
            keys,
            slots,
            limit,
        }
    }

    /// Where pairs lie in the matrix, read row by row; all of them are listed.
    pub(crate) fn slots_of(&self, documents: &Tensor, numbers: &Tensor) -> Tensor {
        let places = (documents * self.limit + numbers).bucketize(&self.keys, false, false);
        self.slots.index_select(0, &places)
    }

    /// In which column of its document's list a number lies, for another matrix of numbers; 0 where
    /// `is_listed` is false, else the number is in the list.
    ///
    /// # Shapes
    /// `numbers`, `is_listed`: documents x any.
    pub(crate) fn columns_of(&self, numbers: &Tensor, is_listed: &Tensor) -> Tensor {
        let num_documents = numbers.size()[0];
        let documents = Tensor::arange(num_documents, (Kind::Int64, numbers.device()));
        let rows = documents.unsqueeze(1);
        let places = (&rows * self.limit + numbers).bucketize(&self.keys, false, false);
        let places = places.clamp_max(self.keys.size()[0] - 1).flatten(0, -1);
        let slots = self.slots.index_select(0, &places).view_as(numbers);
        (slots - rows * self.numbers.size()[1]) * is_listed.to_kind(Kind::Int64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(tensor: &Tensor) -> Vec<Vec<i64>> {
        tensor.to_kind(Kind::Int64).try_into().unwrap()
    }

    #[test]
    fn lists_rise_have_each_number_once_and_are_filled_up() {
        let documents = Tensor::from_slice(&[2_i64, 0, 2, 0, 2, 0]);
        let numbers = Tensor::from_slice(&[7_i64, 3, 0, 1, 7, 9]);
        let lists = DocumentLists::new(&documents, &numbers, 4, 10);
        let expected = [[1, 3, 9], [0, 0, 0], [0, 7, 0], [0, 0, 0]];
        assert_eq!(rows(&lists.numbers), expected);
        let expected = [[1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 0]];
        assert_eq!(rows(&lists.is_listed), expected);
        let slots = lists.slots_of(
            &Tensor::from_slice(&[2_i64, 0]),
            &Tensor::from_slice(&[7_i64, 9]),
        );
        assert_eq!(Vec::<i64>::try_from(slots).unwrap(), [7, 2]);
    }

    #[test]
    fn columns_are_those_of_the_own_document() {
        let documents = Tensor::from_slice(&[0_i64, 0, 1, 1, 1]);
        let numbers = Tensor::from_slice(&[4_i64, 2, 4, 3, 1]);
        let lists = DocumentLists::new(&documents, &numbers, 2, 5);
        let wanted = Tensor::from_slice2(&[[4_i64, 4, 2], [3, 4, 9]]);
        let columns = lists.columns_of(&wanted, &wanted.lt(5));
        assert_eq!(rows(&columns), [[1, 1, 0], [1, 2, 0]]);
    }
}
