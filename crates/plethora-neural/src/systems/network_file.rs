//! The weights of a network as a file of a model folder.

use std::path::{Path, PathBuf};

use plethora_core::Error;
use plethora_core::artifact::{ArrayFileWriter, CONFIG_FILE, Dtype, ModelReader, ModelWriter};
use tch::{Kind, Tensor};

use crate::Result;
use crate::parameters::Parameters;
use crate::start::Start;

/// The folder that the files of a model are written to.
pub(crate) fn folder_of(writer: &ModelWriter) -> PathBuf {
    let mut path = writer.path(CONFIG_FILE);
    path.pop();
    path
}

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

/// Where the parameters start from that the file `name` of a model folder will be loaded into.
pub(crate) fn start(folder: &ModelReader, name: &str) -> Result<Start> {
    folder.path(name)?;
    let size = (folder.manifest().files.get(name)).map_or(0, |entry| entry.size);
    Ok(Start::blank_for(size / size_of::<f32>() as u64))
}

/// Fills parameters with what a file of a model folder has.
pub(crate) fn load(parameters: &Parameters, folder: &ModelReader, name: &str) -> Result<()> {
    let (arrays, path) = (folder.map(name)?, folder.path(name)?);
    for (name, tensor) in named(parameters) {
        let values: &[f32] = arrays.array(&name)?;
        if values.len() != tensor.numel() {
            let message = format!(
                "`{name}` has {} numbers where the settings need {}",
                values.len(),
                tensor.numel()
            );
            return Err(Error::model(&path, message).into());
        }
        let loaded = Tensor::from_slice(values).view(tensor.size().as_slice());
        tch::no_grad(|| tensor.shallow_clone().copy_(&loaded));
    }
    Ok(())
}

/// Number of values in networks' files of a model folder, which is as many as they have parameters.
pub(crate) fn num_values(
    folder: &ModelReader,
    names: impl IntoIterator<Item = String>,
) -> plethora_core::Result<u64> {
    let mut total = 0;
    for name in names {
        let arrays = folder.map(&name)?;
        for array in arrays.names() {
            total += arrays.array::<f32>(array)?.len() as u64;
        }
    }
    Ok(total)
}

/// Number of values of a network.
pub(crate) fn num_parameters(parameters: &Parameters) -> u64 {
    named(parameters)
        .map(|(_, tensor)| tensor.numel() as u64)
        .sum()
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
