//! The arithmetic of one pair of words, written so that the compiler makes vector instructions of
//! it: rows are whole numbers of [`LANES`].

/// Numbers that are worked on side by side.
pub(super) const LANES: usize = 8;

/// Beyond this the logistic function is flat enough to be taken as 0 or 1.
const SIGMOID_LIMIT: f32 = 8.0;

/// Entries of the table a unit.
const SIGMOID_STEPS: f32 = 128.0;

/// The sum of products of two rows.
pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left, _) = left.as_chunks::<LANES>();
    let (right, _) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum()
}

/// Moves `output` by `step` towards `input`, and notes in `movement` how far `input` is to move
/// towards what `output` was.
pub(super) fn learn(input: &[f32], output: &mut [f32], movement: &mut [f32], step: f32) {
    // Loops over whole slices: within chunks the compiler shuffles single numbers instead.
    for ((input, output), movement) in input.iter().zip(output).zip(movement) {
        *movement += step * *output;
        *output += step * input;
    }
}

/// Adds `movement` to `row` and clears it.
pub(super) fn move_row(row: &mut [f32], movement: &mut [f32]) {
    for (value, movement) in row.iter_mut().zip(movement) {
        *value += *movement;
        *movement = 0.0;
    }
}

/// The logistic function from a table.
#[derive(Debug)]
pub(super) struct Sigmoid(Vec<f32>);

impl Sigmoid {
    pub(super) fn new() -> Self {
        let num_entries = (2.0 * SIGMOID_LIMIT * SIGMOID_STEPS) as usize + 1;
        let at = |index: usize| {
            let x = (index as f32 / SIGMOID_STEPS) - SIGMOID_LIMIT;
            1.0 / (1.0 + (-x).exp())
        };
        Self((0..num_entries).map(at).collect())
    }

    pub(super) fn of(&self, x: f32) -> f32 {
        // A conversion from float ends at zero, so the index is in the table for any `x`.
        let index = ((x + SIGMOID_LIMIT) * SIGMOID_STEPS + 0.5) as usize;
        self.0[index.min(self.0.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_move_towards_each_other() {
        let input: Vec<f32> = (0..16_u8).map(f32::from).collect();
        let mut output = vec![1.0; 16];
        let mut movement = vec![0.0; 16];
        assert_eq!(dot(&input, &output), 120.0);
        learn(&input, &mut output, &mut movement, 0.5);
        assert_eq!((output[4], movement[4]), (3.0, 0.5));
        let mut row = input.clone();
        move_row(&mut row, &mut movement);
        assert_eq!((row[15], movement[15]), (15.5, 0.0));
    }

    #[test]
    fn the_table_is_the_logistic_function() {
        let sigmoid = Sigmoid::new();
        for x in [-7.9_f32, -1.234, 0.0, 0.5, 6.6] {
            let exact = 1.0 / (1.0 + (-x).exp());
            assert!((sigmoid.of(x) - exact).abs() < 2e-3, "{x}");
        }
        assert!(sigmoid.of(-1e9) < 1e-3 && sigmoid.of(1e9) > 0.999);
        assert!(sigmoid.of(f32::NAN).is_finite());
    }
}
