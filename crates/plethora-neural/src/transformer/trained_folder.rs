//! The encoder of a model folder: one that was fine-tuned here, to start from again.
//!
//! A model has its encoder's own settings, its tokenizer, and the weights of a network by the names that
//! parameters have here, whichever system it is of. What else the network has is passed over.

use std::path::{Path, PathBuf};

use plethora_core::artifact::{ArrayFileWriter, Dtype, MANIFEST_FILE, MappedArrays, ModelReader};
use plethora_core::{Error, Result};
use tch::{Kind, Tensor};

use crate::parameters::Parameters;

/// Name of an encoder's own settings in a model folder.
pub(crate) const ARCHITECTURE_FILE: &str = "encoder.json";

/// Name of the weights of an encoder that a model has by itself.
pub(crate) const ENCODER_FILE: &str = "encoder.safetensors";

/// What names of an encoder's parameters begin with.
pub(super) const PREFIX: &str = "encoder.";

/// Name of the weights of a network, its encoder and its head, in a model folder.
pub(crate) fn member_file_name(member: usize) -> String {
    format!("member-{member}.safetensors")
}

/// True for model folders, which have a manifest.
pub(crate) fn is_model(folder: &Path) -> bool {
    folder.join(MANIFEST_FILE).is_file()
}

/// Where a model folder has the weights of an encoder: its own, or those of its first network.
pub(crate) fn weight_file(folder: &Path) -> PathBuf {
    let own = folder.join(ENCODER_FILE);
    if own.is_file() {
        own
    } else {
        folder.join(member_file_name(0))
    }
}

/// Compares all files of a model folder with its manifest, and makes sure that it has an encoder.
///
/// # Errors
/// [`Error::Model`] for what is damaged, [`Error::Config`] for a model without an encoder.
pub(crate) fn check_model(folder: &Path) -> Result<()> {
    let model = ModelReader::open(folder)?;
    let has_weights = model.contains(ENCODER_FILE) || model.contains(&member_file_name(0));
    if has_weights && model.contains(ARCHITECTURE_FILE) {
        return Ok(());
    }
    let message = format!(
        "{} is a model of `{}`, which has no encoder; expected a Hugging Face folder or a model of one system that \
         has one",
        folder.display(),
        model.manifest().kind
    );
    Err(Error::config("encoder", message))
}

/// Writes the encoder that is among these parameters into a file of its own, which appears when it is complete.
pub(crate) fn write_encoder(parameters: &Parameters, path: &Path) -> Result<()> {
    let partial = path.with_extension("partial");
    let mut file = ArrayFileWriter::create(&partial)?;
    let named = parameters.dense.iter();
    for (name, tensor) in named.filter(|(name, _)| name.starts_with(PREFIX)) {
        let tensor = tensor.detach().to_kind(Kind::Float).contiguous();
        let mut values = vec![0.0_f32; tensor.numel()];
        let length = values.len();
        tensor.copy_data(&mut values, length);
        let array = file.begin(name, Dtype::F32)?;
        file.append(array, &values)?;
    }
    file.finish()?;
    std::fs::rename(&partial, path).map_err(Error::write(path))
}

/// The parameter `name` of this shape from a file of weights.
pub(super) fn read(
    arrays: &MappedArrays,
    path: &Path,
    name: &str,
    shape: &[i64],
) -> Result<Tensor> {
    let values: &[f32] = arrays.array(name)?;
    if values.len() as i64 != shape.iter().product::<i64>() {
        let message = format!(
            "`{name}` has {} numbers where {shape:?} is expected",
            values.len()
        );
        return Err(Error::model(path, message));
    }
    Ok(Tensor::from_slice(values).view(shape))
}
