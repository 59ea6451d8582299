use tch::Device;

use super::*;
use crate::int8::dots::Portable;

fn drawn(shape: &[i64]) -> Tensor {
    Tensor::randn(shape, (Kind::Float, Device::Cpu))
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    tensor
        .to_kind(Kind::Float)
        .flatten(0, -1)
        .try_into()
        .unwrap()
}

struct Example {
    states: Tensor,
    /// Weights and biases of an inner and an outer product.
    inner: [Tensor; 2],
    outer: [Tensor; 2],
    norm: [Tensor; 2],
}

impl Example {
    fn new(width: i64, inner_width: i64) -> Self {
        tch::manual_seed(7);
        let scale = |width: i64| 1.0 / (width as f64).sqrt();
        Self {
            states: drawn(&[3, 31, width]),
            inner: [
                drawn(&[inner_width, width]) * scale(width),
                drawn(&[inner_width]),
            ],
            outer: [
                drawn(&[width, inner_width]) * scale(inner_width),
                drawn(&[width]),
            ],
            norm: [drawn(&[width]), drawn(&[width])],
        }
    }

    fn linear([weight, bias]: &[Tensor; 2]) -> Int8Linear {
        let inputs = weight.size()[1] as usize;
        Int8Linear::new(&floats(weight), inputs, Some(&floats(bias)))
    }

    fn normed(&self) -> Normed {
        Normed {
            weight: floats(&self.norm[0]),
            bias: floats(&self.norm[1]),
            eps: 1e-5,
        }
    }

    fn exact_norm(&self, states: &Tensor) -> Tensor {
        let [weight, bias] = &self.norm;
        let shape = weight.size();
        states.layer_norm(shape, Some(weight), Some(bias), 1e-5, false)
    }
}

/// The largest difference beside the largest number.
fn error(ours: &Tensor, exact: &Tensor) -> f64 {
    let largest = exact.abs().max().double_value(&[]);
    (ours.to_kind(Kind::Float) - exact)
        .abs()
        .max()
        .double_value(&[])
        / largest
}

#[test]
fn operations_are_those_in_32_bits_but_for_their_rounding() {
    for (width, inner_width) in [(128, 256), (37, 70)] {
        let example = Example::new(width, inner_width);
        let Example {
            states,
            inner,
            outer,
            ..
        } = &example;
        let (first, second) = (Example::linear(inner), Example::linear(outer));
        let exact_inner = states.linear(&inner[0], Some(&inner[1]));
        for kind in [Kind::Float, Kind::BFloat16] {
            let states = states.to_kind(kind);
            let ours = linear(&states, &first);
            assert_eq!((ours.kind(), ours.size()), (kind, exact_inner.size()));
            assert!(
                error(&ours, &exact_inner) < 0.02,
                "{}",
                error(&ours, &exact_inner)
            );

            let ours = normed(&ours, &second, &states, &example.normed());
            let exact = exact_inner.linear(&outer[0], Some(&outer[1])) + &example.states;
            let exact = example.exact_norm(&exact);
            assert!(error(&ours, &exact) < 0.03, "{}", error(&ours, &exact));

            for curve in [Curve::Gelu, Curve::Relu] {
                let (inner, outer_part) = (&first, &second);
                let parts = FeedForward {
                    inner,
                    curve,
                    outer: outer_part,
                };
                let ours = feed_forward(&states, parts, &example.normed());
                let between = curve.apply(&exact_inner);
                let exact = between.linear(&outer[0], Some(&outer[1])) + &example.states;
                let exact = example.exact_norm(&exact);
                assert!(
                    error(&ours, &exact) < 0.03,
                    "{curve:?}: {}",
                    error(&ours, &exact)
                );
            }
        }
    }
}

#[test]
fn a_row_gets_the_same_in_any_batch_on_any_number_of_threads() {
    let example = Example::new(64, 96);
    let (inner, outer) = (
        &Example::linear(&example.inner),
        &Example::linear(&example.outer),
    );
    let (norm, curve) = (example.normed(), Curve::Gelu);
    let parts = FeedForward {
        inner,
        curve,
        outer,
    };
    let all = feed_forward(&example.states, parts, &norm);
    for document in 0..3 {
        let alone = feed_forward(&example.states.narrow(0, document, 1), parts, &norm);
        assert_eq!(floats(&alone), floats(&all.narrow(0, document, 1)));
    }
    for threads in [1, 2, 3] {
        let here =
            crate::threads::with_threads(threads, || feed_forward(&example.states, parts, &norm));
        assert_eq!(floats(&here), floats(&all), "{threads}");
    }
}

/// Compiled for whatever processor the tests are built for.
#[test]
fn processors_without_vectors_give_the_same_bits() {
    let example = Example::new(37, 70);
    let (inner, outer) = (
        &Example::linear(&example.inner),
        &Example::linear(&example.outer),
    );
    let norm = &example.normed();
    let states = floats(&example.states.narrow(0, 0, 1));
    for curve in [Curve::Gelu, Curve::GeluTanh, Curve::Silu] {
        let parts = FeedForward {
            inner,
            curve,
            outer,
        };
        let mut output = vec![0.0_f32; states.len()];
        let rows = Rows {
            input: &states,
            residual: None,
            output: &mut output,
        };
        let work = TwoProducts { parts, norm };
        work.apply(Portable, rows, &mut Scratch::default());
        let here = feed_forward(&example.states.narrow(0, 0, 1), parts, norm);
        assert_eq!(floats(&here), output);
    }
}

#[test]
fn what_is_no_number_spreads_to_its_own_row_alone() {
    let example = Example::new(64, 96);
    let (inner, outer) = (
        &Example::linear(&example.inner),
        &Example::linear(&example.outer),
    );
    let parts = FeedForward {
        inner,
        curve: Curve::Gelu,
        outer,
    };
    let states = example.states.contiguous();
    let _ = states.get(1).get(4).get(9).fill_(f64::NAN);
    let output = feed_forward(&states, parts, &example.normed());
    let is_nan = output.isnan().any_dim(-1, false);
    assert_eq!(is_nan.sum(Kind::Int64).int64_value(&[]), 1);
    assert_eq!(is_nan.int64_value(&[1, 4]), 1);
}
