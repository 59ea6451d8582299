//! Why a label has its score: the words without which the text would be less like it.

use plethora_core::LabelId;
use plethora_core::text::Tokenizer;
use plethora_system::{Explanation, Method, SpanWeight};

use super::model::SiameseModel;
use crate::Result;

/// Parts of a text that are left out one after the other; longer texts have longer parts.
const MAX_PARTS: usize = 48;

impl SiameseModel {
    /// What the text's similarity to the label loses without each of its words, or gains.
    pub(super) fn explained(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let places: Vec<(usize, usize)> = (Tokenizer::default().words(text))
            .map(|(_, place)| (place.start, place.end))
            .collect();
        let size = places.len().div_ceil(MAX_PARTS).max(1);
        let parts: Vec<(usize, usize)> = (places.chunks(size))
            .map(|words| (words[0].0, words[words.len() - 1].1))
            .collect();
        let mut texts = vec![text.to_owned()];
        let without =
            |&(start, end): &(usize, usize)| format!("{}{}", &text[..start], &text[end..]);
        texts.extend(parts.iter().map(without));
        let vectors = self.vectors(&texts)?;
        let mut vectors = vectors.chunks(self.labels.width());
        let whole = vectors.next().expect("the text itself is among them");
        let similarity = |vector: &[f32]| self.labels.similarity(vector, label.0);
        let with_all = similarity(whole);
        let spans = parts.iter().zip(vectors);
        let spans = spans.map(|(&(start, end), without)| SpanWeight {
            start,
            end,
            weight: with_all - similarity(without),
        });
        let score = self.score(whole, with_all);
        Ok(Explanation {
            spans: spans.collect(),
            ..Explanation::new(label, score, Method::Contributions)
        })
    }
}
