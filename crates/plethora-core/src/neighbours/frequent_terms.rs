//! Terms that many documents have: their weights in all documents in eight bits, by which most
//! documents are told to be far away, and where to look the weights themselves up.

use super::term_index::TermIndex;

/// From this share of all documents on, as one over it, a term is frequent.
const FREQUENT_SHARE: usize = 16;

/// Documents whose weights lie side by side.
const PER_BLOCK: usize = 64;

/// Sums are counted in this, so that those of rows of unit length fit into 16 bits.
const UNIT: f32 = 1.0 / 60_000.0;

/// The frequent terms of an index.
#[derive(Debug)]
pub(super) struct FrequentTerms {
    /// Rising.
    terms: Vec<u32>,
    /// What a step of a term's codes stands for.
    steps: Vec<f32>,
    /// Weights in whole steps, rounded down: blocks x terms x documents of a block.
    codes: Vec<u8>,
    /// For each term, which documents have it.
    holders: Vec<Holders>,
    num_blocks: usize,
}

/// Which documents of a block have a term.
#[derive(Debug, Clone, Copy, Default)]
struct Holders {
    documents: u64,
    /// How many before them have it.
    before: u32,
}

/// A frequent term of a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrequentTerm<'a> {
    place: usize,
    holders: &'a [Holders],
    values: &'a [f32],
}

/// A query's frequent terms, to be multiplied by codes.
#[derive(Debug, Default)]
pub(super) struct CodedQuery {
    /// Places of terms, and their weights in the query times the step, in units.
    terms: Vec<(u32, u16)>,
    /// By how much sums are too small at most.
    error: f32,
}

impl FrequentTerms {
    pub(super) fn new(index: &TermIndex) -> Self {
        let num_documents = index.num_documents();
        let num_blocks = num_documents.div_ceil(PER_BLOCK);
        let terms: Vec<u32> = (0..index.num_terms() as u32)
            .filter(|&term| {
                let (documents, values) = index.postings(term);
                is_frequent(documents.len(), num_documents) && values.iter().all(|&one| one >= 0.0)
            })
            .collect();
        let mut frequent = Self {
            steps: Vec::with_capacity(terms.len()),
            codes: vec![0; num_blocks * terms.len() * PER_BLOCK],
            holders: vec![Holders::default(); terms.len() * num_blocks],
            num_blocks,
            terms,
        };
        for place in 0..frequent.terms.len() {
            let (documents, values) = index.postings(frequent.terms[place]);
            frequent.encode(place, documents, values);
        }
        frequent
    }

    fn encode(&mut self, place: usize, documents: &[u32], values: &[f32]) {
        let step = values.iter().copied().fold(f32::MIN_POSITIVE, f32::max) / f32::from(u8::MAX);
        self.steps.push(step);
        let holders = &mut self.holders[place * self.num_blocks..(place + 1) * self.num_blocks];
        for (&document, &value) in documents.iter().zip(values) {
            let (block, inside) = (document as usize / PER_BLOCK, document as usize % PER_BLOCK);
            holders[block].documents |= 1 << inside;
            let line = (block * self.terms.len() + place) * PER_BLOCK;
            // Rounds down, also where the division rounded up.
            self.codes[line + inside] = (value / step * (1.0 - f32::EPSILON)) as u8;
        }
        let mut before = 0;
        for block in holders {
            block.before = before;
            before += block.documents.count_ones();
        }
    }

    /// Where to look `term` up, if it is frequent and never weighs less than nothing.
    pub(super) fn get<'a>(&'a self, term: u32, index: &'a TermIndex) -> Option<FrequentTerm<'a>> {
        let place = self.terms.binary_search(&term).ok()?;
        Some(FrequentTerm {
            place,
            holders: &self.holders[place * self.num_blocks..(place + 1) * self.num_blocks],
            values: index.postings(term).1,
        })
    }

    /// Adds to the sums of several queries, one per document, what their terms give in codes: for each
    /// no more than the products are, and less by its error at most.
    pub(super) fn add_products(&self, queries: &[CodedQuery], sums: &mut [&mut [f32]]) {
        let size = self.terms.len() * PER_BLOCK;
        // Block by block, so that each is read once for all queries.
        for (block, codes) in self.codes.chunks_exact(size.max(1)).enumerate() {
            let first = block * PER_BLOCK;
            for (query, sums) in queries.iter().zip(sums.iter_mut()) {
                let products = products(codes, &query.terms);
                for (sum, &product) in sums[first..].iter_mut().zip(&products) {
                    *sum += f32::from(product) * UNIT;
                }
            }
        }
    }

    /// A query of these terms and weights, all of them above zero.
    pub(super) fn coded(&self, terms: &[(FrequentTerm<'_>, f32)]) -> CodedQuery {
        let mut coded = CodedQuery::default();
        for (term, weight) in terms {
            let per_step = weight * self.steps[term.place];
            let units = (per_step / UNIT * 256.0) as u16;
            coded.terms.push((term.place as u32, units));
            // A step of the weight in the document, and a unit each for rounding in the query and in the
            // product.
            coded.error += per_step * (1.0 + f32::EPSILON) + 2.0 * UNIT;
        }
        coded
    }
}

impl CodedQuery {
    /// By how much sums are too small at most.
    pub(super) fn error(&self) -> f32 {
        self.error
    }
}

impl FrequentTerm<'_> {
    /// The weight of the term in a document, if it has the term.
    pub(super) fn value(&self, document: u32) -> Option<f32> {
        let (block, bit) = (document as usize / PER_BLOCK, document as usize % PER_BLOCK);
        let block = self.holders[block];
        let lower = block.documents & ((1 << bit) - 1);
        ((block.documents >> bit) & 1 == 1)
            .then(|| self.values[(block.before + lower.count_ones()) as usize])
    }
}

/// True where so many documents of all have a term that it is frequent.
pub(super) fn is_frequent(count: usize, num_documents: usize) -> bool {
    count > 0 && count * FREQUENT_SHARE >= num_documents
}

/// The sums of a block's documents in units, by the widest version of the loop that this processor has.
fn products(codes: &[u8], terms: &[(u32, u16)]) -> [u16; PER_BLOCK] {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512bw")]
        fn with_avx512(codes: &[u8], terms: &[(u32, u16)]) -> [u16; PER_BLOCK] {
            block_products(codes, terms)
        }
        #[target_feature(enable = "avx2")]
        fn with_avx2(codes: &[u8], terms: &[(u32, u16)]) -> [u16; PER_BLOCK] {
            block_products(codes, terms)
        }
        if is_x86_feature_detected!("avx512bw") {
            #[expect(unsafe_code, reason = "needs the processor feature just detected")]
            // SAFETY: the feature that the function is compiled for was detected above.
            return unsafe { with_avx512(codes, terms) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "needs the processor feature just detected")]
            // SAFETY: the feature that the function is compiled for was detected above.
            return unsafe { with_avx2(codes, terms) };
        }
    }
    block_products(codes, terms)
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "versions for processors compile it each for itself"
)]
fn block_products(codes: &[u8], terms: &[(u32, u16)]) -> [u16; PER_BLOCK] {
    let mut sums = [0_u16; PER_BLOCK];
    for &(place, weight) in terms {
        let line = place as usize * PER_BLOCK;
        for (sum, &code) in sums.iter_mut().zip(&codes[line..line + PER_BLOCK]) {
            let product = (u32::from(code) * u32::from(weight)) >> 8;
            *sum = sum.saturating_add(product as u16);
        }
    }
    sums
}
