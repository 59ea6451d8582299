//! Processes that hear each other through Python, by `torch.distributed`.

use plethora_core::{Error, Result};
use plethora_system::Shard;
use plethora_system::ranks::{self, GpuValues, Ranks};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{config_error, exception};

/// A group as `plethora._torch_ranks` has it, which takes values by their address.
#[derive(Debug)]
struct PythonRanks {
    place: Shard,
    group: Py<PyAny>,
}

impl PythonRanks {
    fn ask<'py, A: PyCallArgs<'py>, T>(
        &self,
        py: Python<'py>,
        name: &str,
        args: A,
        understand: impl FnOnce(Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        let said = self.group.bind(py).call_method1(name, args);
        said.and_then(understand).map_err(|error| {
            let (index, count) = (self.place.index(), self.place.count());
            Error::Compute(format!(
                "rank {index} of {count} does not hear the others any more ({error}); what they say tells \
                 why. Start all ranks again to resume from the last checkpoint"
            ))
        })
    }
}

impl Ranks for PythonRanks {
    fn place(&self) -> Shard {
        self.place
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        let place = (values.as_mut_ptr() as usize, values.len());
        Python::attach(|py| self.ask(py, "sum", place, |_| Ok(())))
    }

    fn sum_on_gpu(&self, values: GpuValues) -> Result<bool> {
        let place = (values.address, values.length, values.gpu);
        Python::attach(|py| self.ask(py, "sum_on_gpu", place, |can| can.extract()))
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        Python::attach(|py| {
            let own = (PyBytes::new(py, own),);
            self.ask(py, "gather", own, |said| {
                let said = said.try_iter()?;
                said.map(|one| Ok(one?.cast::<PyBytes>()?.as_bytes().to_vec()))
                    .collect()
            })
        })
    }
}

/// Makes this process one of a group that Python knows, of which it is this rank.
#[pyfunction]
pub(crate) fn join_group(rank: usize, count: usize, group: Py<PyAny>) -> PyResult<()> {
    let place = Shard::new(rank, count)
        .ok_or_else(|| config_error("the process is not in the group that it is to join"))?;
    let ranks = PythonRanks { place, group };
    ranks::join_as(Box::new(ranks)).map_err(|error| exception(&error))
}
