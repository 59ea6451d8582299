//! A table of which a step touches some rows.

use tch::{Device, Kind, Tensor};

/// A matrix with a row a word or a row a label. A step gathers the rows of its batch into a small
/// leaf, so that gradients, optimizer and clipping see those rows alone.
#[derive(Debug)]
pub struct RowTable {
    name: String,
    values: Tensor,
    is_trained: bool,
    is_label_matrix: bool,
    is_changed_in_passing: bool,
}

/// The rows of a [`RowTable`] that a step works with.
#[derive(Debug)]
pub struct TableRows {
    /// Which table of [`Parameters`](super::Parameters).
    pub table: usize,
    /// Numbers of the rows, each once.
    pub rows: Tensor,
    /// Their values, as a leaf of the graph.
    pub leaf: Tensor,
}

impl RowTable {
    /// A table of these values, in storage of its own: networks that start from the same values must
    /// not train each other.
    ///
    /// # Shapes
    /// `values`: rows x width.
    pub fn new(name: impl Into<String>, values: &Tensor, is_trained: bool, device: Device) -> Self {
        Self {
            name: name.into(),
            values: values.to_device_(device, Kind::Float, false, true).detach(),
            is_trained,
            is_label_matrix: false,
            is_changed_in_passing: false,
        }
    }

    /// The table as one with a row for each label, which may learn at a rate of its own.
    pub fn of_labels(self) -> Self {
        Self {
            is_label_matrix: true,
            ..self
        }
    }

    /// The table as one that a network changes itself, part by part, while it computes gradients: a
    /// gradient of all its rows is never there. See [`MomentumStep`](crate::train::MomentumStep).
    pub fn changed_in_passing(self) -> Self {
        Self {
            is_changed_in_passing: true,
            ..self
        }
    }

    /// Name in checkpoints and model files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All values.
    pub fn values(&self) -> &Tensor {
        &self.values
    }

    /// False where the values stay as they are.
    pub fn is_trained(&self) -> bool {
        self.is_trained
    }

    /// True where the rows are labels.
    pub fn is_label_matrix(&self) -> bool {
        self.is_label_matrix
    }

    /// True where the network changes the table itself.
    pub fn is_changed_in_passing(&self) -> bool {
        self.is_changed_in_passing
    }

    /// The values of `rows`, which are different ones.
    pub fn gather(&self, table: usize, rows: &Tensor) -> TableRows {
        let rows = rows.to_device(self.values.device());
        let leaf = tch::no_grad(|| self.values.index_select(0, &rows));
        TableRows {
            table,
            rows,
            leaf: leaf.set_requires_grad(self.is_trained),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_same_values_do_not_share_them() {
        let values = Tensor::from_slice2(&[[1.0_f32, 2.0], [3.0, 4.0]]);
        let [first, second] =
            ["first", "second"].map(|name| RowTable::new(name, &values, true, Device::Cpu));
        let _ = first.values().shallow_clone().fill_(9.0);
        assert_eq!(second.values(), &values);
        assert_eq!(values.double_value(&[1, 1]), 4.0);
    }
}
