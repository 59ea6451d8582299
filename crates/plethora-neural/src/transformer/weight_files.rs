//! The safetensors files of a Hugging Face folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plethora_core::Error;
use safetensors::tensor::{Metadata, SafeTensorError};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use tch::{Kind, Tensor};

use crate::Result;

const SINGLE_FILE: &str = "model.safetensors";
const INDEX_FILE: &str = "model.safetensors.index.json";

/// Bytes of the number in front of a file's header.
const HEADER_LENGTH_BYTES: usize = 8;

/// Language models keep their encoder under a name of its own.
const PREFIXES: [&str; 8] = [
    "",
    "bert.",
    "roberta.",
    "mpnet.",
    "distilbert.",
    "transformer.",
    "electra.",
    "model.",
];

/// Names of the first BERT files.
const OLD_NAMES: [(&str, &str); 2] = [
    ("LayerNorm.weight", "LayerNorm.gamma"),
    ("LayerNorm.bias", "LayerNorm.beta"),
];

/// All tensors of a folder, which are read one at a time.
pub(super) struct WeightFiles {
    files: Vec<WeightFile>,
    /// Which of the files has a tensor.
    places: BTreeMap<String, usize>,
    /// What stands before the names.
    prefix: &'static str,
}

struct WeightFile {
    path: PathBuf,
    map: Vec<u8>,
    metadata: Metadata,
    /// Where the numbers start.
    data_start: usize,
}

/// The index of weights that lie in several files.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl WeightFiles {
    /// Opens the files of a folder; `first_tensor` is one that every encoder of its kind has.
    pub(super) fn open(folder: &Path, first_tensor: &str) -> Result<Self> {
        let single = folder.join(SINGLE_FILE);
        let index = folder.join(INDEX_FILE);
        let mut opened = if single.exists() {
            Self::open_single(&single)?
        } else if index.exists() {
            Self::open_index(folder, &index)?
        } else {
            return Err(no_weights(folder).into());
        };
        let places = &opened.places;
        let fits = |prefix: &&str| places.contains_key(&format!("{prefix}{first_tensor}"));
        opened.prefix = PREFIXES.into_iter().find(fits).unwrap_or_default();
        Ok(opened)
    }

    fn open_single(path: &Path) -> Result<Self> {
        let file = WeightFile::open(path)?;
        let names = file.metadata.tensors().into_keys();
        Ok(Self {
            places: names.map(|name| (name, 0)).collect(),
            files: vec![file],
            prefix: "",
        })
    }

    fn open_index(folder: &Path, path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|error| Error::input(path, error.line() as u64, error.to_string()))?;
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut files = Vec::new();
        let mut places = BTreeMap::new();
        for (tensor, name) in index.weight_map {
            let number = if let Some(&number) = numbers.get(&name) {
                number
            } else {
                files.push(WeightFile::open(&folder.join(&name))?);
                numbers.insert(name, files.len() - 1);
                files.len() - 1
            };
            places.insert(tensor, number);
        }
        Ok(Self {
            files,
            places,
            prefix: "",
        })
    }

    /// The tensor `name` in 32 bits, which must have this shape.
    pub(super) fn tensor(&self, name: &str, shape: &[i64]) -> Result<Tensor> {
        let mut name = format!("{}{name}", self.prefix);
        if !self.places.contains_key(&name) {
            for (new, old) in OLD_NAMES {
                if let Some(stem) = name.strip_suffix(new) {
                    let old = format!("{stem}{old}");
                    name = if self.places.contains_key(&old) {
                        old
                    } else {
                        name
                    };
                    break;
                }
            }
        }
        let number = self.places.get(&name).copied().unwrap_or_default();
        self.files[number].tensor(&name, shape)
    }
}

impl WeightFile {
    fn open(path: &Path) -> Result<Self> {
        // Read and not mapped: an encoder that is downloaded anew meanwhile must not end this process.
        let map = std::fs::read(path).map_err(Error::read(path))?;
        let (header, metadata) =
            SafeTensors::read_metadata(&map).map_err(|error| Error::model(path, damage(&error)))?;
        Ok(Self {
            path: path.to_owned(),
            map,
            metadata,
            data_start: HEADER_LENGTH_BYTES + header,
        })
    }

    fn tensor(&self, name: &str, shape: &[i64]) -> Result<Tensor> {
        let fail = |message| Err(Error::model(&self.path, message).into());
        let Some(info) = self.metadata.info(name) else {
            return fail(format!(
                "tensor {name} is missing; its shape would be {shape:?}"
            ));
        };
        let found: Vec<i64> = info.shape.iter().map(|&size| size as i64).collect();
        if found != shape {
            return fail(format!(
                "tensor {name} has the shape {found:?} where {shape:?} is expected"
            ));
        }
        let kind = match info.dtype {
            Dtype::F32 => Kind::Float,
            Dtype::F16 => Kind::Half,
            Dtype::BF16 => Kind::BFloat16,
            other => {
                return fail(format!(
                    "tensor {name} has numbers of the kind {other} where F32, F16 or BF16 is expected"
                ));
            }
        };
        let (start, end) = info.data_offsets;
        let bytes = &self.map[self.data_start + start..self.data_start + end];
        Ok(Tensor::f_from_data_size(bytes, shape, kind)?.to_kind(Kind::Float))
    }
}

fn no_weights(folder: &Path) -> Error {
    let mut message = format!("there is neither {SINGLE_FILE} nor {INDEX_FILE}");
    if folder.join("pytorch_model.bin").exists() {
        message.push_str("; pytorch_model.bin is not read, save the model as safetensors instead");
    }
    Error::model(folder, message)
}

fn damage(error: &SafeTensorError) -> String {
    match error {
        SafeTensorError::HeaderTooSmall
        | SafeTensorError::InvalidHeaderLength
        | SafeTensorError::MetadataIncompleteBuffer => {
            "the safetensors file is cut off or damaged: its length does not fit its header"
                .to_owned()
        }
        other => format!("not a safetensors file, or damaged: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::{Architecture, Transformer, Weights, golden};
    use super::*;
    use crate::parameters::DenseParametersBuilder;

    /// A copy of a golden folder, to be damaged.
    fn copy(kind: &str) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(golden::folder(kind)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        copy
    }

    /// The message of opening a folder, without the folder's name.
    fn message(folder: &TempDir) -> String {
        let architecture = Architecture::read(folder.path()).unwrap();
        let mut builder = DenseParametersBuilder::default();
        let weights = Weights::Folder(folder.path());
        let opened = Transformer::new(&architecture, &golden::config(), &mut builder, weights);
        let message = opened.unwrap_err().to_string();
        let folder = folder.path().display().to_string();
        message.strip_prefix(&folder).unwrap().to_owned()
    }

    /// Puts other tensors beside those of a file, or in their place.
    fn replace(folder: &TempDir, name: &str, tensor: Option<Tensor>) {
        let path = folder.path().join(SINGLE_FILE);
        let mut tensors = Tensor::read_safetensors(&path).unwrap();
        tensors.retain(|(other, _)| other != name);
        tensors.extend(tensor.map(|tensor| (name.to_owned(), tensor)));
        Tensor::write_safetensors(&tensors, &path).unwrap();
    }

    #[test]
    fn a_folder_without_weights_is_refused() {
        let folder = copy("bert");
        std::fs::remove_file(folder.path().join(SINGLE_FILE)).unwrap();
        let expected = ": there is neither model.safetensors nor model.safetensors.index.json";
        assert_eq!(message(&folder), expected);
        std::fs::write(folder.path().join("pytorch_model.bin"), "").unwrap();
        assert!(message(&folder).ends_with("save the model as safetensors instead"));
    }

    #[test]
    fn tensors_that_are_missing_or_do_not_fit_are_named() {
        let folder = copy("mpnet");
        let name = "mpnet.encoder.layer.1.attention.attn.k.weight";
        let options = (Kind::Float, tch::Device::Cpu);
        replace(&folder, name, None);
        let missing =
            format!("/model.safetensors: tensor {name} is missing; its shape would be [32, 32]");
        assert_eq!(message(&folder), missing);
        replace(&folder, name, Some(Tensor::zeros([32, 16], options)));
        let other_shape = format!(
            "/model.safetensors: tensor {name} has the shape [32, 16] where [32, 32] is expected"
        );
        assert_eq!(message(&folder), other_shape);
        let doubles = Tensor::zeros([32, 32], (Kind::Double, tch::Device::Cpu));
        replace(&folder, name, Some(doubles));
        let other_kind = format!(
            "/model.safetensors: tensor {name} has numbers of the kind F64 where F32, F16 or BF16 \
             is expected"
        );
        assert_eq!(message(&folder), other_kind);
    }

    #[test]
    fn an_encoder_of_another_kind_misses_its_first_tensor() {
        let folder = copy("bert");
        let xlnet = golden::folder("xlnet").join("config.json");
        std::fs::copy(xlnet, folder.path().join("config.json")).unwrap();
        assert_eq!(
            message(&folder),
            "/model.safetensors: tensor word_embedding.weight is missing; its shape would be \
             [60, 32]"
        );
    }

    #[test]
    fn files_that_are_cut_off_or_damaged_are_refused() {
        let folder = copy("roberta");
        let path = folder.path().join(SINGLE_FILE);
        let bytes = std::fs::read(&path).unwrap();
        let cut = "/model.safetensors: the safetensors file is cut off or damaged: its length does not \
             fit its header";
        for length in [0, 5, 100, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(message(&folder), cut, "{length}");
        }
        let mut damaged = bytes;
        damaged[8] = b'[';
        std::fs::write(&path, &damaged).unwrap();
        let message = message(&folder);
        let expected = "/model.safetensors: not a safetensors file, or damaged: invalid JSON";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn weights_in_several_files_are_checked_too() {
        let folder = copy("distilbert");
        let second = "model-00002-of-00002.safetensors";
        std::fs::remove_file(folder.path().join(second)).unwrap();
        assert!(message(&folder).starts_with(&format!("/{second}: cannot read: ")));
        std::fs::write(folder.path().join(INDEX_FILE), "{}").unwrap();
        let message = message(&folder);
        let expected = format!("/{INDEX_FILE}:1: missing field `weight_map`");
        assert!(message.starts_with(&expected), "{message}");
    }
}
