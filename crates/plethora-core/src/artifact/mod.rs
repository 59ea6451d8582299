//! The model folder on disk: a manifest with the size and SHA-256 of every file, arrays in
//! memory-mapped safetensors files, the label space and a model card.
//!
//! A folder is written beside its final place and renamed when it is complete, so that a model is
//! there as a whole or not at all; it is checked as a whole when it is opened.
//!
//! ```
//! use plethora_core::artifact::{ModelReader, ModelWriter};
//!
//! # fn main() -> plethora_core::Result<()> {
//! # let scratch = tempfile::tempdir().expect("a temporary folder");
//! # let target = scratch.path().join("model");
//! let writer = ModelWriter::create(&target, false)?;
//! writer.write_json("config.json", &serde_json::json!({ "seed": 7 }))?;
//! writer.finish("parabel", serde_json::json!({ "trees": 3 }))?;
//!
//! let reader = ModelReader::open(&target)?;
//! assert_eq!(reader.manifest().kind, "parabel");
//! # Ok(())
//! # }
//! ```

mod arrays;
mod copy;
mod details;
mod labels;
mod manifest;
mod model_card;
mod output_folder;
mod publish;
mod read;
mod regular;
mod temporary;
mod trained_on;
mod work_folder;
mod write;

/// Name of the settings in a model folder.
pub const CONFIG_FILE: &str = "config.json";

/// Name of the evaluation in a model folder.
pub const METRICS_FILE: &str = "metrics.json";

pub use arrays::{
    ArrayFileWriter, ArrayId, Dtype, Element, MappedArray, MappedArrays, map_large_files,
};
pub use copy::ModelCopy;
pub use details::ModelDetails;
pub use labels::{LABELS_FILE, load_label_space, save_label_space};
pub use manifest::{FORMAT_VERSION, FileEntry, MANIFEST_FILE, Manifest};
pub use model_card::{CardMetrics, MODEL_CARD_FILE, ModelCard};
pub use output_folder::OutputFolder;
pub use read::{Check, ModelReader, manifest_bytes};
pub use regular::{open_regular, read_regular};
pub use trained_on::{Overlap, TRAINED_ON_FILE, TrainedOn};
pub use work_folder::WorkFolder;
pub use write::ModelWriter;
