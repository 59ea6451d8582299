//! The labels that a text speaks for, each with what the ranker looks at.

use rustc_hash::{FxHashMap, FxHashSet};

use super::config::LexicalConfig;
use super::evidence::{Evidence, PhraseInText};
use super::matching::occurrences;
use super::phrases::Phrases;
use super::relations::Relations;
use super::words::Word;

/// Stands for the place of a name that is not there.
const NOWHERE: f32 = 10.0;

/// What the ranker looks at.
pub(super) const FEATURES: [&str; 31] = [
    "matches of names",
    "first match",
    "from first to last match",
    "name in the title",
    "words of the longest name",
    "share of the title",
    "spelt like the name",
    "not within a longer name",
    "kind of name",
    "strength of the name",
    "documents with the name",
    "rarity of the name",
    "labels sharing the name",
    "learnt names",
    "strongest learnt name",
    "second strongest",
    "strongest in the title",
    "learnt names together",
    "together in the title",
    "words of the strongest",
    "documents of the strongest",
    "documents of all",
    "training documents of the label",
    "broader label found",
    "narrower labels found",
    "labels beside it found",
    "words of the text",
    "guess",
    "guess to the best guess",
    "rank of the guess",
    "labels found",
];

/// What is known of labels, wherever they are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knowledge<'a> {
    pub(super) config: &'a LexicalConfig,
    pub(super) phrases: &'a Phrases,
    pub(super) relations: &'a Relations,
    pub(super) train_counts: &'a [u32],
    pub(super) num_documents: u64,
}

/// Labels found in a text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Candidates {
    /// The likeliest by a guess first.
    pub(super) labels: Vec<u32>,
    /// A row of [`FEATURES`] for each.
    pub(super) rows: Vec<f32>,
}

/// The place of the guess in a row.
const GUESS: usize = 27;

impl Candidates {
    /// What each label's probability is guessed to be without training.
    pub(super) fn guesses(&self) -> impl Iterator<Item = f32> + '_ {
        let rows = self.rows.chunks_exact(FEATURES.len());
        rows.map(|row| row[GUESS])
    }
}

impl Knowledge<'_> {
    /// The labels found among words, of which the first `num_title` are the title. `own` are the labels
    /// of a training document, whose part in all counts is taken out, so that it looks as any other
    /// document does.
    pub(super) fn candidates(
        &self,
        words: &[Word],
        num_title: usize,
        own: Option<&[u32]>,
    ) -> Candidates {
        let found = self.evidence(words, num_title, own);
        let guesses = self.best_guesses(&found);
        let best = guesses.first().map_or(1.0, |&(guess, ..)| guess.max(1e-6));
        let relatives = self.relatives(guesses.iter().map(|&(_, label, _)| label));
        let mut candidates = Candidates::default();
        for (rank, &(guess, _, index)) in guesses.iter().enumerate() {
            let (label, evidence) = &found[index];
            candidates.labels.push(*label);
            let is_own = own.is_some_and(|own| own.binary_search(label).is_ok());
            let train_count = self.train_counts[*label as usize] - u32::from(is_own);
            let spread = evidence.last.saturating_sub(evidence.first) as f32;
            let first = match evidence.num_matches {
                0 => NOWHERE,
                _ => (evidence.first as f32).ln_1p(),
            };
            let [broader, narrower, beside] = relatives.of(*label, self.relations);
            let flag = |is: bool| f32::from(u8::from(is));
            let row: [f32; FEATURES.len()] = [
                evidence.num_matches as f32,
                first,
                spread / words.len().max(1) as f32,
                flag(evidence.is_in_title),
                evidence.num_words as f32,
                evidence.title_words as f32 / num_title.max(1) as f32,
                flag(evidence.is_exact),
                flag(evidence.is_free),
                f32::from(evidence.rank_of_kind),
                evidence.name_strength,
                (evidence.name_documents as f32).ln_1p(),
                evidence.name_idf,
                evidence.num_sharing as f32,
                evidence.num_learnt as f32,
                evidence.best,
                evidence.second,
                evidence.best_in_title,
                evidence.together,
                evidence.together_in_title,
                evidence.best_words as f32,
                (evidence.best_count as f32).ln_1p(),
                (evidence.sum_of_counts as f32).ln_1p(),
                (train_count as f32).ln_1p(),
                broader,
                narrower,
                beside,
                (words.len() as f32).ln_1p(),
                guess,
                guess / best,
                rank as f32,
                (found.len() as f32).ln_1p(),
            ];
            candidates.rows.extend(row);
        }
        candidates
    }

    /// The labels that are worth the ranker's time, the likeliest first: guess, label and place.
    fn best_guesses(&self, found: &[(u32, Evidence)]) -> Vec<(f32, u32, usize)> {
        let mut guesses: Vec<(f32, u32, usize)> = (found.iter().enumerate())
            .map(|(place, (label, evidence))| (evidence.guess(), *label, place))
            .collect();
        let by_guess = |left: &(f32, u32, usize), right: &(f32, u32, usize)| {
            right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
        };
        let limit = self.config.max_candidates;
        if guesses.len() > limit {
            guesses.select_nth_unstable_by(limit - 1, by_guess);
            guesses.truncate(limit);
        }
        guesses.sort_unstable_by(by_guess);
        guesses
    }

    /// What the text says of each label that it speaks for, in order of appearance.
    fn evidence(
        &self,
        words: &[Word],
        num_title: usize,
        own: Option<&[u32]>,
    ) -> Vec<(u32, Evidence)> {
        let learnt = &self.config.learnt;
        let left_out = u32::from(own.is_some());
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut found: Vec<(u32, Evidence)> = Vec::new();
        let all = occurrences(words, self.phrases, learnt.max_ngram);
        for occurrences in all.chunk_by(|left, right| left.phrase == right.phrase) {
            let phrase = occurrences[0].phrase;
            let num_documents = self.phrases.num_documents(phrase).saturating_sub(left_out);
            let corpus = (self.num_documents.saturating_sub(u64::from(left_out)) + 1) as f32;
            let in_text = PhraseInText {
                occurrences,
                num_title: num_title as u32,
                num_documents,
                idf: (corpus / (num_documents + 1) as f32).ln(),
                num_names: self.phrases.num_names(phrase),
            };
            for entry in self.phrases.entries(phrase) {
                let is_own = own.is_some_and(|own| own.binary_search(&entry.label).is_ok());
                let count = entry.count.saturating_sub(u32::from(is_own));
                if entry.kind == 0 && !learnt.is_learnt(count, num_documents) {
                    continue;
                }
                let place = *places.entry(entry.label).or_insert_with(|| {
                    found.push((entry.label, Evidence::default()));
                    found.len() as u32 - 1
                });
                found[place as usize].1.add(&in_text, &entry, count, learnt);
            }
        }
        found
    }

    fn relatives(&self, labels: impl Iterator<Item = u32>) -> Relatives {
        let mut relatives = Relatives::default();
        for label in labels {
            relatives.num_narrower.entry(label).or_insert(0);
            relatives.found.insert(label);
            for &parent in self.relations.parents(label) {
                *relatives.num_narrower.entry(parent).or_insert(0) += 1;
            }
        }
        relatives
    }
}

/// How many of the labels found stand below each.
#[derive(Debug, Default)]
struct Relatives {
    num_narrower: FxHashMap<u32, u32>,
    found: FxHashSet<u32>,
}

impl Relatives {
    /// Broader labels found, narrower ones, and those with the same broader label.
    fn of(&self, label: u32, relations: &Relations) -> [f32; 3] {
        let parents = relations.parents(label).iter();
        let broader = parents
            .clone()
            .filter(|parent| self.found.contains(*parent));
        let beside = parents.map(|parent| self.num_narrower[parent] - 1).max();
        [
            broader.count() as f32,
            self.num_narrower[&label] as f32,
            beside.unwrap_or(0) as f32,
        ]
    }
}
