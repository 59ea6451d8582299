//! Against `testdata/aplc/make_golden.py`, which works label by label in probabilities.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Golden {
    hidden: usize,
    shrink: f64,
    counts: Vec<u32>,
    num_documents: u64,
    cut_offs: Vec<usize>,
    true_labels: Vec<Vec<u32>>,
    vectors: Vec<Vec<f64>>,
    cases: BTreeMap<String, GoldenCase>,
}

#[derive(Deserialize)]
struct GoldenCase {
    settings: Settings,
    parameters: BTreeMap<String, Vec<f64>>,
    log_scores: Vec<Vec<f64>>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
    vector_gradient: Vec<f64>,
}

#[derive(Deserialize)]
struct Settings {
    projection: Projection,
    bias: bool,
    roots: Roots,
    tail_loss: TailLoss,
    negatives: usize,
    loss: LossScale,
}

fn for_each_case(check: impl Fn(&str, &GoldenCase, Case)) {
    let text = include_str!("../../../../../../testdata/aplc/golden.json");
    let golden: Golden = serde_json::from_str(text).unwrap();
    let true_labels: Vec<&[u32]> = golden.true_labels.iter().map(Vec::as_slice).collect();
    for (name, expected) in &golden.cases {
        let settings = &expected.settings;
        let plan = Plan {
            config: AdaptiveConfig {
                hidden: golden.hidden,
                shrink: golden.shrink,
                cut_offs: golden.cut_offs.clone(),
                projection: settings.projection,
                bias: settings.bias,
                roots: settings.roots,
                tail_loss: settings.tail_loss,
                negatives: settings.negatives,
                ..config()
            },
            counts: &golden.counts,
            num_documents: golden.num_documents,
            vectors: Tensor::from_slice2(&golden.vectors).to_kind(Kind::Float),
            true_labels: &true_labels,
            scale: settings.loss,
            ..Plan::new()
        };
        let case = plan.fresh();
        let dense = case.parameters.dense.iter();
        let tables = (case.parameters.tables.iter()).map(|table| (table.name(), table.values()));
        let mut names = Vec::new();
        for (name, value) in dense.chain(tables) {
            let given = as_shape(&expected.parameters[name], value);
            tch::no_grad(|| value.shallow_clone().copy_(&given));
            names.push(name.to_owned());
        }
        names.sort();
        assert!(names.iter().eq(expected.parameters.keys()), "{names:?}");
        check(name, expected, case);
    }
}

fn as_shape(numbers: &[f64], like: &Tensor) -> Tensor {
    Tensor::from_slice(numbers).view_as(like)
}

#[test]
fn scores_equal_pytorch_in_a_batch_and_alone() {
    for_each_case(|name, expected, case| {
        let num_labels = COUNTS.len();
        let by_label = |ranked: &Ranked| {
            let scores = ranked.log_scores.zeros_like();
            scores.scatter(1, &ranked.labels, &ranked.log_scores)
        };
        let expected = Tensor::from_slice2(&expected.log_scores);
        let scores = by_label(&case.head.rank(&case.input(), 1, num_labels));
        assert_close(&scores, &expected, 1e-5, name);
        for document in 0..case.vector.size()[0] {
            let input = VectorInput {
                parameters: &case.parameters,
                vector: &case.vector.narrow(0, document, 1),
                prior: None,
                recall: None,
            };
            let alone = by_label(&case.head.rank(&input, 1, num_labels));
            assert_close(&alone, &expected.narrow(0, document, 1), 1e-5, name);
        }
    });
}

#[test]
fn losses_and_gradients_equal_pytorch() {
    for_each_case(|name, expected, case| {
        let learnt = case.learn(1.0);
        let loss = Tensor::from(expected.loss);
        assert_close(&learnt.loss, &loss, 1e-5, name);
        let gradient = as_shape(&expected.vector_gradient, &case.vector);
        assert_close(&case.vector.grad(), &gradient, 1e-4, name);
        for (parameter, value) in case.parameters.dense.iter() {
            let gradient = as_shape(&expected.gradients[parameter], value);
            let what = format!("{name} {parameter}");
            assert_close(&value.grad(), &gradient, 1e-4, &what);
        }
        let of_tables = case.gradients(&learnt).split_off(2);
        for (table, found) in case.parameters.tables.iter().zip(of_tables) {
            let gradient = as_shape(&expected.gradients[table.name()], table.values());
            assert_close(&found, &gradient, 1e-4, &format!("{name} {}", table.name()));
        }
    });
}
