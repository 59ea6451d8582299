//! Functions between two matrices, of tensors and of plain numbers.
//!
//! For the latter, quotients of polynomials stand for erf and tanh, of which processors have no vectors: fitted by
//! least squares on Chebyshev nodes, with weights that grow where the error is largest. Errors are below 1e-6.

#![expect(
    clippy::inline_always,
    reason = "loops that call these are compiled for several processors"
)]

use tch::Tensor;

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    /// By the normal distribution's integral.
    Gelu,
    /// The same by a formula with tanh.
    GeluTanh,
    Relu,
    Silu,
}

impl Curve {
    /// Names as configurations of encoders have them.
    pub(crate) const NAMES: [(&'static str, Self); 8] = [
        ("gelu", Self::Gelu),
        ("gelu_python", Self::Gelu),
        ("gelu_new", Self::GeluTanh),
        ("gelu_fast", Self::GeluTanh),
        ("gelu_pytorch_tanh", Self::GeluTanh),
        ("relu", Self::Relu),
        ("silu", Self::Silu),
        ("swish", Self::Silu),
    ];

    pub(crate) fn apply(self, input: &Tensor) -> Tensor {
        match self {
            Self::Gelu => input.gelu("none"),
            Self::GeluTanh => input.gelu("tanh"),
            Self::Relu => input.relu(),
            Self::Silu => input.silu(),
        }
    }

    /// The same in place, for loops of vectors.
    #[inline(always)]
    pub(crate) fn apply_to(self, values: &mut [f32]) {
        match self {
            Self::Gelu => {
                for value in values {
                    let integral = 1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2);
                    *value *= 0.5 * integral;
                }
            }
            Self::GeluTanh => {
                for value in values {
                    let cube = *value * *value * *value;
                    let inner = 0.797_884_6 * (*value + 0.044_715 * cube);
                    *value *= 0.5 * (1.0 + tanh(inner));
                }
            }
            Self::Relu => {
                for value in values {
                    *value = value.max(0.0);
                }
            }
            Self::Silu => {
                for value in values {
                    *value *= sigmoid(*value);
                }
            }
        }
    }
}

/// Beyond this erf is 1 but for 1e-7.
const ERF_END: f32 = 3.8;

#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-ERF_END, ERF_END);
    let square = x * x;
    let above = [
        1.128_377,
        0.393_967_93,
        0.076_132_71,
        0.011_577_895,
        2.978_597_5e-4,
        -1.708_473_3e-6,
    ];
    let below = [1.0, 0.682_452_1, 0.195_052_73, 0.030_678_04, 0.002_758_611];
    x * polynomial(square, above) / polynomial(square, below)
}

/// The logistic function.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    0.5 + 0.5 * tanh(0.5 * x)
}

/// Beyond this tanh is 1 but for 1e-7.
const TANH_END: f32 = 8.5;

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let x = x.clamp(-TANH_END, TANH_END);
    let square = x * x;
    let above = [
        0.999_999_94,
        0.134_062_56,
        0.003_525_878_3,
        2.112_251_2e-5,
        1.410_048_9e-8,
    ];
    let below = [
        1.0,
        0.467_395_66,
        0.025_991_362,
        3.335_785_6e-4,
        8.074_141_5e-7,
    ];
    x * polynomial(square, above) / polynomial(square, below)
}

/// 1.5 * 2^23: a small number added to it is rounded to a whole one, which its lowest bits are.
const ROUNDING: f32 = 12_582_912.0;

/// 2 to a power of at most 0; below the smallest number that processors are fast with, that one. What is no number
/// stays none.
#[inline(always)]
pub(crate) fn power_of_two(power: f32) -> f32 {
    let power = if power < -126.0 { -126.0 } else { power };
    let rounded = power + ROUNDING;
    let rest = power - (rounded - ROUNDING);
    // The terms of its series.
    let series = [
        1.0,
        std::f32::consts::LN_2,
        0.240_226_5,
        0.055_504_11,
        0.009_618_129,
        0.001_333_355_8,
        1.540_353e-4,
    ];
    let exponent = rounded.to_bits() << 23;
    let value = f32::from_bits(polynomial(rest, series).to_bits().wrapping_add(exponent));
    value + rest * 0.0
}

/// The constant first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = 0.0;
    for place in (0..N).rev() {
        sum = sum * x + coefficients[place];
    }
    sum
}

#[cfg(test)]
mod tests {
    use tch::Kind;

    use super::*;

    #[test]
    fn curves_are_those_of_libtorch() {
        let points: Vec<f32> = (-40_000..=40_000)
            .map(|point| point as f32 / 2000.0)
            .collect();
        let exact = Tensor::from_slice(&points).to_kind(Kind::Double);
        for (curve, exact) in [
            (Curve::Gelu, exact.gelu("none")),
            (Curve::GeluTanh, exact.gelu("tanh")),
            (Curve::Relu, exact.relu()),
            (Curve::Silu, exact.silu()),
        ] {
            let mut values = points.clone();
            curve.apply_to(&mut values);
            let exact = Vec::<f64>::try_from(exact).unwrap();
            for ((point, value), exact) in points.iter().zip(&values).zip(&exact) {
                let error = (f64::from(*value) - exact).abs();
                assert!(
                    error < 1e-6 * f64::from(point.abs()).max(1.0),
                    "{curve:?} {point}: {error}"
                );
            }
        }
    }

    #[test]
    fn powers_of_two_are_exact_enough() {
        for step in 0..=126_000 {
            let power = -(step as f32) / 1000.0;
            let exact = f64::from(power).exp2();
            let error = (f64::from(power_of_two(power)) / exact - 1.0).abs();
            assert!(error < 1e-6, "{power}: {error}");
        }
        assert_eq!(power_of_two(0.0), 1.0);
        assert!(power_of_two(-1e30) < 2e-38);
        assert!(power_of_two(f32::NEG_INFINITY) < 2e-38);
        assert!(power_of_two(f32::NAN).is_nan());
    }

    #[test]
    fn no_number_stays_none() {
        for curve in [Curve::Gelu, Curve::GeluTanh, Curve::Silu] {
            let mut values = [f32::NAN];
            curve.apply_to(&mut values);
            assert!(values[0].is_nan(), "{curve:?}");
        }
    }
}
