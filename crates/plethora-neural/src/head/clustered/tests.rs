//! The head against the [`reference`], and what must hold of candidates.

mod reference;

use std::collections::{BTreeMap, BTreeSet};

use plethora_core::SeedStream;
use proptest::prelude::*;
use tch::Reduction;

use super::*;
use crate::head::testing::check_log_odds;
use crate::parameters::Parameters;
use reference::{Case, Sizes, assert_close, best_by_hand, doubles};

const SMALL: Sizes = Sizes {
    labels: 13,
    clusters: 5,
    beam: 2,
    documents: 4,
};

fn any_sizes() -> impl Strategy<Value = Sizes> {
    (3_usize..40)
        .prop_flat_map(|labels| (Just(labels), 1..labels))
        .prop_flat_map(|(labels, clusters)| {
            (Just(labels), Just(clusters), 1..=clusters, 1_usize..6)
        })
        .prop_map(|(labels, clusters, beam, documents)| Sizes {
            labels,
            clusters,
            beam,
            documents,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn candidates_are_the_labels_of_the_chosen_clusters_and_all_positives(
        sizes in any_sizes(), seed in any::<u64>(), is_mean in any::<bool>(),
    ) {
        let case = Case::new(&sizes, Activation::None, Kind::Float, seed);
        let discriminator = case.head.discriminator.as_ref().unwrap();
        let recalled = case.head.recalled(&case.head.logits(&case.input()), &case.targets);
        let scale = if is_mean { LossScale::Mean } else { LossScale::Sum };
        let candidates = discriminator.choice().choose(&recalled, &case.targets, scale);
        let labels: Vec<i64> = (&candidates.labels).try_into().unwrap();
        prop_assert!(labels.is_sorted_by(|one, other| one < other));
        let mask = discriminator.mask(&candidates, &case.targets);
        let listed = discriminator.choice().listed(&candidates, &case.targets);
        for (number, truth) in case.documents.iter().enumerate() {
            let of_document: Vec<bool> = mask.get(number as i64).try_into().unwrap();
            let found: BTreeSet<u32> = labels.iter().zip(&of_document)
                .filter(|&(_, &is_candidate)| is_candidate)
                .map(|(&label, _)| label as u32)
                .collect();
            let row = |matrix: &Tensor| doubles(&matrix.get(number as i64));
            let is_listed = row(&listed.lists.is_listed);
            let of_list = |numbers: Vec<f64>| -> Vec<u32> {
                let numbers = numbers.iter().zip(&is_listed);
                numbers.filter(|&(_, &flag)| flag > 0.0).map(|(&number, _)| number as u32).collect()
            };
            let in_list = of_list(row(&listed.lists.numbers));
            prop_assert!(in_list.is_sorted_by(|one, other| one < other));
            prop_assert_eq!(in_list.iter().copied().collect::<BTreeSet<u32>>(), found.clone());
            let by_place: Vec<u32> = of_list(row(&listed.places))
                .into_iter().map(|place| labels[place as usize] as u32).collect();
            prop_assert_eq!(&by_place, &in_list);
            let is_true = row(&listed.truth);
            let true_ones = in_list.iter().zip(&is_true).filter(|&(_, &flag)| flag > 0.0);
            prop_assert_eq!(true_ones.map(|(&label, _)| label).collect::<Vec<_>>(), truth.clone());
            let share = if is_mean { found.len() } else { 1 } * case.documents.len();
            for (place, &weight) in row(&listed.weights).iter().enumerate() {
                let expected = is_listed[place] / share as f64;
                prop_assert!((weight - expected).abs() < 1e-6);
            }
            let probabilities = doubles(&recalled.probabilities.get(number as i64));
            prop_assert!(truth.iter().all(|label| found.contains(label)));
            prop_assert_eq!(found, case.candidates(number, &probabilities));
        }
    }

    #[test]
    fn losses_and_gradients_equal_the_reference_whatever_the_chunk(
        sizes in any_sizes(), seed in any::<u64>(), is_mean in any::<bool>(), chunk in 0_i64..7,
    ) {
        let mut case = Case::new(&sizes, Activation::None, Kind::Float, seed);
        case.head.discriminator.as_mut().unwrap().chunk = chunk;
        let scale = if is_mean { LossScale::Mean } else { LossScale::Sum };
        case.assert_equals_reference(scale, Phase::Joint, 1e-4);
    }

    #[test]
    fn rankings_equal_the_reference(
        sizes in any_sizes(), seed in any::<u64>(), chunk in 0_i64..7, keep in 1_usize..50,
    ) {
        let mut case = Case::new(&sizes, Activation::Sigmoid, Kind::Float, seed);
        case.head.discriminator.as_mut().unwrap().chunk = chunk;
        let ranked = case.head.rank(&case.input(), sizes.beam, keep);
        assert_eq!(ranked.labels.size(), [sizes.documents as i64, keep.min(sizes.labels) as i64]);
        let leaves = case.leaves();
        for number in 0..sizes.documents {
            let expected = best_by_hand(&case, &leaves, number);
            let scores = doubles(&ranked.log_scores.get(number as i64));
            let labels: Vec<i64> = ranked.labels.get(number as i64).try_into().unwrap();
            for place in 0..scores.len() {
                if let Some(&(score, label)) = expected.get(place) {
                    prop_assert!((scores[place] - score).abs() < 1e-4);
                    prop_assert_eq!(labels[place], i64::from(label));
                } else {
                    prop_assert_eq!(scores[place], f64::NEG_INFINITY);
                }
            }
        }
    }
}

#[test]
fn phases_and_activations_equal_the_reference() {
    for phase in [Phase::Joint, Phase::Recall, Phase::Rank] {
        for activation in [Activation::None, Activation::Sigmoid, Activation::Relu] {
            for scale in [LossScale::Sum, LossScale::Mean] {
                let case = Case::new(&SMALL, activation, Kind::Float, 4);
                case.assert_equals_reference(scale, phase, 1e-4);
            }
        }
    }
}

#[test]
fn clusters_may_be_chosen_by_another_vector() {
    let sizes = Sizes {
        labels: 40,
        clusters: 20,
        beam: 8,
        documents: 2,
    };
    let mut case = Case::new(&sizes, Activation::None, Kind::Float, 4);
    let rows = |case: &Case| {
        case.learn(LossScale::Sum, Phase::Rank, 1.0)
            .rows
            .remove(0)
            .rows
    };
    let own = rows(&case);
    case.recall = Some(case.vector.detach().flip([0]) * 2.0 - 0.5);
    assert!(rows(&case) != own, "other vectors choose other clusters");
    for scale in [LossScale::Sum, LossScale::Mean] {
        case.vector = case.vector.detach().copy().set_requires_grad(true);
        case.parameters.dense.clear_gradients();
        case.assert_equals_reference(scale, Phase::Rank, 1e-4);
    }
    let keep = sizes.labels;
    let ranked = case.head.rank(&case.input(), sizes.beam, keep);
    let leaves = case.leaves();
    for number in 0..sizes.documents {
        let expected = best_by_hand(&case, &leaves, number);
        let scores = doubles(&ranked.log_scores.get(number as i64));
        for (found, (expected, _)) in scores.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
}

#[test]
fn ranking_alone_leaves_clusters_untouched() {
    let case = Case::new(&SMALL, Activation::None, Kind::Float, 4);
    let learnt = case.learn(LossScale::Sum, Phase::Rank, 1.0);
    let gradients = case.gradients(&learnt);
    let largest = |name: &str| gradients[name].abs().max().double_value(&[]);
    assert_eq!(largest("head.clusters"), 0.0);
    assert_eq!(largest("head.cluster_bias"), 0.0);
    assert!(largest("head.bottleneck.weight") > 0.0 && largest("labels") > 0.0);
    assert!(
        case.learn(LossScale::Sum, Phase::Recall, 1.0)
            .rows
            .is_empty()
    );
}

#[test]
fn gradients_equal_finite_differences() {
    let sizes = Sizes { beam: 5, ..SMALL };
    let case = Case::new(&sizes, Activation::Sigmoid, Kind::Float, 9);
    let loss = || {
        let learnt = case.learn(LossScale::Sum, Phase::Joint, 0.0);
        learnt.loss.double_value(&[])
    };
    let learnt = case.learn(LossScale::Sum, Phase::Joint, 1.0);
    let gradients = case.gradients(&learnt);
    let gradients: BTreeMap<String, Vec<f64>> = gradients
        .iter()
        .map(|(name, gradient)| (name.clone(), doubles(gradient)))
        .collect();
    let dense = case.parameters.dense.iter();
    let mut values: Vec<(&str, Tensor)> = dense.map(|(name, leaf)| (name, leaf.detach())).collect();
    values.push(("labels", case.parameters.tables[0].values().shallow_clone()));
    values.push(("vector", case.vector.detach()));
    let distance = 1e-2;
    for (name, values) in values {
        let values = values.view([-1]);
        for place in (0..values.size()[0]).step_by(3) {
            let mut value = values.narrow(0, place, 1);
            let _ = value.g_add_scalar_(distance);
            let above = loss();
            let _ = value.g_add_scalar_(-2.0 * distance);
            let below = loss();
            let _ = value.g_add_scalar_(distance);
            let slope = (above - below) / (2.0 * distance);
            let gradient = gradients[name][place as usize];
            assert!(
                (slope - gradient).abs() < 5e-3,
                "{name}: {slope}, not {gradient}"
            );
        }
    }
}

#[test]
fn sixteen_bits_come_close() {
    let sizes = Sizes { beam: 5, ..SMALL };
    for scale in [LossScale::Sum, LossScale::Mean] {
        let case = Case::new(&sizes, Activation::None, Kind::BFloat16, 6);
        case.assert_equals_reference(scale, Phase::Joint, 3e-2);
    }
}

#[test]
fn clusters_start_at_their_log_odds() {
    let clusters = Clusters::from_cluster_of_label(vec![0, 0, 1]).unwrap();
    let mut builder = DenseParametersBuilder::default();
    let config = ClusteredConfig {
        bottleneck: 2,
        activation: Activation::None,
        beam: 1,
    };
    let setup = ClusteredSetup {
        config: &config,
        width: 4,
        clusters: &clusters,
        counts: LabelFacts {
            train_counts: &[4, 0],
            num_documents: 8,
        },
        table: 0,
        device: Device::Cpu,
    };
    let start = Start::seeded(SeedStream::new(1));
    let (head, rows) = Clustered::new(&setup, &mut builder, start);
    let rows = rows.unwrap();
    assert_eq!(rows.size(), [3, 2]);
    let parameters = Parameters {
        dense: builder.finish(Device::Cpu),
        tables: Vec::new(),
    };
    let vector = start.normal(&[1, 4], 1.0);
    let input = VectorInput {
        parameters: &parameters,
        vector: &vector,
        prior: None,
        recall: None,
    };
    let found = doubles(&head.logits(&input).sigmoid());
    for (found, expected) in found.iter().zip([0.5, 0.1]) {
        assert!((found - expected).abs() < 1e-6);
    }
}

/// Clusters of one label, in an order of their own, against one linear layer.
#[test]
fn one_label_a_cluster_is_the_flat_form() {
    let sizes = Sizes {
        labels: 6,
        clusters: 6,
        beam: 2,
        documents: 4,
    };
    for scale in [LossScale::Sum, LossScale::Mean] {
        let case = Case::new(&sizes, Activation::None, Kind::Float, 3);
        assert!(case.parameters.tables.is_empty());
        let learnt = case.learn(scale, Phase::Joint, 0.5);
        let leaves = case.leaves();
        let logits =
            leaves["vector"].linear(&leaves["head.clusters"], Some(&leaves["head.cluster_bias"]));
        let truth = logits.zeros_like().detach();
        for (number, labels) in case.documents.iter().enumerate() {
            for &label in labels {
                let _ = truth.get(number as i64).get(i64::from(label)).fill_(1.0);
            }
        }
        let reduction = match scale {
            LossScale::Sum => Reduction::Sum,
            LossScale::Mean => Reduction::Mean,
        };
        let mut loss =
            logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, reduction);
        if scale == LossScale::Sum {
            loss /= 4.0;
        }
        (&loss * 0.5).backward();
        assert_close(&case.head.logits(&case.input()), &logits, 1e-5, "logits");
        assert_close(&learnt.loss, &loss, 1e-5, "loss");
        for (name, gradient) in case.gradients(&learnt) {
            assert_close(&gradient, &leaves[&name].grad(), 1e-5, &name);
        }
        let ranked = case.head.rank(&case.input(), 1, 4);
        let (scores, labels) = logits.topk(4, 1, true, true);
        assert_eq!(ranked.labels, labels);
        assert_close(&ranked.log_scores.exp(), &scores.sigmoid(), 1e-5, "scores");
    }
}

#[test]
fn log_odds_are_those_of_the_ranking() {
    for activation in [Activation::None, Activation::Sigmoid] {
        let case = Case::new(&SMALL, activation, Kind::Float, 4);
        check_log_odds(&case.head, &case.parameters, &case.vector.detach());
    }
}
