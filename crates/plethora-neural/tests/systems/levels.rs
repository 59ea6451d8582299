//! Systems with a network for each level of a tree.

use plethora_neural::words::LevelsConfig;

use super::*;

/// Two levels above the labels.
fn three_networks() -> WordConfig {
    let mut config = small("attentionxml-plt");
    let plt = config.plt.as_mut().unwrap();
    plt.num_trees = 1;
    plt.levels = LevelsConfig {
        widths: Some(vec![4, 16]),
        beam: Some(vec![3, 6]),
        epochs: Some(vec![2, 1]),
        batch_size: Some(vec![32, 50]),
        averaging_start: Some(vec![0.6, 0.2]),
    };
    config
}

#[test]
fn a_tree_of_three_networks_trains_ranks_and_comes_back() {
    let folder = saved_model(&three_networks());
    let reader = ModelReader::open(&folder.path().join("model")).unwrap();
    let levels: serde_json::Value = reader.read_json("tree-0.json").unwrap();
    let parents = levels["parents"].as_array().unwrap();
    let widths: Vec<usize> = parents
        .iter()
        .map(|parents| parents.as_array().unwrap().len())
        .collect();
    assert_eq!(widths.len(), 2);
    assert_eq!(widths[0], 16);
    let items = |network: usize| {
        let width = 2 * 12 + 16 + 16;
        let name = if network == 0 {
            "head.labels"
        } else {
            "labels"
        };
        array(&folder, &format!("tree-0.level-{network}"), name).len() / width
    };
    assert_eq!([items(0), items(1), items(2)], [4, 16, widths[1]]);
    // 285 documents in batches of 32 and 50: each level has its own.
    let log = std::fs::read_to_string(folder.path().join("model/metrics.jsonl")).unwrap();
    let last_epoch = |level: usize| {
        let key = format!("tree-0.level-{level}/loss");
        let mut of_level = log.lines().rev().filter(|line| line.contains(&key));
        let record: serde_json::Value = serde_json::from_str(of_level.next().unwrap()).unwrap();
        record["epoch"].as_f64().unwrap()
    };
    assert_eq!(last_epoch(1) - last_epoch(0), 1.0, "{log}");
}

#[test]
fn an_interrupted_tree_is_resumed_at_its_level() {
    let config = three_networks();
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let rank = |model: &WordModel| model.rank_texts(&texts(), OPTIONS).unwrap();
    let (first, work) = train(&set, &config, &folder);
    for name in ["tree-0.level-1", "tree-0.level-2"] {
        std::fs::remove_file(work.path(&format!("{name}.weights.safetensors"))).unwrap();
    }
    drop(work);
    let (again, _) = train(&set, &config, &folder);
    assert_eq!(rank(&first), rank(&again));
}

#[test]
fn a_level_starts_from_the_weights_of_the_one_above() {
    let mut config = three_networks();
    // So slow that nothing of what a level starts with changes by more than rounding.
    config.train.learning_rate = 1e-12;
    let folder = saved_model(&config);
    for name in [
        "words",
        "encoder.lstm",
        "head.layer.0.weight",
        "head.output.weight",
    ] {
        let of_level = |level| array(&folder, &format!("tree-0.level-{level}"), name);
        let first = of_level(0);
        for level in [1, 2] {
            let largest = first
                .iter()
                .zip(of_level(level))
                .map(|(one, other)| (one - other).abs())
                .fold(0.0, f32::max);
            assert!(
                largest < 1e-6,
                "{name} of level {level} differs by {largest}"
            );
        }
    }
    // Labels are others.
    let vectors = |level| array(&folder, &format!("tree-0.level-{level}"), "labels");
    assert_ne!(vectors(1)[..16], vectors(2)[..16]);
}

#[test]
fn more_clusters_than_labels_are_refused() {
    let mut config = three_networks();
    let plt = config.plt.as_mut().unwrap();
    plt.levels.widths = Some(vec![4, 131_072]);
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let trainer = WordTrainer {
        set: &set,
        valid: None,
        config: &config,
        device: Device::Cpu,
    };
    let work = WorkFolder::open(&folder.path().join("model"), "fingerprint", true).unwrap();
    let message = trainer.run(&work, &NoProgress).unwrap_err().to_string();
    let expected = "plt.levels.widths: [4, 131072] are more clusters than there are labels, ";
    assert!(message.starts_with(expected), "{message}");
}
