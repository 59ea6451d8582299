//! One tensor for each buffer that training changes.

use tch::{Device, Tensor};

use super::{Parameters, RowShare};

/// A tensor in the shape of the dense buffer and one in the shape of each trained table: the values
/// themselves, or numbers that go with them (moments, averages, a copy of the best). Tables that
/// are not trained have none.
#[derive(Debug)]
pub(crate) struct TrainedTensors {
    dense: Tensor,
    tables: Vec<Option<OfTable>>,
}

#[derive(Debug)]
struct OfTable {
    name: String,
    tensor: Tensor,
    /// Which rows of the table these are, where they are not all.
    share: Option<RowShare>,
}

impl TrainedTensors {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let of_table = |table: &super::RowTable| {
            table.is_trained().then(|| OfTable {
                name: format!("table.{}", table.name()),
                tensor: table.values().shallow_clone(),
                share: table.share(),
            })
        };
        Self {
            dense: parameters.dense.values().shallow_clone(),
            tables: parameters.tables.iter().map(of_table).collect(),
        }
    }

    /// These but for those of some tables.
    pub(crate) fn without_tables(mut self, is_left_out: impl Fn(usize) -> bool) -> Self {
        for (number, table) in self.tables.iter_mut().enumerate() {
            if is_left_out(number) {
                *table = None;
            }
        }
        self
    }

    /// Zeros in the same shapes on the same device.
    pub(crate) fn zeros_like(&self) -> Self {
        self.map(Tensor::zeros_like)
    }

    /// A copy with storage of its own.
    pub(crate) fn copy_to(&self, device: Device) -> Self {
        self.map(|tensor| tensor.to_device_(device, tensor.kind(), false, true))
    }

    fn map(&self, change: impl Fn(&Tensor) -> Tensor) -> Self {
        let of_table = |table: &Option<OfTable>| {
            table.as_ref().map(|table| OfTable {
                name: table.name.clone(),
                tensor: change(&table.tensor),
                share: table.share,
            })
        };
        Self {
            dense: change(&self.dense),
            tables: self.tables.iter().map(of_table).collect(),
        }
    }

    /// Those of the dense parameters.
    pub(crate) fn dense(&self) -> &Tensor {
        &self.dense
    }

    /// Those of a table, if it is trained.
    pub(crate) fn table(&self, table: usize) -> Option<&Tensor> {
        self.tables[table].as_ref().map(|table| &table.tensor)
    }

    /// All tensors with names that differ.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.shares().map(|(name, tensor, _)| (name, tensor))
    }

    /// The same with which rows of a table each tensor has, where it has not all.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (&str, &Tensor, Option<RowShare>)> {
        let tables = self.tables.iter().flatten();
        let tables = tables.map(|table| (table.name.as_str(), &table.tensor, table.share));
        std::iter::once(("dense", &self.dense, None)).chain(tables)
    }

    /// Takes over the values of `other` in place.
    pub(crate) fn copy_from(&self, other: &Self) {
        self.zip(other, |mut own, other| own.copy_(other));
    }

    /// Goes the share `weight` of the way to `target`, in place.
    pub(crate) fn approach(&self, target: &Self, weight: f64) {
        self.zip(target, |mut own, target| {
            let _ = own.lerp_(target, weight);
        });
    }

    fn zip(&self, other: &Self, mut change: impl FnMut(Tensor, &Tensor)) {
        for ((_, own), (_, other)) in self.iter().zip(other.iter()) {
            change(own.shallow_clone(), other);
        }
    }

    /// Exchanges all values with those of `other`, on the same device, one tensor after another.
    pub(crate) fn swap_with(&self, other: &Self) -> Result<(), tch::TchError> {
        for ((_, own), (_, other)) in self.iter().zip(other.iter()) {
            let mut kept = own.f_empty_like()?;
            kept.f_copy_(own)?;
            own.shallow_clone().f_copy_(other)?;
            other.shallow_clone().f_copy_(&kept)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{DenseParametersBuilder, RowTable};

    #[test]
    fn changes_reach_the_parameters_and_copies_stay() {
        let mut builder = DenseParametersBuilder::default();
        let id = builder.add("a", Tensor::from_slice(&[1.0_f32, 2.0]));
        let rows = Tensor::from_slice2(&[[3.0_f32], [4.0]]);
        let parameters = Parameters {
            dense: builder.finish(Device::Cpu),
            tables: vec![
                RowTable::new("fixed", &rows, false, Device::Cpu),
                RowTable::new("words", &rows.copy(), true, Device::Cpu),
            ],
        };
        let trained = parameters.trained();
        let names: Vec<&str> = trained.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["dense", "table.words"]);
        let copy = trained.copy_to(Device::Cpu);
        trained.approach(&trained.zeros_like(), 0.5);
        let values = || {
            parameters
                .dense
                .get(id)
                .sum(tch::Kind::Float)
                .double_value(&[])
        };
        assert_eq!(values(), 1.5);
        assert_eq!(parameters.tables[1].values().double_value(&[1, 0]), 2.0);
        assert_eq!(parameters.tables[0].values().double_value(&[1, 0]), 4.0);
        trained.swap_with(&copy).unwrap();
        assert_eq!(values(), 3.0);
        trained.copy_from(&copy);
        assert_eq!(values(), 1.5);
    }
}
