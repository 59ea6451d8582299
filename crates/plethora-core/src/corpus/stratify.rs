//! Iterative stratification (Sechidis, Tsoumakas, Vlahavas: On the stratification of multi-label
//! data, 2011): the rarest label left is shared out first, each of its documents to the part that
//! lacks it most. Unlike there, a part that is full takes no more, so that sizes come out exact.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::seq::SliceRandom;

use super::Fractions;
use crate::SeedStream;

/// A document that is in no part yet.
const UNASSIGNED: u8 = u8::MAX;

/// The part of each document. Those of document `d` are `labels[starts[d]..starts[d + 1]]`.
pub(super) fn stratify(
    starts: &[usize],
    labels: &[u32],
    fractions: &Fractions,
    seed: u64,
) -> Vec<u8> {
    let num_documents = starts.len() - 1;
    // The order decides between equals, and with it the seed.
    let mut order: Vec<u32> = (0..num_documents as u32).collect();
    order.shuffle(&mut SeedStream::new(seed).named("stratify").rng());
    let documents = DocumentsOfLabels::new(starts, labels, &order);
    let mut sharing = Sharing::new(starts, labels, fractions, documents.counts());
    let mut queue: BinaryHeap<Reverse<(u32, u32)>> = (0..)
        .zip(&sharing.remaining)
        .filter(|&(_, &count)| count > 0)
        .map(|(label, &count)| Reverse((count, label)))
        .collect();
    while let Some(Reverse((count, label))) = queue.pop() {
        // Each change of a count queued the label again; only the newest entry is valid.
        if sharing.remaining[label as usize] != count {
            continue;
        }
        for &document in documents.of(label) {
            if sharing.parts[document as usize] != UNASSIGNED {
                continue;
            }
            let part = sharing.neediest(|sharing, part| sharing.lacking(label, part));
            sharing.assign(document, part);
            for &other in sharing.labels_of(document) {
                let count = sharing.remaining[other as usize];
                if count > 0 && other != label {
                    queue.push(Reverse((count, other)));
                }
            }
        }
    }
    for document in order {
        if sharing.parts[document as usize] == UNASSIGNED {
            let part = sharing.neediest(|_, _| 0.0);
            sharing.assign(document, part);
        }
    }
    sharing.parts
}

/// For each label its documents, in a given order.
struct DocumentsOfLabels {
    starts: Vec<usize>,
    documents: Vec<u32>,
}

impl DocumentsOfLabels {
    fn new(starts: &[usize], labels: &[u32], order: &[u32]) -> Self {
        let num_labels = labels.iter().max().map_or(0, |&label| label as usize + 1);
        let mut ends = vec![0; num_labels + 1];
        for &label in labels {
            ends[label as usize + 1] += 1;
        }
        for label in 0..num_labels {
            ends[label + 1] += ends[label];
        }
        let mut next = ends.clone();
        let mut documents = vec![0; labels.len()];
        for &document in order {
            let document_range = starts[document as usize]..starts[document as usize + 1];
            for &label in &labels[document_range] {
                documents[next[label as usize]] = document;
                next[label as usize] += 1;
            }
        }
        Self {
            starts: ends,
            documents,
        }
    }

    fn of(&self, label: u32) -> &[u32] {
        &self.documents[self.starts[label as usize]..self.starts[label as usize + 1]]
    }

    fn counts(&self) -> Vec<u32> {
        self.starts
            .windows(2)
            .map(|range| (range[1] - range[0]) as u32)
            .collect()
    }
}

/// How far the sharing out has come.
struct Sharing<'a> {
    starts: &'a [usize],
    labels: &'a [u32],
    parts: Vec<u8>,
    /// Documents that each part still takes.
    room: Vec<usize>,
    /// For each label and part, the documents that the part should still get.
    lacking: Vec<f64>,
    /// For each label, its documents in no part yet.
    remaining: Vec<u32>,
}

impl<'a> Sharing<'a> {
    fn new(
        starts: &'a [usize],
        labels: &'a [u32],
        fractions: &Fractions,
        remaining: Vec<u32>,
    ) -> Self {
        let num_documents = starts.len() - 1;
        let lacking = remaining
            .iter()
            .flat_map(|&count| {
                fractions
                    .as_slice()
                    .iter()
                    .map(move |share| share * f64::from(count))
            })
            .collect();
        Self {
            starts,
            labels,
            parts: vec![UNASSIGNED; num_documents],
            room: fractions.sizes(num_documents),
            lacking,
            remaining,
        }
    }

    fn labels_of(&self, document: u32) -> &'a [u32] {
        &self.labels[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    fn lacking(&self, label: u32, part: usize) -> f64 {
        self.lacking[label as usize * self.room.len() + part]
    }

    /// Of the parts with room, the one with the greatest need; among equals the emptiest.
    fn neediest(&self, need: impl Fn(&Self, usize) -> f64) -> usize {
        (0..self.room.len())
            .filter(|&part| self.room[part] > 0)
            .max_by(|&left, &right| {
                need(self, left)
                    .total_cmp(&need(self, right))
                    .then(self.room[left].cmp(&self.room[right]))
                    .then(right.cmp(&left))
            })
            .expect("rooms add up to the number of documents")
    }

    fn assign(&mut self, document: u32, part: usize) {
        self.parts[document as usize] = part as u8;
        self.room[part] -= 1;
        for &label in self.labels_of(document) {
            self.remaining[label as usize] -= 1;
            self.lacking[label as usize * self.room.len() + part] -= 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sizes_are_exact_and_seeds_repeat(
            documents in prop::collection::vec(prop::collection::btree_set(0_u32..30, 0..5), 1..120),
            seed in 0_u64..4,
        ) {
            let mut starts = vec![0];
            let mut labels = Vec::new();
            for set in &documents {
                labels.extend(set);
                starts.push(labels.len());
            }
            let fractions: Fractions = "0.7,0.2,0.1".parse().unwrap();
            let parts = stratify(&starts, &labels, &fractions, seed);
            for (part, size) in (0..).zip(fractions.sizes(documents.len())) {
                prop_assert_eq!(parts.iter().map(|&other| usize::from(other == part)).sum::<usize>(), size);
            }
            prop_assert_eq!(parts, stratify(&starts, &labels, &fractions, seed));
        }
    }

    #[test]
    fn rare_labels_reach_every_part() {
        // Each of 50 labels has three documents, enough for one in each of three equal parts.
        let labels: Vec<u32> = (0..150).map(|document| document % 50).collect();
        let starts: Vec<usize> = (0..=150).collect();
        let third = 1.0 / 3.0;
        let fractions = Fractions::new(vec![third, third, third]).unwrap();
        let parts = stratify(&starts, &labels, &fractions, 5);
        for label in 0..50 {
            let mut found: Vec<u8> = (0..3).map(|round| parts[label + 50 * round]).collect();
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2]);
        }
    }
}
