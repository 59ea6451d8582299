//! The nearest documents of an index of terms.
//!
//! The similarity of a document is the sum of its products with the query, in the order of the terms.
//! Most products are those of few terms that most documents have and that tell little. So the rare
//! terms alone are walked, and of the frequent ones each document gets at most the product of its
//! length and the query's in each group of them (Cauchy and Schwarz). Documents that cannot be among
//! the nearest by that go; for the others weights of frequent terms are looked up. The last few are
//! summed up once more in the order of the terms, so that similarities are equal to the last bit,
//! whichever way was taken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::Neighbour;
use super::frequent_terms::{FrequentTerm, NUM_GROUPS, is_frequent};
use super::queries::Queries;
use super::term_index::TermIndex;
use crate::{SparseMatrix, SparseRow};

/// Queries that a thread takes at a time.
const QUERIES_PER_TASK: usize = 16;

/// From so many products with frequent terms on, as a multiple of all documents, leaving them out is
/// worth a look at every document.
const WORTHWHILE: usize = 4;

/// Share of the documents that may be looked up before walking to all is cheaper.
const MAX_LOOKED_UP: usize = 8;

/// What computing lengths in 32 bits may lose of them.
const NORM_ERROR: f32 = 1e-4;

/// Where a thread computes.
struct Desk {
    /// One per document. All zero between queries.
    sums: Vec<f32>,
    /// Documents whose sums are not zero, where not all are looked at.
    touched: Vec<u32>,
    /// The most that the similarity of each document can be.
    bounds: Vec<f32>,
    /// One more than the place of each document among the last few, else 0. All 0 between queries.
    places: Vec<u32>,
}

/// A query's terms that are looked up, and what they weigh in it.
struct LookedUp<'a> {
    /// By group.
    terms: Vec<(FrequentTerm<'a>, f32)>,
    /// The query's length in each group, and a little more.
    norms: [f32; NUM_GROUPS],
}

impl TermIndex {
    /// The neighbours of each row, the nearest first; queries are answered in parallel.
    ///
    /// # Panics
    /// If rows have terms that the index does not know.
    pub fn nearest(&self, rows: &SparseMatrix, queries: &Queries) -> Vec<Vec<Neighbour>> {
        assert!(rows.num_columns() <= self.num_terms());
        (0..rows.num_rows())
            .into_par_iter()
            .with_min_len(QUERIES_PER_TASK)
            .map_init(
                || Desk::new(self.num_documents()),
                |desk, query| {
                    let asked = Asked {
                        index: self,
                        row: rows.row(query),
                        query,
                        queries,
                    };
                    let pruned = asked.is_worth_pruning().then(|| asked.pruned(desk));
                    pruned
                        .flatten()
                        .unwrap_or_else(|| asked.exhaustive(desk))
                },
            )
            .collect()
    }
}

impl Desk {
    fn new(num_documents: usize) -> Self {
        Self {
            sums: vec![0.0; num_documents],
            touched: Vec::new(),
            bounds: Vec::new(),
            places: Vec::new(),
        }
    }
}

/// A query of an index.
#[derive(Clone, Copy)]
struct Asked<'a> {
    index: &'a TermIndex,
    row: SparseRow<'a>,
    query: usize,
    queries: &'a Queries,
}

impl<'a> Asked<'a> {
    fn terms(self) -> impl Iterator<Item = (u32, f32)> + 'a {
        let weights = self.row.values.iter().copied();
        self.row.columns.iter().copied().zip(weights)
    }

    fn count(self, term: u32) -> usize {
        self.index.postings(term).0.len()
    }

    fn is_rare(self, term: u32) -> bool {
        !is_frequent(self.count(term), self.index.num_documents())
    }

    /// Every product.
    fn exhaustive(self, desk: &mut Desk) -> Vec<Neighbour> {
        for (term, weight) in self.terms() {
            let (documents, values) = self.index.postings(term);
            for (&document, &value) in documents.iter().zip(values) {
                let sum = &mut desk.sums[document as usize];
                if *sum == 0.0 {
                    desk.touched.push(document);
                }
                *sum += weight * value;
            }
        }
        let mut nearest = self.queries.nearest();
        for document in desk.touched.drain(..) {
            // Sums that came back to zero on the way are met twice; the second time they are zero.
            let similarity = std::mem::take(&mut desk.sums[document as usize]);
            let candidate = Neighbour {
                document,
                similarity,
            };
            if self.queries.allow(self.query, candidate) {
                nearest.show(candidate);
            }
        }
        nearest.finish()
    }

    fn is_worth_pruning(self) -> bool {
        let num_documents = self.index.num_documents();
        let frequent = self.terms().filter(|&(term, _)| !self.is_rare(term));
        let products: usize = frequent.map(|(term, _)| self.count(term)).sum();
        products >= WORTHWHILE * num_documents
            && self.queries.limit > 0
            && self.queries.limit * MAX_LOOKED_UP <= num_documents
    }

    /// As [`exhaustive`](Self::exhaustive); nothing where too many documents are equally near.
    fn pruned(self, desk: &mut Desk) -> Option<Vec<Neighbour>> {
        for (term, weight) in self.terms().filter(|&(term, _)| self.is_rare(term)) {
            let (documents, values) = self.index.postings(term);
            for (&document, &value) in documents.iter().zip(values) {
                desk.sums[document as usize] += weight * value;
            }
        }
        let last = self.last_few(desk);
        desk.sums.fill(0.0);
        Some(self.summed_up(&last?, desk))
    }

    /// Documents among which the nearest are, given the sums of the rare terms.
    fn last_few(self, desk: &mut Desk) -> Option<Vec<u32>> {
        let looked_up = self.looked_up();
        looked_up.bounds(self.index, &desk.sums, &mut desk.bounds);
        let max_looked_up = self.index.num_documents() / MAX_LOOKED_UP;
        // Sums in another order differ by less, as no document's products sum to more than 1.
        let margin = (self.row.columns.len() + 16) as f32 * f32::EPSILON;
        let mut best = Best::new(self.queries.limit);
        let mut scored: Vec<(u32, f32)> = Vec::new();
        let mut score = |document: u32, best: &mut Best| {
            let similarity = looked_up.similarity(document, desk.sums[document as usize]);
            scored.push((document, similarity));
            let candidate = Neighbour {
                document,
                similarity: similarity + margin,
            };
            // Documents that may be none of its neighbours keep no others away.
            if self.queries.allow(self.query, candidate) {
                best.show(similarity);
            }
        };
        let mut first = self.queries.nearest();
        for (document, &similarity) in (0..).zip(&desk.bounds) {
            first.show(Neighbour {
                document,
                similarity,
            });
        }
        let first = first.finish();
        let last = *first.last()?;
        for neighbour in &first {
            score(neighbour.document, &mut best);
        }
        let floor = best.floor() - margin;
        let mut others: Vec<Neighbour> = Vec::new();
        for (document, &similarity) in (0..).zip(&desk.bounds) {
            let bound = Neighbour {
                document,
                similarity,
            };
            if similarity >= floor && last.by_nearness(&bound).is_lt() {
                others.push(bound);
            }
        }
        if others.len() > max_looked_up {
            return None;
        }
        others.sort_unstable_by(Neighbour::by_nearness);
        for neighbour in others {
            if neighbour.similarity < best.floor() - margin {
                break;
            }
            score(neighbour.document, &mut best);
        }
        let floor = best.floor() - margin;
        scored.retain(|&(_, similarity)| similarity >= floor);
        Some(scored.into_iter().map(|(document, _)| document).collect())
    }

    fn looked_up(self) -> LookedUp<'a> {
        let frequent = self.index.frequent();
        let mut terms: Vec<(FrequentTerm<'a>, f32)> = self
            .terms()
            .filter_map(|(term, weight)| Some((frequent.get(term, self.index)?, weight)))
            .collect();
        terms.sort_by_key(|(term, _)| term.group);
        let mut norms = [0.0; NUM_GROUPS];
        for (term, weight) in &terms {
            norms[term.group] += weight * weight;
        }
        LookedUp {
            terms,
            norms: norms.map(|square: f32| square.sqrt() * (1.0 + NORM_ERROR)),
        }
    }

    /// The nearest of the last few documents, by all terms in their order.
    fn summed_up(self, documents: &[u32], desk: &mut Desk) -> Vec<Neighbour> {
        desk.places.resize(self.index.num_documents(), 0);
        for (place, &document) in (1..).zip(documents) {
            desk.places[document as usize] = place;
        }
        let mut sums = vec![0.0; documents.len() + 1];
        let frequent = self.index.frequent();
        for (term, weight) in self.terms() {
            if let Some(term) = frequent.get(term, self.index) {
                for (sum, &document) in sums[1..].iter_mut().zip(documents) {
                    if let Some(value) = term.value(document) {
                        *sum += weight * value;
                    }
                }
            } else {
                let (with_it, values) = self.index.postings(term);
                for (&document, &value) in with_it.iter().zip(values) {
                    let place = desk.places[document as usize];
                    if place != 0 {
                        sums[place as usize] += weight * value;
                    }
                }
            }
        }
        let mut nearest = self.queries.nearest();
        for (&document, &similarity) in documents.iter().zip(&sums[1..]) {
            desk.places[document as usize] = 0;
            let candidate = Neighbour {
                document,
                similarity,
            };
            if self.queries.allow(self.query, candidate) {
                nearest.show(candidate);
            }
        }
        nearest.finish()
    }
}

impl LookedUp<'_> {
    /// The most that the similarity of each document can be, of which the rare terms' part is known.
    fn bounds(&self, index: &TermIndex, sums: &[f32], bounds: &mut Vec<f32>) {
        bounds.clear();
        bounds.extend_from_slice(sums);
        for (group, &norm) in self.norms.iter().enumerate() {
            let norms = index.frequent().norms(group);
            for (bound, &of_document) in bounds.iter_mut().zip(norms) {
                *bound += norm * of_document;
            }
        }
    }

    /// The similarity of a document, but for the order of the sum.
    fn similarity(&self, document: u32, of_rare: f32) -> f32 {
        let products = self.terms.iter().filter_map(|(term, weight)| {
            Some(weight * term.value(document)?)
        });
        of_rare + products.sum::<f32>()
    }
}

/// The lowest of the best similarities so far.
struct Best {
    limit: usize,
    /// Bits of numbers above zero rise with them.
    kept: BinaryHeap<Reverse<u32>>,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::with_capacity(limit + 1),
        }
    }

    fn show(&mut self, similarity: f32) {
        if similarity > 0.0 {
            self.kept.push(Reverse(similarity.to_bits()));
            if self.kept.len() > self.limit {
                self.kept.pop();
            }
        }
    }

    /// Below it a document is none of the nearest; 0 as long as there are too few.
    fn floor(&self) -> f32 {
        match self.kept.peek() {
            Some(Reverse(bits)) if self.kept.len() == self.limit => f32::from_bits(*bits),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
