//! The nearest documents of an index of terms.
//!
//! The similarity of a document is the sum of its products with the query, in the order of the terms.
//! Most products are those of few terms that many documents have. So the others alone are walked, and
//! the products with frequent terms are computed in few bits for all documents at once. That tells the
//! similarity of each to within a known error, and leaves few documents that can be among the nearest.
//! These are summed up once more, in full and in the order of the terms, so that similarities are equal
//! to the last bit, whichever way was taken.

use rayon::prelude::*;

use super::Neighbour;
use super::frequent_terms::{CodedQuery, FrequentTerm, is_frequent};
use super::queries::Queries;
use super::term_index::TermIndex;
use crate::{SparseMatrix, SparseRow};

/// Queries that a thread takes at a time.
const QUERIES_PER_TASK: usize = 16;

/// Sums that a thread keeps at a time: of large indexes it takes fewer queries.
const SUMS_AT_ONCE: usize = 1 << 20;

/// From so many products with frequent terms on, as a multiple of all documents, computing them in few
/// bits first is worth it.
const WORTHWHILE: usize = 4;

/// Share of the documents, as one over it, that may be left before summing all up is cheaper.
const MAX_LEFT: usize = 8;

/// Candidates beyond the limit that are kept until they are worth a selection.
const SLACK: usize = 256;

/// Where a thread computes.
struct Desk {
    /// One per document and query. All zero between queries.
    sums: Vec<f32>,
    /// Documents whose sums are not zero, where not all are looked at.
    touched: Vec<u32>,
    /// One more than the place of each document among those left, else 0. All 0 between queries.
    places: Vec<u32>,
}

/// A query of an index.
#[derive(Clone, Copy)]
struct Asked<'a> {
    index: &'a TermIndex,
    row: SparseRow<'a>,
    query: usize,
    queries: &'a Queries,
}

/// A term of a query.
enum Term<'a> {
    /// To be walked: documents and weights.
    Rare(&'a [u32], &'a [f32]),
    Frequent(FrequentTerm<'a>),
}

impl TermIndex {
    /// The neighbours of each row, the nearest first; queries are answered in parallel.
    ///
    /// # Panics
    /// If rows have terms that the index does not know.
    pub fn nearest(&self, rows: &SparseMatrix, queries: &Queries) -> Vec<Vec<Neighbour>> {
        assert!(rows.num_columns() <= self.num_terms());
        let at_once = SUMS_AT_ONCE / self.num_documents().max(1);
        let asked: Vec<Asked<'_>> = (0..rows.num_rows())
            .map(|query| Asked {
                index: self,
                row: rows.row(query),
                query,
                queries,
            })
            .collect();
        let found: Vec<Vec<Vec<Neighbour>>> = asked
            .par_chunks(at_once.clamp(1, QUERIES_PER_TASK))
            .map_init(|| Desk::new(self.num_documents()), answers)
            .collect();
        found.into_iter().flatten().collect()
    }
}

/// The neighbours of each of some queries of one index.
fn answers(desk: &mut Desk, asked: &[Asked<'_>]) -> Vec<Vec<Neighbour>> {
    let (to_prune, others): (Vec<Asked<'_>>, Vec<Asked<'_>>) =
        asked.iter().partition(|one| one.is_worth_pruning());
    let left = documents_left(desk, &to_prune);
    let mut found: Vec<(usize, Vec<Neighbour>)> = Vec::with_capacity(asked.len());
    for (one, left) in to_prune.into_iter().zip(left) {
        let nearest = match left {
            Some(left) => one.among(desk, &left),
            None => one.exhaustive(desk),
        };
        found.push((one.query, nearest));
    }
    found.extend((others.into_iter()).map(|one| (one.query, one.exhaustive(desk))));
    found.sort_unstable_by_key(|(query, _)| *query);
    found.into_iter().map(|(_, nearest)| nearest).collect()
}

/// Of each query the documents that can be among the nearest; nothing where these are too many.
fn documents_left(desk: &mut Desk, asked: &[Asked<'_>]) -> Vec<Option<Vec<u32>>> {
    let Some(first) = asked.first() else {
        return Vec::new();
    };
    let size = first.index.num_documents();
    desk.sums.resize(size * asked.len().max(1), 0.0);
    let mut sums: Vec<&mut [f32]> = desk.sums.chunks_mut(size).take(asked.len()).collect();
    let coded: Vec<CodedQuery> = (asked.iter().zip(&mut sums))
        .map(|(one, sums)| one.walk_rare(sums))
        .collect();
    first.index.frequent().add_products(&coded, &mut sums);
    let with_sums = asked.iter().zip(&coded).zip(sums);
    with_sums
        .map(|((one, coded), sums)| {
            let left = one.left(sums, coded.error());
            sums.fill(0.0);
            left
        })
        .collect()
}

impl Desk {
    fn new(num_documents: usize) -> Self {
        Self {
            sums: vec![0.0; num_documents],
            touched: Vec::new(),
            places: vec![0; num_documents],
        }
    }
}

impl<'a> Asked<'a> {
    fn terms(self) -> impl Iterator<Item = (u32, f32)> + 'a {
        let weights = self.row.values.iter().copied();
        self.row.columns.iter().copied().zip(weights)
    }

    fn term(self, term: u32, weight: f32) -> Term<'a> {
        let (documents, values) = self.index.postings(term);
        let can_be = weight > 0.0 && is_frequent(documents.len(), self.index.num_documents());
        let found = can_be.then(|| self.index.frequent().get(term, self.index));
        match found.flatten() {
            Some(frequent) => Term::Frequent(frequent),
            None => Term::Rare(documents, values),
        }
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
        let counts = self
            .terms()
            .map(|(term, _)| self.index.postings(term).0.len());
        let products: usize = counts
            .filter(|&count| is_frequent(count, num_documents))
            .sum();
        products >= WORTHWHILE * num_documents
            && self.queries.limit > 0
            && self.queries.limit * MAX_LEFT <= num_documents
    }

    /// Sums up the products with rare terms, and gives the frequent ones.
    fn walk_rare(self, sums: &mut [f32]) -> CodedQuery {
        let mut frequent = Vec::new();
        for (term, weight) in self.terms() {
            match self.term(term, weight) {
                Term::Frequent(term) => frequent.push((term, weight)),
                Term::Rare(documents, values) => {
                    for (&document, &value) in documents.iter().zip(values) {
                        sums[document as usize] += weight * value;
                    }
                }
            }
        }
        self.index.frequent().coded(&frequent)
    }

    /// The documents that can be among the nearest, of which `sums` are too small by `error` at most;
    /// nothing where these are too many.
    fn left(self, sums: &[f32], error: f32) -> Option<Vec<u32>> {
        let limit = self.queries.limit;
        // Sums in another order differ by less, as no document's products sum to more than 1.
        let error = error + (self.row.columns.len() + 16) as f32 * f32::EPSILON;
        let mut floor = f32::NEG_INFINITY;
        let mut left: Vec<Neighbour> = Vec::new();
        let mut next_selection = limit + SLACK;
        // Copies of the query and the query itself may not count, and keep no others away.
        let mut doubtful: Vec<u32> = Vec::new();
        for (document, &similarity) in (0..).zip(sums) {
            if similarity < floor {
                continue;
            }
            let most = Neighbour {
                document,
                similarity: similarity + error,
            };
            if !self.queries.allow(self.query, most) {
                doubtful.push(document);
                continue;
            }
            left.push(Neighbour {
                document,
                similarity,
            });
            if left.len() >= next_selection {
                floor = raised(&mut left, limit, error);
                next_selection = 2 * left.len() + SLACK;
            }
        }
        if left.len() >= limit {
            raised(&mut left, limit, error);
        }
        doubtful.extend(left.into_iter().map(|one| one.document));
        (doubtful.len() * MAX_LEFT <= sums.len()).then_some(doubtful)
    }

    /// The nearest of some documents, by all terms in their order.
    fn among(self, desk: &mut Desk, documents: &[u32]) -> Vec<Neighbour> {
        for (place, &document) in (1..).zip(documents) {
            desk.places[document as usize] = place;
        }
        let mut sums = vec![0.0; documents.len() + 1];
        for (term, weight) in self.terms() {
            match self.term(term, weight) {
                Term::Frequent(term) => {
                    for (sum, &document) in sums[1..].iter_mut().zip(documents) {
                        if let Some(value) = term.value(document) {
                            *sum += weight * value;
                        }
                    }
                }
                Term::Rare(with_it, values) => {
                    for (&document, &value) in with_it.iter().zip(values) {
                        let place = desk.places[document as usize];
                        if place != 0 {
                            sums[place as usize] += weight * value;
                        }
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

/// Leaves out the documents that cannot be among the `limit` nearest, and says below what these are.
fn raised(left: &mut Vec<Neighbour>, limit: usize, error: f32) -> f32 {
    left.select_nth_unstable_by(limit - 1, Neighbour::by_nearness);
    let floor = left[limit - 1].similarity - error;
    left.retain(|one| one.similarity >= floor);
    floor
}

#[cfg(test)]
mod tests;
