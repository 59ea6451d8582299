//! From what people said of predictions to the next model.

mod support;

use support::Desk;

const BOOKS: &str = "\
{\"id\": \"b1\", \"split\": \"train\", \"text\": \"tides and harbours\", \"labels\": [\"sea\", \"bees\"]}
{\"id\": \"b2\", \"split\": \"train\", \"text\": \"the flood tide\", \"labels\": [\"sea\"]}
{\"id\": \"b3\", \"split\": \"train\", \"text\": \"hives and honey\", \"labels\": [\"bees\"]}
{\"id\": \"b4\", \"split\": \"train\", \"text\": \"honey of the heath\", \"labels\": [\"bees\"]}
{\"id\": \"b5\", \"split\": \"test\", \"text\": \"a calendar of tides\", \"labels\": [\"sea\"]}
";

const FEEDBACK: &str = "\
{\"text\": \"Tides and harbours\", \"labels\": [\"sea\"], \"right\": [\"sea\"], \"wrong\": [\"bees\"], \"missing\": [], \"model\": \"m\"}
{\"text\": \"a calendar of tides\", \"labels\": [\"sea\"], \"right\": [\"sea\"], \"wrong\": [], \"missing\": [], \"model\": \"m\"}
{\"text\": \"looms\", \"labels\": [], \"right\": [], \"wrong\": [\"sea\"], \"missing\": [], \"model\": \"m\"}
";

const TRAIN: [&str; 6] = [
    "train",
    "books.jsonl",
    "--where",
    "split=train",
    "-o",
    "model",
];

fn desk(feedback: &str) -> Desk {
    let desk = Desk::empty();
    desk.write("books.jsonl", BOOKS);
    desk.write("feedback.jsonl", feedback);
    desk
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TRAIN[..], more].concat()
}

#[test]
fn feedback_corrects_labels_and_adds_documents_whatever_where_says() {
    let desk = desk(FEEDBACK);
    let output = desk.run(&with(&["--feedback", "feedback.jsonl"]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("1 documents of the corpus judged, 1 others added, 1 without a right label"),
        "{told}"
    );
    let info: serde_json::Value =
        serde_json::from_str(&desk.succeed(&["info", "model", "--json"])).unwrap();
    assert_eq!(info["n_documents"], 5);
    let labels = desk.read("model/labels.jsonl");
    let counts: Vec<(String, u64)> = labels
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|label| {
            (
                label["key"].as_str().unwrap().to_owned(),
                label["train_count"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(counts, [("bees".into(), 2), ("sea".into(), 3)]);
}

#[test]
fn figures_on_documents_that_were_trained_on_come_with_a_warning() {
    let desk = desk(FEEDBACK);
    let eval = ["eval", "model", "books.jsonl", "--where", "split=test"];
    let warned = |args: &[&str]| {
        let output = desk.run(args);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    desk.succeed(&TRAIN);
    assert!(!warned(&eval).contains("trained on"));
    let all = warned(&["eval", "model", "books.jsonl"]);
    assert!(
        all.contains("4 of 5 documents are among those that the model was trained on"),
        "{all}"
    );
    desk.succeed(&with(&["--force", "--feedback", "feedback.jsonl"]));
    let leaked = warned(&eval);
    assert!(
        leaked.contains("1 of 1 documents are among those"),
        "{leaked}"
    );
}

#[test]
fn labels_of_another_model_are_refused() {
    let foreign = FEEDBACK.replace("[\"sea\"], \"wrong\": []", "[\"ships\"], \"wrong\": []");
    let desk = desk(&foreign);
    let args = with(&["--feedback", "feedback.jsonl"]);
    let message = desk.fail(3, &args);
    assert!(
        message.contains("feedback.jsonl:2: the label `ships` is that of no document"),
        "{message}"
    );
    assert!(message.contains("--vocabulary names it"), "{message}");
    assert!(!desk.file("model").exists());
    desk.write("names.jsonl", "{\"key\": \"ships\", \"name\": \"Ships\"}\n");
    desk.succeed(&[&args[..], &["--vocabulary", "names.jsonl"]].concat());
    let message = desk.fail(3, &with(&["--force", "--feedback", "books.jsonl"]));
    assert!(
        message.contains("books.jsonl:1: expected feedback with"),
        "{message}"
    );
}

#[test]
fn a_corpus_with_other_labels_cannot_be_evaluated_on() {
    let desk = desk(FEEDBACK);
    desk.succeed(&TRAIN);
    desk.write(
        "other.jsonl",
        "{\"text\": \"tides\", \"labels\": [\"C12\"]}\n",
    );
    let message = desk.fail(3, &["eval", "model", "other.jsonl"]);
    assert!(
        message.contains("none of the labels (as `C12`) is one of the model's (as `bees`)"),
        "{message}"
    );
}
