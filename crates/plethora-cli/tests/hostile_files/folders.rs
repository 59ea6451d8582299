//! Model folders with damage that their checksums vouch for.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plethora::registry;
use plethora_core::corpus::{Content, Document};
use plethora_core::{SeedStream, SparseVector};
use plethora_system::RankOptions;
use rand::{Rng, RngExt};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::every_system::files;
use crate::mutation::mutate;

type Files = BTreeMap<PathBuf, Vec<u8>>;

const MANIFEST: &str = "manifest.json";

/// Bytes of the number that says how long the header of a safetensors file is.
const LENGTH_BYTES: usize = 8;

/// The undamaged models.
pub(crate) struct Originals(Vec<Files>);

impl Originals {
    /// Those in a folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        Self(paths.iter().map(|path| files(path)).collect())
    }

    /// Damages a model and uses what is left; true where it can be opened.
    pub(crate) fn try_case(&self, case: u64, desk: &Path) -> bool {
        let mut rng = SeedStream::new(case).rng();
        let mut model = self.0[(case % self.0.len() as u64) as usize].clone();
        self.damage(&mut model, &mut rng);
        let folder = desk.join("mutated");
        let _ = fs::remove_dir_all(&folder);
        for (path, content) in &model {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        use_model(&folder)
    }

    fn damage(&self, model: &mut Files, rng: &mut impl Rng) {
        let paths: Vec<PathBuf> = model.keys().cloned().collect();
        let path = &paths[rng.random_range(0..paths.len())];
        if path.file_name().unwrap() == MANIFEST {
            mutate(model.get_mut(path).unwrap(), rng);
        } else if rng.random_range(0..10_u32) == 0 {
            // Another file in its place, of this model or of another.
            let other = &self.0[rng.random_range(0..self.0.len())];
            let from = if rng.random() { other } else { &*model };
            let mut contents = from.values();
            let content = contents
                .nth(rng.random_range(0..from.len()))
                .unwrap()
                .clone();
            model.insert(path.clone(), content);
        } else {
            let content = model.get_mut(path).unwrap();
            if path.extension().is_some_and(|name| name == "safetensors") && rng.random() {
                mutate_header(content, rng);
            } else {
                mutate(content, rng);
            }
        }
        vouch(model, path.clone());
    }
}

/// Damages the header of a safetensors file alone, and gives it its length again.
fn mutate_header(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let length = u64::from_le_bytes(content[..LENGTH_BYTES].try_into().unwrap()) as usize;
    let mut header = content[LENGTH_BYTES..LENGTH_BYTES + length].to_vec();
    mutate(&mut header, rng);
    let length = (header.len() as u64).to_le_bytes();
    content.splice(
        ..LENGTH_BYTES + length_of(content),
        length.into_iter().chain(header),
    );
}

fn length_of(content: &[u8]) -> usize {
    u64::from_le_bytes(content[..LENGTH_BYTES].try_into().unwrap()) as usize
}

/// Makes the checksums right again, from the file up to the outermost manifest.
#[expect(clippy::format_collect, reason = "a few bytes")]
fn vouch(model: &mut Files, mut path: PathBuf) {
    for folder in path.clone().ancestors().skip(1) {
        let manifest = folder.join(MANIFEST);
        if manifest == path {
            continue;
        }
        let Some(text) = model.get(&manifest) else {
            continue;
        };
        let Ok(mut value) = serde_json::from_slice::<Value>(text) else {
            continue;
        };
        let changed: Vec<&Path> = model
            .keys()
            .filter_map(|known| known.strip_prefix(folder).ok())
            .filter(|name| {
                name.starts_with(path.strip_prefix(folder).unwrap_or(&path))
                    || name.ends_with(MANIFEST)
            })
            .collect();
        for name in changed {
            // Not every file is listed; logs are not, nor is the manifest itself.
            if let Some(entry) = value["files"].get_mut(name.to_str().unwrap()) {
                let content = &model[&folder.join(name)];
                let sum = Sha256::digest(content);
                let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
                *entry = json!({"size": content.len(), "sha256": sum});
            }
        }
        model.insert(manifest.clone(), serde_json::to_vec_pretty(&value).unwrap());
        path = manifest;
    }
}

/// Opens, ranks and explains.
fn use_model(folder: &Path) -> bool {
    let Ok(predictor) = registry().open(folder) else {
        return false;
    };
    let texts = ["Harbours and tides: a history of the sea", "", "quelfels"];
    let features = [vec![(0, 1.0), (7, 0.5)], vec![], vec![(99, 2.0)]];
    let document = |content| Document {
        id: String::new(),
        content,
        labels: Vec::new(),
    };
    let documents: Vec<Document> = if predictor.details().takes_text {
        let texts = texts.iter().map(ToString::to_string);
        texts.map(Content::Text).map(document).collect()
    } else {
        let rows = features.into_iter().map(SparseVector::from_entries);
        rows.map(Content::Features).map(document).collect()
    };
    let options = RankOptions {
        top_k: 5,
        beam: None,
    };
    let Ok(rankings) = predictor.rank(&documents, options) else {
        return false;
    };
    let first = rankings.iter().flatten().next();
    let is_explained = first.is_none_or(|scored| predictor.explain(texts[0], scored.label).is_ok());
    // Most systems have no vectors of texts, and say so.
    let _ = predictor.embed(&texts);
    is_explained || !predictor.details().takes_text
}
