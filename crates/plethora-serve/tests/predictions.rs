//! Answers equal what the predictor gives by itself, alone, in batches and for any mix of requests.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::thread;

use plethora_core::ScoredLabel;
use plethora_core::corpus::{Content, Document};
use plethora_system::{Predictor, RankOptions};
use serde_json::{Value, json};
use support::training::{catalogue, train};
use support::{config, limited, small_model, source, start, start_with, texts};

fn document(text: &str) -> Document {
    Document {
        id: "1".into(),
        content: Content::Text(text.into()),
        labels: Vec::new(),
    }
}

fn ranked(predictor: &Predictor, text: &str, top_k: usize) -> Vec<ScoredLabel> {
    let options = RankOptions { top_k, beam: None };
    predictor
        .rank(&[document(text)], options)
        .unwrap()
        .remove(0)
}

/// A score as it is sent: with the digits of 32 bits.
fn sent(score: f32) -> Value {
    serde_json::from_str(&serde_json::to_string(&score).unwrap()).unwrap()
}

/// A ranking in the form of an answer.
fn shown(predictor: &Predictor, ranking: &[ScoredLabel]) -> Value {
    let shown = |scored: &ScoredLabel| {
        let label = predictor.labels().label(scored.label);
        json!({"label": label.name, "key": label.key, "score": sent(scored.score), "label_id": scored.label.0})
    };
    ranking.iter().map(shown).collect()
}

#[test]
fn an_answer_is_what_the_predictor_says() {
    let predictor = support::systems().open(&small_model()).unwrap();
    let (_server, client) = start(&config());
    let texts = texts();
    let documents: Vec<Value> = vec![
        json!({"id": "a", "text": texts[0], "metadata": {"year": 1900}}),
        json!({"id": 7, "text": texts[1]}),
        json!({"text": texts[2]}),
        json!(texts[3]),
        json!(""),
    ];
    let answer = client
        .predict(&json!({"documents": documents, "top_k": 4}))
        .json();
    assert_eq!(answer["model"], "small");
    assert_eq!(answer.get("unknown_labels"), None);
    let all = [texts[0].as_str(), &texts[1], &texts[2], &texts[3], ""];
    for (index, (id, text)) in ["a", "7", "3", "4", "5"].into_iter().zip(all).enumerate() {
        let result = &answer["results"][index];
        assert_eq!(result["id"], id);
        let expected = shown(&predictor, &ranked(&predictor, text, 4));
        assert_eq!(result["predictions"], expected, "{text}");
    }
}

#[test]
fn many_clients_at_once_get_the_answers_of_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("parabel");
    let documents = catalogue(150);
    train("parabel", &documents, &target);
    let predictor = support::systems().open(&target).unwrap();
    // Small batches and a long wait, so that batches of every mixture come about.
    let config = limited(|limits| {
        limits.max_batch_documents = 7;
        limits.batch_wait = std::time::Duration::from_millis(20);
    });
    let (_server, client) = start_with(&config, &[source("three", &target)]);
    let texts: Vec<&str> = documents.iter().filter_map(Document::text).collect();
    thread::scope(|scope| {
        for (index, pair) in texts.chunks(2).take(40).enumerate() {
            let (client, predictor) = (client.clone(), &predictor);
            // Deeper than what a tree gives by itself, where depth changes scores.
            let top_k = [3, 10, 200][index % 3];
            let own: Vec<Value> = (pair.iter())
                .map(|text| shown(predictor, &ranked(predictor, text, top_k)))
                .collect();
            scope.spawn(move || {
                let body = json!({"documents": pair, "top_k": top_k});
                let answer = client.post("/v1/models/three/predict", &body).json();
                for (result, expected) in answer["results"].as_array().unwrap().iter().zip(own) {
                    assert_eq!(result["predictions"], expected);
                }
            });
        }
    });
}

#[test]
fn filters_come_before_the_number_of_labels() {
    let predictor = support::systems().open(&small_model()).unwrap();
    let (_server, client) = start(&config());
    let text = &texts()[0];
    let all = ranked(&predictor, text, 60);
    let key = |scored: &ScoredLabel| predictor.labels().label(scored.label).key.clone();
    let denied: Vec<String> = all[..5].iter().map(key).collect();
    let answer = client.predict(&json!({"documents": [text], "top_k": 3, "deny": denied}));
    let expected = shown(&predictor, &all[5..8]);
    assert_eq!(answer.json()["results"][0]["predictions"], expected);
    let allowed = [key(&all[7]), key(&all[2]), "nowhere".into()];
    let body = json!({"documents": [text], "allow": allowed, "deny": [key(&all[2]), "nothing"]});
    let answer = client.predict(&body).json();
    let expected = shown(&predictor, &all[7..8]);
    assert_eq!(answer["results"][0]["predictions"], expected);
    assert_eq!(answer["unknown_labels"], json!(["nowhere", "nothing"]));
    let answer = client
        .predict(&json!({"documents": [text], "allow": []}))
        .json();
    assert_eq!(answer["results"][0]["predictions"], json!([]));
}

#[test]
fn a_threshold_gives_all_labels_that_reach_it() {
    let predictor = support::systems().open(&small_model()).unwrap();
    let (_server, client) = start(&config());
    let text = &texts()[0];
    let all = ranked(&predictor, text, 60);
    let count = |body: &serde_json::Value| {
        let answer = client.predict(body).json();
        answer["results"][0]["predictions"]
            .as_array()
            .unwrap()
            .len()
    };
    assert!(all.len() > 20, "{}", all.len());
    let least = all[19].score;
    let reaching = all.iter().filter(|scored| scored.score >= least).count();
    let body = json!({"documents": [text], "threshold": least, "scores": "raw"});
    assert_eq!(count(&body), reaching);
    let limited = json!({"documents": [text], "threshold": least, "top_k": 4, "scores": "raw"});
    assert_eq!(count(&limited), 4);
    assert_eq!(count(&json!({"documents": [text]})), 10);
}

#[test]
fn thresholds_cut_and_nonsense_is_refused() {
    let predictor = support::systems().open(&small_model()).unwrap();
    let (_server, client) = start(&config());
    let text = &texts()[0];
    let all = ranked(&predictor, text, 10);
    let body = json!({"documents": [text], "threshold": all[2].score, "scores": "raw"});
    let answer = client.predict(&body).json();
    assert_eq!(
        answer["results"][0]["predictions"],
        shown(&predictor, &all[..3])
    );
    for (body, expected) in [
        (
            json!({"documents": [text], "top_k": 0}),
            "top_k: expected 1 to 1000",
        ),
        (
            json!({"documents": [text], "top_k": 1001}),
            "top_k: expected 1 to 1000",
        ),
        (json!({"documents": [text], "top_k": -1}), "invalid value"),
        (
            json!({"documents": [text], "threshold": 1.5}),
            "threshold: expected",
        ),
        (
            json!({"documents": [text], "scores": "odds"}),
            "unknown variant `odds`",
        ),
        (
            json!({"documents": [text], "topk": 5}),
            "unknown field `topk`",
        ),
        (
            json!({"documents": [text], "tuned": true}),
            "no tuned thresholds",
        ),
        (json!({"documents": []}), "at least one document"),
        (json!({"documents": [{"id": "1"}]}), "did not match"),
        (json!({}), "missing field `documents`"),
        (json!([]), "invalid length"),
    ] {
        let detail = client.predict(&body).problem(422);
        assert!(detail.contains(expected), "{body}: {detail}");
    }
}

#[test]
fn explanations_are_those_of_the_predictor() {
    let predictor = support::systems().open(&small_model()).unwrap();
    let (_server, client) = start(&config());
    let text = format!("Ünïcödé {}", texts()[0]);
    let path = "/v1/models/small/explain";
    let best = ranked(&predictor, &text, 2);
    let answer = client.post(path, &json!({"text": text, "top_k": 2})).json();
    assert_eq!(answer["system"], "wide-tree");
    assert_eq!(answer["explanations"].as_array().unwrap().len(), 2);
    for (scored, shown) in best.iter().zip(answer["explanations"].as_array().unwrap()) {
        let own = predictor.explain(&text, scored.label).unwrap();
        assert_eq!(shown["label_id"], scored.label.0);
        assert_eq!(shown["score"], sent(own.score));
        assert_eq!(shown["method"], "contributions");
        assert_eq!(shown["terms"].as_array().unwrap().len(), own.terms.len());
        for (span, own) in shown["spans"].as_array().unwrap().iter().zip(&own.spans) {
            let number = |key: &str| span[key].as_u64().unwrap() as usize;
            let characters: String = (text.chars().skip(number("start")))
                .take(number("end") - number("start"))
                .collect();
            assert_eq!(span["text"], characters);
            assert_eq!(text[number("start_byte")..number("end_byte")], characters);
            assert_eq!(span["weight"], sent(own.weight));
        }
    }
    let label = predictor.labels().label(best[1].label);
    for wanted in [&label.key, &label.name] {
        let answer = client
            .post(path, &json!({"text": text, "labels": [wanted]}))
            .json();
        assert_eq!(answer["explanations"][0]["label"], json!(label.key));
    }
    let answer = client.post(path, &json!({"text": text, "labels": ["Zebras"]}));
    assert!(answer.problem(422).contains("unknown label `Zebras`"));
    client.post(path, &json!({"text": " "})).problem(422);
    client
        .post(path, &json!({"text": text, "top_k": 51}))
        .problem(422);
}
