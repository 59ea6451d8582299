//! Every command that writes.

use super::scenario::Scenario;

/// A corpus; the catalogue is the same in every run.
const CORPUS: &str = "-q generate -o data --documents 60 --seed 1";

/// What scenarios have in common.
const USUAL: Scenario = Scenario {
    name: "",
    is_quick: true,
    needs: None,
    prepare: &[],
    command: "",
    outputs: &[],
    reader: None,
    shows_progress: false,
    times: &[],
    finish: "",
};

macro_rules! train {
    ($system:literal, $rest:literal) => {
        concat!(
            "-q -j 1 train data/documents.jsonl --text-field title,text --vocabulary data/labels.jsonl --force --system ",
            $system,
            " ",
            $rest
        )
    };
}

macro_rules! attention {
    ($rest:literal) => {
        concat!(
            train!(
                "attentionxml",
                "--set train.batch_size=16 --set train.epochs=2 --set train.valid_max=20 --set vectors.width=8 \
                 --set words.max_length=20 --set head.layers=8 --set encoder.hidden=8 "
            ),
            $rest
        )
    };
}

macro_rules! search {
    ($rest:literal) => {
        concat!(
            "-q -j 1 search data/documents.jsonl --text-field title,text --system parabel --trials 2 --budget 1h \
             --no-cache -o found ",
            $rest
        )
    };
}

macro_rules! choose {
    ($rest:literal) => {
        concat!(
            "-q -j 1 train data/documents.jsonl --text-field title,text --budget 1h --no-cache --force -o model ",
            $rest
        )
    };
}

/// All scenarios, the quick ones first.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        Scenario {
            name: "train",
            prepare: &[CORPUS, train!("parabel", "--seed 1 -o model")],
            command: train!("parabel", "--seed 2 -o model"),
            outputs: &["model"],
            reader: Some("info model"),
            finish: train!("parabel", "--seed 2 -o model --resume"),
            ..USUAL
        },
        Scenario {
            name: "split",
            prepare: &[
                CORPUS,
                "-q split data/documents.jsonl --text-field title,text --seed 1 -o parts",
            ],
            command: "-q split data/documents.jsonl --text-field title,text --seed 2 -o parts --force",
            outputs: &["parts"],
            reader: Some("check parts/test.jsonl"),
            finish: "-q split data/documents.jsonl --text-field title,text --seed 2 -o parts --force",
            ..USUAL
        },
        Scenario {
            name: "convert",
            prepare: &[
                CORPUS,
                "-q convert data/documents.jsonl texts.txt --text-field title --out-format text-pair --out-labels-file labels.txt --out-label-separator |",
            ],
            command: "-q convert data/documents.jsonl texts.txt --text-field title,text --flatten --docs-limit 40 --out-format text-pair --out-labels-file labels.txt --out-label-separator | --force",
            outputs: &["texts.txt", "labels.txt"],
            reader: Some("check texts.txt --labels-file labels.txt --label-separator |"),
            finish: "-q convert data/documents.jsonl texts.txt --text-field title,text --flatten --docs-limit 40 --out-format text-pair --out-labels-file labels.txt --out-label-separator | --force",
            ..USUAL
        },
        Scenario {
            name: "generate",
            prepare: &[CORPUS],
            command: "-q generate -o data --documents 50 --seed 2 --force",
            outputs: &["data"],
            reader: Some("check data/documents.jsonl --text-field title,text"),
            finish: "-q generate -o data --documents 50 --seed 2 --force",
            ..USUAL
        },
        Scenario {
            name: "predict",
            prepare: &[
                CORPUS,
                train!("parabel", "--seed 1 -o model"),
                "-q predict model data/documents.jsonl --text-field title,text -k 2 -o out.jsonl",
            ],
            command: "-q predict model data/documents.jsonl --text-field title,text -k 3 -o out.jsonl --force",
            outputs: &["out.jsonl"],
            finish: "-q predict model data/documents.jsonl --text-field title,text -k 3 -o out.jsonl --force",
            ..USUAL
        },
        Scenario {
            name: "calibrate",
            is_quick: false,
            prepare: &[
                CORPUS,
                train!("parabel", "--seed 1 -o model"),
                "-q calibrate model data/documents.jsonl --text-field title,text -o calibrated",
            ],
            command: "-q calibrate model data/documents.jsonl --text-field title,text --thresholds label -o calibrated --force",
            outputs: &["calibrated", "model"],
            reader: Some("info calibrated"),
            finish: "-q calibrate model data/documents.jsonl --text-field title,text --thresholds label -o calibrated --force",
            ..USUAL
        },
        Scenario {
            name: "ensemble",
            is_quick: false,
            prepare: &[
                CORPUS,
                train!("parabel", "--seed 1 -o one"),
                train!("wide-tree", "--seed 1 -o two"),
                "-q ensemble one two -o both",
            ],
            command: "-q ensemble one two -o both --weights 1,2 --force",
            outputs: &["both", "one", "two"],
            reader: Some("info both"),
            finish: "-q ensemble one two -o both --weights 1,2 --force",
            ..USUAL
        },
        Scenario {
            name: "labels",
            is_quick: false,
            prepare: &[
                CORPUS,
                "-q -j 1 train data/documents.jsonl --text-field title,text --vocabulary data/labels.jsonl --system lexical -o model",
                "-q generate -o more --documents 10 --seed 2",
                "-q labels add model data/labels.jsonl -o wider",
            ],
            command: "-q labels add model more/labels.jsonl -o wider --force",
            outputs: &["wider", "model"],
            reader: Some("info wider"),
            finish: "-q labels add model more/labels.jsonl -o wider --force",
            ..USUAL
        },
        Scenario {
            name: "report",
            is_quick: false,
            prepare: &[
                CORPUS,
                train!("parabel", "--seed 1 -o model"),
                "-q eval model data/documents.jsonl --text-field title,text --resamples 100 --report page",
            ],
            command: "-q eval model data/documents.jsonl --text-field title,text --resamples 200 --report page --force",
            outputs: &["page"],
            // Figures in JSON, and the rows that show them rounded.
            times: &["_ms_cpu_per_doc", "| parabel |", ">parabel<"],
            finish: "-q eval model data/documents.jsonl --text-field title,text --resamples 200 --report page --force",
            ..USUAL
        },
        Scenario {
            name: "search",
            is_quick: false,
            prepare: &[CORPUS, search!("--seed 1")],
            command: search!("--seed 2 --force"),
            outputs: &["found/best.toml"],
            shows_progress: true,
            finish: search!("--seed 2 --resume"),
            ..USUAL
        },
        Scenario {
            name: "network",
            is_quick: false,
            needs: Some("attentionxml"),
            prepare: &[CORPUS, attention!("--seed 1 -o model")],
            command: attention!("--seed 2 -o model"),
            outputs: &["model"],
            reader: Some("info model"),
            finish: attention!("--seed 2 -o model --resume"),
            ..USUAL
        },
        Scenario {
            name: "auto",
            is_quick: false,
            prepare: &[CORPUS, choose!("--seed 1")],
            command: choose!("--seed 2"),
            outputs: &["model"],
            reader: Some("info model"),
            finish: choose!("--seed 2 --resume"),
            ..USUAL
        },
    ]
}
