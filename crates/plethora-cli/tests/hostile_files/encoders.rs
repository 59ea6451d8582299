//! Encoders of others with one file that is damaged: settings, tokenizers of every kind, weights.

use std::fs;
use std::path::Path;

use plethora::registry;
use plethora_core::NoProgress;
use plethora_system::settings::{Assignment, Step, resolve};
use plethora_system::{Compute, RunContext};

/// A file to damage, and the encoder that it is put into.
pub(crate) struct EncoderFile {
    /// Where it lies in `testdata`.
    pub(crate) path: &'static str,
    /// The folder of the encoder in `testdata`.
    encoder: &'static str,
    /// The name that it has there.
    name: &'static str,
}

const fn file(path: &'static str, encoder: &'static str, name: &'static str) -> EncoderFile {
    EncoderFile {
        path,
        encoder,
        name,
    }
}

/// The files. Some tokenizers are of other encoders than the weights, and are refused once they were read.
pub(crate) const FILES: [EncoderFile; 13] = [
    file("encoder/config.json", "encoder", "config.json"),
    file("encoder/tokenizer.json", "encoder", "tokenizer.json"),
    file("encoder/model.safetensors", "encoder", "model.safetensors"),
    file(
        "transformers/distilbert/model.safetensors.index.json",
        "transformers/distilbert",
        "model.safetensors.index.json",
    ),
    file(
        "transformers/electra/config.json",
        "transformers/electra",
        "config.json",
    ),
    file(
        "transformers/modernbert/config.json",
        "transformers/modernbert",
        "config.json",
    ),
    file(
        "transformers/xlnet/config.json",
        "transformers/xlnet",
        "config.json",
    ),
    file(
        "pieces/tokenizer.json",
        "transformers/modernbert",
        "tokenizer.json",
    ),
    file("pieces/uncased.txt", "transformers/bert", "vocab.txt"),
    file("pieces/mpnet.txt", "transformers/mpnet", "vocab.txt"),
    file("pieces/spiece.model", "transformers/xlnet", "spiece.model"),
    file("pieces/vocab.json", "transformers/roberta", "vocab.json"),
    file("pieces/merges.txt", "transformers/roberta", "merges.txt"),
];

/// Tokenizers that encoders without one of their own get.
const TOKENIZERS: [(&str, &str); 6] = [
    ("pieces/uncased.txt", "vocab.txt"),
    ("pieces/spiece.model", "spiece.model"),
    ("pieces/vocab.json", "vocab.json"),
    ("pieces/merges.txt", "merges.txt"),
    ("encoder/model.safetensors", "model.safetensors"),
    ("encoder/config.json", "config.json"),
];

/// Reads the encoder with what is at `damaged` in the place of the file; true where it can be trained on. Programs without
/// networks read none.
pub(crate) fn read(file: &EncoderFile, testdata: &Path, damaged: &Path, desk: &Path) -> bool {
    let folder = desk.join("encoder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(testdata.join(file.encoder)).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .is_some_and(|name| name != "golden.safetensors")
        {
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    for (path, name) in TOKENIZERS {
        if file.encoder != "encoder" && !folder.join(name).exists() {
            fs::copy(testdata.join(path), folder.join(name)).unwrap();
        }
    }
    fs::copy(damaged, folder.join(file.name)).unwrap();
    let assign = |key: &str, value: &str| Assignment::parse(&format!("{key}={value}"), "a test");
    let steps = [
        ("system", "lightxml"),
        ("encoder.folder", folder.to_str().unwrap()),
    ];
    let steps = steps.map(|(key, value)| Step::Setting(assign(key, value).unwrap()));
    let Ok(settings) = resolve(registry(), &steps, &[]) else {
        return false;
    };
    let run = RunContext {
        compute: Compute::default(),
        epoch_share: 1.0,
        valid: None,
        piece_cache: None,
        encoder_cache: None,
        output: &desk.join("model"),
        resumes: false,
        progress: &NoProgress,
    };
    settings
        .config()
        .is_ok_and(|system| system.check(&run).is_ok())
}
