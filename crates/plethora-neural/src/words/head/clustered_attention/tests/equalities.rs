//! Where the head is that of AttentionXML.

use super::*;
use crate::head::Phase;
use crate::words::config::AttentionConfig;
use crate::words::golden::{assert_close, doubles, step, whole};

/// AttentionXML over so many labels, with the weights of a part of another network.
fn attentionxml(
    golden: &Golden,
    head: AttentionConfig,
    num_labels: usize,
    weight: impl Fn(&str) -> Tensor,
) -> WordNetwork {
    let config = WordConfig {
        head: HeadConfig::Attention(head),
        clusters: None,
        ..config(golden.sizes)
    };
    config.validate().unwrap();
    let sizes = Sizes {
        labels: num_labels,
        ..golden.sizes
    };
    let network = network(&config, sizes, None);
    for (name, mut value) in values(network.parameters()) {
        value.copy_(&weight(&name).view(value.size().as_slice()));
    }
    network
}

/// The loss, and all gradients by name.
fn learn(network: &WordNetwork, batch: &WordBatch) -> (Vec<f64>, BTreeMap<String, Vec<f64>>) {
    let learnt = network.learn(batch, &step(0.5)).unwrap();
    let dense = network.parameters().dense.iter();
    let mut gradients: BTreeMap<String, Vec<f64>> = dense
        .map(|(name, value)| (name.to_owned(), doubles(&value.grad())))
        .collect();
    for rows in &learnt.rows {
        let table = &network.parameters().tables[rows.table];
        gradients.insert(table.name().to_owned(), whole(rows, table.values()));
    }
    (doubles(&learnt.loss), gradients)
}

#[test]
fn one_label_a_cluster_is_attentionxml() {
    let golden = golden();
    let mut config = config(golden.sizes);
    let head = head_of(&mut config).generator.clone();
    // In an order of their own.
    let clusters = Clusters::from_cluster_of_label(vec![3, 0, 8, 1, 2, 7, 6, 4, 5]).unwrap();
    let clustered = network(&config, golden.sizes, Some(&clusters));
    let own: BTreeMap<String, Tensor> = values(clustered.parameters()).into_iter().collect();
    assert!(!own.contains_key("labels"));
    let plain = attentionxml(&golden, head, golden.sizes.labels, |name| {
        own[name].shallow_clone()
    });
    let batch = batch(&golden, &[0, 1, 2]);
    assert!(!clustered.has_clusters());
    assert_eq!(clustered.logits(&batch), plain.logits(&batch));
    assert_eq!(learn(&clustered, &batch), learn(&plain, &batch));
}

/// Then the labels of a document are told from all others, as AttentionXML does; so are its
/// clusters, and the encoder learns from both.
#[test]
fn all_clusters_taken_is_attentionxml_over_clusters_and_over_labels() {
    let golden = golden();
    let mut config = config(golden.sizes);
    config.clusters.as_mut().unwrap().beam = 100;
    let head = head_of(&mut config);
    (head.generator.layers, head.discriminator.layers) = (vec![4], vec![3]);
    let of_clusters = head.generator.clone();
    let of_labels = AttentionConfig {
        layers: vec![3],
        label_outputs: true,
        ..of_clusters.clone()
    };
    let clusters = Clusters::from_cluster_of_label(golden.cluster_of_label.clone()).unwrap();
    let both = network(&config, golden.sizes, Some(&clusters));
    let own: BTreeMap<String, Tensor> = values(both.parameters()).into_iter().collect();
    let generator = attentionxml(&golden, of_clusters, clusters.num_clusters(), |name| {
        own[&name.replace("head.", "head.generator.")].shallow_clone()
    });
    let discriminator = attentionxml(&golden, of_labels, clusters.num_labels(), |name| {
        own[&in_discriminator(name)].shallow_clone()
    });
    let words: Vec<&[u32]> = golden.documents.iter().map(Vec::as_slice).collect();
    let true_clusters: Vec<Vec<u32>> = (golden.true_labels.iter())
        .map(|labels| labels.iter().map(|&l| clusters.cluster_of(l)).collect())
        .collect();
    let batch = batch(&golden, &[0, 1, 2]);
    let of_clusters = WordBatch::new(&words).with_labels(true_clusters.iter().map(Vec::as_slice));
    let (loss, gradients) = learn(&both, &batch);
    let (cluster_loss, of_generator) = learn(&generator, &of_clusters);
    let (label_loss, of_discriminator) = learn(&discriminator, &batch);
    assert_close(&loss, &[cluster_loss[0] + label_loss[0]], "loss");
    let mut expected: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let of_generator = of_generator
        .into_iter()
        .map(|(name, gradient)| (name.replace("head.", "head.generator."), gradient));
    let of_discriminator = of_discriminator
        .into_iter()
        .map(|(name, gradient)| (in_discriminator(&name), gradient));
    for (name, gradient) in of_generator.chain(of_discriminator) {
        let sum = expected.entry(name).or_insert(vec![0.0; gradient.len()]);
        for (sum, part) in sum.iter_mut().zip(gradient) {
            *sum += part;
        }
    }
    assert!(gradients.keys().eq(expected.keys()));
    for (name, gradient) in &gradients {
        assert_close(gradient, &expected[name], name);
    }
    for path_weight in [1.0, 0.3, 0.0] {
        head_of(&mut config).discriminator.path_weight = path_weight;
        let both = network(&config, golden.sizes, Some(&clusters));
        let parts = (&generator, &discriminator);
        assert_ranks_by_both(&both, parts, path_weight, &clusters, &batch);
    }
}

/// The name that a parameter of AttentionXML has in the discriminator.
fn in_discriminator(name: &str) -> String {
    match name {
        "head.labels" => "labels".to_owned(),
        other => other.replace("head.", "head.discriminator."),
    }
}

fn assert_ranks_by_both(
    both: &WordNetwork,
    (generator, discriminator): (&WordNetwork, &WordNetwork),
    path_weight: f64,
    clusters: &Clusters,
    batch: &WordBatch,
) {
    let of_clusters = generator.logits(batch).sigmoid();
    let of_labels = discriminator.logits(batch).sigmoid();
    let ranked = both.rank(batch, None, 100, 100);
    assert_eq!(ranked.labels.size(), [3, 9]);
    for document in 0..3 {
        let mut labels: Vec<i64> = ranked.labels.get(document).try_into().unwrap();
        let scores = doubles(&ranked.log_scores.get(document).exp());
        for (&label, score) in labels.iter().zip(scores) {
            let cluster = i64::from(clusters.cluster_of(label as u32));
            let of_cluster = of_clusters.double_value(&[document, cluster]);
            let expected =
                of_cluster.powf(path_weight) * of_labels.double_value(&[document, label]);
            assert_close(&[score], &[expected], "score");
        }
        labels.sort_unstable();
        assert_eq!(labels, (0..9).collect::<Vec<i64>>());
    }
}

#[test]
fn attention_of_a_label_sums_to_one_in_every_context() {
    let golden = golden();
    for context in [
        LabelContext::Label,
        LabelContext::Cluster,
        LabelContext::Document,
    ] {
        let mut config = config(golden.sizes);
        head_of(&mut config).discriminator.context = context;
        let clusters = Clusters::from_cluster_of_label(golden.cluster_of_label.clone()).unwrap();
        let network = network(&config, golden.sizes, Some(&clusters));
        let weights = |label| {
            let weights = network.attention(&batch(&golden, &[0, 1]), label);
            weights.unwrap()
        };
        let sums = weights(4).sum_dim_intlist(1, false, Kind::Double);
        assert_close(&doubles(&sums), &[1.0, 1.0], "attention");
        assert_eq!(doubles(&weights(4).get(1).narrow(0, 4, 2)), [0.0, 0.0]);
        // Labels 4 and 8 are of one cluster.
        let is_own = weights(4) != weights(8);
        assert_eq!(is_own, context == LabelContext::Label);
    }
}

#[test]
fn in_two_phases_each_part_learns_alone_and_negatives_do_not_depend_on_dropout() {
    let golden = golden();
    let mut config = config(golden.sizes);
    config.clusters.as_mut().unwrap().beam = 1;
    let clusters = Clusters::from_cluster_of_label(golden.cluster_of_label.clone()).unwrap();
    let network = network(&config, golden.sizes, Some(&clusters));
    let batch = batch(&golden, &[0, 1, 2]);
    let of = |phase| {
        network.set_phase(phase);
        let mut gradients = network.parameters().dense.gradients().shallow_clone();
        let _ = gradients.zero_();
        learn(&network, &batch)
    };
    let is_zero = |values: &[f64]| values.iter().all(|&value| value == 0.0);
    let (joint_loss, joint) = of(Phase::Joint);
    let (recall_loss, recall) = of(Phase::Recall);
    let (rank_loss, rank) = of(Phase::Rank);
    assert_close(&[recall_loss[0] + rank_loss[0]], &joint_loss, "loss");
    assert!(!recall.contains_key("labels") && !rank.contains_key("words"));
    assert_close(&rank["labels"], &joint["labels"], "labels");
    for (name, gradient) in &joint {
        let is_generator = name.starts_with("head.generator");
        let is_discriminator = name.starts_with("head.discriminator");
        if is_generator {
            assert_close(&recall[name], gradient, name);
        }
        if is_discriminator {
            assert_close(&rank[name], gradient, name);
            assert!(is_zero(&recall[name]), "{name}");
        } else if let Some(gradient) = rank.get(name).filter(|_| name != "labels") {
            assert!(is_zero(gradient), "{name}");
        }
    }

    let EncoderConfig::Bilstm(lstm) = &mut config.encoder else {
        panic!("lightattention has an LSTM");
    };
    (lstm.word_dropout, lstm.dropout) = (0.5, 0.5);
    let network = super::network(&config, golden.sizes, Some(&clusters));
    let losses = |phase| {
        network.set_phase(phase);
        let one = |_| doubles(&network.learn(&batch, &step(0.5)).unwrap().loss)[0];
        (0..8).map(one).collect::<Vec<f64>>()
    };
    let differ = |losses: &[f64]| losses.windows(2).any(|pair| pair[0] != pair[1]);
    assert!(
        differ(&losses(Phase::Joint)),
        "dropout leaves something out"
    );
    assert!(!differ(&losses(Phase::Rank)), "the encoder rests");
}
