//! Bands of labels by how many training documents they have.

use serde::{Deserialize, Serialize};

use crate::metrics::{BucketName, Buckets};

/// Where the bands of [`BucketName`] begin for the labels of a model. It is kept with what was
/// fitted by band, so that this stays true whatever later versions call frequent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrequencyBands {
    /// Training documents of a head label, at least.
    pub min_head: u32,
    /// Training documents of a torso label, at least; of tail labels it is 1.
    pub min_torso: u32,
}

impl FrequencyBands {
    /// The bands of labels with these numbers of training documents.
    pub fn of(train_counts: &[u32]) -> Self {
        let buckets = Buckets::new(train_counts);
        Self {
            min_head: buckets.min_frequency(BucketName::Head),
            min_torso: buckets.min_frequency(BucketName::Torso),
        }
    }

    /// The band of a label with so many training documents.
    pub fn band(&self, train_frequency: u32) -> BucketName {
        match train_frequency {
            0 => BucketName::Unseen,
            count if count >= self.min_head => BucketName::Head,
            count if count >= self.min_torso => BucketName::Torso,
            _ => BucketName::Tail,
        }
    }
}

/// A value for each band that has one of its own. Labels that training never saw have none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BandValues<T> {
    /// Of the most frequent labels.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub head: Option<T>,
    /// Of the labels between.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub torso: Option<T>,
    /// Of the rare labels.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub tail: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

impl<T> Default for BandValues<T> {
    fn default() -> Self {
        Self {
            head: None,
            torso: None,
            tail: None,
        }
    }
}

impl<T> BandValues<T> {
    /// The bands that can have values.
    pub const BANDS: [BucketName; 3] = [BucketName::Head, BucketName::Torso, BucketName::Tail];

    /// A value for each band, where `of` has one.
    pub fn from_fn(mut of: impl FnMut(BucketName) -> Option<T>) -> Self {
        Self {
            head: of(BucketName::Head),
            torso: of(BucketName::Torso),
            tail: of(BucketName::Tail),
        }
    }

    /// The band's own value.
    pub fn get(&self, band: BucketName) -> Option<&T> {
        match band {
            BucketName::Head => self.head.as_ref(),
            BucketName::Torso => self.torso.as_ref(),
            BucketName::Tail => self.tail.as_ref(),
            BucketName::Unseen => None,
        }
    }

    /// The bands that have values, from frequent to rare.
    pub fn iter(&self) -> impl Iterator<Item = (BucketName, &T)> {
        let bands = Self::BANDS.into_iter();
        bands.filter_map(|band| Some((band, self.get(band)?)))
    }

    /// True where no band has one.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_those_of_evaluations() {
        use BucketName::{Head, Tail, Torso, Unseen};
        let counts = [4, 60, 1, 10, 4, 20, 1, 0];
        let bands = FrequencyBands::of(&counts);
        assert_eq!((bands.min_head, bands.min_torso), (60, 6));
        assert_eq!(
            counts.map(|count| bands.band(count)),
            [Tail, Head, Tail, Torso, Tail, Torso, Tail, Unseen]
        );
    }

    #[test]
    fn bands_without_a_value_are_left_out() {
        let values = BandValues::from_fn(|band| (band != BucketName::Torso).then_some(1));
        let text = serde_json::to_string(&values).unwrap();
        assert_eq!(text, r#"{"head":1,"tail":1}"#);
        let read: BandValues<i32> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, values);
        assert_eq!(values.iter().count(), 2);
    }
}
