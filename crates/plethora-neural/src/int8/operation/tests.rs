use tch::Device;

use super::*;
use crate::int8::dots::Portable;
use crate::threads::with_threads;

fn drawn(shape: &[i64]) -> Tensor {
    Tensor::randn(shape, (Kind::Float, Device::Cpu))
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    let row = tensor.to_kind(Kind::Float).flatten(0, -1);
    row.try_into().unwrap()
}

/// Weights and biases of a product, or of a norm.
type Pair = [Tensor; 2];

/// The end of a layer, and what comes into it.
struct Example {
    seen: Tensor,
    states: Tensor,
    output: Pair,
    attention_norm: Pair,
    inner: Pair,
    outer: Pair,
    norm: Pair,
}

/// The same in eight bits.
struct Short {
    products: [Int8Linear; 3],
    norms: [Normed; 2],
}

impl Example {
    fn new(width: i64, inner_width: i64) -> Self {
        tch::manual_seed(7);
        let product = |outputs: i64, inputs: i64| {
            let scale = (inputs as f64).sqrt().recip();
            [drawn(&[outputs, inputs]) * scale, drawn(&[outputs])]
        };
        Self {
            seen: drawn(&[3, 31, width]),
            states: drawn(&[3, 31, width]),
            output: product(width, width),
            attention_norm: [drawn(&[width]), drawn(&[width])],
            inner: product(inner_width, width),
            outer: product(width, inner_width),
            norm: [drawn(&[width]), drawn(&[width])],
        }
    }

    /// In 32 bits, by libtorch.
    fn exact(&self, curve: Curve) -> Tensor {
        let product = |[weight, bias]: &Pair, input: &Tensor| input.linear(weight, Some(bias));
        let norm = |[weight, bias]: &Pair, states: &Tensor| {
            states.layer_norm(weight.size(), Some(weight), Some(bias), 1e-5, false)
        };
        let output = product(&self.output, &self.seen) + &self.states;
        let states = norm(&self.attention_norm, &output);
        let inner = curve.apply(&product(&self.inner, &states));
        norm(&self.norm, &(product(&self.outer, &inner) + states))
    }

    fn short(&self) -> Short {
        let norm = |[weight, bias]: &Pair| Normed {
            weight: floats(weight),
            bias: floats(bias),
            eps: 1e-5,
        };
        Short {
            products: [&self.output, &self.inner, &self.outer].map(in_eight_bits),
            norms: [norm(&self.attention_norm), norm(&self.norm)],
        }
    }
}

impl Short {
    fn end(&self, curve: Curve) -> LayerEnd<'_> {
        let [output, inner, outer] = &self.products;
        let [attention_norm, norm] = &self.norms;
        LayerEnd {
            output,
            attention_norm,
            inner,
            curve,
            outer,
            norm,
        }
    }
}

fn in_eight_bits([weight, bias]: &Pair) -> Int8Linear {
    let inputs = weight.size()[1] as usize;
    Int8Linear::new(&floats(weight), inputs, Some(&floats(bias)))
}

/// The largest difference beside the largest number.
fn error(ours: &Tensor, exact: &Tensor) -> f64 {
    let difference = (ours.to_kind(Kind::Float) - exact).abs().max();
    difference.double_value(&[]) / exact.abs().max().double_value(&[])
}

#[test]
fn operations_are_those_in_32_bits_but_for_their_rounding() {
    for (width, inner_width) in [(128, 256), (37, 70)] {
        let example = Example::new(width, inner_width);
        let short = example.short();
        let [weight, bias] = &example.inner;
        let exact = example.states.linear(weight, Some(bias));
        for kind in [Kind::Float, Kind::BFloat16] {
            let [seen, states] =
                [&example.seen, &example.states].map(|states| states.to_kind(kind));
            let ours = linear(&states, &short.products[1]);
            assert_eq!((ours.kind(), ours.size()), (kind, exact.size()));
            let error_of_one = error(&ours, &exact);
            assert!(error_of_one < 0.02, "{error_of_one}");
            for curve in [Curve::Gelu, Curve::Relu] {
                let ours = end_layer(&seen, &states, short.end(curve));
                assert_eq!((ours.kind(), ours.size()), (kind, states.size()));
                let error = error(&ours, &example.exact(curve));
                assert!(error < 0.04, "{curve:?}: {error}");
            }
        }
    }
}

#[test]
fn a_row_gets_the_same_in_any_batch_on_any_number_of_threads() {
    let example = Example::new(64, 96);
    let (short, Example { seen, states, .. }) = (example.short(), &example);
    let end = short.end(Curve::Gelu);
    let all = end_layer(seen, states, end);
    for document in 0..3 {
        let own = |tensor: &Tensor| tensor.narrow(0, document, 1);
        let alone = end_layer(&own(seen), &own(states), end);
        assert_eq!(floats(&alone), floats(&own(&all)));
    }
    for threads in [1, 2, 3] {
        let here = with_threads(threads, || end_layer(seen, states, end));
        assert_eq!(floats(&here), floats(&all), "{threads}");
    }
}

/// Compiled for whatever processor the tests are built for.
#[test]
fn processors_without_vectors_give_the_same_bits() {
    let example = Example::new(37, 70);
    let short = example.short();
    let (seen, states) = (floats(&example.seen), floats(&example.states));
    for curve in [Curve::Gelu, Curve::GeluTanh, Curve::Silu] {
        let end = short.end(curve);
        let mut output = vec![0.0_f32; states.len()];
        let rows = Rows {
            input: &seen,
            residual: Some(&states),
            output: &mut output,
        };
        end.apply(Portable, rows, &mut Scratch::default());
        let here = end_layer(&example.seen, &example.states, end);
        assert_eq!(floats(&here), output);
    }
}

#[test]
fn what_is_no_number_spreads_to_its_own_row_alone() {
    let example = Example::new(64, 96);
    let short = example.short();
    for tensor in [&example.seen, &example.states] {
        let clean = tensor.copy();
        let _ = tensor.get(1).get(4).get(9).fill_(f64::NAN);
        let output = end_layer(&example.seen, &example.states, short.end(Curve::Gelu));
        let is_nan = output.isnan().any_dim(-1, false);
        assert_eq!(is_nan.sum(Kind::Int64).int64_value(&[]), 1);
        assert_eq!(is_nan.int64_value(&[1, 4]), 1);
        tensor.shallow_clone().copy_(&clean);
    }
}
