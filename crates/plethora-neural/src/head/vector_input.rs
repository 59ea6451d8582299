//! What heads over document vectors take and give.

use std::ops::Range;

use tch::{Device, Kind, Tensor};

use crate::parameters::Parameters;
use crate::transfer::pinned;

/// A batch between an encoder that gives a vector a document and a head.
pub(crate) struct VectorInput<'a> {
    pub(crate) parameters: &'a Parameters,
    /// documents x width, part of the encoder's graph, after dropout.
    pub(crate) vector: &'a Tensor,
    /// documents x width: what clusters are chosen by, where that is another vector.
    pub(crate) recall: Option<&'a Tensor>,
    /// What raises some scores beside the vector.
    pub(crate) prior: Option<&'a Prior<'a>>,
}

impl VectorInput<'_> {
    /// What clusters are chosen by.
    pub(super) fn recalling(&self) -> &Tensor {
        self.recall.unwrap_or(self.vector)
    }
}

/// Numbers that are added to the scores of some labels.
pub(crate) struct Prior<'a> {
    pub(crate) places: &'a LabelPlaces,
    /// One a place, in 32 bits; part of a graph where it is learnt.
    pub(crate) values: Tensor,
}

/// The true labels of the documents of a batch, by label and then by document, each once.
#[derive(Debug)]
pub(crate) struct LabelPlaces {
    labels_on_host: Vec<u32>,
    /// 2 x places: documents and labels in one tensor, which travels in one go.
    places: Tensor,
    num_documents: usize,
}

impl LabelPlaces {
    /// From the true labels of each document, on the processor.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut places = Vec::new();
        let mut num_documents = 0;
        for labels in rows {
            places.extend(labels.iter().map(|&label| (label, num_documents as i64)));
            num_documents += 1;
        }
        Self::of_places(places, num_documents)
    }

    /// From labels, each with the number of its document.
    pub(super) fn of_places(mut places: Vec<(u32, i64)>, num_documents: usize) -> Self {
        places.sort_unstable();
        places.dedup();
        let documents = places.iter().map(|&(_, document)| document);
        let labels = places.iter().map(|&(label, _)| i64::from(label));
        let numbers: Vec<i64> = documents.chain(labels).collect();
        Self {
            places: Tensor::from_slice(&numbers).view([2, places.len() as i64]),
            labels_on_host: places.into_iter().map(|(label, _)| label).collect(),
            num_documents,
        }
    }

    /// The same on a device. From memory that is pinned it travels while the program goes on.
    pub(crate) fn to_device(&self, device: Device) -> Self {
        Self {
            labels_on_host: self.labels_on_host.clone(),
            places: self.places.to_device_(device, Kind::Int64, true, false),
            num_documents: self.num_documents,
        }
    }

    /// Those of labels in a range, counted from its start, and which of the places they are.
    pub(super) fn within(&self, labels: &Range<i64>) -> (Self, Range<i64>) {
        let before = |end: i64| {
            let before = |&label: &u32| i64::from(label) < end;
            self.labels_on_host.partition_point(before)
        };
        let (start, end) = (before(labels.start), before(labels.end));
        let own = self.labels_on_host[start..end].iter();
        let (start, end) = (start as i64, end as i64);
        let shift = Tensor::from_slice(&[0, labels.start]).to_device(self.places.device());
        let within = Self {
            labels_on_host: own.map(|label| label - labels.start as u32).collect(),
            places: self.places.narrow(1, start, end - start) - shift.unsqueeze(1),
            num_documents: self.num_documents,
        };
        (within, start..end)
    }

    /// The same in memory that a GPU can read by itself.
    pub(crate) fn pinned(self, device: Device) -> Self {
        Self {
            places: pinned(&self.places, device),
            ..self
        }
    }

    /// One where a label is true and zero elsewhere, in the shape and numbers of `logits`.
    pub(crate) fn matrix(&self, logits: &Tensor) -> Tensor {
        let one = Tensor::ones([1], (logits.kind(), logits.device()));
        let places = [Some(self.documents()), Some(self.labels())];
        logits.zeros_like().index_put_(&places, &one, false)
    }

    /// The labels, rising.
    pub(crate) fn labels_on_host(&self) -> &[u32] {
        &self.labels_on_host
    }

    /// Number in the batch of the document of each place.
    pub(crate) fn documents(&self) -> Tensor {
        self.places.select(0, 0)
    }

    /// The label of each place.
    pub(crate) fn labels(&self) -> Tensor {
        self.places.select(0, 1)
    }

    pub(crate) fn num_documents(&self) -> usize {
        self.num_documents
    }
}

/// The best labels of each document, the best first. Where a document has fewer, the rest have a
/// score of minus infinity.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// documents x kept.
    pub(crate) log_scores: Tensor,
    /// documents x kept.
    pub(crate) labels: Tensor,
}

impl Ranked {
    /// The best of some labels.
    ///
    /// # Shapes
    /// `scores`: documents x labels; `labels`: labels.
    pub(crate) fn best_of(scores: &Tensor, labels: &Tensor, keep: i64) -> Self {
        let (log_scores, places) = scores.topk(keep.min(scores.size()[1]), 1, true, true);
        Self {
            labels: labels
                .index_select(0, &places.flatten(0, -1))
                .view_as(&places),
            log_scores,
        }
    }

    /// The best of both.
    pub(crate) fn merge(self, other: &Self, keep: i64) -> Self {
        let scores = Tensor::cat(&[&self.log_scores, &other.log_scores], 1);
        let labels = Tensor::cat(&[&self.labels, &other.labels], 1);
        let (log_scores, places) = scores.topk(keep.min(scores.size()[1]), 1, true, true);
        Self {
            labels: labels.gather(1, &places, false),
            log_scores,
        }
    }

    /// The same with `width` entries a document.
    pub(crate) fn filled_to(self, width: i64) -> Self {
        let missing = width - self.labels.size()[1];
        if missing <= 0 {
            return self;
        }
        let pad = |tensor: &Tensor, value: f64| tensor.pad([0, missing], "constant", value);
        Self {
            log_scores: pad(&self.log_scores, f64::NEG_INFINITY),
            labels: pad(&self.labels, 0.0),
        }
    }
}

impl Prior<'_> {
    /// The places and values of labels in a range, counted from its start, on a device.
    pub(super) fn within(&self, labels: &Range<i64>, device: Device) -> (LabelPlaces, Tensor) {
        let (mut places, Range { start, end }) = self.places.within(labels);
        // Other than on the way to a GPU, nothing tells when a copy is complete that is not waited for.
        places.places = places.places.to_device(device);
        (
            places,
            self.values.narrow(0, start, end - start).to_device(device),
        )
    }
}

/// Sends gradients of what a head made of the encoder's vector back through the graph.
pub(crate) fn send_back(outputs_and_gradients: &[(Tensor, Tensor)]) {
    // The derivative of this sum by an output is the output's gradient.
    let parts = outputs_and_gradients.iter();
    let sum = parts
        .filter(|(output, _)| output.requires_grad())
        .map(|(output, gradient)| (output * gradient.to_kind(output.kind())).sum(Kind::Float))
        .reduce(|one, other| one + other);
    if let Some(sum) = sum {
        sum.backward();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_sorted_by_label_and_each_is_there_once() {
        let rows: [&[u32]; 4] = [&[7, 2, 7], &[], &[2], &[0]];
        let places = LabelPlaces::new(rows.into_iter()).to_device(Device::Cpu);
        assert_eq!(places.num_documents(), 4);
        assert_eq!(places.labels_on_host(), [0, 2, 2, 7]);
        let documents: Vec<i64> = places.documents().try_into().unwrap();
        assert_eq!(documents, [3, 0, 2, 0]);
        let labels: Vec<i64> = places.labels().try_into().unwrap();
        assert_eq!(labels, [0, 2, 2, 7]);
        let none = LabelPlaces::new([&[][..]].into_iter());
        assert_eq!(none.documents().size(), [0]);
    }

    #[test]
    fn merged_rankings_are_the_ranking_of_all() {
        let first = Tensor::from_slice2(&[[0.1_f32, 0.5], [0.9, 0.2]]);
        let second = Tensor::from_slice2(&[[0.3_f32, 0.6], [0.1, 0.0]]);
        let ranked = Ranked::best_of(&first, &Tensor::from_slice(&[4_i64, 5]), 3)
            .merge(
                &Ranked::best_of(&second, &Tensor::from_slice(&[6_i64, 7]), 3),
                3,
            )
            .filled_to(4);
        let labels: Vec<i64> = ranked.labels.flatten(0, -1).try_into().unwrap();
        assert_eq!(labels, [7, 5, 6, 0, 4, 5, 6, 0]);
        let last = ranked.log_scores.double_value(&[0, 3]);
        assert_eq!(last, f64::NEG_INFINITY);
    }
}
