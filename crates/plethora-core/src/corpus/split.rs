//! Splitting a corpus into parts such as train, validation and test.

use std::fmt;
use std::str::FromStr;

use super::stratify::stratify;
use super::{Document, LabelSpaceBuilder};
use crate::{Error, Result, SeedStream};

/// Fractions are written with a few digits; their sum need not be exact to the last bit.
const SUM_TOLERANCE: f64 = 1e-6;

/// The share of each part; they add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Fractions(Vec<f64>);

impl Fractions {
    /// Fractions of at least two parts, all above 0, with the sum 1.
    pub fn new(fractions: Vec<f64>) -> Result<Self> {
        let refuse = |message: String| Err(Error::config("fractions", message));
        if !(2..=usize::from(u8::MAX)).contains(&fractions.len()) {
            return refuse(format!(
                "{} parts; expected 2 to {}",
                fractions.len(),
                u8::MAX
            ));
        }
        if let Some(bad) = fractions
            .iter()
            .find(|&&fraction| !(fraction > 0.0 && fraction < 1.0))
        {
            return refuse(format!("{bad}: expected numbers between 0 and 1"));
        }
        let sum: f64 = fractions.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return refuse(format!("they add up to {sum}; expected 1"));
        }
        Ok(Self(fractions))
    }

    /// The fractions in order.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// Where each part ends on the way from 0 to 1; the last ends at exactly 1.
    fn ends(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mut ends: Vec<f64> = self
            .0
            .iter()
            .map(|fraction| {
                sum += fraction;
                f64::min(sum, 1.0)
            })
            .collect();
        if let Some(last) = ends.last_mut() {
            *last = 1.0;
        }
        ends
    }

    /// Sizes of parts that add up to `total`.
    pub(super) fn sizes(&self, total: usize) -> Vec<usize> {
        let mut start = 0;
        let size = |end: f64| {
            let end = (end * total as f64).round() as usize;
            let size = end - start;
            start = end;
            size
        };
        self.ends().into_iter().map(size).collect()
    }
}

impl FromStr for Fractions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = |part: &str| {
            part.trim().parse().map_err(|_| {
                Error::config(
                    "fractions",
                    format!("`{part}`: expected numbers as in 0.8,0.1,0.1"),
                )
            })
        };
        Self::new(text.split(',').map(parse).collect::<Result<_>>()?)
    }
}

/// How documents are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitMethod {
    /// Each document by chance, decided by the seed and its id alone.
    #[default]
    Random,
    /// So that each label is shared out as the documents are, rare labels first.
    Stratified,
}

impl fmt::Display for SplitMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Random => "random",
            Self::Stratified => "stratified",
        })
    }
}

impl FromStr for SplitMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "random" => Ok(Self::Random),
            "stratified" => Ok(Self::Stratified),
            _ => {
                let message = format!("`{name}`: expected random or stratified");
                Err(Error::config("method", message))
            }
        }
    }
}

/// Decides the part of a document from the seed and its id alone, so that a corpus is split while
/// it streams by, and a document stays in its part when others come or go.
#[derive(Debug, Clone)]
pub struct RandomSplit {
    stream: SeedStream,
    ends: Vec<f64>,
}

impl RandomSplit {
    /// A split with these fractions and seed.
    pub fn new(fractions: &Fractions, seed: u64) -> Self {
        Self {
            stream: SeedStream::new(seed).named("split"),
            ends: fractions.ends(),
        }
    }

    /// The part of a document, counted from 0.
    pub fn part_of(&self, id: &str) -> usize {
        let position = self.stream.named(id).fraction();
        self.ends
            .iter()
            .position(|&end| position < end)
            .expect("the last part ends at 1")
    }
}

/// The part of each document, counted from 0, in the order of the documents. Only labels are kept
/// in memory, and only for [`SplitMethod::Stratified`].
pub fn split(
    documents: impl IntoIterator<Item = Result<Document>>,
    method: SplitMethod,
    fractions: &Fractions,
    seed: u64,
) -> Result<Vec<u8>> {
    match method {
        SplitMethod::Random => {
            let random = RandomSplit::new(fractions, seed);
            documents
                .into_iter()
                .map(|document| document.map(|document| random.part_of(&document.id) as u8))
                .collect()
        }
        SplitMethod::Stratified => {
            let mut space = LabelSpaceBuilder::default();
            let mut starts = vec![0];
            let mut labels = Vec::new();
            for document in documents {
                labels.extend(space.add(&document?));
                starts.push(labels.len());
            }
            Ok(stratify(&starts, &labels, fractions, seed))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Content;

    fn documents(count: usize) -> impl Iterator<Item = Result<Document>> {
        (0..count).map(|index| {
            Ok(Document {
                id: format!("d{index}"),
                content: Content::Text(String::new()),
                labels: vec![format!("label {}", index % 7)],
            })
        })
    }

    fn size_of(parts: &[u8], part: u8) -> usize {
        parts.iter().map(|&other| usize::from(other == part)).sum()
    }

    #[test]
    fn random_parts_have_about_their_share_and_repeat_with_the_seed() {
        let fractions: Fractions = "0.8,0.1,0.1".parse().unwrap();
        let parts = split(documents(10_000), SplitMethod::Random, &fractions, 1).unwrap();
        let share = |part: u8| size_of(&parts, part) as f64 / 1e4;
        assert!((share(0) - 0.8).abs() < 0.02 && (share(1) - 0.1).abs() < 0.02);
        assert_eq!(
            parts,
            split(documents(10_000), SplitMethod::Random, &fractions, 1).unwrap()
        );
        assert_ne!(
            parts,
            split(documents(10_000), SplitMethod::Random, &fractions, 2).unwrap()
        );
        let prefix = split(documents(10), SplitMethod::Random, &fractions, 1).unwrap();
        assert_eq!(prefix, parts[..10]);
    }

    #[test]
    fn stratified_parts_have_exact_sizes_and_even_labels() {
        let fractions: Fractions = "0.5,0.5".parse().unwrap();
        let parts = split(documents(140), SplitMethod::Stratified, &fractions, 3).unwrap();
        assert_eq!(size_of(&parts, 0), 70);
        for label in 0..7 {
            let first = (0..140)
                .filter(|index| index % 7 == label && parts[*index] == 0)
                .count();
            assert_eq!(first, 10);
        }
    }

    #[test]
    fn fractions_are_checked() {
        for (text, part) in [
            ("0.8,0.1", "they add up to 0.9"),
            ("1", "1 parts; expected 2"),
            ("1.5,-0.5", "1.5: expected numbers between 0 and 1"),
            ("a,b", "`a`: expected numbers as in 0.8,0.1,0.1"),
            ("nan,1", "NaN: expected numbers between 0 and 1"),
        ] {
            let message = text.parse::<Fractions>().unwrap_err().to_string();
            assert!(
                message.starts_with("fractions: ") && message.contains(part),
                "{message}"
            );
        }
    }

    #[test]
    fn sizes_add_up_even_where_fractions_only_nearly_do() {
        let fractions = Fractions::new(vec![0.5, 0.500_000_5, 0.000_000_1]).unwrap();
        assert_eq!(
            fractions.sizes(10_000_000).iter().sum::<usize>(),
            10_000_000
        );
    }

    #[test]
    fn an_error_among_the_documents_comes_through() {
        let broken = documents(3).chain([Err(Error::Interrupted)]);
        let fractions: Fractions = "0.5,0.5".parse().unwrap();
        assert!(split(broken, SplitMethod::Stratified, &fractions, 0).is_err());
    }
}
