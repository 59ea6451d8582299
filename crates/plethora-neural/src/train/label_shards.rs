//! Labels in shards: while processes train together, each has some rows of the tables that are changed in
//! passing, and their momenta, averages and best values. Before and after, all have the whole tables, which
//! may be larger than the memory of a device.

use plethora_core::Error as CoreError;
use plethora_system::Device;
use plethora_system::ranks::Ranks;

use super::memory::free_bytes;
use crate::Result;
use crate::parameters::{Parameters, RowTable};

/// Leaves room on a device for ranking.
const RESERVE: u64 = 1 << 30;

/// Leaves this process its rows, on the device of the dense parameters.
pub(super) fn divide(parameters: &Parameters, ranks: &'static dyn Ranks) -> Result<()> {
    let count = ranks.place().count();
    if count == 1 {
        return Ok(());
    }
    let device = parameters.dense.values().device();
    for table in tables(parameters) {
        let num_rows = table.size()[0];
        if num_rows < count as i64 {
            let message = format!("{count} processes cannot share {num_rows} labels; start fewer");
            return Err(CoreError::usage(message).into());
        }
        table.divide(ranks, device);
    }
    Ok(())
}

/// Gives all ranks the rows of all, on the device of the dense parameters where it has room, else in main
/// memory.
pub(super) fn join(parameters: &Parameters) -> Result<()> {
    tables(parameters).try_for_each(RowTable::join)?;
    to_device(parameters)
}

/// Moves whole tables to the device of the dense parameters, where it has room.
pub(super) fn to_device(parameters: &Parameters) -> Result<()> {
    let device = parameters.dense.values().device();
    let tch::Device::Cuda(index) = device else {
        return Ok(());
    };
    let elsewhere = || tables(parameters).filter(|table| table.values().device() != device);
    let bytes = elsewhere().map(|table| 4 * table.values().numel() as u64);
    let needed = bytes.sum::<u64>() + RESERVE;
    if free_bytes(Device::Cuda(index)).is_none_or(|free| free < needed) {
        return Ok(());
    }
    elsewhere().try_for_each(|table| table.move_to(device))
}

fn tables(parameters: &Parameters) -> impl Iterator<Item = &RowTable> {
    let tables = parameters.tables.iter();
    tables.filter(|table| table.is_changed_in_passing())
}

#[cfg(test)]
mod tests {
    use plethora_system::Shard;
    use tch::Tensor;

    use super::*;
    use crate::parameters::DenseParametersBuilder;

    /// Rank 1 of some, of whom the others have nothing to say.
    #[derive(Debug)]
    struct Lonely(Shard);

    impl Ranks for Lonely {
        fn place(&self) -> Shard {
            self.0
        }

        fn sum(&self, _: &mut [f32]) -> plethora_core::Result<()> {
            Ok(())
        }

        fn gather(&self, own: &[u8]) -> plethora_core::Result<Vec<Vec<u8>>> {
            Ok(vec![Vec::new(), own.to_vec()])
        }
    }

    fn rank_1_of(count: usize) -> &'static dyn Ranks {
        Box::leak(Box::new(Lonely(Shard::new(1, count).unwrap())))
    }

    fn parameters() -> Parameters {
        let rows = Tensor::from_slice2(&[[1.0_f32], [2.0], [3.0]]);
        let table = RowTable::new("labels", &rows, true, tch::Device::Cpu);
        Parameters {
            dense: DenseParametersBuilder::default().finish(tch::Device::Cpu),
            tables: vec![table.of_labels().changed_in_passing()],
        }
    }

    #[test]
    fn each_has_its_rows_and_the_layout_is_that_of_all() {
        let parameters = parameters();
        divide(&parameters, rank_1_of(2)).unwrap();
        let own: Vec<f32> = parameters.tables[0]
            .values()
            .flatten(0, -1)
            .try_into()
            .unwrap();
        assert_eq!(own, [2.0, 3.0]);
        assert_eq!(parameters.layout(), [("labels".to_owned(), vec![3, 1])]);
        let error = join(&parameters).unwrap_err().to_string();
        assert!(error.contains("another number of rows"), "{error}");
    }

    #[test]
    fn more_processes_than_labels_are_refused() {
        let error = divide(&parameters(), rank_1_of(4)).unwrap_err().to_string();
        assert!(
            error.contains("4 processes cannot share 3 labels"),
            "{error}"
        );
    }
}
