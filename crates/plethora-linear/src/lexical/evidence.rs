//! What the phrases of a text say of one label.

use super::config::LearntConfig;
use super::matching::Occurrence;
use super::names::kind;
use super::phrases::Entry;

/// Phrases whose labels are certain would outweigh all others.
const MAX_STRENGTH: f32 = 0.98;

/// What is known of a phrase in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhraseInText<'a> {
    /// Where it stands, in order.
    pub(super) occurrences: &'a [Occurrence],
    /// Words of the first line.
    pub(super) num_title: u32,
    /// Training documents that have it, but for the one that is looked at.
    pub(super) num_documents: u32,
    /// How rare it is.
    pub(super) idf: f32,
    /// Labels that it names.
    pub(super) num_names: usize,
}

impl PhraseInText<'_> {
    fn is_in_title(&self) -> bool {
        self.occurrences[0].first < self.num_title
    }

    fn num_words(&self) -> u32 {
        self.occurrences[0].num_words
    }
}

/// What all phrases of a text say of a label, added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    // Names.
    pub(super) num_matches: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) is_in_title: bool,
    pub(super) num_words: u32,
    pub(super) title_words: u32,
    pub(super) is_exact: bool,
    pub(super) is_free: bool,
    /// 3 for the name, 2 for another name, 1 for one without its qualifier.
    pub(super) rank_of_kind: u8,
    pub(super) name_strength: f32,
    pub(super) name_documents: u32,
    pub(super) name_idf: f32,
    pub(super) num_sharing: u32,
    // Learnt names.
    pub(super) num_learnt: u32,
    pub(super) best: f32,
    pub(super) second: f32,
    pub(super) best_in_title: f32,
    /// -ln of the probability that none of them is right, as if they were independent.
    pub(super) together: f32,
    pub(super) together_in_title: f32,
    pub(super) best_words: u32,
    pub(super) best_count: u32,
    pub(super) sum_of_counts: u32,
}

impl Evidence {
    /// Adds what a phrase says; `count` documents have it and the label, but for the one looked at.
    pub(super) fn add(
        &mut self,
        phrase: &PhraseInText<'_>,
        entry: &Entry,
        count: u32,
        config: &LearntConfig,
    ) {
        let strength = config.strength(count, phrase.num_documents);
        if entry.kind != 0 {
            self.add_name(phrase, entry, strength);
        }
        if config.is_learnt(count, phrase.num_documents) {
            self.add_learnt(phrase, count, strength.min(MAX_STRENGTH));
        }
    }

    fn add_name(&mut self, phrase: &PhraseInText<'_>, entry: &Entry, strength: f32) {
        let places = phrase.occurrences;
        let (first, last) = (places[0].first, places[places.len() - 1].first);
        let is_new = self.num_matches == 0;
        self.first = if is_new { first } else { first.min(self.first) };
        self.last = last.max(self.last);
        self.num_matches += places.len() as u32;
        self.is_in_title |= phrase.is_in_title();
        if phrase.is_in_title() {
            self.title_words = self.title_words.max(phrase.num_words());
        }
        self.is_exact |= (places.iter()).any(|place| place.spelling == entry.spelling);
        self.is_free |= places.iter().any(|place| !place.is_inside);
        self.rank_of_kind = self.rank_of_kind.max(rank_of(entry.kind));
        let sharing = phrase.num_names as u32;
        self.num_sharing = if is_new {
            sharing
        } else {
            sharing.min(self.num_sharing)
        };
        if strength > self.name_strength || is_new {
            self.name_strength = strength;
            self.name_documents = phrase.num_documents;
        }
        if phrase.num_words() > self.num_words || is_new {
            self.num_words = phrase.num_words();
            self.name_idf = phrase.idf;
        }
    }

    fn add_learnt(&mut self, phrase: &PhraseInText<'_>, count: u32, strength: f32) {
        self.num_learnt += 1;
        self.sum_of_counts += count;
        let missing = -(1.0 - strength).ln();
        self.together += missing;
        if phrase.is_in_title() {
            self.together_in_title += missing;
            self.best_in_title = self.best_in_title.max(strength);
        }
        if strength > self.best {
            self.second = self.best;
            self.best = strength;
            self.best_words = phrase.num_words();
            self.best_count = count;
        } else {
            self.second = self.second.max(strength);
        }
    }

    /// A guess at the label's probability that needs no training: names that are long, in the title,
    /// often there and rarely shared, and learnt names by their strength.
    pub(super) fn guess(&self) -> f32 {
        let mut miss = (-self.together).exp();
        if self.num_matches > 0 {
            let margin = -3.0
                + 1.2 * f32::from(u8::from(self.is_in_title))
                + 0.4 * (self.num_matches as f32).ln_1p()
                + 0.5 * (self.num_words.min(4) as f32 - 1.0)
                + 0.3 * f32::from(u8::from(self.is_exact))
                + 0.8 * f32::from(u8::from(self.is_free))
                + 0.3 * f32::from(self.rank_of_kind)
                + 0.15 * self.name_idf
                - 0.7 * (self.num_sharing as f32).ln()
                - 0.2 * (self.first as f32 / 20.0).ln_1p();
            miss *= 1.0 - 1.0 / (1.0 + (-margin).exp());
        }
        1.0 - miss
    }
}

fn rank_of(kind: u8) -> u8 {
    if kind & kind::SHORTENED != 0 && kind & kind::ALL != kind::ALL {
        1
    } else if kind & kind::OWN != 0 {
        3
    } else {
        2
    }
}
