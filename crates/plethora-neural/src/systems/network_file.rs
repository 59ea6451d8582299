//! The weights of a network as a file.

use std::path::Path;

use plethora_core::Error;
use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArrays};
use tch::{Kind, Tensor};

use crate::Result;
use crate::parameters::Parameters;

/// Writes all parameters, by name, in 32 bits.
pub(crate) fn save(parameters: &Parameters, path: &Path) -> Result<()> {
    let mut file = ArrayFileWriter::create(path)?;
    for (name, tensor) in named(parameters) {
        let array = file.begin(&name, Dtype::F32)?;
        file.append(array, &to_vec(&tensor))?;
    }
    file.finish()?;
    Ok(())
}

/// Fills parameters with what a file has.
pub(crate) fn load(parameters: &Parameters, arrays: &MappedArrays, path: &Path) -> Result<()> {
    for (name, tensor) in named(parameters) {
        let values: &[f32] = arrays.array(&name)?;
        if values.len() != tensor.numel() {
            let message = format!(
                "`{name}` has {} numbers where the settings need {}",
                values.len(),
                tensor.numel()
            );
            return Err(Error::model(path, message).into());
        }
        let loaded = Tensor::from_slice(values).view(tensor.size().as_slice());
        tch::no_grad(|| tensor.shallow_clone().copy_(&loaded));
    }
    Ok(())
}

/// Names and values of everything that training changes.
pub(crate) fn named(parameters: &Parameters) -> impl Iterator<Item = (String, Tensor)> {
    let dense = parameters
        .dense
        .iter()
        .map(|(name, tensor)| (name.to_owned(), tensor.detach()));
    let tables = parameters
        .tables
        .iter()
        .map(|table| (table.name().to_owned(), table.values().shallow_clone()));
    dense.chain(tables)
}

fn to_vec(tensor: &Tensor) -> Vec<f32> {
    let mut values = vec![0.0; tensor.numel()];
    let length = values.len();
    tensor
        .to_kind(Kind::Float)
        .contiguous()
        .copy_data(&mut values, length);
    values
}
