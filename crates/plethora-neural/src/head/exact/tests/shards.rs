//! Labels in shards over several processes, here threads with a ring between them, against one that has all.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use plethora_system::Shard;
use plethora_system::ranks::{Ranks, Rendezvous};

use super::*;

type Document = (&'static [u32], &'static [u32]);

/// Documents of the step, with their true labels and those whose scores are raised.
const DOCUMENTS: [Document; 6] = [
    (&[0, 7, 3], &[3, 9]),
    (&[], &[0]),
    (&[10, 7], &[]),
    (&[5], &[10, 5, 4]),
    (&[1, 2, 6], &[1]),
    (&[9], &[7]),
];

/// What a process learns in a step of two batches, one of which it may have none of.
struct Learnt {
    loss: f64,
    /// By document, of those that it had.
    of_vectors: Vec<(usize, Tensor)>,
    of_raised: Vec<(usize, Tensor)>,
    bottleneck: Tensor,
    labels: [Tensor; 2],
    ranked: Ranked,
}

fn learn(
    ranks: Option<&'static dyn Ranks>,
    own: [&[usize]; 2],
    of_round: [usize; 2],
    config: &ExactConfig,
    scale: LossScale,
) -> Learnt {
    let case = case(config, Kind::Float);
    let vectors = start()
        .named("vectors")
        .normal(&[DOCUMENTS.len() as i64, WIDTH as i64], 1.0);
    let tables = &case.parameters.tables;
    let drawn = start().named("biases").normal(&[NUM_LABELS as i64, 1], 0.5);
    tables[1].values().shallow_clone().copy_(&drawn);
    if let Some(ranks) = ranks {
        for table in tables {
            table.divide(ranks, Device::Cpu);
        }
    }
    let momenta = case.parameters.trained().zeros_like();
    let (mut loss, mut of_vectors, mut of_raised) = (0.0, Vec::new(), Vec::new());
    for (round, documents) in own.into_iter().enumerate() {
        let part = |count: usize| StepPart {
            scale: count as f64 / of_round.iter().sum::<usize>() as f64,
            seed: 0,
            epoch_progress: 0.0,
            momentum: MomentumStep::new(&momenta, 0.5, (round, 2)),
        };
        if documents.is_empty() {
            loss += case.head.assist(&case.parameters, &part(0), scale).unwrap();
            continue;
        }
        let rows: Vec<i64> = documents.iter().map(|&document| document as i64).collect();
        let vector = vectors
            .index_select(0, &Tensor::from_slice(&rows))
            .set_requires_grad(true);
        let of = |pick: fn(&Document) -> &'static [u32]| {
            LabelPlaces::new(documents.iter().map(|&document| pick(&DOCUMENTS[document])))
        };
        let (targets, raised) = (of(|document| document.0), of(|document| document.1));
        let values = Vec::<i64>::try_from(raised.labels()).unwrap();
        let values: Vec<f32> = values
            .iter()
            .map(|&label| 0.3 * label as f32 - 1.0)
            .collect();
        let prior = Prior {
            places: &raised,
            values: Tensor::from_slice(&values).set_requires_grad(true),
        };
        let input = VectorInput {
            vector: &vector,
            prior: Some(&prior),
            ..case.input()
        };
        let part = part(documents.len());
        let step = HeadStep {
            targets: &targets,
            part: &part,
            loss: scale,
            phase: Phase::Joint,
            drops: false,
        };
        let learnt = case.head.learn(&input, &step).unwrap();
        loss += learnt.loss.double_value(&[]) * part.scale;
        for (row, &document) in documents.iter().enumerate() {
            of_vectors.push((document, vector.grad().get(row as i64)));
        }
        let places = Vec::<i64>::try_from(raised.documents()).unwrap();
        let labels = raised.labels_on_host().iter();
        for (place, (row, &label)) in places.iter().zip(labels).enumerate() {
            let document = documents[*row as usize] * NUM_LABELS + label as usize;
            of_raised.push((document, prior.values.grad().get(place as i64)));
        }
    }
    let ranked = case.head.rank(
        &VectorInput {
            vector: &vectors,
            ..case.input()
        },
        1,
        4,
    );
    for table in tables {
        table.join().unwrap();
    }
    of_vectors.sort_by_key(|(document, _)| *document);
    of_raised.sort_by_key(|(place, _)| *place);
    Learnt {
        loss,
        of_vectors,
        of_raised,
        bottleneck: case.parameters.dense.gradients().copy(),
        labels: [case.values(0), case.values(1)],
        ranked,
    }
}

/// As many processes as there are shares of the documents, in a ring.
fn learn_together(
    shares: [[&'static [usize]; 2]; 2],
    config: &ExactConfig,
    scale: LossScale,
) -> Vec<Learnt> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let ranks = shares.into_iter().enumerate().map(|(index, own)| {
        let config = config.clone();
        thread::spawn(move || {
            let rendezvous = Rendezvous {
                place: Shard::new(index, 2).unwrap(),
                address: "127.0.0.1".to_owned(),
                port,
                patience: Duration::from_secs(60),
            };
            let ranks = Box::leak(rendezvous.meet().unwrap());
            let of_round = [0, 1].map(|round| shares.iter().map(|share| share[round].len()).sum());
            learn(Some(ranks), own, of_round, &config, scale)
        })
    });
    let ranks: Vec<_> = ranks.collect();
    ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn labels_in_shards_learn_as_whole_ones() {
    for (bottleneck, scale) in [(0, LossScale::Sum), (3, LossScale::Mean)] {
        for shares in [
            [[&[0, 1][..], &[4]], [&[2, 3], &[5]]],
            // One of them has no documents for a batch, and helps with those of the other.
            [[&[0, 1, 2][..], &[4, 5]], [&[3], &[]]],
        ] {
            let config = config(bottleneck, 2);
            let all = [0, 1].map(|round| [shares[0][round], shares[1][round]].concat());
            let of_round = [all[0].len(), all[1].len()];
            let whole = learn(None, [&all[0], &all[1]], of_round, &config, scale);
            let parts = learn_together(shares, &config, scale);
            let loss: f64 = parts.iter().map(|part| part.loss).sum();
            assert!(
                (loss - whole.loss).abs() < 1e-5 * whole.loss,
                "{loss} {}",
                whole.loss
            );
            let double = |tensor: &Tensor| tensor.to_kind(Kind::Double);
            let bottlenecks = &parts[0].bottleneck + &parts[1].bottleneck;
            if bottlenecks.numel() > 0 {
                assert_close(&bottlenecks, &double(&whole.bottleneck), 1e-5);
            }
            let join = |part: fn(&Learnt) -> &Vec<(usize, Tensor)>| {
                let mut all: Vec<&(usize, Tensor)> = parts.iter().flat_map(part).collect();
                all.sort_by_key(|(place, _)| *place);
                Tensor::stack(&all.iter().map(|(_, one)| one).collect::<Vec<_>>(), 0)
            };
            let stack = |all: &[(usize, Tensor)]| {
                double(&Tensor::stack(
                    &all.iter().map(|(_, one)| one).collect::<Vec<_>>(),
                    0,
                ))
            };
            assert_close(
                &join(|part| &part.of_vectors),
                &stack(&whole.of_vectors),
                1e-5,
            );
            assert_close(
                &join(|part| &part.of_raised),
                &stack(&whole.of_raised),
                1e-5,
            );
            for part in &parts {
                for (found, expected) in part.labels.iter().zip(&whole.labels) {
                    assert_close(found, expected, 1e-5);
                }
            }
            // Each finds the best of its own labels, which together are the best of all.
            let [first, second] = &parts[..] else {
                unreachable!()
            };
            let merged = Ranked {
                log_scores: first.ranked.log_scores.copy(),
                labels: first.ranked.labels.copy(),
            };
            let merged = merged.merge(&second.ranked, 4);
            assert_eq!(merged.labels, whole.ranked.labels);
            assert_close(&merged.log_scores, &double(&whole.ranked.log_scores), 1e-5);
        }
    }
}
