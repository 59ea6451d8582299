//! Where settings come from, and what is refused.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use support::{Desk, TRAIN_PART, join};

const DRY_RUN: [&str; 5] = ["-o", "model", "--dry-run", "--json", "-q"];

fn desk() -> Desk {
    Desk::with_catalogue(200)
}

fn config(output: &str) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(output).unwrap();
    report["config"].clone()
}

#[test]
fn file_environment_assignment_and_flag_win_in_this_order() {
    let desk = desk();
    desk.write(
        "settings.toml",
        "system = \"bonsai\"\nseed = 2\nbeam = 2\n[tree]\nmax_leaf = 2\nmax_rounds = 2\n",
    );
    let output = desk
        .command(&join(&[
            &["train"],
            &TRAIN_PART,
            &DRY_RUN,
            &["-c", "settings.toml"],
        ]))
        .args(["--set", "tree.max_leaf=4", "--seed", "5"])
        .env("PLETHORA_SET", "seed=3,tree.max_leaf=3,beam=3")
        .output()
        .unwrap();
    let config = config(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(config["system"], "bonsai");
    assert_eq!(config["tree"]["max_rounds"], 2);
    assert_eq!(config["beam"], 3);
    assert_eq!(config["tree"]["max_leaf"], 4);
    assert_eq!(config["seed"], 5);
    assert!(!desk.file("model").exists(), "a dry run trains nothing");
}

#[test]
fn variables_of_settings_lose_to_what_is_typed() {
    let desk = desk();
    let resolved = |typed: &[&str]| {
        let output = desk
            .command(&join(&[&["train"], &TRAIN_PART, &DRY_RUN, typed]))
            .env("PLETHORA_SET", "seed=2,beam=2")
            .env("PLETHORA_SEED", "3")
            .env("PLETHORA_SYSTEM", "bonsai")
            .output()
            .unwrap();
        config(&String::from_utf8(output.stdout).unwrap())
    };
    let none = resolved(&[]);
    assert_eq!((&none["seed"], &none["beam"]), (&3.into(), &2.into()));
    assert_eq!(none["system"], "bonsai");
    let set = resolved(&["--set", "seed=9", "--set", "system=parabel"]);
    assert_eq!(set["seed"], 9);
    assert_eq!(set["system"], "parabel");
    let flag = resolved(&["--set", "seed=9", "--seed", "5"]);
    assert_eq!(flag["seed"], 5);

    let mut command = desk.command(&join(&[&["train"], &TRAIN_PART, &DRY_RUN]));
    let output = command.env("PLETHORA_SEED", "many").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("PLETHORA_SEED: seed: expected"),
        "{message}"
    );
    assert_eq!(output.status.code(), Some(2));
    let mut command = desk.command(&["generate", "-n", "5", "-o", "-"]);
    let other = command.env("PLETHORA_SEED", "4").output().unwrap();
    assert_ne!(
        other.stdout,
        desk.run(&["generate", "-n", "5", "-o", "-"]).stdout
    );
}

#[test]
fn long_options_are_read_from_the_environment() {
    let desk = desk();
    let output = desk
        .command(&["train", "documents.jsonl"])
        .env("PLETHORA_OUTPUT", "model")
        .env("PLETHORA_TEXT_FIELD", "title,text")
        .env("PLETHORA_SYSTEM", "parabel")
        .env("PLETHORA_DRY_RUN", "1")
        .env("PLETHORA_JSON", "yes")
        .env("PLETHORA_QUIET", "true")
        .output()
        .unwrap();
    assert!(output.stderr.is_empty());
    let config = config(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(config["system"], "parabel");
}

#[test]
fn mistakes_in_settings_name_the_key_and_what_was_expected() {
    let desk = desk();
    desk.write("bad.toml", "[tree]\nmax_leav = 3\n");
    desk.write("broken.toml", "[tree\n");
    desk.write("bad.json", "{\"solver\": {\"cost\": \"high\"}}");
    for (args, expected) in [
        (
            vec!["--set", "tree.max_leaff=3"],
            "unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
        ),
        (
            vec!["-c", "bad.toml"],
            "bad.toml:2: unknown setting `tree.max_leav`; did you mean `tree.max_leaf`?",
        ),
        (vec!["-c", "broken.toml"], "broken.toml:1: "),
        (
            vec!["-c", "bad.json"],
            "bad.json: solver.cost: expected a number, found `\"high\"`",
        ),
        (vec!["-c", "missing.toml"], "missing.toml"),
        (vec!["--system", "parable"], "did you mean `parabel`?"),
        (
            vec!["--set", "num_trees=0"],
            "num_trees: must be from 1 to 1000",
        ),
        (
            vec!["--valid", "documents.jsonl"],
            "these are the documents to train on",
        ),
    ] {
        let message = desk.fail(
            2,
            &join(&[&["train"], &TRAIN_PART, &["-o", "model"], &args]),
        );
        assert!(message.contains(expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert!(!desk.file("model").exists());
}

#[test]
fn what_init_writes_is_a_config_of_its_system() {
    let desk = desk();
    for system in plethora::registry().systems().map(|spec| spec.name) {
        desk.succeed(&["init", "--system", system, "-o", "settings.toml", "--force"]);
        let args = join(&[&["train"], &TRAIN_PART, &DRY_RUN, &["-c", "settings.toml"]]);
        assert_eq!(config(&desk.succeed(&args))["system"], system);
    }
    let message = desk.fail(2, &["init", "--system", "wide-three"]);
    assert!(message.contains("did you mean `wide-tree`?"), "{message}");
}

#[test]
fn wrong_usage_has_its_own_status() {
    let desk = Desk::empty();
    for args in [
        &["train"][..],
        &["trian", "x"],
        &["predict", "model", "x", "--out-format", "xml"],
        &["check", "x", "--format", "yaml"],
        &["split", "x", "-o", "y", "--fractions", "0.5,0.6"],
    ] {
        assert_eq!(desk.run(args).status.code(), Some(2), "{args:?}");
    }
    assert!(desk.succeed(&["--help"]).contains("First steps"));
    assert!(desk.succeed(&["train", "--help"]).contains("Examples:"));
    assert!(desk.succeed(&["completions", "bash"]).contains("plethora"));
    assert!(desk.succeed(&["man"]).contains(".TH plethora"));
}

#[test]
fn devices_that_are_none_are_wrong_usage() {
    let desk = desk();
    let train = join(&[&["train"], &TRAIN_PART, &["-o", "model"]]);
    for command in [&train[..], &["eval", "m", "x"], &["predict", "m", "x"]] {
        let message = desk.fail(2, &join(&[command, &["--device", "gpu"]]));
        assert!(message.contains("--device"), "{message}");
    }
    let mut command = desk.command(&join(&[&["train"], &TRAIN_PART, &DRY_RUN]));
    let output = command.env("PLETHORA_DEVICE", "gpu").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn preset_file_variable_and_flag_win_in_this_order() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = desk();
    desk.write("settings.toml", "[train]\nbatch_size = 8\nepochs = 8\n");
    let neural = ["--system", "attentionxml", "--preset", "paper-amazoncat"];
    let output = desk
        .command(&join(&[&["train"], &TRAIN_PART, &DRY_RUN, &neural]))
        .args(["-c", "settings.toml", "--vectors", "glove.txt"])
        .env("PLETHORA_SET", "train.epochs=9,head.layers=64,32,seed=4")
        .output()
        .unwrap();
    let config = config(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(config["encoder"]["hidden"], 512, "the preset's");
    assert_eq!(config["train"]["batch_size"], 8);
    assert_eq!(config["train"]["epochs"], 9);
    assert_eq!(config["head"]["layers"], serde_json::json!([64, 32]));
    assert_eq!(config["seed"], 4);
    assert_eq!(config["vectors"]["file"], "glove.txt");
}

#[test]
fn of_several_presets_later_ones_win() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = desk();
    let chosen = |presets: [&str; 2]| {
        let [first, second] = presets;
        let presets = ["--preset", first, "--preset", second];
        let neural = ["--system", "treaderxml", "--set", "teacher.used=true"];
        let all = join(&[&["train"], &TRAIN_PART, &DRY_RUN, &neural, &presets]);
        config(&desk.succeed(&all))
    };
    let of_row = chosen(["paper", "ablation-3"]);
    assert_eq!(of_row["reading"]["first"], "full", "the row's");
    assert_eq!(of_row["reading"]["norm"], false, "the paper's");
    let paper = chosen(["ablation-0", "paper"]);
    assert_eq!(paper["teacher"]["read"], true, "the later one's");
    assert_eq!(paper["reading"]["second"], "none", "the row's");
}

#[test]
fn unknown_presets_are_refused_with_a_suggestion() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = desk();
    for (system, preset, expected) in [
        (
            "attentionxml",
            "paper-eurlx",
            "error: --preset: attentionxml has no preset `paper-eurlx`; did you mean `paper-eurlex`? ",
        ),
        ("dense", "demo", "error: --preset: dense has no presets"),
    ] {
        let chosen = ["--system", system, "--preset", preset];
        let train = join(&[&["train"], &TRAIN_PART, &["-o", "model"]]);
        let message = desk.fail(2, &join(&[&train, &chosen]));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn neural_systems_say_how_to_get_them() {
    if support::has_neural_systems() {
        return;
    }
    let desk = desk();
    for system in ["attentionxml", "attentionxml-plt", "xml-rnn", "xml-cnn"] {
        let train = join(&[&["train"], &TRAIN_PART, &["-o", "model"]]);
        for command in [&train[..], &["init"]] {
            let message = desk.fail(2, &join(&[command, &["--system", system]]));
            assert!(
                message.contains("built without neural systems")
                    && message.contains("--features torch"),
                "{message}"
            );
        }
    }
    let train = join(&[&["train"], &TRAIN_PART, &["-o", "model"]]);
    let message = desk.fail(2, &join(&[&train, &["--device", "cuda"]]));
    assert!(message.contains("without neural systems"), "{message}");
}
