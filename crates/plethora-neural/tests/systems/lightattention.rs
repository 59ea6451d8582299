//! What must hold of LightAttention beside what holds of every system: its variants, several
//! clusterings, resuming, settings that cannot work.

use std::sync::atomic::{AtomicU64, Ordering};

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error as CoreError, Progress};
use plethora_neural::words::{
    EncoderConfig, HeadConfig, LabelContext, WordConfig, WordModel, WordSet, WordTrainer,
};
use plethora_neural::{Error, Negatives, NeuralModel as _, Result, ValidationDocuments};
use plethora_system::RankOptions;
use tempfile::TempDir;

use crate::{
    Device, OPTIONS, ScoredLabel, assert_close, documents, set, set_apart, small, texts, train,
    train_validated,
};

/// Stops a run after some steps.
struct Stop(AtomicU64);

impl Progress for Stop {
    fn start(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, steps: u64) {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(steps), Ordering::Relaxed);
    }

    fn finish(&self, _summary: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

fn with_context(context: LabelContext) -> WordConfig {
    let mut config = small("lightattention");
    config.clusters.as_mut().unwrap().num_clusterings = 1;
    let HeadConfig::ClusteredAttention(head) = &mut config.head else {
        panic!("lightattention has clusters");
    };
    head.discriminator.context = context;
    config
}

fn rank(model: &WordModel) -> Vec<Vec<ScoredLabel>> {
    model.rank_texts(&texts(), OPTIONS).unwrap()
}

fn stopped_after(
    (set, valid): (&WordSet, Option<&ValidationDocuments>),
    config: &WordConfig,
    folder: &TempDir,
    steps: u64,
) -> Result<WordModel> {
    let trainer = WordTrainer {
        set,
        valid,
        config,
        device: Device::Cpu,
    };
    let fingerprint = set.fingerprint(config, None).unwrap();
    let work = WorkFolder::open(&folder.path().join("model"), &fingerprint, true).unwrap();
    trainer.run(&work, &Stop(AtomicU64::new(steps)))
}

#[test]
fn shared_contexts_rank_in_a_batch_as_alone_and_explain() {
    for context in [LabelContext::Cluster, LabelContext::Document] {
        let config = with_context(context);
        let set = set(&config);
        let (model, _) = train(&set, &config, &TempDir::new().unwrap());
        let together = rank(&model);
        let alone: Vec<Vec<ScoredLabel>> = texts()
            .iter()
            .map(|text| model.rank_texts(&[text], OPTIONS).unwrap().remove(0))
            .collect();
        assert_close(&alone, &together);
        let label = together[0][0].label;
        assert!(model.attention("Roman coins", label).unwrap().is_some());
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_weights_of_an_undisturbed_one() {
    let config = small("lightattention");
    let set = set(&config);
    let (whole, _) = train(&set, &config, &TempDir::new().unwrap());
    let folder = TempDir::new().unwrap();
    // Two networks of 18 steps: in the first and in the second.
    for steps in [5, 18] {
        let stopped = stopped_after((&set, None), &config, &folder, steps).unwrap_err();
        assert!(matches!(stopped, Error::Core(CoreError::Interrupted)));
    }
    let (model, _) = train(&set, &config, &folder);
    assert_eq!(rank(&model), rank(&whole));
}

#[test]
fn clusterings_differ_and_their_scores_are_averaged() {
    let both = small("lightattention");
    let set = set(&both);
    let (both, _) = train(&set, &both, &TempDir::new().unwrap());
    let (first, _) = train(
        &set,
        &with_context(LabelContext::Label),
        &TempDir::new().unwrap(),
    );
    let all = RankOptions {
        top_k: 1000,
        beam: Some(1000),
    };
    let text = &texts()[..1];
    let of_both = both.rank_texts(text, all).unwrap().remove(0);
    let of_first = first.rank_texts(text, all).unwrap().remove(0);
    assert_eq!(of_both.len(), set.space.len());
    for scored in of_first.iter().take(20) {
        let mean = of_both.iter().find(|one| one.label == scored.label);
        // The other half is the second network's, which is from 0 to 1.
        let of_second = mean.unwrap().score * 2.0 - scored.score;
        assert!((-1e-6..=1.0).contains(&of_second), "{of_second}");
    }
    assert_ne!(of_both[0].score, of_first[0].score);
}

#[test]
fn the_first_members_rank_as_if_they_had_been_trained_alone() {
    let both = small("lightattention");
    let set = set(&both);
    let (mut both, _) = train(&set, &both, &TempDir::new().unwrap());
    let (first, _) = train(
        &set,
        &with_context(LabelContext::Label),
        &TempDir::new().unwrap(),
    );
    for refused in [0, 3] {
        let message = both.keep_members(refused).unwrap_err().to_string();
        assert!(message.contains("has 2 members"), "{message}");
    }
    both.keep_members(1).unwrap();
    assert_eq!(rank(&both), rank(&first));
}

#[test]
fn with_static_negatives_clusters_are_learnt_before_labels() {
    let mut config = with_context(LabelContext::Label);
    let HeadConfig::ClusteredAttention(head) = &mut config.head else {
        panic!("lightattention has clusters");
    };
    head.negatives = Negatives::Static;
    let (set, held) = set_apart(&config);
    let both = (&set, Some(&held));
    let folder = TempDir::new().unwrap();
    let (model, work) = train_validated(both, &config, &folder);
    let log = std::fs::read_to_string(work.path("metrics.jsonl")).unwrap();
    let first = |name: &str| log.find(name).unwrap();
    assert!(first("tree-0.level-0.clusters/loss") < first("tree-0.level-0.labels/loss"));
    // Before labels have been learnt there is nothing to validate.
    assert!(log.contains("labels/valid/") && !log.contains("clusters/valid/"));
    let again = TempDir::new().unwrap();
    // Two parts of 18 steps: in the first and in the second.
    for steps in [5, 18] {
        stopped_after(both, &config, &again, steps).unwrap_err();
    }
    assert_eq!(
        rank(&train_validated(both, &config, &again).0),
        rank(&model)
    );
}

#[test]
fn a_wider_beam_finds_the_labels_of_a_narrow_one_with_the_same_scores() {
    let config = with_context(LabelContext::Label);
    let set = set(&config);
    let (model, _) = train(&set, &config, &TempDir::new().unwrap());
    let ranked = |beam| {
        let options = RankOptions {
            top_k: 1000,
            beam: Some(beam),
        };
        model.rank_texts(&texts()[..3], options).unwrap()
    };
    for (narrow, wide) in ranked(1).iter().zip(ranked(1000)) {
        assert_eq!(wide.len(), set.space.len());
        assert!(!narrow.is_empty() && narrow.len() <= 20);
        for one in narrow {
            let same = wide.iter().find(|other| other.label == one.label).unwrap();
            assert!((same.score - one.score).abs() < 1e-5);
        }
    }
}

/// Share of true labels among the first five of training documents.
fn precision_after_learning(mut config: WordConfig) -> f64 {
    config.train.epochs = 24;
    config.train.batch_size = 8;
    config.train.word_rate = 4.0;
    let EncoderConfig::Bilstm(lstm) = &mut config.encoder else {
        panic!("both have an LSTM");
    };
    (lstm.word_dropout, lstm.dropout) = (0.0, 0.0);
    let set = set(&config);
    let (model, _) = train(&set, &config, &TempDir::new().unwrap());
    let texts: Vec<String> = documents()
        .iter()
        .map(|document| document.text().unwrap().to_owned())
        .collect();
    let rankings = model.rank_texts(&texts, OPTIONS).unwrap();
    let truths = set.labels_of_documents.rows();
    let hits = rankings.iter().zip(truths).map(|(ranking, truth)| {
        let is_true = |scored: &&ScoredLabel| truth.contains(&scored.label.0);
        ranking.iter().filter(is_true).count()
    });
    hits.sum::<usize>() as f64 / (5 * texts.len()) as f64
}

/// The same where all documents get the five most frequent labels.
fn precision_of_frequency() -> f64 {
    let set = set(&small("lightattention"));
    let mut counts = vec![0; set.space.len()];
    for &label in set.labels_of_documents.rows().flatten() {
        counts[label as usize] += 1;
    }
    counts.sort_unstable();
    let hits: usize = counts.iter().rev().take(5).sum();
    hits as f64 / (5 * set.labels_of_documents.num_rows()) as f64
}

/// On few documents it takes longer than AttentionXML to fit them, as two choices are to be learnt.
#[test]
fn it_learns_more_than_frequencies_and_not_much_less_than_attentionxml() {
    let own = precision_after_learning(with_context(LabelContext::Label));
    let of_attentionxml = precision_after_learning(small("attentionxml"));
    let of_frequency = precision_of_frequency();
    assert!(
        own > 1.5 * of_frequency && own > 0.75 * of_attentionxml,
        "{own}, AttentionXML has {of_attentionxml}, frequencies have {of_frequency}"
    );
}

#[test]
fn settings_that_cannot_work_are_named() {
    let refused = |change: &str| -> String {
        let mut config = toml::Value::try_from(small("lightattention")).unwrap();
        let change: toml::Table = toml::from_str(change).unwrap();
        overlay(config.as_table_mut().unwrap(), change);
        let config: WordConfig = match config.try_into() {
            Ok(config) => config,
            Err(error) => return error.to_string(),
        };
        config.validate().unwrap_err().to_string()
    };
    for (change, message) in [
        ("clusters.beam = 0", "clusters.beam: must be at least 1"),
        (
            "clusters.num_clusterings = 0",
            "clusters.num_clusterings: must be from 1 to 100",
        ),
        (
            "head.discriminator.layers = []",
            "head.discriminator.layers: must name at least one layer",
        ),
        (
            "head.discriminator.layers = [0]",
            "head.discriminator.layers: must be widths from 1 to 65536",
        ),
        (
            "head.discriminator.start_spread = -1.0",
            "head.discriminator.start_spread: must be a number from 0",
        ),
        (
            "head.discriminator.path_weight = -0.5",
            "head.discriminator.path_weight: must be a number from 0",
        ),
        (
            "head.generator.layers = []",
            "head.generator.layers: must name at least one layer",
        ),
        (
            "head.generator.start_spread = inf",
            "head.generator.start_spread: must be a number from 0",
        ),
        ("head.discriminator.context = \"page\"", "page"),
        ("clusters.tree.max_leaf = 0", "clusters.tree.max_leaf"),
    ] {
        let found = refused(change);
        assert!(found.contains(message), "{change}: {found}");
    }
    let mut config = small("lightattention");
    config.clusters = None;
    let message = config.validate().unwrap_err().to_string();
    assert!(message.contains("clusters: is missing"), "{message}");
    let mut config = small("attentionxml");
    config.clusters = small("lightattention").clusters;
    let message = config.validate().unwrap_err().to_string();
    let expected = "clusters: needs the clustered-attention head";
    assert!(message.contains(expected), "{message}");
}

fn overlay(settings: &mut toml::Table, changes: toml::Table) {
    for (key, change) in changes {
        match (settings.get_mut(&key), change) {
            (Some(toml::Value::Table(group)), toml::Value::Table(changes)) => {
                overlay(group, changes);
            }
            (Some(setting), change) => *setting = change,
            (None, _) => panic!("no setting {key}"),
        }
    }
}
