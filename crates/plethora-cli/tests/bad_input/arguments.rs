//! Arguments and settings that make no sense.

use std::fs;

use crate::refusal::{USAGE, desk_with_model, refuse, refuse_args};

#[test]
fn wrong_settings_are_named_with_what_was_expected() {
    let desk = desk_with_model();
    for (setting, message) in [
        (
            "tree.max_leaff=3",
            "--set: unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
        ),
        (
            "tree=3",
            "--set: `tree` is a group of settings, name one as tree.NAME=VALUE",
        ),
        (
            "seed",
            "--set: `seed`: expected KEY=VALUE, as tree.max_leaf=50",
        ),
        (
            "seed=x",
            "--set: seed: expected a whole number from 0, found `x`",
        ),
        (
            "seed=-1",
            "--set: seed: expected a whole number from 0, found `-1`",
        ),
        (
            "solver.cost=nan",
            "--set: solver.cost: expected a number, found `nan`",
        ),
        (
            "solver.cost=0",
            "solver.cost: must be a number above 0, found 0",
        ),
        (
            "solver.cost=1e300",
            "solver.cost: must be a number above 0, found inf",
        ),
        (
            "solver.epsilon=1e300",
            "solver.epsilon: must be a number above 0, found inf",
        ),
        (
            "solver.prune_below=1e300",
            "solver.prune_below: must be a number from 0, found inf",
        ),
        (
            "tree.min_gain=1e300",
            "tree.min_gain: must be a number from 0, found inf",
        ),
        (
            "tree.branching=1",
            "tree.branching: must be at least 2, found 1",
        ),
        (
            "tree.shape=round",
            "--set: tree.shape: expected one of balanced, kmeans...",
        ),
        (
            "text.sublinear=maybe",
            "--set: text.sublinear: expected true or false, found `maybe`",
        ),
        (
            "text.max_df=2",
            "text.max_df: must be a number above 0 and up to 1, found 2",
        ),
        ("num_trees=0", "num_trees: must be from 1 to 1000, found 0"),
        (
            "num_trees=18446744073709551615",
            "num_trees: must be from 1 to 1000, found 18446744073709551615",
        ),
        (
            "system=parable",
            "--set: unknown system `parable`; did you mean `parabel`? Systems: ...",
        ),
    ] {
        let line = format!("train books.jsonl -o new --set {setting}");
        refuse(&desk, &line, USAGE, message);
    }
    let unknown = "--system: unknown system `wide-three`; did you mean `wide-tree`? Systems: ...";
    refuse(
        &desk,
        "train books.jsonl -o new --system wide-three",
        USAGE,
        unknown,
    );
    refuse(
        &desk,
        "train books.jsonl -o new --beam 0",
        USAGE,
        "beam: must be at least 1, found 0",
    );
}

#[test]
fn wrong_config_files_are_named_with_the_line() {
    let desk = desk_with_model();
    for (text, message) in [
        (
            "seed = 3\n[tree]\nmax_leaff = 3\n",
            "c.toml:3: unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
        ),
        (
            "seed = 3\n[trees]\n",
            "c.toml:2: unknown setting `trees`; ...",
        ),
        (
            "seed = 3\nbeam = \"wide\"\n",
            "c.toml:2: beam: expected a whole number from 0, found `\"wide\"`",
        ),
        (
            "seed = [3]\n",
            "c.toml:1: seed: expected a whole number from 0, found `[3]`",
        ),
        (
            "seed = 1979-05-27\n",
            "c.toml:1: seed: expected a whole number from 0, found `1979-05-27`",
        ),
        (
            "solver.cost = nan\n",
            "c.toml:1: solver.cost: expected a number, found `nan`",
        ),
        (
            "tree = 3\n",
            "c.toml:1: `tree` is a group of settings, name one as tree.NAME=VALUE",
        ),
        (
            "system = \"parable\"\n",
            "c.toml:1: unknown system `parable`; did you mean `parabel`? ...",
        ),
        ("seed = 3\n[tree\n", "c.toml:2: ..."),
        ("seed = 3\nseed = 4\n", "c.toml:2: ..."),
        ("{\"seed\": 3,\n\"beam\"}", "c.toml:2: ..."),
        (
            "{\"seed\": 3, \"tree\": {\"max_leaff\": 3}}",
            "c.toml: unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
        ),
    ] {
        desk.write("c.toml", text);
        refuse(&desk, "train books.jsonl -o new -c c.toml", USAGE, message);
    }
    fs::write(desk.file("c.toml"), b"\xff\xfe").unwrap();
    for (name, message) in [
        (
            "c.toml",
            "c.toml: cannot read: stream did not contain valid UTF-8",
        ),
        ("model", "model: cannot read: Is a directory (os error 21)"),
        (
            "nowhere.toml",
            "nowhere.toml: cannot read: No such file or directory (os error 2)",
        ),
    ] {
        let line = format!("train books.jsonl -o new -c {name}");
        refuse(&desk, &line, USAGE, message);
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let desk = desk_with_model();
    for (line, message) in [
        (
            "predict model books.jsonl -k 0",
            "invalid value '0' for '--top-k <K>': expected a whole number from 1 on",
        ),
        (
            "eval model books.jsonl -k 1,0",
            "invalid value '0' for '--top-k <K,...>': expected a whole number from 1 on",
        ),
        (
            "eval model books.jsonl -k 3,3",
            "eval.ks: must not hold a depth twice",
        ),
        (
            "predict model books.jsonl -b 0",
            "invalid value '0' for '--beam <N>': ...",
        ),
        (
            "eval model books.jsonl -b 0",
            "invalid value '0' for '--beam <N>': ...",
        ),
        (
            "predict model books.jsonl -t 1.5",
            "invalid value '1.5' for '--threshold <SCORE>': expected a number from 0 to 1",
        ),
        (
            "predict model books.jsonl --threshold=-1",
            "invalid value '-1' for '--threshold <SCORE>': expected a number from 0 to 1",
        ),
        (
            "predict model books.jsonl -t nan",
            "invalid value 'nan' for '--threshold <SCORE>': expected a number from 0 to 1",
        ),
        (
            "eval model books.jsonl -t 7",
            "invalid value '7' for '--threshold <SCORE>': expected a number from 0 to 1",
        ),
        (
            "eval model books.jsonl --a nan",
            "eval.a: must be from 0 to 10, found NaN",
        ),
        (
            "eval model books.jsonl --a 400",
            "eval.a: must be from 0 to 10, found 400",
        ),
        (
            "eval model books.jsonl --b 0",
            "eval.b: must be from 0.001 to 1000000, found 0",
        ),
        (
            "info model --threads 99999999",
            "invalid value '99999999' for '--threads <N>': 99999999 is not in 0..=1024",
        ),
        ("info model --threads -1", "unexpected argument '-1' found"),
        (
            "train books.jsonl -o new --seed -1",
            "unexpected argument '-1' found",
        ),
        (
            "train books.jsonl -o new --seed x",
            "invalid value 'x' for '--seed <N>': invalid digit found in string",
        ),
        (
            "train books.jsonl -o new --index-base 2",
            "--index-base: expected 0 or 1",
        ),
        (
            "generate -o new --labels 20",
            "--labels: 20 is not between 100 and 1000000",
        ),
        ("generate -o new --noise 900", "--noise: 900 is above 200"),
        (
            "demo --dir new --documents 0",
            "--documents: 0 documents make no catalogue",
        ),
    ] {
        refuse(&desk, line, USAGE, message);
    }
    // The largest numbers are no mistakes.
    let all = u64::MAX.to_string();
    desk.succeed(&["predict", "model", "books.jsonl", "-k", &all, "-b", &all]);
    desk.succeed(&["eval", "model", "books.jsonl", "-k", &all, "--depth", &all]);
}

#[test]
fn unknown_names_come_with_a_suggestion() {
    let desk = desk_with_model();
    for (line, message, tip) in [
        (
            "train books.jsonl -o new --sytem parabel",
            "unexpected argument '--sytem' found",
            "'--system'",
        ),
        (
            "trian books.jsonl -o new",
            "unrecognized subcommand 'trian'",
            "'train'",
        ),
        (
            "train books.jsonl -o new --format jsnol",
            "invalid value 'jsnol' for '--format <FORMAT>'",
            "'jsonl'",
        ),
        (
            "predict model books.jsonl --out-format jsnl",
            "invalid value 'jsnl' for '--out-format <FORMAT>'",
            "'jsonl'",
        ),
        (
            "train books.jsonl",
            "the following required arguments were not provided:",
            "--output",
        ),
        (
            "train books.jsonl -o new --where split",
            "invalid value 'split' for '--where <FIELD=VALUE>': expected FIELD=VALUE",
            "",
        ),
    ] {
        refuse(&desk, line, USAGE, message);
        let args: Vec<&str> = line.split(' ').collect();
        let told = String::from_utf8(desk.run(&args).stderr).unwrap();
        assert!(told.contains(tip), "{told}");
    }
    refuse_args(
        &desk,
        &["train", "books.jsonl", "-o", ""],
        USAGE,
        "a value is required for '--output <FOLDER>' but none was supplied",
    );
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    let desk = desk_with_model();
    for (line, message) in [
        (
            "train books.jsonl --valid books.jsonl -o new",
            "--valid: these are the documents to train on; choose others with --where and --valid-where",
        ),
        (
            "train - --valid - -o new",
            "-: standard input can be read once; name a file for the other",
        ),
        (
            "train books.jsonl --labels-file - -o new",
            "--labels-file: expected a file, not standard input",
        ),
        (
            "train books.jsonl --valid-where split=test -o new",
            "the following required arguments were not provided:",
        ),
    ] {
        refuse(&desk, line, USAGE, message);
    }
}

#[test]
fn an_option_that_is_a_setting_is_told_as_one() {
    let desk = desk_with_model();
    let output = desk.run(&["train", "books.jsonl", "-o", "new", "--max-leaf", "5"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("--set tree.max_leaf=VALUE"), "{message}");
    let output = desk.run(&["train", "books.jsonl", "-o", "new", "--nonsense", "5"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("unexpected argument '--nonsense'"),
        "{message}"
    );
    assert!(!message.contains("-- --nonsense"), "{message}");
}
