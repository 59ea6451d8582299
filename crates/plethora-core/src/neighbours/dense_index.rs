//! Nearest documents by vectors, block by block.

use std::borrow::Cow;
use std::path::Path;

use half::f16;
use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use rayon::prelude::*;

use super::Neighbour;
use super::nearest::Nearest;
use super::queries::Queries;
use crate::artifact::{ArrayFileWriter, Dtype, Element, MappedArray, MappedArrays};
use crate::{Error, Result};

/// Queries that a thread answers together, so that a block of documents is read once for all of them.
const QUERIES_PER_TASK: usize = 16;

/// Documents of a block: with 300 numbers each, as many as a core's cache holds.
const DOCUMENTS_PER_BLOCK: usize = 256;

/// Sums that a product of two vectors is computed in, side by side.
const LANES: usize = 16;

/// A vector of unit length per document, mapped from a file. Every query is compared with every
/// document.
#[derive(Debug)]
pub struct DenseIndex {
    width: usize,
    vectors: Numbers,
}

/// Numbers of vectors as the file has them. Products are computed in 32 bits either way.
#[derive(Debug)]
enum Numbers {
    Single(MappedArray<f32>),
    Half(MappedArray<u16>),
}

impl DenseIndex {
    /// Writes the index of documents with these vectors of `width` numbers, one behind the other.
    ///
    /// # Panics
    /// If the numbers are no whole vectors.
    pub fn write(vectors: &[f32], width: usize, path: &Path) -> Result<()> {
        write_numbers(vectors, Dtype::F32, width, path)
    }

    /// As [`write`](Self::write), of numbers of half precision as bits: half the size.
    ///
    /// # Panics
    /// If the numbers are no whole vectors.
    pub fn write_halves(vectors: &[u16], width: usize, path: &Path) -> Result<()> {
        write_numbers(vectors, Dtype::F16, width, path)
    }

    /// Maps the index at `path` into memory.
    ///
    /// # Errors
    /// [`Error::Model`] if its arrays do not fit together.
    pub fn open(path: &Path) -> Result<Self> {
        let arrays = MappedArrays::open(path)?;
        let vectors = match arrays.dtype("vectors") {
            Some(Dtype::F16) => Numbers::Half(arrays.owned("vectors")?),
            _ => Numbers::Single(arrays.owned("vectors")?),
        };
        match arrays.array::<u64>("width")? {
            &[width] if width > 0 && vectors.len().is_multiple_of(width as usize) => Ok(Self {
                width: width as usize,
                vectors,
            }),
            _ => Err(Error::model(path, "the vectors do not fit their width")),
        }
    }

    /// Number of documents.
    pub fn num_documents(&self) -> usize {
        self.vectors.len() / self.width
    }

    /// Numbers of a vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The neighbours of each vector of `asked`, which lie one behind the other; queries are answered in
    /// parallel.
    ///
    /// # Panics
    /// If the numbers are no whole vectors of the index's width.
    pub fn nearest(&self, asked: &[f32], queries: &Queries) -> Vec<Vec<Neighbour>> {
        assert!(asked.len().is_multiple_of(self.width));
        let tasks: Vec<Vec<Vec<Neighbour>>> = asked
            .par_chunks(QUERIES_PER_TASK * self.width)
            .enumerate()
            .map(|(task, asked)| self.nearest_of(asked, task * QUERIES_PER_TASK, queries))
            .collect();
        tasks.into_iter().flatten().collect()
    }

    /// The vector of a document, in 32 bits.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn vector(&self, document: u32) -> Cow<'_, [f32]> {
        self.vectors.block(document as usize, self.width)
    }

    /// How near a vector is to a document, as [`nearest`](Self::nearest) has it.
    ///
    /// # Panics
    /// If there is no such document, or the vector is of another width.
    pub fn similarity(&self, asked: &[f32], document: u32) -> f32 {
        assert_eq!(asked.len(), self.width);
        let mut similarity = [0.0];
        products(asked, &self.vector(document), &mut similarity);
        similarity[0]
    }

    fn nearest_of(&self, asked: &[f32], first: usize, queries: &Queries) -> Vec<Vec<Neighbour>> {
        let mut found: Vec<Nearest> = (asked.chunks(self.width))
            .map(|_| queries.nearest())
            .collect();
        let size = DOCUMENTS_PER_BLOCK * self.width;
        let mut similarities = [0.0; DOCUMENTS_PER_BLOCK];
        for block in 0..self.vectors.len().div_ceil(size) {
            let vectors = self.vectors.block(block, size);
            let queries_and_found = asked.chunks(self.width).zip(&mut found);
            for (query, (vector, nearest)) in queries_and_found.enumerate() {
                products(vector, &vectors, &mut similarities);
                let num_documents = vectors.len() / self.width;
                let documents = (block * DOCUMENTS_PER_BLOCK) as u32..;
                for (document, &similarity) in documents.zip(&similarities[..num_documents]) {
                    let candidate = Neighbour {
                        document,
                        similarity,
                    };
                    if queries.allow(first + query, candidate) {
                        nearest.show(candidate);
                    }
                }
            }
        }
        found.into_iter().map(Nearest::finish).collect()
    }
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Half(bits) => bits.len(),
        }
    }

    /// The block of `size` numbers that has this place, in 32 bits.
    fn block(&self, place: usize, size: usize) -> Cow<'_, [f32]> {
        let range = place * size..self.len().min((place + 1) * size);
        match self {
            Self::Single(values) => Cow::Borrowed(&values[range]),
            Self::Half(bits) => {
                let halves: &[f16] = bits[range].reinterpret_cast();
                Cow::Owned(halves.to_f32_vec())
            }
        }
    }
}

fn write_numbers<T: Element>(numbers: &[T], dtype: Dtype, width: usize, path: &Path) -> Result<()> {
    assert!(width > 0 && numbers.len().is_multiple_of(width));
    let mut file = ArrayFileWriter::create(path)?;
    let size = file.begin("width", Dtype::U64)?;
    file.append(size, &[width as u64])?;
    let array = file.begin("vectors", dtype)?;
    file.append(array, numbers)?;
    file.finish()
}

/// The products of a vector with others, by the widest version of the loop that this processor has. All
/// versions do the same operations in the same order, so the products are equal to the last bit.
fn products(vector: &[f32], others: &[f32], products: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn with_avx512(vector: &[f32], others: &[f32], products: &mut [f32]) {
            all_products(vector, others, products);
        }
        #[target_feature(enable = "avx2")]
        fn with_avx2(vector: &[f32], others: &[f32], products: &mut [f32]) {
            all_products(vector, others, products);
        }
        if is_x86_feature_detected!("avx512f") {
            #[expect(unsafe_code, reason = "needs the processor feature just detected")]
            // SAFETY: the feature that the function is compiled for was detected above.
            return unsafe { with_avx512(vector, others, products) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "needs the processor feature just detected")]
            // SAFETY: the feature that the function is compiled for was detected above.
            return unsafe { with_avx2(vector, others, products) };
        }
    }
    all_products(vector, others, products);
}

#[expect(
    clippy::inline_always,
    reason = "the loop must be compiled into each processor's version"
)]
#[inline(always)]
fn all_products(vector: &[f32], others: &[f32], products: &mut [f32]) {
    for (sum, other) in products.iter_mut().zip(others.chunks_exact(vector.len())) {
        *sum = product(vector, other);
    }
}

/// The sum of products, always added in the same order.
#[expect(
    clippy::inline_always,
    reason = "the loop must be compiled into each processor's version"
)]
#[inline(always)]
fn product(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (left_lanes, left_rest) = left.as_chunks::<LANES>();
    let (right_lanes, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left_lanes.iter().zip(right_lanes) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::SeedStream;

    fn vectors(count: usize, width: usize, seed: u64) -> Vec<f32> {
        let mut rng = SeedStream::new(seed).rng();
        let mut all = Vec::new();
        for _ in 0..count {
            let mut vector: Vec<f32> = (0..width).map(|_| rng.random::<f32>() - 0.4).collect();
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            for value in &mut vector {
                *value /= length;
            }
            all.extend(vector);
        }
        all
    }

    fn index(vectors: &[f32], width: usize) -> DenseIndex {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.safetensors");
        DenseIndex::write(vectors, width, &path).unwrap();
        DenseIndex::open(&path).unwrap()
    }

    #[test]
    fn neighbours_are_those_of_all_pairs_whatever_the_width() {
        for width in [3, 16, 37] {
            let (documents, asked) = (vectors(700, width, 1), vectors(40, width, 2));
            let found = index(&documents, width).nearest(&asked, &Queries::of_others(9));
            for (query, found) in asked.chunks(width).zip(found) {
                let mut all: Vec<f64> = (documents.chunks(width))
                    .map(|document| {
                        let pairs = query.iter().zip(document);
                        pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
                    })
                    .collect();
                assert_eq!(found.len(), 9);
                for neighbour in &found {
                    let expected = all[neighbour.document as usize];
                    assert!((f64::from(neighbour.similarity) - expected).abs() < 1e-5);
                }
                all.sort_by(|left, right| right.total_cmp(left));
                for (neighbour, similarity) in found.iter().zip(all) {
                    assert!((f64::from(neighbour.similarity) - similarity).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn documents_that_ask_are_left_out_and_their_copies_on_request() {
        let mut documents = vectors(50, 8, 3);
        let copy = documents[..8].to_vec();
        documents.extend(copy);
        documents.extend([0.0; 8]);
        let index = index(&documents, 8);
        let own = Queries {
            own_from: Some(0),
            ..Queries::of_others(3)
        };
        let found = index.nearest(&documents, &own);
        assert_eq!((found[0][0].document, found[50][0].document), (50, 0));
        assert!(found[51].is_empty(), "nothing is near a zero vector");
        let strict = Queries {
            skips_copies: true,
            ..own
        };
        let found = index.nearest(&documents, &strict);
        assert!(found[0].iter().all(|one| one.document != 50));
        let later = index.nearest(
            &documents[8..],
            &Queries {
                own_from: Some(1),
                ..strict
            },
        );
        assert_eq!(later, found[1..]);
    }

    #[test]
    fn vectors_of_half_precision_are_compared_like_others() {
        let (documents, asked) = (vectors(300, 37, 4), vectors(5, 37, 5));
        let bits: Vec<u16> = (documents.iter())
            .map(|&value| f16::from_f32(value).to_bits())
            .collect();
        let rounded: Vec<f32> = bits
            .iter()
            .map(|&bits| f16::from_bits(bits).to_f32())
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.safetensors");
        DenseIndex::write_halves(&bits, 37, &path).unwrap();
        let halves = DenseIndex::open(&path).unwrap();
        assert_eq!((halves.num_documents(), halves.width()), (300, 37));
        let queries = Queries::of_others(300);
        let found = halves.nearest(&asked, &queries);
        assert_eq!(found, index(&rounded, 37).nearest(&asked, &queries));
    }

    #[test]
    fn vectors_of_another_width_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.safetensors");
        let mut file = ArrayFileWriter::create(&path).unwrap();
        let array = file.begin("width", Dtype::U64).unwrap();
        file.append(array, &[3_u64]).unwrap();
        let array = file.begin("vectors", Dtype::F32).unwrap();
        file.append(array, &[1.0_f32; 4]).unwrap();
        file.finish().unwrap();
        assert!(DenseIndex::open(&path).is_err());
    }
}
