//! Training and prediction in pieces, whose merged result is that of one process to the last byte.

mod support;

use std::fs;

use support::{Desk, TEST_PART, TRAIN_PART, join};

const SMALL_LEAVES: [&str; 4] = ["--set", "tree.max_leaf=10", "--set", "text.min_df=1"];

/// Trains a system as a whole and in pieces, which are merged.
fn assert_pieces_make_the_whole(desk: &Desk, settings: &[&str], count: usize) {
    let train = join(&[&["train"], &TRAIN_PART, settings, &["--force"]]);
    desk.succeed(&join(&[&train, &["-o", "whole"]]));
    let names: Vec<String> = (0..count).map(|index| format!("piece-{index}")).collect();
    for (index, name) in names.iter().enumerate() {
        let shard = format!("{index}/{count}");
        desk.succeed(&join(&[&train, &["-o", name, "--shard", &shard]]));
    }
    // Any order will do.
    let mut merge: Vec<&str> = names.iter().map(String::as_str).rev().collect();
    merge.splice(..0, ["merge"]);
    desk.succeed(&join(&[&merge, &["-o", "merged", "--force"]]));
    let differing: Vec<String> = (desk.model_files("whole").into_iter())
        .zip(desk.model_files("merged"))
        .filter(|(whole, merged)| whole != merged)
        .map(|(whole, merged)| format!("{} and {}", whole.0, merged.0))
        .collect();
    assert!(differing.is_empty(), "{settings:?}: {differing:?}");
}

#[test]
fn merged_trees_are_those_of_one_process() {
    let desk = Desk::with_catalogue(400);
    let bonsai = join(&[&["--system", "bonsai"], &SMALL_LEAVES]);
    assert_pieces_make_the_whole(&desk, &bonsai, 3);
    // More pieces than trees: two of them are divided.
    assert_pieces_make_the_whole(&desk, &bonsai, 5);
    assert_pieces_make_the_whole(&desk, &["--system", "parabel"], 1);
}

#[test]
fn merged_parts_of_one_tree_are_those_of_one_process() {
    let desk = Desk::with_catalogue(400);
    // Hard negatives come from the nodes above, which every piece trains.
    let wide = join(&[&["--system", "wide-tree"], &SMALL_LEAVES]);
    assert_pieces_make_the_whole(&desk, &wide, 3);
    assert_pieces_make_the_whole(&desk, &["--system", "one-vs-all"], 2);
}

#[test]
fn pieces_of_other_runs_and_missing_ones_are_named() {
    let desk = Desk::with_catalogue(300);
    let train = join(&[&["train"], &TRAIN_PART, &["--system", "bonsai"]]);
    let piece = |name: &str, more: &[&str]| {
        desk.succeed(&join(&[&train, &["-o", name], more]));
    };
    piece("a", &["--shard", "0/2"]);
    piece("b", &["--shard", "1/2"]);
    piece("seed", &["--shard", "1/2", "--seed", "5"]);
    piece("three", &["--shard", "1/3"]);
    piece("model", &[]);
    for (pieces, expected) in [
        (&["a"][..], "a: piece 1/2 is missing"),
        (&["a", "a"], "a: is piece 0/2, and so is a"),
        (
            &["a", "three"],
            "three: is piece 1/3, but a is one of 2 pieces",
        ),
        (
            &["a", "seed"],
            "seed: was trained on data or with settings other than in a",
        ),
        (
            &["a", "model"],
            "model: is a whole model of `bonsai`, expected pieces",
        ),
    ] {
        let message = desk.fail(3, &join(&[&["merge"], pieces, &["-o", "out"]]));
        assert!(message.contains(expected), "{message}");
    }
    let weights = desk.file("b/tree-1.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, bytes).unwrap();
    let message = desk.fail(3, &["merge", "a", "b", "-o", "out"]);
    assert!(message.contains("tree-1.safetensors"), "{message}");
    let message = desk.fail(3, &["predict", "a", "documents.jsonl"]);
    assert!(message.contains("`plethora merge`"), "{message}");
    assert!(!desk.file("out").exists());
}

#[test]
fn what_cannot_be_divided_says_so() {
    let desk = Desk::with_catalogue(100);
    let train = join(&[&["train"], &TRAIN_PART, &["-o", "piece"]]);
    for (more, status, expected) in [
        (
            &["--system", "knn", "--shard", "0/2"][..],
            2,
            "cannot be divided",
        ),
        (
            &["--system", "lexical", "--shard", "0/2"],
            2,
            "cannot be divided",
        ),
        (&["--budget", "1m", "--shard", "0/2"], 2, "name the system"),
        (
            &["--system", "bonsai", "--shard", "2/2"],
            2,
            "expected a share such as 0/4",
        ),
    ] {
        let message = desk.fail(status, &join(&[&train, more]));
        assert!(message.contains(expected), "{message}");
    }
    let valid = ["--valid", "documents.jsonl", "--valid-where", "split=dev"];
    let message = desk.fail(2, &join(&[&train, &valid, &["--shard", "0/2"]]));
    assert!(
        message.contains("a piece of a model cannot be measured"),
        "{message}"
    );
    assert!(!desk.file("piece").exists());
}

#[test]
fn merged_predictions_are_those_of_one_process_in_every_format() {
    let desk = Desk::with_catalogue(200);
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "model"]]));
    // A threshold leaves some documents without labels, the first ones among them.
    for more in [&["-k", "3"][..], &["--threshold", "0.9"]] {
        for format in ["jsonl", "hf", "fasttext", "annif", "xmc", "csv", "table"] {
            let predict = join(&[
                &["predict", "model"],
                &TEST_PART,
                more,
                &["--out-format", format],
            ]);
            let predict = join(&[&predict, &["--force"]]);
            desk.succeed(&join(&[&predict, &["-o", "whole"]]));
            for shard in ["0/3", "1/3", "2/3"] {
                let name = format!("part-{}", &shard[..1]);
                desk.succeed(&join(&[&predict, &["-o", &name, "--shard", shard]]));
            }
            desk.succeed(&[
                "merge", "part-2", "part-0", "part-1", "-o", "merged", "--force",
            ]);
            assert_eq!(desk.read("merged"), desk.read("whole"), "{format} {more:?}");
        }
    }
}

#[test]
fn predictions_that_do_not_belong_together_are_refused() {
    let desk = Desk::with_catalogue(200);
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "model"]]));
    let predict = join(&[&["predict", "model"], &TEST_PART]);
    let piece = |name: &str, more: &[&str]| {
        desk.succeed(&join(&[&predict, &["-o", name], more]));
    };
    piece("a", &["--shard", "0/2"]);
    piece("b", &["--shard", "1/2"]);
    piece("deep", &["--shard", "1/2", "-k", "7"]);
    piece("whole", &[]);
    for (pieces, expected) in [
        (&["a"][..], "a: piece 1/2 is missing"),
        (
            &["a", "deep"],
            "deep: is of another model, other documents or other options than a",
        ),
        (&["a", "whole"], "whole: is no complete piece"),
        (&["a", "model"], "merge them apart"),
    ] {
        let status = if expected.contains("apart") { 2 } else { 3 };
        let message = desk.fail(status, &join(&[&["merge"], pieces, &["-o", "out"]]));
        assert!(message.contains(expected), "{message}");
    }
    let text = desk.read("b").replacen("score", "SCORE", 1);
    desk.write("b", &text);
    let message = desk.fail(3, &["merge", "a", "b", "-o", "out"]);
    assert!(message.contains("b: is damaged"), "{message}");
    assert!(!desk.file("out").exists());
    let shard = ["--shard", "0/2", "-o", "c"];
    let message = desk.fail(2, &join(&[&["predict", "model", "-"], &shard]));
    assert!(
        message.contains("standard input cannot be divided"),
        "{message}"
    );
    let message = desk.fail(2, &join(&[&predict, &["--shard", "0/2", "-o", "c.gz"]]));
    assert!(message.contains("pieces are not compressed"), "{message}");
}
