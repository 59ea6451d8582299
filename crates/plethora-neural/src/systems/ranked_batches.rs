//! Documents, ranked in batches.

use plethora_core::IndexRows;
use rayon::prelude::*;
use tch::Device;

use crate::Result;
use crate::batch::longest_first;
use crate::threads::{num_threads, with_threads};

/// Batches per thread between two times that the work can be stopped.
const BATCHES_PER_ROUND: usize = 8;

/// A recurrent network reads fewer documents one by one on a processor.
const FEWEST_TOGETHER: usize = 8;

/// A view of a network that ranks documents.
///
/// # Safety
/// Several threads call it at the same time, and tch marks no tensor as one that threads share.
/// Implementations read the tensors that they borrow and write to tensors of their own batch alone.
#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
pub(crate) unsafe trait ReadsBatches {
    /// What is said of a document.
    type Said: Clone + Default + Send;

    /// What the network says of some documents, by their numbers.
    fn read(&self, documents: &[u32]) -> Result<Vec<Self::Said>>;
}

/// How many documents are read together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    /// Places: documents x longest document.
    pub(crate) places: usize,
    pub(crate) documents: usize,
    /// Whether the network reads word after word. On a processor such a one reads documents of one length
    /// together and others faster alone, and gains nothing from a second thread.
    pub(crate) is_recurrent: bool,
}

/// Documents that are ranked in batches of similar length: one batch after the other on a GPU, side by
/// side on a processor. There each has one thread of libtorch, whose own threads wait for each
/// other after every operation, and most operations of one batch are short.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedBatches<'a> {
    pub(crate) sequences: &'a IndexRows,
    pub(crate) device: Device,
    pub(crate) on_gpu: BatchLimits,
    pub(crate) on_cpu: BatchLimits,
}

impl RankedBatches<'_> {
    /// What `network` says of each document. `after_batches` hears how many are done and may stop the
    /// work.
    pub(crate) fn rank<R: ReadsBatches>(
        &self,
        network: &R,
        after_batches: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<R::Said>> {
        let threads = match self.device {
            Device::Cpu => num_threads(),
            _ => 1,
        };
        self.rank_on(threads, network, after_batches)
    }

    fn rank_on<R: ReadsBatches>(
        &self,
        threads: usize,
        network: &R,
        mut after_batches: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<R::Said>> {
        let all: Vec<u32> = (0..self.sequences.num_rows() as u32).collect();
        let sorted = longest_first(&all, self.sequences);
        let batches = self.cut(&sorted, threads);
        let shared = Shared(network);
        let mut said = vec![R::Said::default(); sorted.len()];
        for round in batches.chunks(threads * BATCHES_PER_ROUND) {
            let of_batches: Vec<Vec<R::Said>> = match round {
                [batch] if threads > 1 => {
                    vec![with_threads(self.threads_of_one(threads), || {
                        shared.read(batch)
                    })?]
                }
                _ if threads > 1 => {
                    let side_by_side = round.par_iter().with_max_len(1);
                    side_by_side
                        .map(|batch| with_threads(1, || shared.read(batch)))
                        .collect::<Result<_>>()?
                }
                _ => {
                    let one_by_one = round.iter().map(|batch| shared.read(batch));
                    one_by_one.collect::<Result<_>>()?
                }
            };
            let documents = round.iter().copied().flatten();
            for (&document, one) in documents.zip(of_batches.into_iter().flatten()) {
                said[document as usize] = one;
            }
            after_batches(round.iter().map(|batch| batch.len()).sum())?;
        }
        Ok(said)
    }

    /// Threads of libtorch for a batch that is ranked alone.
    fn threads_of_one(&self, threads: usize) -> usize {
        if self.limits().is_recurrent {
            1
        } else {
            threads
        }
    }

    fn limits(&self) -> BatchLimits {
        match self.device {
            Device::Cpu => self.on_cpu,
            _ => self.on_gpu,
        }
    }

    /// Batches of documents, which come longest first; at least one per thread where there are as many.
    fn cut<'d>(&self, sorted: &'d [u32], threads: usize) -> Vec<&'d [u32]> {
        let limits = self.limits();
        let most = limits.documents.min(sorted.len().div_ceil(threads)).max(1);
        let mut batches = Vec::new();
        let mut rest = sorted;
        while let Some(&longest) = rest.first() {
            let length = |document: u32| self.sequences.row(document as usize).len().max(1);
            let count = (limits.places / length(longest)).clamp(1, most);
            let count = if limits.is_recurrent && self.device == Device::Cpu {
                let alike = rest.partition_point(|&document| length(document) == length(longest));
                together(count.min(alike))
            } else {
                count.min(rest.len())
            };
            let (batch, later) = rest.split_at(count);
            batches.push(batch);
            rest = later;
        }
        batches
    }
}

/// How many of so many documents of one length a recurrent network reads together. libtorch keeps what it
/// prepares for each shape, so few are shared: a server that meets every length with every small number of
/// documents would grow for a hundred thousand requests.
fn together(alike: usize) -> usize {
    match alike {
        0..FEWEST_TOGETHER => 1,
        _ => 1 << alike.ilog2(),
    }
}

/// A view of a network, for several threads.
struct Shared<'a, R>(&'a R);

impl<R: ReadsBatches> Shared<'_, R> {
    fn read(&self, batch: &[u32]) -> Result<Vec<R::Said>> {
        self.0.read(batch)
    }
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: libtorch lets several threads read a tensor at the same time, and `ReadsBatches` says that
// nothing else is done to the weights of a network; nobody else has the network meanwhile, since
// whoever ranks has borrowed it.
unsafe impl<R: ReadsBatches> Sync for Shared<'_, R> {}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Error;

    /// Says what a function says, which has no tensors.
    struct Says<F>(F);

    #[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
    // SAFETY: threads may share the function, and it has no tensors.
    unsafe impl<T, F> ReadsBatches for Says<F>
    where
        T: Clone + Default + Send,
        F: Fn(&[u32]) -> Result<Vec<T>> + Sync,
    {
        type Said = T;

        fn read(&self, documents: &[u32]) -> Result<Vec<T>> {
            (self.0)(documents)
        }
    }

    fn batches(sequences: &IndexRows, is_recurrent: bool) -> RankedBatches<'_> {
        let limits = BatchLimits {
            places: 12,
            documents: 4,
            is_recurrent,
        };
        RankedBatches {
            sequences,
            device: Device::Cpu,
            on_gpu: limits,
            on_cpu: limits,
        }
    }

    /// Documents of 1, 2, 3, 1, 2, 3, ... words, the first word of each its number.
    fn sequences(count: u32) -> IndexRows {
        let mut sequences = IndexRows::default();
        for document in 0..count {
            sequences.push(std::iter::repeat_n(document, document as usize % 3 + 1));
        }
        sequences
    }

    #[test]
    fn every_document_gets_its_own_whatever_the_threads() {
        for count in [0, 1, 2, 5, 40] {
            let sequences = sequences(count);
            for (threads, is_recurrent) in [(1, false), (2, false), (3, false), (2, true)] {
                let seen = Mutex::new(Vec::new());
                let mut heard = 0;
                let said = batches(&sequences, is_recurrent).rank_on(
                    threads,
                    &Says(|batch: &[u32]| {
                        seen.lock().unwrap().push(batch.to_vec());
                        let first = batch.iter().map(|&d| sequences.row(d as usize)[0] + 1);
                        Ok(first.collect::<Vec<u32>>())
                    }),
                    |documents| {
                        heard += documents;
                        Ok(())
                    },
                );
                assert_eq!(said.unwrap(), (1..=count).collect::<Vec<_>>());
                assert_eq!(heard, count as usize);
                for batch in seen.lock().unwrap().iter() {
                    let longest = sequences.row(batch[0] as usize).len();
                    assert!(batch.len() <= 4 && batch.len() * longest <= 12);
                    let mut lengths = batch.iter().map(|&d| sequences.row(d as usize).len());
                    assert!(!is_recurrent || lengths.all(|length| length == longest));
                }
            }
        }
    }

    #[test]
    fn recurrent_networks_meet_few_shapes() {
        let limits = BatchLimits {
            places: 1000,
            documents: 64,
            is_recurrent: true,
        };
        for (alike, counts) in [(7, vec![1; 7]), (8, vec![8]), (21, vec![16, 1, 1, 1, 1, 1])] {
            let mut sequences = IndexRows::default();
            (0..alike).for_each(|_| sequences.push([1, 2, 3]));
            let documents: Vec<u32> = (0..alike).collect();
            let batches = RankedBatches {
                sequences: &sequences,
                device: Device::Cpu,
                on_gpu: limits,
                on_cpu: limits,
            };
            let cut = batches.cut(&documents, 1);
            assert_eq!(
                cut.iter().map(|batch| batch.len()).collect::<Vec<_>>(),
                counts
            );
        }
    }

    #[test]
    fn threads_have_libtorch_to_themselves() {
        let sequences = sequences(8);
        let threads = batches(&sequences, false).rank_on(
            2,
            &Says(|batch: &[u32]| Ok(vec![tch::get_num_threads(); batch.len()])),
            |_| Ok(()),
        );
        assert_eq!(threads.unwrap(), [1; 8]);
    }

    #[test]
    fn a_failure_is_the_answer() {
        let sequences = sequences(8);
        for threads in [1, 2] {
            let said = batches(&sequences, false).rank_on(
                threads,
                &Says(|_: &[u32]| -> Result<Vec<u32>> {
                    Err(Error::Torch("out of memory".to_owned()))
                }),
                |_| Ok(()),
            );
            assert!(said.unwrap_err().to_string().contains("out of memory"));
            let stopped = batches(&sequences, false).rank_on(
                threads,
                &Says(|batch: &[u32]| Ok(batch.to_vec())),
                |_| Err(Error::Torch("stop".to_owned())),
            );
            assert!(stopped.is_err());
        }
    }
}
