//! Training: from documents and names to phrases, from these to a forest.

use std::time::Instant;

use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::Label;
use plethora_core::forest::{FeatureRows, Forest};
use plethora_core::{Argument, Error, Message, Progress, Result, grouped};
use plethora_system::{
    BASE_BYTES, DocumentStream, Estimate, Facts, RunContext, Stages, TERM_BYTES, Trainable,
    Trained, TrainingSize, warn_of_device,
};
use rayon::prelude::*;
use serde_json::json;

use super::candidates::{Candidates, FEATURES, Knowledge};
use super::config::{LexicalConfig, OpenLexicalConfig};
use super::mining::{self, CountedDocuments};
use super::model::{FOREST_FILE, LexicalModel};
use super::name_table::{MAX_NAME_WORDS, MAX_SHARED, NameTable};
use super::phrases::{PHRASES_FILE, Phrases};
use super::relations::Relations;
use super::training_set::{LexicalSet, LexicalSetBuilder};
use super::words::Word;

/// Seconds of CPU to read a term of a document and to count the phrases with it.
const COUNTED_TERM_S: f64 = 2e-6;

/// Bytes of a label with its names.
const LABEL_BYTES: u64 = 400;

/// Bytes of the labels found in a document while the ranker learns.
const RANKED_BYTES: u64 = 25_000;

impl Trainable for OpenLexicalConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        warn_of_device(&self.system, run.compute.device);
        Ok(())
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        let asked = size.num_documents.min(self.ranker.max_documents as u64) as f64;
        let of_trees = 1e-5 * self.ranker.num_trees as f64;
        Estimate {
            cpu_seconds: COUNTED_TERM_S * size.num_entries as f64 + (4e-4 + of_trees) * asked,
            peak_memory_bytes: BASE_BYTES
                + 16 * size.num_entries
                + TERM_BYTES * size.num_features
                + LABEL_BYTES * size.num_labels
                + RANKED_BYTES * asked as u64,
            gpu_share: 0.0,
        }
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let started = Instant::now();
        let mut stages = Stages::default();
        run.progress.start("reading", documents.limit());
        let mut builder = LexicalSetBuilder::new(self.max_words);
        while let Some(document) = documents.next_document()? {
            builder.add(&document)?;
        }
        let vocabulary = documents.labels();
        let set = builder.finish(vocabulary);
        check_names(&set, vocabulary)?;
        run.progress.finish(&format!(
            "{} documents, {} labels",
            set.num_documents(),
            set.space.len()
        ));
        stages.end("reading", started);
        let config = self.settled(|| set.languages())?;
        let work = run.open_work(&set.fingerprint(&config)?, self.resume_point())?;
        let trainer = LexicalTrainer {
            config: &config,
            words: set.known_by(&config.language),
            relations: Relations::new(&set.space),
            set: &set,
            work: &work,
            progress: run.progress,
        };
        let started = Instant::now();
        run.check_interrupt()?;
        let phrases = trainer.phrases()?;
        stages.end("phrases", started);
        let started = Instant::now();
        run.check_interrupt()?;
        let forest = trainer.forest(&phrases)?;
        stages.end("ranker", started);
        let num_documents = set.num_documents() as u64;
        let facts = facts(&phrases, &config);
        let num_features = phrases.len() as u64;
        drop(trainer);
        let model = LexicalModel::new(config, phrases, forest, &set.space, num_documents);
        Ok(Trained {
            ranker: Box::new(model),
            labels: set.space,
            num_documents,
            num_features,
            takes_text: true,
            facts,
            work,
            stages,
        })
    }

    fn resume_point(&self) -> &'static str {
        "the beginning"
    }

    fn needs_labels(&self) -> bool {
        false
    }
}

fn facts(phrases: &Phrases, config: &LexicalConfig) -> Facts {
    let (num_names, num_learnt) = phrases.num_entries();
    let mut facts = Facts::default();
    for (key, value) in [
        ("n_phrases", json!(phrases.len())),
        ("n_names", json!(num_names)),
        ("n_learnt_names", json!(num_learnt)),
        ("language", json!(config.language)),
    ] {
        facts.values.insert(key.into(), value);
    }
    let lines = [
        ("names", grouped(num_names as u64)),
        ("learnt", grouped(num_learnt as u64)),
        ("language", config.language.to_string()),
    ];
    facts.lines.extend(lines);
    facts
}

/// Refuses label spaces in which nothing has a name, and vocabularies of something else.
fn check_names(set: &LexicalSet, vocabulary: &[Label]) -> Result<()> {
    let is_shared = |label: &&Label| {
        let id = set.space.id(&label.key);
        id.is_some_and(|id| set.space.train_counts()[id.index()] > 0)
    };
    let labels = set.space.labels().iter();
    let is_named = |label: &&Label| !super::names::forms(label).is_empty();
    if labels.clone().find(is_named).is_none() {
        let example = labels.clone().next();
        let example = example.map_or_else(String::new, |label| format!(", as `{}`", label.key));
        let message = Message::new(format!("no label has a name in words{example}; "))
            .hint(Argument::VOCABULARY)
            .text(" names a file with their names");
        return Err(Error::data(message));
    }
    let in_documents = set.space.train_counts().iter().filter(|&&count| count > 0);
    let num_in_documents = in_documents.count();
    if !vocabulary.is_empty()
        && num_in_documents > 0
        && !vocabulary.iter().any(|label| is_shared(&label))
    {
        return Err(Error::data(format!(
            "none of the {} labels of the documents is in the vocabulary, so its names are those of others",
            grouped(num_in_documents as u64)
        )));
    }
    Ok(())
}

/// Documents, and what becomes of them.
struct LexicalTrainer<'a> {
    config: &'a LexicalConfig,
    set: &'a LexicalSet,
    /// What each word is known by.
    words: Vec<Word>,
    relations: Relations,
    work: &'a WorkFolder,
    progress: &'a dyn Progress,
}

impl LexicalTrainer<'_> {
    /// Names of labels, and what training documents let us take for names.
    fn phrases(&self) -> Result<Phrases> {
        self.progress.start("phrases", None);
        let space = &self.set.space;
        let names = NameTable::of_space(space, self.config);
        self.warn(&names);
        let stems: Vec<u64> = self.words.iter().map(|word| word.stem).collect();
        let documents = CountedDocuments {
            words: &self.set.words,
            stems: &stems,
            labels: &self.set.labels,
        };
        let counts = mining::count(
            documents,
            &names.counted(),
            space.len(),
            &self.config.learnt,
        );
        let path = self.work.path(PHRASES_FILE);
        names.join(&counts, self.config)?.write(&path)?;
        let phrases = Phrases::open(&path, space.len())?;
        let (_, num_learnt) = phrases.num_entries();
        self.progress.finish(&format!(
            "{} names and {} learnt ones, {}",
            grouped(names.len() as u64),
            grouped(num_learnt as u64),
            self.config.language
        ));
        Ok(phrases)
    }

    fn warn(&self, names: &NameTable) {
        for (count, what) in [
            (names.num_without, "labels have no name in words".to_owned()),
            (
                names.num_long,
                format!("names of more than {MAX_NAME_WORDS} words were left out"),
            ),
            (
                names.num_crowded,
                format!("names were left out, as more than {MAX_SHARED} labels share them"),
            ),
        ] {
            if count > 0 {
                let warning = format!("{} {what}", grouped(count as u64));
                self.progress.warn(&warning.into());
            }
        }
    }

    /// Trees that tell true labels of documents from others found in them; none where no document has
    /// labels.
    fn forest(&self, phrases: &Phrases) -> Result<Option<Forest>> {
        if self.set.labels.num_items() == 0 {
            return Ok(None);
        }
        self.progress.start("ranker", None);
        let knowledge = self.knowledge(phrases);
        let num_documents = self.set.num_documents();
        let num_asked = num_documents.min(self.config.ranker.max_documents);
        let asked: Vec<usize> = (0..num_asked)
            .map(|index| index * num_documents / num_asked)
            .collect();
        let found: Vec<Candidates> = (asked.par_iter())
            .map(|&document| self.candidates(&knowledge, document))
            .collect();
        let mut values = Vec::new();
        let mut truth = Vec::new();
        for (&document, candidates) in asked.iter().zip(&found) {
            let own = self.set.labels.row(document);
            values.extend_from_slice(&candidates.rows);
            let labels = candidates.labels.iter();
            truth.extend(labels.map(|label| own.binary_search(label).is_ok()));
        }
        drop(found);
        let rows = FeatureRows::new(&values, FEATURES.len());
        drop(values);
        let forest = Forest::fit(&rows, &truth, &self.config.ranker.forest());
        forest.write(&self.work.path(FOREST_FILE))?;
        self.progress.finish(&format!(
            "{} labels found in {} documents, {} of them true",
            grouped(truth.len() as u64),
            grouped(num_asked as u64),
            grouped(truth.iter().filter(|&&is_true| is_true).count() as u64)
        ));
        Ok(Some(forest))
    }

    fn knowledge<'a>(&'a self, phrases: &'a Phrases) -> Knowledge<'a> {
        Knowledge {
            config: self.config,
            phrases,
            relations: &self.relations,
            train_counts: self.set.space.train_counts(),
            num_documents: self.set.num_documents() as u64,
        }
    }

    fn candidates(&self, knowledge: &Knowledge<'_>, document: usize) -> Candidates {
        let words = self.set.words.row(document).iter();
        let words: Vec<Word> = words.map(|&word| self.words[word as usize]).collect();
        let num_title = self.set.num_title[document] as usize;
        knowledge.candidates(&words, num_title, Some(self.set.labels.row(document)))
    }
}

#[cfg(test)]
mod tests {
    use plethora_catalogue::{Catalogue, CatalogueConfig};
    use plethora_core::NoProgress;
    use plethora_core::corpus::{Content, Document};

    use super::super::family::recipe;
    use super::*;

    struct Workshop {
        set: LexicalSet,
        config: LexicalConfig,
        work: WorkFolder,
        _folder: tempfile::TempDir,
    }

    impl Workshop {
        fn new(documents: &[Document], vocabulary: &[Label]) -> Self {
            let mut builder = LexicalSetBuilder::new(1000);
            for document in documents {
                builder.add(document).unwrap();
            }
            let folder = tempfile::tempdir().unwrap();
            Self {
                set: builder.finish(vocabulary),
                config: recipe().settled(|| "english".parse().unwrap()).unwrap(),
                work: WorkFolder::open(&folder.path().join("model"), "", false).unwrap(),
                _folder: folder,
            }
        }

        fn trainer(&self) -> LexicalTrainer<'_> {
            LexicalTrainer {
                config: &self.config,
                words: self.set.known_by(&self.config.language),
                relations: Relations::new(&self.set.space),
                set: &self.set,
                work: &self.work,
                progress: &NoProgress,
            }
        }
    }

    fn catalogue() -> (Vec<Document>, Vec<Label>) {
        let config = CatalogueConfig {
            num_documents: 150,
            ..CatalogueConfig::default()
        };
        let catalogue = Catalogue::new(config).unwrap();
        let documents: Vec<Document> = (catalogue.documents())
            .map(|document| Document {
                id: document.id,
                content: Content::Text(format!("{}\n{}", document.title, document.text)),
                labels: document.labels,
            })
            .collect();
        let mut keys: Vec<String> = documents
            .iter()
            .flat_map(|one| one.labels.clone())
            .collect();
        keys.sort();
        keys.dedup();
        let labels = keys.iter().map(|key| Label {
            name: format!("{key} name"),
            alternatives: vec![key.clone()],
            ..Label::from_key(key)
        });
        (documents, labels.collect())
    }

    /// What the ranker learns from must not know the document's own labels: with these taken out of the
    /// counts, a document looks exactly as to a model that never saw it.
    #[test]
    fn a_training_document_looks_as_if_it_had_never_been_seen() {
        let (documents, vocabulary) = catalogue();
        let all = Workshop::new(&documents, &vocabulary);
        let trainer = all.trainer();
        let phrases = trainer.phrases().unwrap();
        let mut num_found = 0;
        for left_out in (0..documents.len()).step_by(13) {
            let mut others = documents.clone();
            let own = others.remove(left_out);
            let rest = Workshop::new(&others, &vocabulary);
            let rest_trainer = rest.trainer();
            let rest_phrases = rest_trainer.phrases().unwrap();
            let found = trainer.candidates(&trainer.knowledge(&phrases), left_out);
            let mut reader = crate::lexical::words::WordReader::new(&rest.config.language);
            let text = reader.read(own.text().unwrap(), 1000);
            let knowledge = rest_trainer.knowledge(&rest_phrases);
            let expected = knowledge.candidates(&text.words, text.num_title, None);
            assert_eq!(found, expected, "document {left_out}");
            num_found += found.labels.len();
        }
        assert!(num_found > 100, "{num_found}");
    }

    #[test]
    fn documents_without_labels_count_only_among_their_like() {
        let document = |text: &str, labels: &[&str]| Document {
            id: String::new(),
            content: Content::Text(text.into()),
            labels: labels.iter().map(ToString::to_string).collect(),
        };
        let vocabulary = [Label::from_key("sea")];
        let without = [document("the sea", &[]), document("the air", &[])];
        let set = Workshop::new(&without, &vocabulary);
        assert_eq!(set.set.num_documents(), 2);
        let phrases = set.trainer().phrases().unwrap();
        assert!(set.trainer().forest(&phrases).unwrap().is_none());
        let mixed = [&without[..], &[document("sea", &["sea"])], &without].concat();
        assert_eq!(Workshop::new(&mixed, &vocabulary).set.num_documents(), 1);
    }
}
