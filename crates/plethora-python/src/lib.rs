//! The extension module behind the Python package `plethora`: documents and settings in, arrays and
//! JSON out. What users see is Python, in `python/plethora`.
//!
//! Work runs on threads of its own while the caller's waits without the interpreter's lock, hands
//! progress to Python and looks for Ctrl-C: see `watch.rs`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "Python hands arguments over by value"
)]

mod dataset;
mod documents;
mod errors;
mod jobs;
mod logging;
mod measure;
mod model;
mod pieces;
mod python_ranks;
mod settings;
mod thread_pool;
mod training;
mod watch;

use pyo3::prelude::*;

/// Fills the module.
#[pymodule]
fn _plethora(module: &Bound<'_, PyModule>) -> PyResult<()> {
    logging::install();
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<documents::PyDocuments>()?;
    module.add_class::<model::PyModel>()?;
    module.add_function(wrap_pyfunction!(settings::system_specs, module)?)?;
    module.add_function(wrap_pyfunction!(settings::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(training::train_auto, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::train_piece, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::merge, module)?)?;
    module.add_function(wrap_pyfunction!(pieces::join_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(python_ranks::join_group, module)?)?;
    module.add_function(wrap_pyfunction!(dataset::read_dataset, module)?)?;
    module.add_function(wrap_pyfunction!(measure::measure, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::check, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::search, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::search_trial, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::report, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::ensemble, module)?)?;
    Ok(())
}
