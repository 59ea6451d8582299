//! Rows of activations in eight bits.

use super::memory::Number;

/// Inputs that are multiplied at once.
pub(super) const GROUP: usize = 4;

/// What codes are more than the numbers that they stand for: processors multiply one factor without a sign.
pub(super) const SHIFT: u8 = 128;

/// The largest code.
const MOST: f32 = 127.0;

/// 1.5 * 2^23: a small number added to it is rounded to a whole one, which its lowest bits are.
const ROUNDING: f32 = 12_582_912.0;

/// Some rows in eight bits, each with a scale of its own.
#[derive(Debug, Default)]
pub(super) struct Int8Rows {
    /// Numbers of a row, with padding to whole groups.
    stride: usize,
    codes: Vec<u8>,
    /// Row by row; no number where the row has one that is none.
    scales: Vec<f32>,
}

impl Int8Rows {
    /// Takes these rows, each of so many numbers, in place of those before.
    #[inline(always)]
    pub(super) fn fill<T: Number>(&mut self, values: &[T], inputs: usize) {
        self.clear(inputs);
        for row in values.chunks_exact(inputs) {
            self.push(row);
        }
    }

    /// Forgets all rows, for such of so many numbers.
    pub(super) fn clear(&mut self, inputs: usize) {
        self.stride = inputs.next_multiple_of(GROUP);
        self.codes.clear();
        self.scales.clear();
    }

    /// Takes one more row.
    #[inline(always)]
    pub(super) fn push<T: Number>(&mut self, row: &[T]) {
        let start = self.codes.len();
        self.codes.resize(start + self.stride, SHIFT);
        self.scales.push(encode(row, &mut self.codes[start..]));
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    #[inline(always)]
    pub(super) fn codes(&self, row: usize) -> &[u8] {
        &self.codes[row * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub(super) fn scale(&self, row: usize) -> f32 {
        self.scales[row]
    }
}

/// Rounds a row; returns the scale by which codes are to be multiplied.
#[inline(always)]
fn encode<T: Number>(row: &[T], codes: &mut [u8]) -> f32 {
    // As bits, what is no number is above all that are.
    let mut largest = 0_u32;
    for value in row {
        largest = largest.max(value.wide().to_bits() & 0x7fff_ffff);
    }
    let largest = f32::from_bits(largest);
    let factor = if largest >= f32::MIN_POSITIVE {
        MOST / largest
    } else {
        0.0
    };
    for (value, code) in row.iter().zip(codes.iter_mut()) {
        let rounded = value.wide() * factor + ROUNDING;
        *code = (rounded.to_bits() as u8).wrapping_add(SHIFT);
    }
    codes[row.len()..].fill(SHIFT);
    largest / MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_within_half_a_step_of_their_numbers() {
        let values: Vec<f32> = (0..75)
            .map(|place| ((place * 37) % 101) as f32 - 50.3)
            .collect();
        let mut rows = Int8Rows::default();
        rows.fill(&values, 25);
        assert_eq!(rows.len(), 3);
        for (row, values) in values.chunks(25).enumerate() {
            let codes = rows.codes(row);
            assert_eq!(codes.len(), 28);
            assert_eq!(codes[25..], [SHIFT; 3]);
            for (code, value) in codes.iter().zip(values) {
                let decoded = (f32::from(*code) - 128.0) * rows.scale(row);
                assert!((decoded - value).abs() <= 0.5001 * rows.scale(row));
            }
            let extremes = codes.iter().map(|code| code.abs_diff(SHIFT)).max();
            assert_eq!(extremes, Some(127));
        }
    }

    #[test]
    fn zeros_and_what_is_no_number_stay_so() {
        let mut rows = Int8Rows::default();
        rows.fill(&[0.0, -0.0, f32::NAN, 1.0, f32::INFINITY, 1.0], 2);
        assert_eq!(rows.codes(0), [SHIFT; 4]);
        assert_eq!(rows.scale(0), 0.0);
        assert!(rows.scale(1).is_nan());
        assert!(!rows.scale(2).is_finite());
    }
}
