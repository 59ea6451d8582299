//! Which phrases of a text speak for a label, and where they stand.

use plethora_core::LabelId;
use plethora_system::{Explanation, Method, SpanWeight, TermContribution};

use super::matching::{Occurrence, occurrences};
use super::model::LexicalModel;

/// Names count for at least so much against learnt names, however rarely they were right in training.
const MIN_NAME_STRENGTH: f32 = 0.1;

/// Splits a label's score over the phrases that speak for it, in proportion to their strengths, and
/// over the places of each.
pub(super) fn explain(model: &LexicalModel, text: &str, label: LabelId) -> Explanation {
    let words = model.reader().read(text, model.config.max_words);
    let ranked = model.rank_one(&words, usize::MAX);
    let scored = ranked.iter().find(|scored| scored.label == label);
    let score = scored.map_or(0.0, |scored| scored.score);
    let learnt = &model.config.learnt;
    let all = occurrences(&words.words, &model.phrases, learnt.max_ngram);
    let mut found: Vec<(f32, &[Occurrence])> = Vec::new();
    for places in all.chunk_by(|left, right| left.phrase == right.phrase) {
        let phrase = places[0].phrase;
        let documents = model.phrases.num_documents(phrase);
        let mut entries = model.phrases.entries(phrase);
        if let Some(entry) = entries.find(|entry| entry.label == label.0) {
            let strength = learnt.strength(entry.count, documents);
            if entry.kind != 0 {
                found.push((strength.max(MIN_NAME_STRENGTH), places));
            } else if learnt.is_learnt(entry.count, documents) {
                found.push((strength, places));
            }
        }
    }
    let total: f32 = found.iter().map(|(strength, _)| strength).sum();
    let mut explanation = Explanation::new(label, score, Method::Matches);
    for (strength, places) in found {
        let contribution = score * strength / total;
        let weight = contribution / places.len() as f32;
        let span = |place: &Occurrence| {
            let first = place.first as usize;
            let last = first + place.num_words as usize - 1;
            SpanWeight {
                start: words.places[first].start,
                end: words.places[last].end,
                weight,
            }
        };
        let shown = span(&places[0]);
        explanation.spans.extend(places.iter().map(span));
        explanation.terms.push(TermContribution {
            term: text[shown.start..shown.end].to_owned(),
            value: places.len() as f32,
            weight,
            contribution,
        });
    }
    (explanation.spans).sort_by_key(|span| (span.start, span.end));
    (explanation.terms).sort_by(|left, right| right.contribution.total_cmp(&left.contribution));
    explanation
}
