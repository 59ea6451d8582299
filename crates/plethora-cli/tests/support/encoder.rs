//! Copies of an encoder, to be damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Desk;
use super::neural::ENCODER;

/// Bytes of the number that says how long the header of a safetensors file is.
const LENGTH_BYTES: usize = 8;

/// The folder of an encoder on a desk.
pub(crate) struct EncoderCopy {
    folder: PathBuf,
}

/// Shape and numbers of a tensor in 32 bits.
pub(crate) type StoredTensor = (Vec<usize>, Vec<u8>);

impl EncoderCopy {
    /// A copy of the encoder under this name, in place of the one that may be there.
    pub(crate) fn new(desk: &Desk, name: &str) -> Self {
        let folder = desk.file(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        for file in ["config.json", "model.safetensors", "tokenizer.json"] {
            let from = Path::new(ENCODER).join(file);
            fs::copy(from, folder.join(file)).expect("a copy");
        }
        Self { folder }
    }

    /// A file of it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Leaves a file out.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.file(name)).expect("a file to remove");
    }

    /// Changes a file of JSON.
    pub(crate) fn edit_json(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.file(name)).expect("a file");
        let mut value = serde_json::from_str(&text).expect("JSON");
        edit(&mut value);
        fs::write(self.file(name), value.to_string()).expect("a changed file");
    }

    /// Sets a key of its settings.
    pub(crate) fn set(&self, key: &str, value: impl Into<Value>) {
        self.edit_json("config.json", |config| config[key] = value.into());
    }

    /// Changes its weights.
    pub(crate) fn edit_tensors(&self, edit: impl FnOnce(&mut BTreeMap<String, StoredTensor>)) {
        let path = self.file("model.safetensors");
        let mut tensors = read_tensors(&fs::read(&path).expect("weights"));
        edit(&mut tensors);
        fs::write(path, write_tensors(&tensors)).expect("changed weights");
    }
}

fn read_tensors(bytes: &[u8]) -> BTreeMap<String, StoredTensor> {
    let (length, rest) = bytes.split_at(LENGTH_BYTES);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    let (header, data) = rest.split_at(usize::try_from(length).expect("a short header"));
    let header: BTreeMap<String, Value> = serde_json::from_slice(header).expect("a header");
    let number = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("small");
    let numbers = |value: &Value| -> Vec<usize> {
        let values = value.as_array().expect("a list");
        values.iter().map(number).collect()
    };
    let tensors = header
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(name, entry)| {
            let offsets = numbers(&entry["data_offsets"]);
            let data = data[offsets[0]..offsets[1]].to_vec();
            (name.clone(), (numbers(&entry["shape"]), data))
        });
    tensors.collect()
}

fn write_tensors(tensors: &BTreeMap<String, StoredTensor>) -> Vec<u8> {
    let mut header = BTreeMap::new();
    let mut data = Vec::new();
    for (name, (shape, numbers)) in tensors {
        let offsets = [data.len(), data.len() + numbers.len()];
        header.insert(
            name,
            json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}),
        );
        data.extend(numbers);
    }
    let header = serde_json::to_vec(&header).expect("a header");
    let length = (header.len() as u64).to_le_bytes();
    [length.to_vec(), header, data].concat()
}
