//! A table of which a step touches some rows.

use std::cell::Cell;

use plethora_system::ranks::Ranks;
use tch::{Device, Kind, Tensor};

use super::row_share::RowShare;
use crate::Result;

/// A matrix with a row a word or a row a label. A step gathers the rows of its batch into a small
/// leaf, so that gradients, optimizer and clipping see those rows alone.
#[derive(Debug)]
pub struct RowTable {
    name: String,
    values: Tensor,
    is_trained: bool,
    is_label_matrix: bool,
    is_changed_in_passing: bool,
    /// Where `values` are those of some rows alone.
    share: Cell<Option<RowShare>>,
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
            share: Cell::new(None),
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

    /// All values; while several processes [train together](crate::train::Trainer), of a table that is changed
    /// in passing those of this process's rows.
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

    /// From now on has the rows of this process alone, on a device, until they are [joined](Self::join).
    pub(crate) fn divide(&self, ranks: &'static dyn Ranks, device: Device) {
        let share = RowShare::new(ranks, self.values.size()[0]);
        let own = share.own();
        let own = self.values.narrow(0, own.start, own.end - own.start);
        self.hold(&own.to_device_(device, Kind::Float, false, true));
        self.share.set(Some(share));
    }

    /// Has all rows again, in main memory.
    pub(crate) fn join(&self) -> Result<()> {
        if let Some(share) = self.share.take() {
            self.hold(&share.join(&self.values)?);
        }
        Ok(())
    }

    /// Moves all values.
    pub(crate) fn move_to(&self, device: Device) -> Result<()> {
        self.hold(&self.values.f_to_device(device)?);
        Ok(())
    }

    /// Takes these values, on whatever device, in the place of its own; whoever has these already sees them.
    fn hold(&self, values: &Tensor) {
        self.values.shallow_clone().set_data(values);
    }

    /// Which rows `values` are, of a table whose rows lie in shards over several processes now.
    pub(crate) fn share(&self) -> Option<RowShare> {
        self.share.get()
    }

    /// Shape of the whole table.
    pub(crate) fn size(&self) -> Vec<i64> {
        let mut size = self.values.size();
        if let Some(share) = self.share.get() {
            size[0] = share.num_rows();
        }
        size
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
