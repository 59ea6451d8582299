//! Sums of products of codes.

use super::linear::{LANES, Line, PANEL};
use super::rows::GROUP;

/// Rows that are multiplied together: as many as a processor has registers for.
pub(super) const MOST_ROWS: usize = 6;

/// Those of a row and a panel.
pub(super) type Sums = [i32; PANEL];

/// Columns of 32 bits that are multiplied together.
pub(super) const COLUMNS: usize = 32;

/// Those of a row and as many columns.
pub(super) type Floats = [f32; COLUMNS];

/// A way to multiply some rows by a panel.
pub(super) trait Dots: Copy + Send + Sync {
    /// Writes the sums of each row, which are the same in all ways.
    fn dots<const R: usize>(self, rows: [&[u8]; R], lines: &[Line], sums: &mut [Sums; R]);

    /// The same with numbers of 32 bits, for a matrix that is given row by row.
    fn floats<const R: usize>(self, rows: [&[f32]; R], matrix: &[Floats], sums: &mut [Floats; R]);
}

/// On every processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

impl Dots for Portable {
    #[inline(always)]
    fn dots<const R: usize>(self, rows: [&[u8]; R], lines: &[Line], sums: &mut [Sums; R]) {
        *sums = [[0; PANEL]; R];
        for (group, lines) in lines.chunks_exact(PANEL / LANES).enumerate() {
            for (row, sums) in rows.iter().zip(sums.iter_mut()) {
                let codes = &row[group * GROUP..][..GROUP];
                let weights = lines.iter().flat_map(|line| line.0.chunks_exact(GROUP));
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    for (code, weight) in codes.iter().zip(weights) {
                        *sum += i32::from(*code) * i32::from(*weight);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn floats<const R: usize>(self, rows: [&[f32]; R], matrix: &[Floats], sums: &mut [Floats; R]) {
        Self::multiply(rows, matrix, sums);
    }
}

impl Portable {
    /// The loop of [`Dots::floats`].
    #[inline(always)]
    fn multiply<const R: usize>(rows: [&[f32]; R], matrix: &[Floats], sums: &mut [Floats; R]) {
        *sums = [[0.0; COLUMNS]; R];
        for (place, columns) in matrix.iter().enumerate() {
            for (row, sums) in rows.iter().zip(sums.iter_mut()) {
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum += row[place] * column;
                }
            }
        }
    }
}

/// Whether the processor multiplies 64 pairs at once.
pub(super) fn has_vnni() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        Vnni::detect().is_some()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// On processors with AVX-512 VNNI, which multiply 64 pairs at once.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Vnni(());

#[cfg(target_arch = "x86_64")]
impl Vnni {
    /// Where the processor has what [`Vnni`] and the operations compiled for it need.
    pub(super) fn detect() -> Option<Self> {
        let has_all = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512vnni");
        has_all.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Dots for Vnni {
    #[inline(always)]
    fn dots<const R: usize>(self, rows: [&[u8]; R], lines: &[Line], sums: &mut [Sums; R]) {
        #[expect(unsafe_code, reason = "needs processor features")]
        // SAFETY: they were detected when `self` was made.
        unsafe {
            dots_with_vnni(rows, lines, sums);
        }
    }

    #[inline(always)]
    fn floats<const R: usize>(self, rows: [&[f32]; R], matrix: &[Floats], sums: &mut [Floats; R]) {
        #[expect(unsafe_code, reason = "needs processor features")]
        // SAFETY: they were detected when `self` was made.
        unsafe {
            floats_with_avx512(rows, matrix, sums);
        }
    }
}

/// Numbers as vectors of the processor, or the other way round.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
const fn bits<From: Copy, To: Copy>(from: From) -> To {
    const { assert!(size_of::<From>() == size_of::<To>()) };
    #[expect(unsafe_code, reason = "vectors have no safe way in and out")]
    // SAFETY: equally large, and used here for numbers alone, of which all bits are some.
    unsafe {
        std::mem::transmute_copy(&from)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dots_with_vnni<const R: usize>(rows: [&[u8]; R], lines: &[Line], sums: &mut [Sums; R]) {
    use std::arch::x86_64::{
        __m512i, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    };

    const VECTORS: usize = PANEL / LANES;
    let num_groups = lines.len() / VECTORS;
    let mut vectors = [[_mm512_setzero_si512(); VECTORS]; R];
    for group in 0..num_groups {
        let lines = &lines[group * VECTORS..][..VECTORS];
        let weights: [__m512i; VECTORS] = std::array::from_fn(|number| bits(lines[number]));
        for (row, sums) in rows.iter().zip(&mut vectors) {
            let codes = row[group * GROUP..][..GROUP].first_chunk::<GROUP>();
            let codes = _mm512_set1_epi32(codes.map_or(0, |codes| i32::from_le_bytes(*codes)));
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = _mm512_dpbusd_epi32(*sum, codes, weights);
            }
        }
    }
    for (sums, vectors) in sums.iter_mut().zip(vectors) {
        *sums = bits::<[__m512i; VECTORS], Sums>(vectors);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn floats_with_avx512<const R: usize>(
    rows: [&[f32]; R],
    matrix: &[Floats],
    sums: &mut [Floats; R],
) {
    use std::arch::x86_64::{__m512, _mm512_fmadd_ps, _mm512_set1_ps, _mm512_setzero_ps};

    const VECTORS: usize = COLUMNS / LANES;
    let mut vectors = [[_mm512_setzero_ps(); VECTORS]; R];
    for (place, columns) in matrix.iter().enumerate() {
        let columns = bits::<Floats, [__m512; VECTORS]>(*columns);
        for (row, sums) in rows.iter().zip(&mut vectors) {
            let factor = _mm512_set1_ps(row[place]);
            for (sum, columns) in sums.iter_mut().zip(columns) {
                *sum = _mm512_fmadd_ps(factor, columns, *sum);
            }
        }
    }
    for (sums, vectors) in sums.iter_mut().zip(vectors) {
        *sums = bits::<[__m512; VECTORS], Floats>(vectors);
    }
}

#[cfg(test)]
mod tests {
    use super::super::linear::Int8Linear;
    use super::*;

    #[test]
    fn processors_agree_on_every_sum() {
        let weights: Vec<f32> = (0..70 * 37)
            .map(|place| ((place * 31) % 255) as f32 - 127.0)
            .collect();
        let linear = Int8Linear::new(&weights, 37, None);
        let rows: Vec<Vec<u8>> = (0..6_u32)
            .map(|row| {
                (0..40_u32)
                    .map(|place| ((place * 89 + row * 7) % 256) as u8)
                    .collect()
            })
            .collect();
        let six: [&[u8]; 6] = std::array::from_fn(|row| rows[row].as_slice());
        for (number, (_, lines)) in linear.panels().enumerate() {
            let mut sums = [[0; PANEL]; 6];
            Portable.dots(six, lines, &mut sums);
            for (row, sums) in rows.iter().zip(&sums) {
                for (output, sum) in sums.iter().enumerate().take(70 - 64 * number.min(1)) {
                    let output = 64 * number + output;
                    let Some(weights) = weights.chunks(37).nth(output) else {
                        continue;
                    };
                    let largest = weights
                        .iter()
                        .fold(0.0_f32, |most, weight| most.max(weight.abs()));
                    let exact: i32 = (weights.iter().zip(row))
                        .map(|(weight, code)| {
                            (weight * (127.0 / largest)).round_ties_even() as i32 * i32::from(*code)
                        })
                        .sum();
                    assert_eq!(*sum, exact);
                }
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(vnni) = Vnni::detect() {
                let (mut of_six, mut of_one) = ([[1; PANEL]; 6], [[1; PANEL]]);
                vnni.dots(six, lines, &mut of_six);
                vnni.dots([six[3]], lines, &mut of_one);
                assert_eq!(of_six, sums);
                assert_eq!(of_one, [sums[3]]);
            }
        }
    }
}
