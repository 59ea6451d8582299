//! Tables whose rows lie in shards over the processes of a group while they train together.

use std::ops::Range;

use plethora_core::Error as CoreError;
use plethora_system::ranks::Ranks;
use tch::{Device, Kind, Tensor};

use crate::Result;

/// Numbers that travel at a time: a second copy of a large table would not fit.
const BLOCK: i64 = 1 << 22;

/// Which rows of a table this process has, of one that is in shards. Those of a rank come before those of
/// the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowShare {
    ranks: &'static dyn Ranks,
    num_rows: i64,
}

impl RowShare {
    pub(crate) fn new(ranks: &'static dyn Ranks, num_rows: i64) -> Self {
        Self { ranks, num_rows }
    }

    /// Those that have the other rows.
    pub(crate) fn ranks(self) -> &'static dyn Ranks {
        self.ranks
    }

    /// Rows of the whole table.
    pub(crate) fn num_rows(self) -> i64 {
        self.num_rows
    }

    /// The rows of this process.
    pub(crate) fn own(self) -> Range<i64> {
        let own = self.ranks.place().range(self.num_rows as u64);
        own.start as i64..own.end as i64
    }

    /// Has every rank see the rows of all, in order and some at a time. `own` is in the shape of the rows of
    /// this process.
    pub(crate) fn see_all(
        self,
        own: &Tensor,
        mut see: impl FnMut(&[f32]) -> Result<()>,
    ) -> Result<()> {
        let width = own.size().iter().skip(1).product::<i64>().max(1);
        let rows_at_once = (BLOCK / width).max(1);
        let here = self.own();
        for start in (0..self.num_rows).step_by(rows_at_once as usize) {
            let end = (start + rows_at_once).min(self.num_rows);
            let (from, to) = (start.max(here.start), end.min(here.end));
            let mut message = Vec::new();
            if from < to {
                write_values(&own.narrow(0, from - here.start, to - from), &mut message)?;
            }
            let all = self.ranks.gather(&message)?;
            let values = all.iter().flat_map(|part| part.as_chunks().0);
            let values: Vec<f32> = values.map(|bytes| f32::from_le_bytes(*bytes)).collect();
            if values.len() as i64 != (end - start) * width {
                let message = "another rank has another number of rows of a table";
                return Err(CoreError::Compute(message.to_owned()).into());
            }
            see(&values)?;
        }
        Ok(())
    }

    /// The whole table, in main memory.
    pub(crate) fn join(self, own: &Tensor) -> Result<Tensor> {
        let mut shape = own.size();
        shape[0] = self.num_rows;
        let whole = Tensor::f_empty(shape.as_slice(), (Kind::Float, Device::Cpu))?;
        let flat = whole.view([-1]);
        let mut start = 0;
        self.see_all(own, |values| {
            let length = values.len() as i64;
            let mut place = flat.narrow(0, start, length);
            place.f_copy_(&Tensor::f_from_slice(values)?)?;
            start += length;
            Ok(())
        })?;
        Ok(whole)
    }
}

/// All numbers of a tensor, in 32 bits.
pub(crate) fn write_values(tensor: &Tensor, message: &mut Vec<u8>) -> Result<()> {
    let flat = tensor.detach().to_device(Device::Cpu).to_kind(Kind::Float);
    let values: Vec<f32> = Vec::try_from(flat.contiguous().view([-1]))?;
    message.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    Ok(())
}
