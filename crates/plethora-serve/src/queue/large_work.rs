//! A request with much to rank, part by part.

use plethora_core::corpus::Document;
use plethora_system::{Depth, ScoreKind};

use super::{Job, RankWork, Rankings, WorkError};

/// Documents and words that are ranked in one go, and documents times labels: some milliseconds of a linear system.
const MAX_DOCUMENTS: usize = 32;
const MAX_TOKENS: usize = 8192;
const MAX_LABELS: usize = 4096;

/// A request of which a part is ranked.
#[derive(Debug)]
pub(super) struct LargeWork {
    work: RankWork,
    /// Documents in a part.
    part: usize,
    rankings: Rankings,
}

impl LargeWork {
    /// True for a request that others should not wait for.
    pub(super) fn is_large(job: &Job) -> bool {
        job.num_documents > 1
            && (job.num_documents > MAX_DOCUMENTS
                || job.num_tokens > MAX_TOKENS
                || job.num_documents * job.work.depth.first > MAX_LABELS)
    }

    /// The request, with nothing ranked yet.
    pub(super) fn new(job: Job) -> Self {
        let tokens = job.num_tokens.div_ceil(job.num_documents.max(1));
        let part = MAX_DOCUMENTS
            .min(MAX_TOKENS / tokens.max(1))
            .min(MAX_LABELS / job.work.depth.first.max(1));
        Self {
            work: job.work,
            part: part.max(1),
            rankings: Rankings::new(),
        }
    }

    /// Ranks the next part; nothing is left once all is ranked and answered, or nobody waits any more.
    pub(super) fn ranked(
        mut self,
        rank: impl FnOnce(&[Document], Depth, ScoreKind) -> Result<Rankings, WorkError>,
    ) -> Option<Self> {
        if self.work.reply.is_closed() {
            return None;
        }
        let start = self.rankings.len();
        let end = self.work.documents.len().min(start + self.part);
        let ranked = rank(
            &self.work.documents[start..end],
            self.work.depth,
            self.work.scores,
        );
        let answer = match ranked {
            Ok(part) => {
                self.rankings.extend(part);
                if end < self.work.documents.len() {
                    return Some(self);
                }
                Ok(self.rankings)
            }
            Err(error) => Err(error),
        };
        // A client that went away meanwhile wants no answer.
        let _ = self.work.reply.send(answer);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents_of;
    use super::*;
    use tokio::sync::oneshot;

    fn job(
        num_documents: usize,
        depth: usize,
    ) -> (Job, oneshot::Receiver<Result<Rankings, WorkError>>) {
        let (reply, answer) = oneshot::channel();
        let work = RankWork {
            documents: documents_of((0..num_documents).map(|number| format!("text {number}"))),
            depth: Depth::fixed(depth),
            scores: ScoreKind::Prob,
            reply,
        };
        (Job::rank(work), answer)
    }

    #[test]
    fn a_large_request_is_ranked_in_parts_and_answered_as_a_whole() {
        let (job, mut answer) = job(70, 10);
        assert!(LargeWork::is_large(&job));
        let mut left = Some(LargeWork::new(job));
        let mut sizes = Vec::new();
        while let Some(work) = left {
            left = work.ranked(|part, _, _| {
                sizes.push(part.len());
                Ok(vec![Vec::new(); part.len()])
            });
        }
        assert_eq!(sizes, [32, 32, 6]);
        assert_eq!(answer.try_recv().unwrap().unwrap().len(), 70);
    }

    #[test]
    fn failures_and_clients_that_left_end_it() {
        let (one, mut answer) = job(100, 1000);
        let left = LargeWork::new(one).ranked(|part, _, _| {
            assert_eq!(part.len(), 4);
            Err(WorkError::Panicked)
        });
        assert!(left.is_none());
        assert_eq!(answer.try_recv().unwrap(), Err(WorkError::Panicked));
        let (other, answer) = job(100, 10);
        drop(answer);
        assert!(
            LargeWork::new(other)
                .ranked(|_, _, _| unreachable!())
                .is_none()
        );
        assert!(!LargeWork::is_large(&job(1, 1000).0) && !LargeWork::is_large(&job(8, 10).0));
    }
}
