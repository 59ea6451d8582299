//! A product of rows and weights, with a way that the processor is good at.

use super::dots::{Dots, MOST_ROWS, Portable, Sums};
use super::linear::{Int8Linear, Line, PANEL};
use super::rows::Int8Rows;

/// Work that has products in it.
pub(super) trait Work {
    /// Implementations are inlined always, so that all of the work is compiled for the processor.
    fn run<D: Dots>(self, dots: D);
}

/// Does the work in the best way that this processor has.
pub(super) fn run<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        use super::dots::Vnni;

        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
        fn with_vnni<W: Work>(work: W, vnni: Vnni) {
            work.run(vnni);
        }

        #[target_feature(enable = "avx2")]
        fn with_avx2<W: Work>(work: W) {
            work.run(Portable);
        }

        if let Some(vnni) = Vnni::detect() {
            #[expect(unsafe_code, reason = "needs the processor features just detected")]
            // SAFETY: detected.
            return unsafe { with_vnni(work, vnni) };
        }
        if std::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "needs the processor feature just detected")]
            // SAFETY: detected.
            return unsafe { with_avx2(work) };
        }
    }
    work.run(Portable);
}

/// What becomes of the numbers of a product. A trait and no closure, so that implementations can be inlined always.
pub(super) trait Take {
    /// Gets a row's number, the first of some outputs, and these.
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]);
}

/// Multiplies all rows.
#[inline(always)]
pub(super) fn product<D: Dots>(
    dots: D,
    rows: &Int8Rows,
    linear: &Int8Linear,
    mut taking: impl Take,
) {
    let mut sums = [[0; PANEL]; MOST_ROWS];
    let mut values = [0.0_f32; PANEL];
    for (number, (panel, lines)) in linear.panels().enumerate() {
        let first = number * PANEL;
        let outputs = PANEL.min(linear.outputs() - first);
        for first_row in (0..rows.len()).step_by(MOST_ROWS) {
            let num_rows = MOST_ROWS.min(rows.len() - first_row);
            match num_rows {
                1 => tile::<1, D>(dots, rows, first_row, lines, &mut sums),
                2 => tile::<2, D>(dots, rows, first_row, lines, &mut sums),
                3 => tile::<3, D>(dots, rows, first_row, lines, &mut sums),
                4 => tile::<4, D>(dots, rows, first_row, lines, &mut sums),
                5 => tile::<5, D>(dots, rows, first_row, lines, &mut sums),
                _ => tile::<MOST_ROWS, D>(dots, rows, first_row, lines, &mut sums),
            }
            for (row, sums) in (first_row..).zip(&sums[..num_rows]) {
                let scale = rows.scale(row);
                for place in 0..PANEL {
                    let sum = (sums[place] - panel.shifts[place]) as f32;
                    values[place] = sum * (scale * panel.scales[place]) + panel.biases[place];
                }
                taking.take(row, first, &mut values[..outputs]);
            }
        }
    }
}

/// The sums of some rows by one panel.
#[inline(always)]
fn tile<const R: usize, D: Dots>(
    dots: D,
    rows: &Int8Rows,
    first_row: usize,
    lines: &[Line],
    sums: &mut [Sums; MOST_ROWS],
) {
    let codes: [&[u8]; R] = std::array::from_fn(|number| rows.codes(first_row + number));
    if let Some(sums) = sums.first_chunk_mut::<R>() {
        dots.dots(codes, lines, sums);
    }
}
