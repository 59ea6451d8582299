//! The votes of a batch's neighbours.

use tch::{Device, Tensor};

use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use crate::head::LabelPlaces;
use crate::transfer::upload;

/// Votes for labels, by label and then by document.
#[derive(Debug)]
pub(super) struct Votes {
    pub(super) places: LabelPlaces,
    /// What each adds to a score.
    pub(super) gains: Tensor,
    /// Where each one's label is among documents x (1 + labels); 0 where it is not read.
    pub(super) tokens: Tensor,
    /// One where it is read, else zero.
    pub(super) is_read: Tensor,
}

struct Vote {
    label: u32,
    document: usize,
    gain: f32,
    /// Its place among the labels that are read.
    token: Option<usize>,
}

impl Votes {
    /// Those of documents, of which each reads `width` labels or fewer.
    pub(super) fn new(rows: &[&TeacherRow], teacher: &Teacher, width: usize) -> Self {
        let mut votes: Vec<Vote> = Vec::new();
        for (document, row) in rows.iter().enumerate() {
            let place_of = |label| row.tokens.iter().position(|token| token.label == label);
            votes.extend(row.votes.iter().map(|vote| Vote {
                label: vote.label.0,
                document,
                gain: teacher.gain(vote.label.0, vote.score),
                token: place_of(vote.label),
            }));
        }
        votes.sort_by_key(|vote| (vote.label, vote.document));
        // Each sequence begins with a place that is no label.
        let place_of = |vote: &Vote| {
            let first = vote.document * (width + 1) + 1;
            vote.token.map_or(0, |token| (first + token) as i64)
        };
        let gains: Vec<f32> = votes.iter().map(|vote| vote.gain).collect();
        let tokens: Vec<i64> = votes.iter().map(place_of).collect();
        let is_read: Vec<f32> = (votes.iter())
            .map(|vote| f32::from(u8::from(vote.token.is_some())))
            .collect();
        let labels: Vec<Vec<u32>> = (rows.iter())
            .map(|row| row.votes.iter().map(|vote| vote.label.0).collect())
            .collect();
        Self {
            places: LabelPlaces::new(labels.iter().map(Vec::as_slice)),
            gains: Tensor::from_slice(&gains),
            tokens: Tensor::from_slice(&tokens),
            is_read: Tensor::from_slice(&is_read),
        }
    }

    pub(super) fn to_device(&self, device: Device) -> Self {
        Self {
            places: self.places.to_device(device),
            gains: upload(&self.gains, device),
            tokens: upload(&self.tokens, device),
            is_read: upload(&self.is_read, device),
        }
    }
}
