//! `ensemble` through the command line: models that rank together, and what it refuses.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod support;

use std::collections::BTreeMap;
use std::fs;

use refusal::{BAD_DATA, FAILURE, USAGE, desk_with_model, features, refuse};
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A desk with the models `parabel` and `wide` of a catalogue, of which one knows names of labels.
fn desk_with_two() -> Desk {
    let desk = Desk::with_catalogue(800);
    let parabel = ["-o", "parabel", "--system", "parabel", "--seed", "5"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &parabel]));
    let wide = ["-o", "wide", "--vocabulary", "labels.jsonl"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &wide]));
    desk
}

/// For each document, the score of each label by its key.
fn scores(desk: &Desk, model: &str, top_k: &str) -> Vec<BTreeMap<String, f64>> {
    let limit = ["--docs-limit", "20", "-k", top_k];
    let lines = desk.succeed(&join(&[&["predict", model], &TEST_PART, &limit]));
    let of_line = |line: &str| {
        let predictions = json(line)["predictions"].clone();
        (predictions.as_array().unwrap().iter())
            .map(|found| {
                let key = found["key"].as_str().unwrap().to_owned();
                (key, found["score"].as_f64().unwrap())
            })
            .collect()
    };
    lines.lines().map(of_line).collect()
}

#[test]
fn two_models_are_combined_measured_used_and_described() {
    let desk = desk_with_two();
    let made = [
        "ensemble",
        "parabel",
        "wide",
        "-o",
        "both",
        "--weights",
        "1,3",
    ];
    let summary = json(&desk.succeed(&join(&[&made, &["--json"]])));
    assert_eq!(summary["members"][1]["model"], "wide");
    assert_eq!(summary["members"][1]["weight"], 3.0);

    let members = [
        scores(&desk, "parabel", "100"),
        scores(&desk, "wide", "100"),
    ];
    for (document, ranking) in scores(&desk, "both", "5").iter().enumerate() {
        assert_eq!(ranking.len(), 5);
        for (key, score) in ranking {
            let of_member = |member: usize| members[member][document].get(key).unwrap_or(&0.0);
            let expected = (of_member(0) + 3.0 * of_member(1)) / 4.0;
            assert!(
                (score - expected).abs() < 1e-6,
                "{key}: {score} for {expected}"
            );
        }
    }

    let precision = |model: &str| {
        let measured = desk.succeed(&join(&[&["eval", model], &TEST_PART, &["--json"]]));
        json(&measured)["P@1"].as_f64().unwrap()
    };
    assert!(precision("both") > 0.5);

    let info = json(&desk.succeed(&["info", "both", "--json"]));
    assert_eq!(info["system"], "ensemble");
    assert_eq!(info["config"]["combination"], "mean");
    assert_eq!(info["config"]["depth"], 100);
    assert_eq!(info["members"][0]["system"], "parabel");
    assert_eq!(info["members"][1]["weight"], 3.0);
    assert_eq!(info["n_labels"], summary["n_labels"]);
    let shown = desk.succeed(&["info", "both"]);
    for expected in [
        "members     2, all take texts",
        "  member-0          parabel         1 ",
        "  member-1        wide-tree         3 ",
        "text fields title, text",
        "member-1/manifest.json",
    ] {
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
    assert!(
        desk.read("both/README.md")
            .contains("| member-1 | wide-tree | 3 |")
    );
    assert!(
        desk.read("both/labels.jsonl").contains("\"name\""),
        "from the second"
    );
}

#[test]
fn explanations_name_the_member_they_come_from() {
    let desk = desk_with_two();
    desk.succeed(&["ensemble", "parabel", "wide", "-o", "both"]);
    let text = "A history of harbours and their lighthouses";
    let explained = json(&desk.succeed(&["explain", "both", text, "-k", "1", "-f", "json"]));
    let explanation = &explained["explanations"][0];
    assert_eq!(explained["system"], "ensemble");
    let member = explanation["member"]["name"].as_str().unwrap();
    let system = explanation["member"]["system"].as_str().unwrap();
    assert!([("member-0", "parabel"), ("member-1", "wide-tree")].contains(&(member, system)));
    let shown = desk.succeed(&["explain", "both", text, "-k", "1"]);
    assert!(
        shown.contains(&format!(", explained by {member} ({system})\n")),
        "{shown}"
    );
}

#[test]
fn an_ensemble_is_replaced_on_request_alone() {
    let desk = desk_with_model();
    desk.succeed(&["train", "books.jsonl", "-o", "other", "--system", "bonsai"]);
    desk.succeed(&["ensemble", "model", "other", "-o", "both"]);
    let exists = "both exists already; choose another name or pass --force to replace it";
    refuse(&desk, "ensemble model other -o both", FAILURE, exists);
    desk.succeed(&["ensemble", "other", "model", "-o", "both", "--force"]);
    let info = json(&desk.succeed(&["info", "both", "--json"]));
    assert_eq!(info["members"][0]["system"], "bonsai");
    desk.succeed(&["ensemble", "both", "model", "-o", "nested"]);
    desk.succeed(&["eval", "nested", "books.jsonl"]);
}

#[test]
fn equal_members_give_equal_files() {
    let desk = desk_with_model();
    desk.succeed(&["train", "books.jsonl", "-o", "other", "--system", "bonsai"]);
    for (threads, output) in [("1", "one"), ("2", "two")] {
        desk.succeed(&["ensemble", "model", "other", "-o", output, "-j", threads]);
    }
    assert_eq!(
        desk.read("one/manifest.json"),
        desk.read("two/manifest.json")
    );
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let desk = desk_with_model();
    desk.write("features.txt", &features());
    desk.succeed(&["train", "features.txt", "-o", "numbers"]);
    desk.succeed(&["train", "books.jsonl", "-o", "other", "--seed", "2"]);
    desk.succeed(&["train", "books.jsonl", "-o", "damaged", "--seed", "3"]);
    let tree = desk.file("damaged/tree-0.safetensors");
    let length = fs::metadata(&tree).unwrap().len();
    fs::File::options()
        .write(true)
        .open(&tree)
        .unwrap()
        .set_len(length - 1)
        .unwrap();
    fs::create_dir(desk.file("thesis")).unwrap();
    desk.write("thesis/chapter-1.tex", "irreplaceable");
    for (line, status, message) in [
        (
            "ensemble -o out",
            USAGE,
            "the following required arguments were not provided:...",
        ),
        (
            "ensemble model -o out",
            USAGE,
            "members: an ensemble needs at least two models, found 1",
        ),
        (
            "ensemble model other -o out --weights 1,2,3",
            USAGE,
            "weights: expected one weight for each of the 2 models, found 3",
        ),
        (
            "ensemble model other -o out --weights 1,0",
            USAGE,
            "weights: expected numbers above 0, found 0",
        ),
        (
            "ensemble model other -o out --weights -1,2",
            USAGE,
            "weights: expected numbers above 0, found -1",
        ),
        (
            "ensemble model other -o out --weights nan,2",
            USAGE,
            "weights: expected numbers above 0, found NaN",
        ),
        (
            "ensemble model other -o out --weights 1,x",
            USAGE,
            "invalid value 'x' for '--weights <W,...>': invalid float literal",
        ),
        (
            "ensemble model other -o out --depth 0",
            USAGE,
            "invalid value '0' for '--depth <N>'...",
        ),
        (
            "ensemble model other -o other --force",
            USAGE,
            "other: this is one of the models; choose another name for the output",
        ),
        (
            "ensemble model numbers -o out",
            BAD_DATA,
            "numbers: takes features, but model takes texts: an ensemble gives the same documents \
             to all its models",
        ),
        (
            "ensemble model damaged -o out",
            BAD_DATA,
            "damaged/tree-0.safetensors: the file is truncated: ...",
        ),
        (
            "ensemble model nowhere -o out",
            BAD_DATA,
            "nowhere: no such model folder",
        ),
        (
            "ensemble model thesis -o out",
            BAD_DATA,
            "thesis: not a Plethora model: the folder has no manifest.json",
        ),
        (
            "ensemble model other -o thesis --force",
            FAILURE,
            "thesis exists and was not written by Plethora, so it will not be replaced",
        ),
    ] {
        refuse(&desk, line, status, message);
    }
}

#[test]
fn damage_inside_an_ensemble_is_told_with_the_file_by_all_verbs() {
    let desk = desk_with_model();
    desk.succeed(&["train", "books.jsonl", "-o", "other", "--seed", "2"]);
    desk.succeed(&["ensemble", "model", "other", "-o", "both"]);
    let file = "both/member-1/labels.jsonl";
    let text = desk.read(file).replace("Tides", "Tidez");
    desk.write(file, &text);
    let message =
        format!("{file}: the file is damaged: its SHA-256 is not the one in the manifest");
    for line in [
        "info both",
        "predict both books.jsonl",
        "eval both books.jsonl",
        "explain both tide",
        "ensemble both model -o out",
    ] {
        refuse(&desk, line, BAD_DATA, &message);
    }
}

#[test]
fn models_of_different_text_fields_are_warned_of() {
    let desk = Desk::with_catalogue(200);
    for (model, fields) in [("titles", "title"), ("texts", "title,text")] {
        desk.succeed(&[
            "train",
            "documents.jsonl",
            "--text-field",
            fields,
            "-o",
            model,
        ]);
    }
    let output = desk.run(&["ensemble", "titles", "texts", "-o", "both"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    let warning = "texts was trained on the text fields title, text, but the ensemble will read \
                   title; --text-field chooses others";
    assert!(told.contains(warning), "{told}");
}

#[test]
fn linear_and_neural_models_rank_together() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = Desk::with_catalogue(300);
    for system in ["attentionxml", "xml-cnn"] {
        desk.succeed(&support::neural::train_args(system, system, &["-q"]));
    }
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "wide"]]));
    desk.succeed(&["ensemble", "xml-cnn", "attentionxml", "wide", "-o", "three"]);
    let names = ["xml-cnn", "attentionxml", "wide"];
    let members = names.map(|member| scores(&desk, member, "100"));
    for (document, ranking) in scores(&desk, "three", "5").iter().enumerate() {
        for (key, score) in ranking {
            let of_members = members.iter().map(|member| member[document].get(key));
            let expected = of_members.flatten().sum::<f64>() / 3.0;
            assert!(
                (score - expected).abs() < 1e-5,
                "{key}: {score} for {expected}"
            );
        }
    }
    let info = json(&desk.succeed(&["info", "three", "--json"]));
    assert!(info["members"][0]["n_parameters"].as_u64().unwrap() > 1000);
    let text = "A history of harbours and their lighthouses";
    let explained = json(&desk.succeed(&["explain", "three", text, "-k", "1", "-f", "json"]));
    // The first has no attention.
    let member = &explained["explanations"][0]["member"];
    assert_eq!(member["name"], "member-1", "{explained}");
}
