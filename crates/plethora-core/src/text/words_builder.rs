//! Fits a vocabulary and makes the training sequences in one pass over the texts.

use rayon::prelude::*;

use super::term_table::TermTable;
use super::tokenizer::{TermRuns, Tokenizer};
use super::vocabulary_builder::{DROPPED, VocabularyBuilder, chunk_size};
use super::words::{Words, words_of};
use super::words_config::WordsConfig;
use crate::{IndexRows, Result};

/// Reads training texts once and gives the fitted [`Words`] and the sequences of these texts.
///
/// While reading it holds four bytes for each word of a document, which become the sequence in
/// the same memory, and the different words themselves. What a document has beyond `max_length`
/// words counts nowhere unless [`WordsConfig::counts_whole_documents`] says so. The result is the same for any number of threads and any batches.
///
/// ```
/// use plethora_core::text::{TokenizerConfig, Words, WordsBuilder, WordsConfig};
///
/// let mut builder = WordsBuilder::new(WordsConfig {
///     tokenizer: TokenizerConfig::default(),
///     max_vocabulary: 500_000,
///     min_df: 2,
///     max_length: 500,
///     counts_whole_documents: None,
///     separator: None,
/// })?;
/// builder.push_batch(&["red apples", "green apples"]);
/// builder.push_batch(&["green tea"]);
/// let (words, sequences) = builder.finish()?;
/// assert_eq!(words.num_rows(), 4); // padding, unknown, "apples", "green"
/// assert_eq!(sequences.row(2), [words.row("green").unwrap(), Words::UNKNOWN]);
/// # Ok::<(), plethora_core::Error>(())
/// ```
#[derive(Debug)]
pub struct WordsBuilder {
    config: WordsConfig,
    tokenizer: Tokenizer,
    vocabulary: VocabularyBuilder,
    /// Provisional numbers; [`DROPPED`] stands for a document without words.
    sequences: IndexRows,
}

impl WordsBuilder {
    /// A builder without documents.
    ///
    /// # Errors
    /// If the settings cannot work.
    pub fn new(config: WordsConfig) -> Result<Self> {
        config.validate()?;
        let tokenizer = Tokenizer::new(config.tokenizer.clone());
        Ok(Self {
            config,
            vocabulary: VocabularyBuilder::new(tokenizer.clone(), TermRuns::WORDS),
            tokenizer,
            sequences: IndexRows::default(),
        })
    }

    /// Number of documents read.
    pub fn num_documents(&self) -> u64 {
        self.vocabulary.num_documents()
    }

    /// Adds training documents, in parallel. Batches of some thousand documents are fastest.
    pub fn push_batch(&mut self, texts: &[impl AsRef<str> + Sync]) {
        let chunks: Vec<WordCounts> = texts
            .par_chunks(chunk_size(texts.len()))
            .map(|chunk| WordCounts::of(chunk, &self.tokenizer, &self.config))
            .collect();
        for chunk in chunks {
            let sequences = &chunk.sequences;
            let shared_ids = self.vocabulary.merge(
                &chunk.terms,
                &chunk.document_frequencies,
                sequences.num_rows(),
            );
            for sequence in sequences.rows() {
                let shared = sequence.iter().map(|&id| match id {
                    DROPPED => DROPPED,
                    id => shared_ids[id as usize],
                });
                self.sequences.push(shared);
            }
        }
    }

    /// The fitted transformer, and one sequence per document in the order of the batches.
    ///
    /// # Errors
    /// If no word is left after pruning.
    pub fn finish(self) -> Result<(Words, IndexRows)> {
        let (words, [sequences]) = fit(self.config, self.vocabulary, [self.sequences])?;
        Ok((words, sequences))
    }

    /// As [`finish`](Self::finish), of all documents but those of `held`, which rise: these are as if they
    /// had never been read. Their sequences, by the words of the others, come last.
    ///
    /// # Errors
    /// If no word is left after pruning.
    pub fn finish_without(&self, held: &[u32]) -> Result<(Words, IndexRows, IndexRows)> {
        let mut vocabulary = self.vocabulary.clone();
        let (mut others, mut apart) = (IndexRows::default(), IndexRows::default());
        for (document, sequence) in (0..).zip(self.sequences.rows()) {
            if held.binary_search(&document).is_err() {
                others.push(sequence.iter().copied());
                continue;
            }
            let mut words: Vec<u32> = sequence.to_vec();
            words.sort_unstable();
            words.dedup();
            vocabulary.forget(words.into_iter().filter(|&word| word != DROPPED));
            apart.push(sequence.iter().copied());
        }
        let (words, [others, apart]) = fit(self.config.clone(), vocabulary, [others, apart])?;
        Ok((words, others, apart))
    }
}

/// The words that are worth knowing, and sequences of provisional numbers by them.
fn fit<const N: usize>(
    config: WordsConfig,
    vocabulary: VocabularyBuilder,
    mut sequences: [IndexRows; N],
) -> Result<(Words, [IndexRows; N])> {
    let (vocabulary, final_ids) = vocabulary
        .finish_with_final_ids(config.selection())
        .map_err(|error| error.within("words"))?;
    for sequences in &mut sequences {
        sequences.replace(|id| match final_ids.get(id as usize) {
            None | Some(&DROPPED) => Words::UNKNOWN,
            Some(&id) => id + Words::FIRST_WORD,
        });
    }
    Ok((Words::new(config, vocabulary), sequences))
}

/// What one thread found in its documents; `sequences` use the numbers of `terms`.
#[derive(Debug, Default)]
struct WordCounts {
    terms: TermTable,
    document_frequencies: Vec<u32>,
    sequences: IndexRows,
}

impl WordCounts {
    fn of(texts: &[impl AsRef<str>], tokenizer: &Tokenizer, config: &WordsConfig) -> Self {
        let counts_whole = config.counts_whole_documents == Some(true);
        let num_counted = if counts_whole {
            usize::MAX
        } else {
            config.max_length
        };
        let mut found = Self::default();
        let mut sequence = Vec::new();
        // For each word the number of the last document that has it, counted from 1.
        let mut last_documents: Vec<usize> = Vec::new();
        for (document, text) in (1..).zip(texts) {
            sequence.clear();
            for (word, _) in words_of(tokenizer, config, text.as_ref()).take(num_counted) {
                let id = found.terms.intern(&word);
                if id as usize == last_documents.len() {
                    last_documents.push(0);
                    found.document_frequencies.push(0);
                }
                if last_documents[id as usize] != document {
                    last_documents[id as usize] = document;
                    found.document_frequencies[id as usize] += 1;
                }
                if sequence.len() < config.max_length {
                    sequence.push(id);
                }
            }
            if sequence.is_empty() {
                sequence.push(DROPPED);
            }
            found.sequences.push(sequence.iter().copied());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::super::TokenizerConfig;
    use super::*;

    fn config() -> WordsConfig {
        WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 1000,
            min_df: 1,
            max_length: 100,
            counts_whole_documents: None,
            separator: None,
        }
    }

    fn fit(config: WordsConfig, batches: &[&[&str]]) -> (Words, IndexRows) {
        let mut builder = WordsBuilder::new(config).unwrap();
        for batch in batches {
            builder.push_batch(batch);
        }
        assert_eq!(
            builder.num_documents(),
            batches.iter().map(|batch| batch.len() as u64).sum::<u64>()
        );
        builder.finish().unwrap()
    }

    fn terms(words: &Words) -> Vec<&str> {
        words.vocabulary().terms().collect()
    }

    #[test]
    fn the_words_of_most_documents_are_kept() {
        let texts: &[&str] = &["sea sea sea air", "air fire", "air earth", "fire, wind"];
        let (words, sequences) = fit(
            WordsConfig {
                max_vocabulary: 3,
                ..config()
            },
            &[texts],
        );
        // "earth", "sea" and "wind" tie with one document each, so the first in bytes stays.
        assert_eq!(terms(&words), ["air", "earth", "fire"]);
        assert_eq!(sequences.row(0), [1, 1, 1, 2]);
        assert_eq!(sequences.row(3), [4, 1]);
        let (words, _) = fit(
            WordsConfig {
                min_df: 2,
                ..config()
            },
            &[texts],
        );
        assert_eq!(terms(&words), ["air", "fire"]);
        assert_eq!(words.vocabulary().document_frequencies(), [3, 2]);
    }

    #[test]
    fn words_behind_the_cut_are_not_counted() {
        let cut = WordsConfig {
            max_length: 2,
            ..config()
        };
        let (words, sequences) = fit(cut, &[&["a b c", "b c a"]]);
        assert_eq!(terms(&words), ["a", "b", "c"]);
        assert_eq!(words.vocabulary().document_frequencies(), [1, 2, 1]);
        assert_eq!(sequences.num_items(), 4);
    }

    #[test]
    fn words_behind_the_cut_count_on_request() {
        let cut = WordsConfig {
            max_length: 2,
            counts_whole_documents: Some(true),
            ..config()
        };
        let (words, sequences) = fit(cut, &[&["a b c", "b c a"]]);
        assert_eq!(words.vocabulary().document_frequencies(), [2, 2, 2]);
        assert_eq!(sequences.num_items(), 4);
        assert_eq!(sequences, words.sequences(&["a b c", "b c a"]));
    }

    #[test]
    fn training_sequences_are_those_of_the_fitted_words() {
        let texts = ["The sea.", "", "über dem Meer", "...", "Meer, sea, sea"];
        let pruned = WordsConfig {
            min_df: 2,
            ..config()
        };
        let (words, sequences) = fit(pruned, &[&texts[..2], &[], &texts[2..]]);
        assert_eq!(sequences, words.sequences(&texts));
        assert_eq!(sequences.row(1), [Words::UNKNOWN]);
    }

    #[test]
    fn threads_and_batches_change_nothing() {
        let texts: Vec<String> = (0..700_u32)
            .map(|n| format!("w{} w{} common w{}", n % 7, n % 41, n / 9))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let run = |threads, batch_size| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            let batches: Vec<&[&str]> = texts.chunks(batch_size).collect();
            let (words, sequences) = pool.unwrap().install(|| fit(config(), &batches));
            let terms: Vec<String> = words.vocabulary().terms().map(str::to_owned).collect();
            (terms, sequences)
        };
        let expected = run(1, 700);
        assert!(expected == run(2, 700) && expected == run(3, 50));
    }

    #[test]
    fn held_documents_are_as_if_they_had_never_been_read() {
        let texts = [
            "sea air",
            "sea fire fire",
            "...",
            "air wind",
            "sea wind",
            "air",
            "sea",
        ];
        let cut = WordsConfig {
            min_df: 2,
            max_vocabulary: 2,
            ..config()
        };
        let mut all = WordsBuilder::new(cut.clone()).unwrap();
        all.push_batch(&texts);
        for held in [&[][..], &[1], &[0, 2, 3], &[1, 4]] {
            let some = |wanted: bool| -> Vec<&str> {
                let texts = (0..).zip(texts);
                texts
                    .filter(|(number, _)| held.contains(number) == wanted)
                    .map(|(_, text)| text)
                    .collect()
            };
            let (expected, sequences) = fit(cut.clone(), &[&some(false)]);
            let (words, others, apart) = all.finish_without(held).unwrap();
            assert_eq!(terms(&words), terms(&expected));
            let known = [&words, &expected].map(Words::vocabulary);
            assert_eq!(
                known[0].document_frequencies(),
                known[1].document_frequencies()
            );
            assert_eq!(known[0].num_documents(), known[1].num_documents());
            assert_eq!(others, sequences);
            assert_eq!(apart, expected.sequences(&some(true)));
        }
    }

    #[test]
    fn documents_without_words_cannot_be_learnt_from() {
        let mut builder = WordsBuilder::new(config()).unwrap();
        builder.push_batch(&["", "!"]);
        let message = builder.finish().unwrap_err().to_string();
        assert_eq!(
            message,
            "none of the 2 training documents has a word in its text"
        );
    }
}
