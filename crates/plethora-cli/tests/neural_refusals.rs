//! Input that neural systems cannot use, which is refused in one message, and odd input that they
//! can.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use std::time::{Duration, Instant};

use plethora_core::artifact::{ModelReader, ModelWriter};
use refusal::{BAD_DATA, USAGE, refuse, refuse_args};
use serde_json::{Value, json};
use support::neural::train_args;
use support::{Desk, TRAIN_PART, join};

#[test]
fn what_cannot_work_is_refused_before_training() {
    let desk = Desk::with_catalogue(60);
    desk.write("rows.svm", "2 5 3\n0 1:1 3:2\n1,2 2:1\n");
    let train = "train documents.jsonl --text-field title,text -o model --system attentionxml";
    refuse(
        &desk,
        &format!("{train} --device cuda:999 -q"),
        USAGE,
        "device: cuda:999: ...",
    );
    refuse(
        &desk,
        &format!("{train} --vectors missing.txt -q"),
        BAD_DATA,
        "missing.txt: cannot read: ...",
    );
    refuse(
        &desk,
        &format!("{train} --valid - -q"),
        USAGE,
        "--valid: must be a file: ...",
    );
    refuse(
        &desk,
        "train rows.svm -o model --system xml-rnn -q",
        BAD_DATA,
        "rows.svm: document `1` has features, but xml-rnn reads texts...",
    );
}

/// Lines of a file of word vectors: words, each with `width` numbers.
fn vectors(words: &[&str], width: usize) -> String {
    let numbers = " 0.5".repeat(width);
    let lines: Vec<String> = (words.iter())
        .map(|word| format!("{word}{numbers}\n"))
        .collect();
    lines.concat()
}

#[test]
fn word_vectors_that_do_not_fit_are_refused_and_the_model_stays() {
    let desk = Desk::with_catalogue(100);
    desk.succeed(&train_args("attentionxml", "model", &["-q"]));
    let known = ["the", "of", "and"];
    desk.write("narrow.txt", &vectors(&known, 5));
    desk.write("strange.txt", &vectors(&["qzqzqz", "zqzqzq"], 16));
    desk.write("empty.txt", "");
    let lines = vectors(&known[..2], 16);
    desk.write(
        "broken.txt",
        &format!("{lines}and 1 x{}\n", " 1".repeat(14)),
    );
    desk.write("uneven.txt", &format!("{lines}and 1 2 3\n"));
    for (file, message) in [
        (
            "narrow.txt",
            "narrow.txt: has 5 numbers per word where 16 were expected; \
             set vectors.width to its width",
        ),
        (
            "strange.txt",
            "strange.txt: none of its 2 words is in the vocabulary",
        ),
        ("empty.txt", "empty.txt: the file is empty"),
        ("broken.txt", "broken.txt:3: `x` is no finite number"),
        (
            "uneven.txt",
            "uneven.txt:3: expected 16 numbers behind the word, found 3",
        ),
    ] {
        for model in ["new", "model"] {
            let args = train_args("attentionxml", model, &["--force", "--vectors", file, "-q"]);
            refuse_args(&desk, &args, BAD_DATA, message);
        }
    }
}

#[test]
fn a_gpu_that_is_not_there_is_a_mistake_in_the_arguments() {
    let desk = Desk::with_catalogue(100);
    desk.succeed(&train_args("xml-cnn", "model", &["-q"]));
    let check = |message: &str, device: &str| {
        let start = format!("error: device: {device}: libtorch");
        assert!(message.starts_with(&start), "{message}");
        let is_clear = message.contains("libtorch_cuda.so cannot be opened")
            || message.contains("CUDA devices on this machine");
        assert!(is_clear, "{message}");
        assert!(!desk.file("new").exists() && !desk.file("new.training").exists());
    };
    // No machine has that many.
    let device = ["--device", "cuda:999"];
    for args in [
        train_args("xml-cnn", "new", &device),
        join(&[&["predict", "model"], &TRAIN_PART, &device]),
        join(&[&["eval", "model"], &TRAIN_PART, &device]),
    ] {
        check(&desk.fail(USAGE, &args), "cuda:999");
    }
    let output = desk.run(&train_args("xml-cnn", "new", &["--device", "cuda", "-q"]));
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(USAGE));
        check(&String::from_utf8(output.stderr).unwrap(), "cuda:0");
    }
}

#[test]
fn empty_and_endless_documents_are_learned_and_ranked_like_others() {
    let desk = Desk::with_catalogue(100);
    let label = {
        let first: Value =
            serde_json::from_str(desk.read("documents.jsonl").lines().next().unwrap()).unwrap();
        first["labels"][0].clone()
    };
    let document = |id: &str, text: &str| {
        let document =
            json!({"id": id, "title": "", "text": text, "labels": [label], "split": "train"});
        format!("{document}\n")
    };
    let odd = [
        document("empty", ""),
        document("blank", " \t\n "),
        document("endless", &"harbour lighthouse ".repeat(50_000)),
    ]
    .concat();
    desk.write("odd.jsonl", &odd);
    desk.write(
        "documents.jsonl",
        &format!("{}{odd}", desk.read("documents.jsonl")),
    );
    let odd = ["odd.jsonl", "--text-field", "title,text", "-q", "-j", "1"];
    for system in [
        "attentionxml",
        "attentionxml-plt",
        "xml-rnn",
        "xml-cnn",
        "lightxml",
        "lightattention",
    ] {
        let started = Instant::now();
        desk.succeed(&train_args(system, system, &["-q"]));
        let lines = desk.succeed(&join(&[&["predict", system, "-k", "3"], &odd]));
        assert_eq!(lines.lines().count(), 3, "{system}");
        for line in lines.lines() {
            let ranked: Value = serde_json::from_str(line).unwrap();
            let ranking = ranked["predictions"].as_array().unwrap();
            assert_eq!(ranking.len(), 3, "{system}: {line}");
            let is_number = |prediction: &Value| prediction["score"].is_number();
            assert!(ranking.iter().all(is_number), "{system}: {line}");
        }
        let metrics = desk.succeed(&join(&[&["eval", system, "--json"], &odd]));
        let metrics: Value = serde_json::from_str(&metrics).unwrap();
        assert!(metrics["P@1"].is_number(), "{system}: {metrics}");
        // All 100,000 words would take minutes.
        let seconds = started.elapsed();
        assert!(seconds < Duration::from_secs(30), "{system}: {seconds:?}");
    }
}

/// Settings of a few bytes that ask for gigabytes, in folders whose checksums are right.
#[test]
fn networks_that_are_larger_than_their_files_are_refused_before_memory_is_taken() {
    let desk = Desk::with_catalogue(60);
    desk.succeed(&train_args("xml-cnn", "model", &["-q"]));
    for (key, value, message) in [
        (
            "/head/layers",
            json!([65_536, 65_536, 65_536]),
            "d: the settings need ...",
        ),
        (
            "/encoder/windows",
            json!([1_000_003]),
            "d/config.json: encoder.windows: must be numbers from 1 to 1024",
        ),
    ] {
        let model = ModelReader::open(&desk.file("model")).unwrap();
        let writer = ModelWriter::create(&desk.file("d"), true).unwrap();
        for name in model.manifest().files.keys() {
            let mut bytes = model.read_bytes(name).unwrap();
            if name == "config.json" {
                let mut config: Value = serde_json::from_slice(&bytes).unwrap();
                *config.pointer_mut(key).unwrap() = value.clone();
                bytes = serde_json::to_vec(&config).unwrap();
            }
            writer.write_bytes(name, &bytes).unwrap();
        }
        let details = model.manifest().details.clone();
        writer.finish(&model.manifest().kind, details).unwrap();
        let started = Instant::now();
        refuse(&desk, "predict d documents.jsonl", BAD_DATA, message);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
