//! Why a label has its score: what the pieces of each word add to its log-odds.

use std::ops::Range;

use plethora_core::{Error, LabelId};
use plethora_system::{Explanation, Method, RankOptions, SpanWeight};
use tch::Tensor;

use super::batch::PieceBatch;
use super::model::{PieceMember, PieceModel};
use super::network::{PieceNetwork, at_rest};
use super::run::cut;
use crate::Result;
use crate::head::{VectorHead, VectorInput};
use crate::systems::NeuralModel as _;
use crate::systems::attribution::contributions;
use crate::train::Network as _;
use crate::transformer::FromEmbeddings;

impl PieceModel {
    /// What each word adds to the log-odds of a label, as the mean over the networks.
    pub(super) fn explained(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let (ids, places): (Vec<u32>, Vec<Range<usize>>) = self
            .reader
            .pieces
            .spans(text, self.reader.max_length)
            .into_iter()
            .unzip();
        let mut weights = vec![0.0; places.len()];
        for PieceMember { network, .. } in &self.members {
            let Some(head) = network.vector_head() else {
                let message = "labels that attend to pieces are explained by neighbours alone; train \
                               with neighbours.num_neighbours above 0";
                return Err(Error::data(message).into());
            };
            let cut = cut(&self.config, &self.reader, network.device());
            let batch = PieceBatch::new(&[&ids], cut);
            let found = network.contributions(head, &batch, label.0);
            for (weight, found) in weights.iter_mut().zip(found) {
                *weight += found / self.members.len() as f32;
            }
        }
        let every_label = RankOptions {
            top_k: u32::MAX as usize,
            beam: None,
        };
        let rankings = self.rank_texts(&[text], every_label)?;
        let mut ranked = rankings.iter().flatten();
        let scored = ranked.find(|scored| scored.label == label);
        Ok(Explanation {
            spans: words(text, &places, &weights),
            // A label that the beam does not reach is not ranked at all.
            ..Explanation::new(label, scored.map_or(0.0, |one| one.score), Method::Gradient)
        })
    }
}

impl PieceNetwork {
    /// What each piece of one document adds to the log-odds of a label.
    fn contributions(&self, head: &VectorHead, batch: &PieceBatch, label: u32) -> Vec<f32> {
        let pieces = batch.to_device(self.device());
        let input = at_rest(&pieces);
        let dense = &self.parameters().dense;
        let log_odds = |vector: &Tensor, recall: Option<&Tensor>| {
            let input = VectorInput {
                parameters: self.parameters(),
                vector,
                recall,
                prior: None,
            };
            head.log_odds_of(&input, label)
        };
        let (ranking, choosing) = self.encoders();
        let ranks = ranking.from_embeddings(dense, &input);
        let Some(choosing) = choosing else {
            return contributions(&ranks.embedded, |embedded| {
                log_odds(&ranks.vector(embedded), None)
            });
        };
        // A piece adds what it adds through each of the encoders.
        let chooses = choosing.from_embeddings(dense, &input);
        let at_rest = |read: &FromEmbeddings<'_>| tch::no_grad(|| read.vector(&read.embedded));
        let (vector, recall) = (at_rest(&ranks), at_rest(&chooses));
        let by_ranking = contributions(&ranks.embedded, |embedded| {
            log_odds(&ranks.vector(embedded), Some(&recall))
        });
        let by_choosing = contributions(&chooses.embedded, |embedded| {
            log_odds(&vector, Some(&chooses.vector(embedded)))
        });
        let both = by_ranking.into_iter().zip(by_choosing);
        both.map(|(one, other)| one + other).collect()
    }
}

/// The words of a text with what their pieces add; special pieces have no place.
fn words(text: &str, places: &[Range<usize>], weights: &[f32]) -> Vec<SpanWeight> {
    let mut spans: Vec<SpanWeight> = Vec::new();
    for (place, &weight) in places.iter().zip(weights) {
        let shown = &text[place.clone()];
        let start = place.end - shown.trim_start().len();
        let end = start + shown.trim().len();
        if start == end {
            continue;
        }
        match spans.last_mut() {
            Some(last) if continues(text, last.end, start) => {
                last.end = last.end.max(end);
                last.weight += weight;
            }
            _ => spans.push(SpanWeight { start, end, weight }),
        }
    }
    spans
}

/// Whether a word goes on at `start` that the piece before left at `end`; pieces of one character,
/// cut into bytes, begin before that.
fn continues(text: &str, end: usize, start: usize) -> bool {
    if start < end {
        return true;
    }
    let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    start == end
        && is_letter(text[..end].chars().next_back())
        && is_letter(text[start..].chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_word_are_one_place_and_spaces_are_none() {
        let text = " Harbours, näh";
        // Special, ` Har`, `bours`, `,`, ` n`, two bytes of one letter, `h`, special.
        let places = [
            0..0,
            0..4,
            4..9,
            9..10,
            10..12,
            12..14,
            12..14,
            14..15,
            0..0,
        ];
        let weights = [9.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 9.0];
        let found = words(text, &places, &weights);
        let shown: Vec<(&str, f32)> = found
            .iter()
            .map(|span| (&text[span.start..span.end], span.weight))
            .collect();
        assert_eq!(shown, [("Harbours", 3.0), (",", 4.0), ("näh", 120.0)]);
    }
}
