//! What is asked of an index.

use super::Neighbour;
use super::nearest::Nearest;

/// From this similarity on two documents are copies of each other: what is missing to 1 is rounding.
const COPY_SIMILARITY: f32 = 0.99999;

/// How many neighbours are wanted, and which documents are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queries {
    /// Neighbours of a query at most.
    pub limit: usize,
    /// Where the queries are documents of the index themselves, in its order: the number of the first
    /// query. No document is its own neighbour then.
    pub own_from: Option<u32>,
    /// Whether documents that equal the query are no neighbours. In training that tells what a
    /// document's neighbours say where no copy of it is known.
    pub skips_copies: bool,
}

impl Queries {
    /// Queries that are no documents of the index.
    pub fn of_others(limit: usize) -> Self {
        Self {
            limit,
            own_from: None,
            skips_copies: false,
        }
    }

    pub(super) fn nearest(&self) -> Nearest {
        Nearest::new(self.limit)
    }

    /// True where `candidate` may be a neighbour of the query number `query`.
    pub(super) fn allow(&self, query: usize, candidate: Neighbour) -> bool {
        let is_itself = (self.own_from)
            .is_some_and(|first| u64::from(first) + query as u64 == u64::from(candidate.document));
        let is_skipped = self.skips_copies && candidate.similarity >= COPY_SIMILARITY;
        !is_itself && !is_skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_not_its_own_neighbour_and_copies_are_only_on_request() {
        let candidate = |document, similarity| Neighbour {
            document,
            similarity,
        };
        let others = Queries::of_others(3);
        assert!(others.allow(2, candidate(2, 1.0)));
        let own = Queries {
            own_from: Some(10),
            ..others
        };
        assert!(!own.allow(2, candidate(12, 0.5)));
        assert!(own.allow(2, candidate(2, 1.0)));
        let strict = Queries {
            skips_copies: true,
            ..own
        };
        assert!(!strict.allow(2, candidate(2, 1.0)));
        assert!(strict.allow(2, candidate(2, 0.999)));
    }
}
