//! `eval --report`: the folder, what its files say, and every refusal.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod refusal;
mod support;

use refusal::{BAD_DATA, FAILURE, USAGE, desk_with_model, refuse};
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

/// A desk with a catalogue and models `one` and `two` of it.
fn desk_with_two_models() -> Desk {
    let desk = Desk::with_catalogue(600);
    for (name, system) in [("one", "wide-tree"), ("two", "parabel")] {
        let more = [
            "-o",
            name,
            "--system",
            system,
            "--vocabulary",
            "labels.jsonl",
        ];
        desk.succeed(&join(&[&["train"], &TRAIN_PART, &more]));
    }
    desk
}

fn report(desk: &Desk, folder: &str) -> Value {
    serde_json::from_str(&desk.read(&format!("{folder}/report.json"))).unwrap()
}

#[test]
fn figures_are_those_of_eval_without_a_report() {
    let desk = desk_with_two_models();
    // A threshold that labels far down reach, so that it shows how deep each ranks.
    let args = join(&[&["eval", "one"], &TEST_PART, &["-t", "0.0001", "--json"]]);
    let plain = desk.succeed(&args);
    let with_report = desk.succeed(&join(&[&args, &["--report", "out"]]));
    let [plain, with_report]: [Value; 2] =
        [plain, with_report].map(|text| serde_json::from_str(&text).unwrap());
    for key in ["microF1", "macroF1", "docF1", "nDCG@5", "depth"] {
        assert!(plain[key].is_number(), "{plain}");
        assert_eq!(plain[key], with_report[key], "{key}");
    }
}

#[test]
fn two_models_are_compared_in_three_forms() {
    let desk = desk_with_two_models();
    let printed = desk.succeed(&join(&[
        &["eval", "one", "two"],
        &TEST_PART,
        &["--report", "out"],
    ]));
    assert!(printed.contains("report      out/report.html"), "{printed}");
    let found = report(&desk, "out");
    assert_eq!(found["models"].as_array().unwrap().len(), 2);
    for model in found["models"].as_array().unwrap() {
        for (key, metric) in model["metrics"].as_object().unwrap() {
            let [value, low, high] =
                ["value", "low", "high"].map(|name| metric[name].as_f64().unwrap());
            assert!(
                low <= high && (0.0..=1.0).contains(&value),
                "{key}: {metric}"
            );
        }
        assert_eq!(model["buckets"].as_array().unwrap().len(), 3);
        assert_eq!(model["lengths"].as_array().unwrap().len(), 4);
        assert!(!model["worst_documents"].as_array().unwrap().is_empty());
        assert!(!model["missed_labels"].as_array().unwrap().is_empty());
        let bins = model["calibration"]["top"]["bins"].as_array().unwrap();
        assert!((1..=15).contains(&bins.len()), "{bins:?}");
    }
    let pair = &found["comparisons"][0];
    assert_eq!(
        (&pair["first"], &pair["second"]),
        (&"one".into(), &"two".into())
    );
    assert_eq!(pair["overlap"].as_array().unwrap().len(), 5);
    let difference = &pair["differences"]["P@5"];
    let value = |model: usize| {
        found["models"][model]["metrics"]["P@5"]["value"]
            .as_f64()
            .unwrap()
    };
    assert!((difference["value"].as_f64().unwrap() - (value(0) - value(1))).abs() < 1e-9);
    assert!((0.0..=1.0).contains(&difference["p_value"].as_f64().unwrap()));
    let markdown = desk.read("out/report.md");
    assert!(markdown.contains("## Differences") && markdown.contains("| P@1 |"));
    check_page(&desk.read("out/report.html"));
}

#[test]
fn one_model_has_the_values_of_a_plain_evaluation_and_threads_change_nothing() {
    let desk = desk_with_two_models();
    let plain = desk.succeed(&join(&[
        &["eval", "one"],
        &TEST_PART,
        &["--json", "--depth", "100"],
    ]));
    let plain: Value = serde_json::from_str(&plain).unwrap();
    let files = [
        "--report",
        "out",
        "-o",
        "metrics.json",
        "--per-label",
        "labels.tsv",
        "--json",
    ];
    let printed = desk.succeed(&join(&[&["eval", "one"], &TEST_PART, &files]));
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let found = report(&desk, "out");
    for (key, metric) in found["models"][0]["metrics"].as_object().unwrap() {
        assert_eq!(metric["value"], plain[key], "{key}");
        assert_eq!(printed[key], plain[key], "{key}");
    }
    assert!(desk.read("labels.tsv").starts_with("URI\tLabel"));
    desk.succeed(&join(&[
        &["eval", "one"],
        &TEST_PART,
        &["--report", "again", "-j", "1"],
    ]));
    let mut again = report(&desk, "again");
    let mut found = found;
    for report in [&mut again, &mut found] {
        report["models"][0]["speed"] = Value::Null;
    }
    assert_eq!(again, found);
}

#[test]
fn features_and_documents_without_text_can_be_reported() {
    let desk = Desk::empty();
    desk.write("features.txt", &refusal::features());
    desk.succeed(&["train", "features.txt", "-o", "model"]);
    desk.succeed(&["eval", "model", "features.txt", "--report", "out"]);
    assert_eq!(report(&desk, "out")["data"]["length_unit"], "features");
    check_page(&desk.read("out/report.html"));
}

#[test]
fn models_of_other_labels_are_fine_and_training_curves_are_shown() {
    let desk = desk_with_model();
    let mut other = String::new();
    for line in desk
        .read("books.jsonl")
        .lines()
        .filter(|line| !line.contains("Bees"))
    {
        other.extend([line, "\n"]);
    }
    desk.write("fewer.jsonl", &other);
    desk.succeed(&["train", "fewer.jsonl", "-o", "fewer"]);
    let line =
        "{\"step\":1,\"epoch\":1.0,\"loss\":0.5}\n{\"step\":2,\"epoch\":2.0,\"loss\":0.25}\n";
    desk.write("model/metrics.jsonl", line);
    desk.succeed(&["eval", "model", "fewer", "books.jsonl", "--report", "out"]);
    let found = report(&desk, "out");
    assert_eq!(found["models"][1]["n_unseen_labels"], 1);
    assert_eq!(found["models"][0]["training"][0]["key"], "loss");
    assert!(desk.read("out/report.html").contains(">Training</a>"));
}

#[test]
fn published_results_are_shown_by_counts_and_lookalikes_are_warned_of() {
    let desk = desk_with_model();
    std::fs::rename(desk.file("books.jsonl"), desk.file("eurlex57k.jsonl")).unwrap();
    let output = desk.run(&["eval", "model", "eurlex57k.jsonl", "--report", "out"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("looks like EURLEX57K"), "{told}");
    let found = report(&desk, "out");
    assert!(found["published"]["dataset"].is_null());
    assert_eq!(found["published"]["warnings"].as_array().unwrap().len(), 3);
    assert!(desk.read("out/report.html").contains("class=\"warning\""));
}

#[test]
fn reports_are_replaced_on_request_and_nothing_else_is() {
    let desk = desk_with_model();
    desk.succeed(&["eval", "model", "books.jsonl", "--report", "out"]);
    let message = "out exists already; choose another name or pass --force to replace it";
    refuse(
        &desk,
        "eval model books.jsonl --report out",
        FAILURE,
        message,
    );
    desk.succeed(&["eval", "model", "books.jsonl", "--report", "out", "--force"]);
    let message = "model exists and was not written by Plethora, so it will not be replaced";
    refuse(
        &desk,
        "eval model books.jsonl --report model --force",
        FAILURE,
        message,
    );
    refuse(
        &desk,
        "eval model books.jsonl --report books.jsonl/out",
        FAILURE,
        "books.jsonl: cannot write: ...",
    );
}

#[test]
fn what_cannot_be_reported_is_refused_in_one_message() {
    let desk = desk_with_model();
    desk.write(
        "one.jsonl",
        "{\"text\":\"a tide\",\"labels\":[\"Tides\"]}\n",
    );
    desk.write(
        "bare.jsonl",
        "{\"text\":\"a tide\"}\n{\"text\":\"a bee\"}\n",
    );
    for (line, status, message) in [
        (
            "eval model one.jsonl --report out",
            BAD_DATA,
            "one.jsonl: has one document; a report needs two or more, for its intervals come from \
             drawing documents anew",
        ),
        (
            "eval model bare.jsonl --report out",
            BAD_DATA,
            "bare.jsonl: no document has labels, so there is nothing to compare with; --label-field \
             names their field",
        ),
        (
            "eval model missing books.jsonl --report out",
            BAD_DATA,
            "missing: ...",
        ),
        (
            "eval model model books.jsonl",
            USAGE,
            "several models are compared in a report; --report FOLDER says where to write it",
        ),
        (
            "eval model model books.jsonl --report out -o metrics.json",
            USAGE,
            "--output and --per-label are of one model; a report of several has all metrics in \
             report.json",
        ),
        (
            "eval model model - --report out",
            USAGE,
            "standard input can be read once, and each model reads the documents; name a file",
        ),
        (
            "eval model books.jsonl --report out --resamples 3",
            USAGE,
            "resamples: must be from 100 to 1000000, found 3",
        ),
        (
            "eval model books.jsonl --seed 3",
            USAGE,
            "the following required arguments ...",
        ),
        (
            "eval model",
            USAGE,
            "one path is not enough; name a model and then a corpus with true labels",
        ),
    ] {
        refuse(&desk, line, status, message);
    }
}

#[test]
fn pages_stay_small_with_a_hundred_thousand_labels() {
    let desk = Desk::empty();
    let mut documents = String::new();
    for number in 0..10_000 {
        let words: Vec<String> = (0..4)
            .map(|place| format!("word{}", number / 4 + place))
            .collect();
        let labels: Vec<String> = (0..10)
            .map(|place| {
                format!(
                    "A rather long name of the label number {}",
                    10 * number + place
                )
            })
            .collect();
        let document = serde_json::json!({ "text": words.join(" "), "labels": labels });
        documents.extend([&document.to_string(), "\n"]);
    }
    desk.write("documents.jsonl", &documents);
    let rare = ["--set", "text.min_df=1"];
    desk.succeed(&join(&[
        &["train", "documents.jsonl", "-o", "model"],
        &rare,
    ]));
    let test = [
        "eval",
        "model",
        "model",
        "documents.jsonl",
        "--docs-limit",
        "3000",
    ];
    desk.succeed(&join(&[&test, &["--report", "out"]]));
    let found = report(&desk, "out");
    assert_eq!(found["models"][0]["n_labels"], 100_000);
    for name in ["report.html", "report.json", "report.md"] {
        let size = desk.read(&format!("out/{name}")).len();
        assert!(size < 1_000_000, "{name}: {size} bytes");
    }
    check_page(&desk.read("out/report.html"));
}

/// Checks that a page is well formed, needs nothing else, and names its pictures.
fn check_page(page: &str) {
    for outside in [
        "http:", "https:", "src=", "<link", "<script", "@import", "url(",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap();
        if tag.starts_with('!') || tag.ends_with('/') || ["meta", "br"].contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(
                open.pop(),
                Some(name),
                "near {:?}",
                rest.chars().take(80).collect::<String>()
            );
        } else {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let figures = page.matches("<figure>").count();
    assert!(figures > 5);
    assert_eq!(page.matches("role=\"img\"").count(), figures);
    assert_eq!(page.matches("<desc id=").count(), figures);
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    let num_ids = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), num_ids, "an id stands twice");
}

#[test]
fn the_table_of_an_evaluation_fits_a_terminal_and_begins_with_f1() {
    let desk = desk_with_two_models();
    let table = desk.succeed(&join(&[&["eval", "one"], &TEST_PART]));
    let widest = table.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() <= 80, "{table}");
    let first = table.lines().next().unwrap();
    assert!(first.trim_start().starts_with("microF1"), "{table}");
    for row in ["\nnDCG ", "\nlabels ", "\nin train ", "\nR@5 "] {
        assert!(table.contains(row), "{row} is not in\n{table}");
    }
}
