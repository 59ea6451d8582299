//! Terms that many documents have, of which a document's weight is looked up instead of walked to.

use super::term_index::TermIndex;

/// From a sixteenth of all documents on a term is frequent.
const FREQUENT_SHARE: usize = 16;

/// Groups of frequent terms: those in half of all documents or more, in a quarter, an eighth, a
/// sixteenth.
pub(super) const NUM_GROUPS: usize = 4;

/// Documents that are marked together.
const PER_BLOCK: usize = 64;

/// The frequent terms of an index.
#[derive(Debug)]
pub(super) struct FrequentTerms {
    /// Rising.
    terms: Vec<u32>,
    /// For each term, which documents have it.
    blocks: Vec<Block>,
    /// Blocks of a term.
    num_blocks: usize,
    /// Of each group, the length of each document's weights of its terms.
    norms: [Vec<f32>; NUM_GROUPS],
}

/// Which of some consecutive documents have a term.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    documents: u64,
    /// How many before them have it.
    before: u32,
}

/// Where to look a term up.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrequentTerm<'a> {
    pub(super) group: usize,
    blocks: &'a [Block],
    values: &'a [f32],
}

impl FrequentTerms {
    pub(super) fn new(index: &TermIndex) -> Self {
        let num_documents = index.num_documents();
        let num_blocks = num_documents.div_ceil(PER_BLOCK);
        let all = 0..index.num_terms() as u32;
        let terms: Vec<u32> = all
            .filter(|&term| is_frequent(index.postings(term).0.len(), num_documents))
            .collect();
        let mut blocks = vec![Block::default(); terms.len() * num_blocks];
        let mut norms: [Vec<f32>; NUM_GROUPS] =
            std::array::from_fn(|_| vec![0.0; num_documents]);
        for (&term, blocks) in terms.iter().zip(blocks.chunks_mut(num_blocks)) {
            let (documents, values) = index.postings(term);
            let squares = &mut norms[group_of(documents.len(), num_documents)];
            for (&document, &value) in documents.iter().zip(values) {
                let document = document as usize;
                blocks[document / PER_BLOCK].documents |= 1 << (document % PER_BLOCK);
                squares[document] += value * value;
            }
            let mut before = 0;
            for block in blocks {
                block.before = before;
                before += block.documents.count_ones();
            }
        }
        for square in norms.iter_mut().flatten() {
            *square = square.sqrt();
        }
        Self {
            terms,
            blocks,
            num_blocks,
            norms,
        }
    }

    /// Where to look `term` up, if it is frequent.
    pub(super) fn get<'a>(&'a self, term: u32, index: &'a TermIndex) -> Option<FrequentTerm<'a>> {
        let place = self.terms.binary_search(&term).ok()?;
        let (documents, values) = index.postings(term);
        Some(FrequentTerm {
            group: group_of(documents.len(), index.num_documents()),
            blocks: &self.blocks[place * self.num_blocks..(place + 1) * self.num_blocks],
            values,
        })
    }

    /// The length of each document's weights of the terms of a group.
    pub(super) fn norms(&self, group: usize) -> &[f32] {
        &self.norms[group]
    }
}

impl FrequentTerm<'_> {
    /// The weight of the term in a document, if it has the term.
    pub(super) fn value(&self, document: u32) -> Option<f32> {
        let (block, bit) = (document as usize / PER_BLOCK, document as usize % PER_BLOCK);
        let block = self.blocks[block];
        let lower = block.documents & ((1 << bit) - 1);
        (block.documents >> bit & 1 == 1)
            .then(|| self.values[(block.before + lower.count_ones()) as usize])
    }
}

/// True where so many documents of all have a term that it is frequent.
pub(super) fn is_frequent(count: usize, num_documents: usize) -> bool {
    count > 0 && count * FREQUENT_SHARE >= num_documents
}

fn group_of(count: usize, num_documents: usize) -> usize {
    ((num_documents / count).max(2).ilog2() as usize - 1).min(NUM_GROUPS - 1)
}
