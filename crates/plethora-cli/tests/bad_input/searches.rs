//! Searches that make no sense, or that cannot be resumed.

use crate::refusal::{BAD_DATA, FAILURE, USAGE, books, refuse, refuse_args};
use crate::support::{Desk, TRAIN_PART, join};

#[test]
fn other_arguments_do_not_resume_a_search() {
    let desk = Desk::with_catalogue(300);
    let search = join(&[&["search"], &TRAIN_PART, &["-o", "found"]]);
    let args = ["--range", "beam=5,6", "--trials", "3", "--budget", "5m"];
    desk.succeed(&join(&[&search, &args, &["-q"]]));
    let before = desk.read("found/trials.jsonl");
    let refuse_resume = |args: &[&str], status, message| {
        let resume = ["--resume", "--budget", "5m"];
        refuse_args(&desk, &join(&[&search, args, &resume]), status, message);
    };
    let message = "the search in found has other values for: metric, ranges; repeat those, or \
                   pass --force to start anew";
    let other = ["--range", "beam=5,7", "--trials", "3", "--metric", "P@1"];
    refuse_resume(&other, USAGE, message);
    let message = "the search in found has other values for: trials; repeat...";
    let other = ["--range", "beam=5,6", "--trials", "4"];
    refuse_resume(&other, USAGE, message);
    let message = "found: holds a search on other documents; pass --force to start anew";
    let other = [
        "--range",
        "beam=5,6",
        "--trials",
        "3",
        "--docs-limit",
        "200",
    ];
    refuse_resume(&other, BAD_DATA, message);
    let message = "found: --resume continues the search there: found exists already; choose \
                   another name or pass --force to replace it";
    refuse_args(&desk, &join(&[&search, &args]), FAILURE, message);
    desk.succeed(&join(&[
        &search,
        &args,
        &["-q", "--force", "--metric", "P@1"],
    ]));
    assert_eq!(
        before.lines().count(),
        desk.read("found/trials.jsonl").lines().count()
    );
    assert!(desk.read("found/best.toml").contains("P@1 "));
}

#[test]
fn what_cannot_be_searched_is_refused_with_one_message() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    desk.write(
        "bare.jsonl",
        "{\"text\": \"A book\"}\n{\"text\": \"Another\"}\n",
    );
    desk.write("ranges.toml", "[solver]\ncost = \"log:1..0.1\"\n");
    desk.write("empty.toml", "# nothing\n");
    for (args, status, message) in [
        (
            "--range solver.cots=1,2",
            USAGE,
            "--range: unknown setting `solver.cots`; did you mean `solver.cost`?",
        ),
        (
            "--range solver.cost=0..1",
            USAGE,
            "--range: solver.cost: must be a number above 0, found 0",
        ),
        (
            "--range beam=9..3",
            USAGE,
            "--range: beam: `9..3`: expected the smaller number first",
        ),
        (
            "--range beam",
            USAGE,
            "--range: `beam`: expected KEY=VALUE, as solver.cost=log:0.1..10",
        ),
        (
            "--ranges ranges.toml",
            USAGE,
            "ranges.toml:2: solver.cost: `log:1..0.1`: expected the smaller number first",
        ),
        (
            "--ranges empty.toml",
            USAGE,
            "empty.toml: there is no range to search",
        ),
        ("--ranges none.toml", USAGE, "none.toml: cannot read: ..."),
        (
            "--metric nDGC@5",
            USAGE,
            "invalid value 'nDGC@5' for '--metric <METRIC>': unknown metric; did you mean `nDCG@5`?",
        ),
        (
            "--trials 0",
            USAGE,
            "invalid value '0' for '--trials <N>'...",
        ),
        (
            "--valid-share 1",
            USAGE,
            "invalid value '1' for '--valid-share <SHARE>': expected a number between 0 and 1",
        ),
        (
            "--valid books.jsonl",
            USAGE,
            "--valid: these are the documents to train on; choose others...",
        ),
        (
            "--valid bare.jsonl",
            BAD_DATA,
            "bare.jsonl: no document has labels, so there is nothing to compare with; --label-field names their field",
        ),
        (
            "--valid-share 0.0001",
            BAD_DATA,
            "books.jsonl: none of the 40 documents with labels is held back to measure on with --valid-share 0.0001; choose...",
        ),
        (
            "--valid-share 0.9999",
            BAD_DATA,
            "books.jsonl: none of the 40 documents with labels is left to learn from with --valid-share 0.9999; choose...",
        ),
        (
            "--system parable",
            USAGE,
            "--system: unknown system `parable`; did you mean `parabel`? Systems: ...",
        ),
    ] {
        let line = format!("search books.jsonl -o found --budget 1m {args}");
        refuse(&desk, &line, status, message);
    }
    let time = "expected a time above 0, as 90s, 30m, 1h30m or 2d";
    for budget in ["0", "0m", "30", "soon"] {
        let line = format!("search books.jsonl -o found --budget {budget}");
        let message = format!("invalid value '{budget}' for '--budget <TIME>': {time}");
        refuse(&desk, &line, USAGE, &message);
    }
    let stdin = "DATA: a search reads the documents many times; name a file instead of -";
    refuse(&desk, "search - -o found --budget 1m", USAGE, stdin);
    let bare = "bare.jsonl: no document has labels, so there is nothing to learn from...";
    refuse(
        &desk,
        "search bare.jsonl -o found --budget 1m",
        BAD_DATA,
        bare,
    );
}
