//! Vectors of documents, in 16 bits each number.

use half::f16;
use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};

/// A vector of unit length per document. Half precision everywhere, so that a vector from the cache, from a
/// model folder and from the encoder are the same numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vectors {
    width: usize,
    bits: Vec<u16>,
}

impl Vectors {
    /// None yet, of `width` numbers each.
    pub(crate) fn new(width: usize) -> Self {
        let bits = Vec::new();
        Self { width, bits }
    }

    /// Numbers of a vector.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.bits.len() / self.width
    }

    /// Adds the vector of the next document, as bits of half precision.
    pub(crate) fn push(&mut self, vector: &[u16]) {
        assert_eq!(vector.len(), self.width);
        self.bits.extend_from_slice(vector);
    }

    /// Adds those of further documents.
    pub(crate) fn append(&mut self, others: &Self) {
        assert_eq!(others.width, self.width);
        self.bits.extend_from_slice(&others.bits);
    }

    /// The vector of a document.
    pub(crate) fn row(&self, document: usize) -> &[u16] {
        &self.bits[document * self.width..(document + 1) * self.width]
    }

    /// All numbers, one vector behind the other.
    pub(crate) fn bits(&self) -> &[u16] {
        &self.bits
    }

    /// The vectors of some documents.
    pub(crate) fn some(&self, documents: &[u32]) -> Self {
        let mut some = Self::new(self.width);
        for &document in documents {
            some.push(self.row(document as usize));
        }
        some
    }

    /// All numbers in 32 bits.
    pub(crate) fn to_f32(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.bits.len()];
        let halves: &[f16] = self.bits.reinterpret_cast();
        halves.convert_to_f32_slice(&mut values);
        values
    }
}

/// A vector of length 1 in half precision; one of zeros stays.
pub(crate) fn unit_halves(values: &[f32]) -> Vec<u16> {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    (values.iter())
        .map(|value| f16::from_f32(value * scale).to_bits())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_unit_length_and_come_back_by_number() {
        let mut vectors = Vectors::new(2);
        vectors.push(&unit_halves(&[3.0, 4.0]));
        vectors.push(&unit_halves(&[0.0, 0.0]));
        vectors.push(&unit_halves(&[0.0, -2.0]));
        assert_eq!((vectors.len(), vectors.width()), (3, 2));
        let values = vectors.some(&[2, 0]).to_f32();
        assert_eq!(values[..2], [0.0, -1.0]);
        assert!((values[2] - 0.6).abs() < 1e-3 && (values[3] - 0.8).abs() < 1e-3);
        assert_eq!(vectors.to_f32()[2..4], [0.0, 0.0]);
    }
}
