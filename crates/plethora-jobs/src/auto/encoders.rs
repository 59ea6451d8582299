//! Pretrained encoders that the machine has already.

use std::fs;
use std::path::Path;

use plethora_system::Device;

/// What folders of sentence encoders have beside weights: how states become one vector.
const OF_SENTENCES: &str = "modules.json";

/// The weights, in one piece.
const WEIGHTS: &str = "model.safetensors";

/// Encoders made to compare sentences in the Hugging Face cache, by their names there: on processors the
/// smallest first, on GPUs the largest.
pub(super) fn at_hand(cache: &Path, device: Device) -> Vec<String> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    let mut found: Vec<(u64, String)> = entries
        .filter_map(|entry| {
            let folder = entry.file_name().into_string().ok()?;
            let name = folder.strip_prefix("models--")?.replacen("--", "/", 1);
            Some((sentence_encoder(&entry.path())?, name))
        })
        .collect();
    found.sort();
    if device != Device::Cpu {
        found.reverse();
    }
    found.into_iter().map(|(_, name)| name).collect()
}

/// Bytes of the weights of the newest version, if it is a sentence encoder.
fn sentence_encoder(folder: &Path) -> Option<u64> {
    let commit = fs::read_to_string(folder.join("refs").join("main")).ok()?;
    let version = folder.join("snapshots").join(commit.trim());
    if !version.join(OF_SENTENCES).exists() {
        return None;
    }
    fs::metadata(version.join(WEIGHTS))
        .ok()
        .map(|file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_encoders_are_found_by_size() {
        let cache = tempfile::tempdir().unwrap();
        let add = |name: &str, files: &[(&str, usize)]| {
            let folder = cache.path().join(name);
            let version = folder.join("snapshots").join("abc");
            fs::create_dir_all(&version).unwrap();
            fs::create_dir_all(folder.join("refs")).unwrap();
            fs::write(folder.join("refs").join("main"), "abc\n").unwrap();
            for (file, size) in files {
                fs::write(version.join(file), vec![0; *size]).unwrap();
            }
        };
        add("models--ada--large", &[(OF_SENTENCES, 2), (WEIGHTS, 90)]);
        add("models--ada--small", &[(OF_SENTENCES, 2), (WEIGHTS, 9)]);
        add("models--ada--plain", &[(WEIGHTS, 9)]);
        add("models--ada--half", &[(OF_SENTENCES, 2)]);
        add("datasets--ada--texts", &[(OF_SENTENCES, 2), (WEIGHTS, 9)]);
        assert_eq!(
            at_hand(cache.path(), Device::Cpu),
            ["ada/small", "ada/large"]
        );
        let gpu = "cuda".parse().unwrap();
        assert_eq!(at_hand(cache.path(), gpu), ["ada/large", "ada/small"]);
        assert!(at_hand(&cache.path().join("none"), Device::Cpu).is_empty());
    }
}
