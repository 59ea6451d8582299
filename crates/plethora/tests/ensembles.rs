//! What ensembles rank and explain.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::collections::BTreeMap;

use plethora_core::corpus::Document;
use plethora_core::{LabelId, ScoredLabel};
use plethora_system::{EnsembleConfig, Predictor, RankOptions};
use support::models::Models;
use support::{as_features, documents};

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

fn weighted(weights: &[f64]) -> EnsembleConfig {
    EnsembleConfig {
        weights: weights.to_vec(),
        ..EnsembleConfig::equal(weights.len())
    }
}

/// The mean by the definition: keys and scores, best first.
fn slow_mean(
    members: &[(&Predictor, f64)],
    document: &Document,
    depth: usize,
) -> Vec<(String, f64)> {
    let total: f64 = members.iter().map(|(_, weight)| weight).sum();
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (member, weight) in members {
        let options = RankOptions {
            top_k: depth,
            beam: None,
        };
        let documents = std::slice::from_ref(document);
        for scored in &member.rank(documents, options).unwrap()[0] {
            let key = member.labels().label(scored.label).key.clone();
            *sums.entry(key).or_default() += weight * f64::from(scored.score) / total;
        }
    }
    let mut ranking: Vec<(String, f64)> = sums.into_iter().collect();
    ranking.sort_by(|left, right| right.1.total_cmp(&left.1));
    ranking
}

fn assert_ranks_as(predictor: &Predictor, ranking: &[ScoredLabel], expected: &[(String, f64)]) {
    assert_eq!(ranking.len(), expected.len());
    for (scored, (key, score)) in ranking.iter().zip(expected) {
        let found = f64::from(scored.score);
        assert!((found - score).abs() < 1e-6, "{key}: {found} for {score}");
        // Labels whose scores differ by less than rounding may change places.
        let own = expected
            .iter()
            .find(|(key, _)| *key == predictor.labels().label(scored.label).key);
        assert!(
            own.is_some_and(|(_, own)| (own - score).abs() < 1e-6),
            "{key}"
        );
    }
}

#[test]
fn scores_are_the_weighted_mean_of_the_members() {
    let models = Models::train(documents());
    let (one, two) = (models.open("one"), models.open("two"));
    for (config, depth) in [
        (EnsembleConfig::equal(2), 100),
        (weighted(&[1.0, 2.5]), 100),
        (
            EnsembleConfig {
                depth: 7,
                ..weighted(&[3.0, 1.0])
            },
            7,
        ),
        // More labels are asked for than the depth has.
        (
            EnsembleConfig {
                depth: 2,
                ..EnsembleConfig::equal(2)
            },
            5,
        ),
    ] {
        let members = [(&one, config.weights[0]), (&two, config.weights[1])];
        let both = models.ensemble(config);
        for document in models.documents.iter().step_by(40) {
            let mut expected = slow_mean(&members, document, depth);
            expected.truncate(5);
            let documents = std::slice::from_ref(document);
            let ranking = both.rank(documents, OPTIONS).unwrap();
            assert_ranks_as(&both, &ranking[0], &expected);
        }
    }
}

#[test]
fn a_document_gets_the_same_scores_alone_and_among_others() {
    let models = Models::train(documents());
    let both = models.ensemble(EnsembleConfig::equal(2));
    let together = both.rank(&models.documents, OPTIONS).unwrap();
    for (document, ranking) in models.documents.iter().zip(&together).step_by(50) {
        let alone = both.rank(std::slice::from_ref(document), OPTIONS).unwrap();
        assert_eq!(alone, std::slice::from_ref(ranking));
    }
}

#[test]
fn the_labels_of_all_members_are_known_with_their_largest_counts() {
    let models = Models::train(documents());
    let both = models.ensemble(EnsembleConfig::equal(2));
    let (one, two) = (models.open("one"), models.open("two"));
    let only_in = |space: &Predictor, other: &Predictor| {
        let labels = space.labels().labels().iter();
        labels
            .filter(|label| other.labels().id(&label.key).is_none())
            .count()
    };
    assert!(
        only_in(&one, &two) > 0 && only_in(&two, &one) > 0,
        "they differ"
    );
    let mut expected: BTreeMap<&str, u32> = BTreeMap::new();
    for member in [&one, &two] {
        for (label, &count) in member
            .labels()
            .labels()
            .iter()
            .zip(member.labels().train_counts())
        {
            let entry = expected.entry(&label.key).or_default();
            *entry = count.max(*entry);
        }
    }
    let labels = both
        .labels()
        .labels()
        .iter()
        .map(|label| label.key.as_str());
    let counts = both.labels().train_counts().iter().copied();
    assert!(labels.zip(counts).eq(expected), "in the order of the keys");
    let details = both.details();
    assert_eq!(details.system, "ensemble");
    assert!(details.takes_text);
    assert_eq!(details.num_documents, two.details().num_documents);
    assert_eq!(details.num_labels, both.labels().len() as u64);
}

#[test]
fn an_ensemble_can_be_a_member() {
    let models = Models::train(documents());
    let both = models.ensemble(weighted(&[1.0, 3.0]));
    let config = EnsembleConfig::equal(2);
    models.combine(&["one", "both"], config, "nested").unwrap();
    let nested = models.open("nested");
    let one = models.open("one");
    for document in models.documents.iter().step_by(90) {
        let mut expected = slow_mean(&[(&one, 1.0), (&both, 1.0)], document, 100);
        expected.truncate(5);
        let ranking = nested
            .rank(std::slice::from_ref(document), OPTIONS)
            .unwrap();
        assert_ranks_as(&nested, &ranking[0], &expected);
    }
    let text = models.documents[0].text().unwrap();
    let only_in_two = (0..nested.labels().len() as u32)
        .map(LabelId)
        .find(|&label| one.labels().id(&nested.labels().label(label).key).is_none());
    let explanation = nested.explain(text, only_in_two.unwrap()).unwrap();
    let member = explanation.member.unwrap();
    assert_eq!(
        (&*member.name, &*member.system),
        ("member-1/member-1", "wide-tree")
    );
}

#[test]
fn explanations_come_from_a_member_that_knows_the_label() {
    let models = Models::train(documents());
    let both = models.ensemble(EnsembleConfig::equal(2));
    let members = [
        ("member-0", models.open("one")),
        ("member-1", models.open("two")),
    ];
    let document = &models.documents[1];
    let text = document.text().unwrap();
    let all = RankOptions {
        top_k: 100,
        beam: None,
    };
    let ranking = &both.rank(std::slice::from_ref(document), all).unwrap()[0];
    for scored in ranking {
        let explanation = both.explain(text, scored.label).unwrap();
        assert_eq!(explanation.label, scored.label);
        assert_eq!(explanation.score, scored.score);
        let key = &both.labels().label(scored.label).key;
        let told = explanation.member.unwrap();
        let (_, member) = (members.iter())
            .find(|(name, _)| *name == told.name)
            .unwrap();
        let own = member.labels().id(key).unwrap();
        let expected = member.explain(text, own).unwrap();
        assert_eq!(explanation.spans, expected.spans);
        assert_eq!(explanation.terms, expected.terms);
        assert_eq!(told.system, member.details().system);
    }
}

#[test]
fn models_of_features_make_ensembles_too() {
    let models = Models::train(as_features(&documents()));
    let both = models.ensemble(EnsembleConfig::equal(2));
    assert!(!both.details().takes_text);
    let (one, two) = (models.open("one"), models.open("two"));
    let document = &models.documents[0];
    let mut expected = slow_mean(&[(&one, 1.0), (&two, 1.0)], document, 100);
    expected.truncate(5);
    let ranking = both.rank(std::slice::from_ref(document), OPTIONS).unwrap();
    assert_ranks_as(&both, &ranking[0], &expected);
    let error = both.rank(&documents()[..1], OPTIONS).unwrap_err();
    assert!(error.to_string().contains("trained on features"), "{error}");
    let error = both.explain("text", LabelId(0)).unwrap_err();
    assert!(error.to_string().contains("no words to explain"), "{error}");
}
