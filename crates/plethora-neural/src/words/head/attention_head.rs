//! Multi-label attention as a head: over all labels, or over candidates that a batch brings.

use tch::{Device, Kind, Tensor};

use super::attention::{Attention, Lesson};
use super::{HeadNeed, Scored, StatesHead, StatesInput};
use crate::Result;
use crate::head::{HeadStep, LabelHead, Ranked, send_back};
use crate::train::{Learnt, LossScale};

impl LabelHead<StatesInput<'_>> for Attention {
    fn learn(&self, input: &StatesInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let (targets, num_scored) = if let Some(truth) = input.truth {
            (truth.of_candidates.shallow_clone(), truth.num_candidates)
        } else {
            let shape = [input.states.size()[0], self.num_labels];
            let blank = Tensor::zeros(shape, (Kind::Float, input.states.device()));
            let targets = step.targets.matrix(&blank);
            let num_scored = targets.numel();
            (targets, num_scored)
        };
        let share = match step.loss {
            LossScale::Sum => 1.0 / targets.size()[0] as f64,
            LossScale::Mean => 1.0 / num_scored.max(1) as f64,
        };
        let lesson = Lesson {
            scored: &input.scored,
            targets: &targets,
            added_to: None,
            scale: step.part.scale * share,
        };
        let learnt = self.learn_apart(input, &lesson, |_| {});
        send_back(&learnt.back);
        Ok(Learnt {
            loss: learnt.loss * share,
            rows: Vec::new(),
        })
    }

    fn rank(&self, input: &StatesInput<'_>, _beam: usize, keep: usize) -> Ranked {
        let mut scores = masked_logits(self, input).log_sigmoid();
        if let Some(paths) = input.paths {
            scores += paths;
        }
        let keep = (keep as i64).min(scores.size()[1]);
        let (log_scores, labels) = scores.topk(keep, 1, true, true);
        Ranked { log_scores, labels }
    }

    #[cfg(test)]
    fn logits(&self, input: &StatesInput<'_>) -> Tensor {
        masked_logits(self, input)
    }
}

impl StatesHead for Attention {
    fn attention(&self, input: &StatesInput<'_>, label: u32) -> Option<Tensor> {
        Some(self.weights(input, label))
    }

    fn need(&self, batch: (i64, i64), device: Device) -> HeadNeed {
        self.most_needed(batch, device)
    }
}

/// documents x labels or candidates, in 32 bits: scores before the sigmoid; minus infinity for padding.
fn masked_logits(head: &Attention, input: &StatesInput<'_>) -> Tensor {
    let logits = head.logits(input, &input.scored);
    match &input.scored {
        Scored::All => logits,
        Scored::Candidates { filled, .. } => {
            logits.masked_fill(&(*filled).eq(0.0), f64::NEG_INFINITY)
        }
    }
}
