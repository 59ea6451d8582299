//! The training data of one tree node: its documents with features renumbered for that node.

use std::cell::Cell;

use plethora_core::SparseMatrix;

/// Documents of a node in compressed rows. Features are numbered from the node's most frequent one
/// down, which keeps the weights that are needed most often close together in the cache.
#[derive(Debug)]
pub(crate) struct NodeProblem {
    starts: Vec<u32>,
    features: Vec<u32>,
    values: Vec<f32>,
    /// Squared length of each document, without the bias.
    squared_lengths: Vec<f32>,
    /// Cost of a mistake on each document, as a share of the solver's.
    costs: Vec<f32>,
    /// The column in the whole matrix of each of the node's features.
    global_features: Vec<u32>,
    /// The node's features in rising order of that column.
    in_global_order: Vec<u32>,
}

/// Features or values in a cache line.
const ENTRIES_PER_LINE: usize = 16;

/// Has the processor fetch the cache line in which something begins.
#[inline]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "an instruction of the processor")]
        // SAFETY: every processor of this architecture has it, and it reads nothing that the program sees.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

thread_local! {
    /// Counts, then local numbers, by global feature; all zero between uses.
    static SPARE_NUMBERS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

impl NodeProblem {
    /// Gathers `documents` of the whole `matrix`.
    pub(crate) fn gather(matrix: &SparseMatrix, documents: &[u32]) -> Self {
        let mut numbers = SPARE_NUMBERS.take();
        numbers.resize(matrix.num_columns(), 0);
        let mut global_features = Vec::new();
        let mut num_entries = 0;
        for &document in documents {
            let row = matrix.row(document as usize);
            num_entries += row.len();
            for &column in row.columns {
                if numbers[column as usize] == 0 {
                    global_features.push(column);
                }
                numbers[column as usize] += 1;
            }
        }
        global_features
            .sort_unstable_by_key(|&column| (std::cmp::Reverse(numbers[column as usize]), column));
        for (number, &column) in (0..).zip(&global_features) {
            numbers[column as usize] = number;
        }
        let mut problem = Self {
            starts: Vec::with_capacity(documents.len() + 1),
            features: Vec::with_capacity(num_entries),
            values: Vec::with_capacity(num_entries),
            squared_lengths: Vec::with_capacity(documents.len()),
            costs: vec![1.0; documents.len()],
            in_global_order: Vec::new(),
            global_features,
        };
        problem.starts.push(0);
        for &document in documents {
            let row = matrix.row(document as usize);
            problem
                .features
                .extend(row.columns.iter().map(|&column| numbers[column as usize]));
            problem.values.extend_from_slice(row.values);
            problem
                .squared_lengths
                .push(row.values.iter().map(|value| value * value).sum());
            problem.starts.push(problem.features.len() as u32);
        }
        let mut in_global_order: Vec<u32> = (0..problem.global_features.len() as u32).collect();
        in_global_order.sort_unstable_by_key(|&feature| problem.global_features[feature as usize]);
        problem.in_global_order = in_global_order;
        for &column in &problem.global_features {
            numbers[column as usize] = 0;
        }
        SPARE_NUMBERS.set(numbers);
        problem
    }

    pub(crate) fn num_documents(&self) -> usize {
        self.squared_lengths.len()
    }

    pub(crate) fn num_features(&self) -> usize {
        self.global_features.len()
    }

    pub(crate) fn global_features(&self) -> &[u32] {
        &self.global_features
    }

    pub(crate) fn in_global_order(&self) -> &[u32] {
        &self.in_global_order
    }

    pub(crate) fn squared_length(&self, document: usize) -> f32 {
        self.squared_lengths[document]
    }

    /// Cost of a mistake on a document, as a share of the solver's.
    pub(crate) fn cost(&self, document: usize) -> f32 {
        self.costs[document]
    }

    /// Gives all documents but the `full` ones (local numbers, rising) a share of the solver's cost.
    pub(crate) fn lower_costs(&mut self, share: f32, full: &[u32]) {
        self.costs.fill(share);
        for &document in full {
            self.costs[document as usize] = 1.0;
        }
    }

    /// Has the processor fetch a document that is visited soon: documents come in random order, and waiting for
    /// each of them would take as long as the visit.
    #[inline]
    pub(crate) fn prefetch(&self, document: usize) {
        let (features, values) = self.document(document);
        for line in features.chunks(ENTRIES_PER_LINE) {
            prefetch(line);
        }
        for line in values.chunks(ENTRIES_PER_LINE) {
            prefetch(line);
        }
    }

    /// Features and values of a document of the node.
    pub(crate) fn document(&self, document: usize) -> (&[u32], &[f32]) {
        let range = self.starts[document] as usize..self.starts[document + 1] as usize;
        (&self.features[range.clone()], &self.values[range])
    }
}
