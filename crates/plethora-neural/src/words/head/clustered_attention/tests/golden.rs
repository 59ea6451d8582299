//! Values of `PyTorch`.

use super::*;
use crate::train::Learnt;
use crate::words::golden::{assert_close, doubles, step, whole};

fn network_of(golden: &Golden, case: &Case, config: &WordConfig) -> WordNetwork {
    let clusters = Clusters::from_cluster_of_label(golden.cluster_of_label.clone()).unwrap();
    let network = network(config, golden.sizes, Some(&clusters));
    let values = values(network.parameters());
    assert_eq!(values.len(), case.parameters.len());
    for (name, mut value) in values {
        let given = Tensor::from_slice(&case.parameters[&name]);
        value.copy_(&given.view(value.size().as_slice()));
    }
    network
}

fn for_each_case(check: impl Fn(&Golden, &str, &Case)) {
    let golden = golden();
    for (name, case) in &golden.cases {
        check(&golden, name, case);
    }
}

#[test]
fn logits_and_candidates_equal_pytorch() {
    for_each_case(|golden, name, case| {
        for label_chunk in [0, 2] {
            let network = network_of(golden, case, &config_of(case, golden.sizes, label_chunk));
            let said = network.clustered_logits(&batch(golden, &[0, 1, 2]));
            for number in 0..golden.documents.len() {
                let row = |matrix: &Tensor| doubles(&matrix.get(number as i64));
                assert_close(&row(&said.of_clusters), &case.cluster_logits[number], name);
                let is_listed = row(&said.lists.is_listed);
                let listed = |values: Vec<f64>| -> Vec<f64> {
                    let values = values.into_iter().zip(&is_listed);
                    let values = values.filter(|(_, flag)| **flag > 0.0);
                    values.map(|(value, _)| value).collect()
                };
                let labels = listed(row(&said.lists.numbers));
                let labels: Vec<u32> = labels.into_iter().map(|label| label as u32).collect();
                assert_eq!(labels, case.candidates[number], "{name}");
                let logits = listed(row(&said.of_labels));
                assert_close(&logits, &case.candidate_logits[number], name);
            }
        }
    });
}

#[test]
fn rankings_equal_pytorch_in_a_batch_and_alone() {
    for_each_case(|golden, name, case| {
        for label_chunk in [0, 2] {
            let network = network_of(golden, case, &config_of(case, golden.sizes, label_chunk));
            let rank = |documents: &[usize]| {
                let batch = batch(golden, documents);
                network.rank(&batch, None, case.settings.beam, 9)
            };
            let together = rank(&[0, 1, 2]);
            for (number, expected) in case.scores.iter().enumerate() {
                for (ranked, place) in [(&together, number), (&rank(&[number]), 0)] {
                    let scores = doubles(&ranked.log_scores.get(place as i64).exp());
                    let labels = doubles(&ranked.labels.get(place as i64));
                    let own: Vec<f64> = expected.iter().map(|&(_, score)| score).collect();
                    assert_close(&scores[..own.len()], &own, name);
                    assert!(scores[own.len()..].iter().all(|&score| score == 0.0));
                    for (found, &(label, _)) in labels.iter().zip(expected) {
                        assert_eq!(*found as u32, label, "{name}");
                    }
                }
            }
        }
    });
}

#[test]
fn losses_and_gradients_equal_pytorch_whatever_the_chunk_of_labels() {
    for_each_case(|golden, name, case| {
        for label_chunk in [0, 1, 2, 3, 100] {
            let network = network_of(golden, case, &config_of(case, golden.sizes, label_chunk));
            let Learnt { loss, rows } = network
                .learn(&batch(golden, &[0, 1, 2]), &step(1.0))
                .unwrap();
            assert_close(&doubles(&loss), &[case.loss], name);
            for (parameter, value) in network.parameters().dense.iter() {
                let what = format!("{name} {parameter} by {label_chunk}");
                assert_close(&doubles(&value.grad()), &case.gradients[parameter], &what);
            }
            let tables: Vec<&str> = rows
                .iter()
                .map(|rows| network.parameters().tables[rows.table].name())
                .collect();
            assert_eq!(tables, ["words", "labels"]);
            for rows in &rows {
                let table = &network.parameters().tables[rows.table];
                let expected = &case.gradients[table.name()];
                let what = format!("{name} {}", table.name());
                assert_close(&whole(rows, table.values()), expected, &what);
            }
        }
    });
}

/// With all clusters taken the choice does not hang on weights, so that the loss is smooth.
#[test]
fn gradients_equal_finite_differences() {
    let golden = golden();
    let case = &golden.cases["labels_of_all_clusters"];
    let network = network_of(&golden, case, &config_of(case, golden.sizes, 3));
    let batch = batch(&golden, &[0, 1, 2]);
    let loss = || doubles(&network.learn(&batch, &step(0.0)).unwrap().loss)[0];
    let learnt = network.learn(&batch, &step(1.0)).unwrap();
    let dense = &network.parameters().dense;
    let mut parts = vec![(dense.values().shallow_clone(), doubles(dense.gradients()))];
    for rows in &learnt.rows {
        let values = network.parameters().tables[rows.table].values();
        parts.push((values.view([-1]), whole(rows, values)));
    }
    let distance = 1e-2;
    for (values, gradients) in parts {
        // Every 37th number reaches all parameters and keeps the test short.
        for place in (0..gradients.len()).step_by(37) {
            let mut value = values.narrow(0, place as i64, 1);
            let _ = value.g_add_scalar_(distance);
            let above = loss();
            let _ = value.g_add_scalar_(-2.0 * distance);
            let below = loss();
            let _ = value.g_add_scalar_(distance);
            let slope = (above - below) / (2.0 * distance);
            assert!(
                (slope - gradients[place]).abs() < 4e-3,
                "{place}: {slope} is not {}",
                gradients[place]
            );
        }
    }
}

/// Numbers of all kinds meet as they do on a GPU.
#[test]
fn sixteen_bits_come_close() {
    for_each_case(|golden, name, case| {
        let mut config = config_of(case, golden.sizes, 0);
        config.train.precision = Precision::Bf16;
        let network = network_of(golden, case, &config);
        let batch = batch(golden, &[0, 1, 2]);
        let loss = doubles(&network.learn(&batch, &step(1.0)).unwrap().loss)[0];
        assert!((loss / case.loss - 1.0).abs() < 0.05, "{name}: {loss}");
        let ranked = network.rank(&batch, None, case.settings.beam, 9);
        let best = doubles(&ranked.log_scores.select(1, 0).exp());
        for (found, expected) in best.iter().zip(&case.scores) {
            assert!(
                (found / expected[0].1 - 1.0).abs() < 0.05,
                "{name}: {found}"
            );
        }
    });
}
