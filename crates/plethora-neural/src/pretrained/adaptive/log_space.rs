//! The loss of labels whose probability is a product, in logarithms.
//!
//! With a the root's logit, t the label's and p = sigmoid(a) sigmoid(t), let s = ln sigmoid(a) +
//! ln sigmoid(t) = ln p. A true label costs -s and a false one -ln(1 - e^s). By a logit x of the two
//! the derivatives are -sigmoid(-x) and p / (1 - p) sigmoid(-x). The latter is at most p, since
//! 1 - p is at least sigmoid(-x), though its first factor grows without bound: so factors are added as
//! logarithms, and only their sum leaves them. The same in probabilities loses all labels below
//! about 1e-7, and divides by zero at 1.

use tch::Tensor;

/// Where 1 - e^x has lost half its digits, so that the other form of its logarithm takes over.
const TURN: f64 = -std::f64::consts::LN_2;

/// What some labels cost, and the derivatives of that.
pub(super) struct LabelTerms {
    /// Of all labels and documents.
    pub(super) loss: Tensor,
    /// documents x labels.
    pub(super) of_logits: Tensor,
    /// documents: by the root's logit; zeros where labels stand for themselves.
    pub(super) of_roots: Tensor,
}

/// Costs of labels below a root, or with none of labels that stand for themselves.
///
/// # Shapes
/// `logits`: documents x labels, in 32 bits or more; `roots`: documents; `truth`: as `logits`, ones
/// and zeros, absent where nothing is true; `weights`: documents, what each counts.
pub(super) fn label_terms(
    logits: &Tensor,
    roots: Option<&Tensor>,
    truth: Option<&Tensor>,
    weights: &Tensor,
) -> LabelTerms {
    let of_label = logits.log_sigmoid();
    // ln sigmoid(-x) = ln sigmoid(x) - x.
    let against_label = &of_label - logits;
    let of_root = roots.map(|roots| roots.log_sigmoid().unsqueeze(1));
    let log_product = match &of_root {
        Some(of_root) => of_label + of_root,
        None => of_label,
    };
    // Below zero even where both round to it, so that the logarithm of the rest is a number.
    let log_product = log_product.clamp_max(-f64::from(f32::MIN_POSITIVE));
    let log_rest = log_of_one_less_exp(&log_product);
    let log_odds = &log_product - &log_rest;
    let mut costs = log_rest.neg();
    let mut of_logits = (&log_odds + &against_label).exp();
    if let Some(truth) = truth {
        // From what it costs to be false to what it costs to be true.
        costs -= truth * &log_odds;
        let if_true = against_label.exp().neg();
        of_logits += truth * (if_true - &of_logits);
    }
    let weights = weights.unsqueeze(1);
    let of_roots = match (roots, of_root) {
        (Some(roots), Some(of_root)) => {
            let against_root = of_root - roots.unsqueeze(1);
            let mut terms = (&log_odds + &against_root).exp();
            if let Some(truth) = truth {
                let if_true = against_root.exp().neg();
                terms += truth * (if_true - &terms);
            }
            (terms * &weights).sum_dim_intlist(1, false, logits.kind())
        }
        _ => logits.new_zeros([logits.size()[0]], (logits.kind(), logits.device())),
    };
    LabelTerms {
        loss: (costs * &weights).sum(logits.kind()),
        of_logits: of_logits * weights,
        of_roots,
    }
}

/// ln(1 - e^x) for x below zero, to the last digits at both ends.
fn log_of_one_less_exp(x: &Tensor) -> Tensor {
    let near_zero = x.expm1().neg().log();
    let far_below = x.exp().neg().log1p();
    near_zero.where_self(&x.gt(TURN), &far_below)
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;

    fn logits(kind: Kind) -> Tensor {
        let logits = [[-9.0, -2.5, 0.0], [0.7, 3.0, 6.0], [-0.1, 1.5, -4.0]];
        Tensor::from_slice2(&logits).to_kind(kind)
    }

    fn truth(kind: Kind) -> Tensor {
        let truth = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        Tensor::from_slice2(&truth).to_kind(kind)
    }

    fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64) {
        let error = (found.to_kind(Kind::Double) - expected).abs().max();
        let error = error.double_value(&[]);
        assert!(error < tolerance, "{found:?} is off by {error}");
    }

    #[test]
    fn losses_equal_those_of_the_product_of_probabilities_where_that_is_stable() {
        let roots = Tensor::from_slice(&[-3.0, 0.4, 2.0]);
        let weights = Tensor::from_slice(&[0.5, 2.0, 1.0]);
        let leaf = logits(Kind::Double).set_requires_grad(true);
        let root_leaf = roots.copy().set_requires_grad(true);
        let truth_matrix = truth(Kind::Double);
        let product = leaf.sigmoid() * root_leaf.sigmoid().unsqueeze(1);
        let [if_false, absent] = [&truth_matrix, &product].map(|tensor| tensor.neg() + 1.0);
        let gains: Tensor = &truth_matrix * product.log() + if_false * absent.log();
        let loss = (gains * weights.unsqueeze(1)).sum(Kind::Double).neg();
        loss.backward();
        for (kind, tolerance) in [(Kind::Double, 1e-12), (Kind::Float, 2e-5)] {
            let as_kind = |tensor: &Tensor| tensor.to_kind(kind);
            let terms = label_terms(
                &logits(kind),
                Some(&as_kind(&roots)),
                Some(&truth(kind)),
                &as_kind(&weights),
            );
            assert_close(&terms.loss, &loss, tolerance);
            assert_close(&terms.of_logits, &leaf.grad(), tolerance);
            assert_close(&terms.of_roots, &root_leaf.grad(), tolerance);
        }
    }

    #[test]
    fn labels_without_a_root_cost_their_cross_entropy() {
        let weights = Tensor::ones([3], (Kind::Double, Device::Cpu));
        let (logits, truth) = (logits(Kind::Double), truth(Kind::Double));
        let terms = label_terms(&logits, None, Some(&truth), &weights);
        let sum = tch::Reduction::Sum;
        let loss = logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, sum);
        assert_close(&terms.loss, &loss, 1e-12);
        assert_close(&terms.of_logits, &(logits.sigmoid() - truth), 1e-12);
        assert_eq!(terms.of_roots.abs().max().double_value(&[]), 0.0);
    }

    #[test]
    fn numbers_stay_numbers_whatever_the_logits() {
        let extreme = [-1e4, -200.0, -90.0, -20.0, 0.0, 20.0, 90.0, 200.0, 1e4];
        let roots = Tensor::from_slice(&extreme).to_kind(Kind::Float);
        let logits = roots.unsqueeze(0).repeat([9, 1]);
        let weights = Tensor::ones([9], (Kind::Float, Device::Cpu));
        let none = logits.zeros_like();
        for truth in [None, Some(&none), Some(&none.ones_like())] {
            let terms = label_terms(&logits, Some(&roots), truth, &weights);
            for tensor in [&terms.loss, &terms.of_logits, &terms.of_roots] {
                assert!(tensor.isfinite().all().int64_value(&[]) == 1, "{tensor}");
            }
            assert!(terms.of_logits.abs().max().double_value(&[]) <= 1.0);
        }
        // Both factors certain: half of the blame falls on each where they are equally so.
        let [root, logit] = [[20.0_f32], [20.0]].map(|one| Tensor::from_slice(&one));
        let terms = label_terms(&logit.unsqueeze(0), Some(&root), None, &root.ones_like());
        assert!((terms.of_logits.double_value(&[0, 0]) - 0.5).abs() < 1e-3);
        assert!((terms.of_roots.double_value(&[0]) - 0.5).abs() < 1e-3);
        // A label far below what a probability near 1 can tell still has its own cost.
        let [root, logit] = [[-30.0_f32], [-30.0]].map(|one| Tensor::from_slice(&one));
        let terms = label_terms(&logit.unsqueeze(0), Some(&root), None, &root.ones_like());
        let cost = terms.loss.double_value(&[]);
        assert!((cost / (-60.0_f64).exp() - 1.0).abs() < 1e-4, "{cost}");
    }
}
