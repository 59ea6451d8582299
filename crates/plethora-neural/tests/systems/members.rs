//! Flat systems of several networks.

use plethora_core::artifact::ModelWriter;

use super::*;

/// All labels, so that no score is cut off.
fn all_labels(model: &WordModel, num_labels: usize) -> Vec<Vec<f32>> {
    let options = RankOptions {
        top_k: num_labels,
        beam: None,
    };
    let rankings = model.rank_texts(&texts(), options).unwrap();
    rankings
        .into_iter()
        .map(|ranking| {
            let mut scores = vec![0.0; num_labels];
            for one in ranking {
                scores[one.label.index()] = one.score;
            }
            scores
        })
        .collect()
}

fn with_members(system: &str, members: Option<usize>) -> WordConfig {
    let config = WordConfig {
        members,
        ..small(system)
    };
    config.validate().unwrap();
    config
}

fn scores_are_means_of_members(system: &str) {
    let config = with_members(system, Some(3));
    let set = set(&config);
    let num_labels = set.space.len();
    let folder = TempDir::new().unwrap();
    let (model, work) = train(&set, &config, &folder);
    let target = folder.path().join("model");
    let writer = ModelWriter::create(&target, false).unwrap();
    model.save(&work, &writer).unwrap();
    writer.finish(system, serde_json::json!({})).unwrap();
    let reader = ModelReader::open(&target).unwrap();

    // Each member as a model of its own.
    let alone: Vec<Vec<Vec<f32>>> = (0..3)
        .map(|member| {
            let target = folder.path().join(format!("member-{member}"));
            let writer = ModelWriter::create(&target, false).unwrap();
            for entry in std::fs::read_dir(reader.folder()).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let own = format!("tree-{member}.");
                let as_first = match name.strip_prefix(&own) {
                    Some(rest) => format!("tree-0.{rest}"),
                    None if name.starts_with("word") => name.clone(),
                    None => continue,
                };
                std::fs::copy(reader.folder().join(&name), writer.path(&as_first)).unwrap();
            }
            let of_one = with_members(system, None);
            writer.write_json(CONFIG_FILE, &of_one).unwrap();
            writer.finish(system, serde_json::json!({})).unwrap();
            let reader = ModelReader::open(&target).unwrap();
            let model = WordModel::open(&reader, num_labels, Device::Cpu).unwrap();
            all_labels(&model, num_labels)
        })
        .collect();
    assert_ne!(alone[0], alone[1]);
    assert_ne!(alone[1], alone[2]);

    let opened = WordModel::open(&reader, num_labels, Device::Cpu).unwrap();
    for model in [&model, &opened] {
        for (document, scores) in all_labels(model, num_labels).iter().enumerate() {
            for (label, score) in scores.iter().enumerate() {
                let sum: f32 = alone.iter().map(|one| one[document][label]).sum();
                assert!((score - sum / 3.0).abs() < 1e-5);
            }
        }
    }

    // The first one is the network that one run with the same seed gives.
    let one = with_members(system, None);
    let (single, _) = train(&set, &one, &TempDir::new().unwrap());
    assert_eq!(all_labels(&single, num_labels), alone[0]);
}

#[test]
fn scores_of_attentionxml_are_means_of_its_members() {
    scores_are_means_of_members("attentionxml");
}

#[test]
fn scores_of_xml_cnn_are_means_of_its_members() {
    scores_are_means_of_members("xml-cnn");
}

#[test]
fn members_that_are_trained_are_not_trained_again() {
    let config = with_members("xml-rnn", Some(2));
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let (first, work) = train(&set, &config, &folder);
    let weights = |member: usize| work.path(&format!("tree-{member}.level-0.weights.safetensors"));
    let written = std::fs::metadata(weights(0)).unwrap().modified().unwrap();
    std::fs::remove_file(weights(1)).unwrap();
    let (first_file, second_file) = (weights(0), weights(1));
    drop(work);
    let (again, _) = train(&set, &config, &folder);
    assert_eq!(
        first.rank_texts(&texts(), OPTIONS).unwrap(),
        again.rank_texts(&texts(), OPTIONS).unwrap()
    );
    assert_eq!(
        std::fs::metadata(first_file).unwrap().modified().unwrap(),
        written
    );
    assert!(second_file.is_file());
}

#[test]
fn members_are_refused_where_trees_or_clusters_are() {
    for (system, key) in [
        ("attentionxml-plt", "plt.num_trees"),
        ("lightattention", "clusters.num_clusterings"),
    ] {
        let config = WordConfig {
            members: Some(3),
            ..small(system)
        };
        let message = config.validate().unwrap_err().to_string();
        assert!(
            message.starts_with("members: ") && message.contains(key),
            "{message}"
        );
    }
}
