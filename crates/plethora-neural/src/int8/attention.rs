//! Attention of an encoder that only reads, on processors: in 32 bits, head by head in the cache.

use half::bf16;
use rayon::prelude::*;
use tch::{Kind, Tensor};

use super::dots::{COLUMNS, Dots, Floats, MOST_ROWS};
use super::memory::{Number, numbers, numbers_mut};
use super::product::{Work, run};
use crate::curve::power_of_two;

/// What each piece sees of the others of its document.
///
/// # Shapes
/// From queries, keys and values side by side, documents x pieces x 3 width, to documents x pieces x width.
/// `bias` broadcasts to documents x heads x pieces x pieces.
pub(crate) fn attend(qkv: &Tensor, num_heads: usize, bias: Option<&Tensor>) -> Tensor {
    match qkv.kind() {
        Kind::BFloat16 => attend_of::<bf16>(qkv, num_heads, bias),
        _ => attend_of::<f32>(qkv, num_heads, bias),
    }
}

fn attend_of<T: Number>(qkv: &Tensor, num_heads: usize, bias: Option<&Tensor>) -> Tensor {
    let (num_documents, pieces, columns) = qkv.size3().unwrap_or_default();
    let width = columns as usize / 3;
    let shape = [num_documents, pieces, width as i64];
    let mut seen = Tensor::empty(shape, (T::KIND, qkv.device()));
    if seen.numel() == 0 {
        return seen;
    }
    let qkv = qkv.contiguous();
    let bias = bias.map(|bias| bias.to_kind(T::KIND).contiguous());
    let bias = bias.as_ref().map(|bias| Bias {
        numbers: numbers::<T>(bias),
        sizes: bias.size(),
    });
    let (qkv, pieces) = (numbers::<T>(&qkv), pieces as usize);
    let threads = tch::get_num_threads().max(1) as usize;
    // A document by one thread, but for such that are alone.
    let rows = if num_documents as usize >= threads {
        pieces
    } else {
        pieces.div_ceil(threads)
    };
    let parts = numbers_mut::<T>(&mut seen)
        .chunks_mut(pieces * width)
        .enumerate();
    let mut parts: Vec<_> = parts
        .flat_map(|(document, seen)| {
            let parts = seen.chunks_mut(rows * width).enumerate();
            parts.map(move |(part, seen)| (document, part * rows, seen))
        })
        .collect();
    let attend = |(document, first_row, seen): &mut (usize, usize, &mut [T])| {
        run(Attending {
            qkv: &qkv[*document * pieces * 3 * width..][..pieces * 3 * width],
            pieces,
            head_width: width / num_heads,
            bias: bias.as_ref(),
            document: *document,
            first_row: *first_row,
            seen,
        });
    };
    if threads > 1 {
        parts.par_iter_mut().for_each(attend);
    } else {
        parts.iter_mut().for_each(attend);
    }
    seen
}

/// What is added to the products of queries and keys, documents x heads x rows x pieces, each but the last
/// perhaps one for all.
struct Bias<'a, T> {
    numbers: &'a [T],
    sizes: Vec<i64>,
}

impl<T> Bias<'_, T> {
    fn row(&self, document: usize, head: usize, row: usize) -> &[T] {
        let mut start = 0;
        for (place, size) in [document, head, row].into_iter().zip(&self.sizes) {
            start = start * *size as usize + place.min(*size as usize - 1);
        }
        let length = self.sizes.last().map_or(0, |length| *length as usize);
        &self.numbers[start * length..][..length]
    }
}

/// Some rows of one document.
struct Attending<'a, 's, T> {
    qkv: &'a [T],
    pieces: usize,
    head_width: usize,
    bias: Option<&'a Bias<'a, T>>,
    document: usize,
    first_row: usize,
    seen: &'s mut [T],
}

impl<T: Number> Work for Attending<'_, '_, T> {
    #[inline(always)]
    fn run<D: Dots>(self, dots: D) {
        let (pieces, head_width) = (self.pieces, self.head_width);
        let width = self.qkv.len() / (3 * pieces);
        let num_rows = self.seen.len() / width;
        let scale = (head_width as f32).sqrt().recip();
        let of = |part: usize, piece: usize, head: usize| {
            &self.qkv[(piece * 3 + part) * width + head * head_width..][..head_width]
        };
        let blank = [0.0_f32; COLUMNS];
        let num_panels = pieces.div_ceil(COLUMNS);
        let mut keys = vec![blank; num_panels * head_width];
        let mut values = vec![blank; head_width.div_ceil(COLUMNS) * pieces];
        let mut queries = vec![0.0_f32; MOST_ROWS * head_width];
        let mut weights = vec![0.0_f32; MOST_ROWS * num_panels * COLUMNS];
        let mut tile = [blank; MOST_ROWS];
        for head in 0..width / head_width {
            for piece in 0..pieces {
                let panel = &mut keys[piece / COLUMNS * head_width..][..head_width];
                for (columns, key) in panel.iter_mut().zip(of(1, piece, head)) {
                    columns[piece % COLUMNS] = key.wide();
                }
                for (number, part) in of(2, piece, head).chunks(COLUMNS).enumerate() {
                    let columns = &mut values[number * pieces + piece];
                    for (column, value) in columns.iter_mut().zip(part) {
                        *column = value.wide();
                    }
                }
            }
            for first in (0..num_rows).step_by(MOST_ROWS) {
                let count = MOST_ROWS.min(num_rows - first);
                for row in 0..count {
                    let query = of(0, self.first_row + first + row, head);
                    let kept = &mut queries[row * head_width..][..head_width];
                    for (kept, query) in kept.iter_mut().zip(query) {
                        *kept = query.wide() * scale;
                    }
                }
                let stride = num_panels * COLUMNS;
                multiply(
                    dots,
                    (&queries, head_width),
                    &keys,
                    (&mut weights, stride, count),
                    &mut tile,
                );
                let mut sums = [0.0_f32; MOST_ROWS];
                for row in 0..count {
                    let weights = &mut weights[row * stride..][..pieces];
                    let bias = (self.bias)
                        .map(|bias| bias.row(self.document, head, self.first_row + first + row));
                    sums[row] = softmax(weights, bias);
                }
                for (number, values) in values.chunks_exact(pieces).enumerate() {
                    let columns = number * COLUMNS..head_width.min((number + 1) * COLUMNS);
                    tiles(dots, (&weights, stride), values, &mut tile, count);
                    for (row, seen) in tile[..count].iter().enumerate() {
                        let start = (first + row) * width + head * head_width;
                        let output = &mut self.seen[start + columns.start..][..columns.len()];
                        let factor = sums[row].recip();
                        for (output, value) in output.iter_mut().zip(seen) {
                            *output = T::of(value * factor);
                        }
                    }
                }
            }
        }
    }
}

/// Multiplies rows by all panels of a matrix and writes the products row by row.
#[inline(always)]
fn multiply<D: Dots>(
    dots: D,
    (rows, width): (&[f32], usize),
    matrix: &[Floats],
    (output, stride, count): (&mut [f32], usize, usize),
    tile: &mut [Floats; MOST_ROWS],
) {
    for (number, panel) in matrix.chunks_exact(width).enumerate() {
        tiles(dots, (rows, width), panel, tile, count);
        for (row, sums) in tile[..count].iter().enumerate() {
            output[row * stride + number * COLUMNS..][..COLUMNS].copy_from_slice(sums);
        }
    }
}

/// The sums of so many rows by one panel: all at once, or row by row where there are fewer.
#[inline(always)]
fn tiles<D: Dots>(
    dots: D,
    (rows, stride): (&[f32], usize),
    panel: &[Floats],
    sums: &mut [Floats; MOST_ROWS],
    count: usize,
) {
    let row = |number: usize| &rows[number * stride..][..panel.len()];
    if count == MOST_ROWS {
        let rows = [row(0), row(1), row(2), row(3), row(4), row(5)];
        dots.floats::<MOST_ROWS>(rows, panel, sums);
    } else {
        for (number, sums) in sums[..count].iter_mut().enumerate() {
            dots.floats::<1>([row(number)], panel, std::array::from_mut(sums));
        }
    }
}

/// Makes weights of products, but for their sum, which is returned.
#[inline(always)]
fn softmax<T: Number>(weights: &mut [f32], bias: Option<&[T]>) -> f32 {
    if let Some(bias) = bias {
        for (weight, bias) in weights.iter_mut().zip(bias) {
            *weight += bias.wide();
        }
    }
    let mut largest = [f32::NEG_INFINITY; 16];
    let chunks = weights.chunks_exact(16);
    for (largest, weight) in largest.iter_mut().zip(chunks.remainder()) {
        *largest = largest.max(*weight);
    }
    for chunk in chunks {
        for (largest, weight) in largest.iter_mut().zip(chunk) {
            *largest = largest.max(*weight);
        }
    }
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0_f32; 16];
    let mut chunks = weights.chunks_exact_mut(16);
    for chunk in &mut chunks {
        for (sum, weight) in sums.iter_mut().zip(chunk) {
            *weight = of_difference(*weight - largest);
            *sum += *weight;
        }
    }
    for (sum, weight) in sums.iter_mut().zip(chunks.into_remainder()) {
        *weight = of_difference(*weight - largest);
        *sum += *weight;
    }
    sums.into_iter().sum()
}

/// e to a power that is no larger than 0.
#[inline(always)]
fn of_difference(power: f32) -> f32 {
    power_of_two(power * std::f32::consts::LOG2_E)
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::threads::with_threads;

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

    /// The same by libtorch.
    fn exact(qkv: &Tensor, num_heads: i64, bias: Option<&Tensor>) -> Tensor {
        let (documents, pieces, columns) = qkv.size3().unwrap();
        let shape = [documents, pieces, num_heads, columns / 3 / num_heads];
        let parts = qkv.chunk(3, -1);
        let [query, key, value] =
            [0, 1, 2].map(|part: usize| parts[part].reshape(shape).transpose(1, 2));
        let seen = Tensor::scaled_dot_product_attention(
            &query, &key, &value, bias, 0.0, false, None, false,
        );
        seen.transpose(1, 2)
            .reshape([documents, pieces, columns / 3])
    }

    #[test]
    fn attention_is_that_of_libtorch() {
        tch::manual_seed(3);
        for (documents, pieces, num_heads, head_width) in
            [(3, 21, 2, 24), (2, 64, 4, 32), (1, 7, 1, 80)]
        {
            let qkv = drawn(&[documents, pieces, 3 * num_heads * head_width]);
            let hiding = drawn(&[documents, 1, 1, pieces])
                .lt(-0.5)
                .to_kind(Kind::Float)
                * -1e30;
            let _ = hiding.select(3, 0).zero_();
            let distances = drawn(&[1, num_heads, pieces, pieces]);
            let both = &hiding + &distances;
            for bias in [None, Some(&hiding), Some(&distances), Some(&both)] {
                let exact = exact(&qkv, num_heads, bias);
                let ours = attend(&qkv, num_heads as usize, bias);
                let error = (&ours - &exact).abs().max().double_value(&[]);
                assert!(error < 1e-5, "{error}");
                for threads in [1, 2, 5] {
                    let here = with_threads(threads, || attend(&qkv, num_heads as usize, bias));
                    assert_eq!(floats(&here), floats(&ours), "{threads}");
                }
                let short = qkv.to_kind(Kind::BFloat16);
                let ours = attend(&short, num_heads as usize, bias);
                assert_eq!(ours.kind(), Kind::BFloat16);
                let error = (ours.to_kind(Kind::Float) - &exact)
                    .abs()
                    .max()
                    .double_value(&[]);
                assert!(error < 0.05, "{error}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_seen() {
        let qkv = drawn(&[2, 20, 3 * 16]);
        let _ = qkv.get(1).get(4).get(17).fill_(f64::NAN);
        let seen = attend(&qkv, 1, None);
        let is_nan = seen
            .isnan()
            .any_dim(-1, false)
            .sum_dim_intlist(1, false, Kind::Int64);
        assert_eq!(Vec::<i64>::try_from(is_nan).unwrap(), [0, 20]);
    }
}
