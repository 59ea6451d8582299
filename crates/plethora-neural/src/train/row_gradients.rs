//! The gradients of a table's rows in one step.

use tch::Tensor;

use crate::parameters::TableRows;

/// Rows of a table, each once, and their gradients.
#[derive(Debug)]
pub(super) struct RowGradients {
    /// Which table.
    pub(super) table: usize,
    /// Numbers of the rows.
    pub(super) rows: Tensor,
    /// A gradient for each row.
    pub(super) gradient: Tensor,
}

impl RowGradients {
    /// The gradients that have come together in the leaves of a step's batches, in the order of the
    /// tables. Rows that several batches have are added up. Leaves that no loss reached, as those of
    /// tables that are not trained, are left out.
    pub(super) fn collect(gathered: Vec<TableRows>) -> Vec<Self> {
        let parts: Vec<Self> = gathered
            .into_iter()
            .filter_map(|TableRows { table, rows, leaf }| {
                let gradient = leaf.grad();
                gradient.defined().then_some(Self {
                    table,
                    rows,
                    gradient,
                })
            })
            .collect();
        Self::merge_all(parts)
    }

    /// Each table once, in the order of the tables; rows that several parts have are added up.
    pub(super) fn merge_all(mut parts: Vec<Self>) -> Vec<Self> {
        parts.sort_by_key(|part| part.table);
        let mut merged = Vec::new();
        for part in parts.chunk_by(|one, other| one.table == other.table) {
            merged.push(Self::merge(part));
        }
        merged
    }

    /// Finding equal rows waits for the device, so that a single part is taken as it is.
    fn merge(parts: &[Self]) -> Self {
        let table = parts[0].table;
        if let [part] = parts {
            return Self {
                table,
                rows: part.rows.shallow_clone(),
                gradient: part.gradient.shallow_clone(),
            };
        }
        let join = |part: fn(&Self) -> &Tensor| {
            Tensor::cat(&parts.iter().map(part).collect::<Vec<_>>(), 0)
        };
        let (rows, positions, _) = join(|part| &part.rows).internal_unique2(true, true, false);
        let gradients = join(|part| &part.gradient);
        let mut gradient = gradients.new_zeros(
            [rows.size()[0], gradients.size()[1]],
            (gradients.kind(), gradients.device()),
        );
        let _ = gradient.index_add_(0, &positions, &gradients);
        Self {
            table,
            rows,
            gradient,
        }
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;
    use crate::parameters::RowTable;

    #[test]
    fn equal_rows_of_several_batches_are_added_up() {
        let values = Tensor::zeros([5, 2], (Kind::Float, Device::Cpu));
        let table = RowTable::new("words", &values, true, Device::Cpu);
        let fixed = RowTable::new("fixed", &values, false, Device::Cpu);
        let part = |rows: &[i64], scale: f64| {
            let part = table.gather(1, &Tensor::from_slice(rows));
            (&part.leaf * scale).sum(Kind::Float).backward();
            part
        };
        let gathered = vec![
            part(&[4, 1], 1.0),
            fixed.gather(0, &Tensor::from_slice(&[0_i64])),
            part(&[0, 4], 10.0),
            table.gather(1, &Tensor::from_slice(&[2_i64])),
        ];
        let merged = RowGradients::collect(gathered);
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].table, 1);
        let rows: Vec<i64> = (&merged[0].rows).try_into().unwrap();
        assert_eq!(rows, [0, 1, 4]);
        let gradient: Vec<f32> = merged[0].gradient.flatten(0, -1).try_into().unwrap();
        assert_eq!(gradient, [10.0, 10.0, 1.0, 1.0, 11.0, 11.0]);
    }
}
