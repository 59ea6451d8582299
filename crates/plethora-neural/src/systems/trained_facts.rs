//! What is told of a model that was trained.

use plethora_core::grouped;
use plethora_system::{Device, Facts};
use serde_json::json;

use crate::train::memory;

/// What a model reads, how large it is and where it was trained.
pub(crate) fn trained_facts(
    (reads, num_known): (&'static str, u64),
    num_parameters: u64,
    device: Device,
) -> Facts {
    let mut facts = Facts::default();
    let gpu_memory = memory::used_bytes(device);
    let values = [
        ("reads", json!(reads)),
        ("n_words", json!(num_known)),
        ("n_parameters", json!(num_parameters)),
        ("device", json!(device.to_string())),
    ];
    let of_gpu = gpu_memory.map(|used| ("gpu_memory_bytes", json!(used)));
    for (key, value) in values.into_iter().chain(of_gpu) {
        facts.values.insert(key.into(), value);
    }
    let in_use = gpu_memory
        .map(|used| format!(", {} of whose memory were in use", bytes(used)))
        .unwrap_or_default();
    facts.lines = vec![
        (reads, grouped(num_known)),
        (
            "parameters",
            format!("{}, trained on {device}{in_use}", grouped(num_parameters)),
        ),
    ];
    facts
}

/// Bytes in the unit that leaves up to four digits: `20.4 MiB`.
fn bytes(number: u64) -> String {
    let mut value = number as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_people_are_told_the_same() {
        let facts = trained_facts(("words", 1234), 5_000_000, Device::Cpu);
        let keys: Vec<&str> = facts.values.keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 4);
        assert_eq!(facts.values["n_words"], 1234);
        assert_eq!(facts.values["reads"], "words");
        let lines = [
            ("words", "1,234".to_owned()),
            ("parameters", "5,000,000, trained on cpu".to_owned()),
        ];
        assert_eq!(facts.lines, lines);
        assert_eq!(bytes(3 << 30), "3.0 GiB");
    }
}
