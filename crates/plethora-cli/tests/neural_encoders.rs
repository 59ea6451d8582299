//! Pretrained encoders: where they are found, which are refused, and the texts that were cut into
//! their pieces.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use std::fs;
use std::path::Path;

use refusal::{BAD_DATA, FAILURE, USAGE, check_refusal, refuse_args, snapshot};
use support::encoder::EncoderCopy;
use support::neural::{CLUSTERED, train_args, with_encoder};
use support::{Desk, TEST_PART, TRAIN_PART, join};

/// Training with an encoder on the desk, which must be refused in this way.
fn refuse_encoder(desk: &Desk, name: &str, status: i32, message: &str) {
    let args = train_args("lightxml", "model", &["-q"]);
    refuse_args(desk, &with_encoder(&args, name), status, message);
}

#[test]
fn folders_that_are_no_encoders_are_refused_by_what_they_lack() {
    let desk = Desk::with_catalogue(60);
    for (name, message) in [
        ("no/such/folder", "encoder: no/such/folder: no such folder"),
        (
            "tiny",
            "encoder: tiny: no such folder, and it is not known where the Hugging Face cache is; \
             set HF_HOME or give the folder of an encoder",
        ),
    ] {
        refuse_encoder(&desk, name, USAGE, message);
    }
    let removed = |name: &str| {
        let encoder = EncoderCopy::new(&desk, "enc");
        encoder.remove(name);
        encoder
    };
    removed("config.json");
    refuse_encoder(&desk, "enc", BAD_DATA, "enc: no config.json: ...");
    let encoder = removed("model.safetensors");
    refuse_encoder(&desk, "enc", BAD_DATA, "enc: no weights: neither ...");
    fs::write(encoder.file("pytorch_model.bin"), "pickled").unwrap();
    refuse_encoder(
        &desk,
        "enc",
        BAD_DATA,
        "enc: no model.safetensors, only pytorch_model.bin, which is not read because reading it \
         runs code; convert it to safetensors",
    );
    removed("tokenizer.json");
    refuse_encoder(&desk, "enc", BAD_DATA, "enc: no tokenizer: neither ...");
}

#[test]
fn encoders_that_cannot_be_used_are_refused_before_training() {
    let desk = Desk::with_catalogue(60);
    let copy = || EncoderCopy::new(&desk, "enc");
    copy().set("model_type", "gpt2");
    let unknown =
        "enc/config.json: `model_type` is \"gpt2\", which is not supported; supported is ...";
    refuse_encoder(&desk, "enc", BAD_DATA, unknown);
    fs::write(copy().file("config.json"), "{\n\"model_type\": }").unwrap();
    refuse_encoder(&desk, "enc", BAD_DATA, "enc/config.json:2: ...");

    copy().set("vocab_size", 150);
    let disagree = "enc/tokenizer.json: its ids reach 199, but enc has vectors for 150 pieces only: \
                    the tokenizer and the model are not of one encoder";
    refuse_encoder(&desk, "enc", BAD_DATA, disagree);
    copy().edit_json("tokenizer.json", |tokenizer| {
        tokenizer["model"]["vocab"]["lighthouse"] = 200.into();
    });
    let disagree =
        "enc/tokenizer.json: its ids reach 200, but enc has vectors for 200 pieces only: ...";
    refuse_encoder(&desk, "enc", BAD_DATA, disagree);
    fs::write(copy().file("tokenizer.json"), "{").unwrap();
    let unusable = "enc/tokenizer.json: not a tokenizer that can be used: ...";
    refuse_encoder(&desk, "enc", BAD_DATA, unusable);

    let path = copy().file("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    for length in [50, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let cut = "enc/model.safetensors: the safetensors file is cut off or damaged: ...";
        refuse_encoder(&desk, "enc", BAD_DATA, cut);
    }
    let name = "encoder.layer.1.output.dense.weight";
    copy().edit_tensors(|tensors| assert!(tensors.remove(name).is_some()));
    let missing =
        format!("enc/model.safetensors: tensor {name} is missing; its shape would be [32, 64]");
    refuse_encoder(&desk, "enc", BAD_DATA, &missing);
    copy().set("intermediate_size", 48);
    refuse_encoder(
        &desk,
        "enc",
        BAD_DATA,
        "enc/model.safetensors: tensor encoder.layer.0.intermediate.dense.weight has the shape \
         [64, 32] where [48, 32] is expected",
    );
}

#[test]
fn settings_that_an_encoder_cannot_have_are_refused_by_name() {
    let desk = Desk::with_catalogue(60);
    for (setting, message) in [
        (
            "document.max_length=65",
            "document.max_length: must be at most 64, which the encoder has places for",
        ),
        (
            "encoder.layers=5",
            "encoder.layers: is 5, but the encoder has 3 layers",
        ),
        (
            "head.form=round",
            "--set: head.form: expected one of flat, clustered...",
        ),
    ] {
        let args = train_args("lightxml", "model", &["--set", setting, "-q"]);
        refuse_args(&desk, &args, USAGE, message);
    }
    for (setting, message) in [
        (
            "adaptive.shrink=0.5",
            "adaptive.shrink: must be a number from 1, found 0.5",
        ),
        (
            "adaptive.roots=some",
            "--set: adaptive.roots: expected one of...",
        ),
        (
            "adaptive.cut_offs=9,5",
            "adaptive.cut_offs: must be at most 100 numbers that rise",
        ),
        (
            "clusters.beam=3",
            "--set: unknown setting `clusters.beam`...",
        ),
    ] {
        let few = ["--set", "adaptive.num_tails=0", "--set", setting, "-q"];
        let args = train_args("aplc-xlnet", "model", &few);
        refuse_args(&desk, &args, USAGE, message);
    }
    for key in ["adaptive.bias", "text.max_ngram"] {
        let setting = format!("{key}=2");
        let args = train_args("lightxml", "model", &["--set", &setting, "-q"]);
        let message = format!(
            "--set: unknown setting `{key}`; `plethora init --system lightxml` writes all that \
             lightxml has"
        );
        refuse_args(&desk, &args, USAGE, &message);
    }
    let args = train_args("lightxml", "model", &["--dtype", "f16"]);
    let message = "invalid value 'f16' for '--dtype <DTYPE>': ...";
    refuse_args(&desk, &args, USAGE, message);
    let args = train_args("attentionxml", "model", &["--encoder", "somewhere", "-q"]);
    let message = "--encoder: attentionxml has no such setting";
    refuse_args(&desk, &args, USAGE, message);
}

#[test]
fn what_no_machine_has_memory_for_is_refused_with_what_to_change() {
    const PLACES: usize = 1 << 15;
    let desk = Desk::with_catalogue(60);
    let encoder = EncoderCopy::new(&desk, "long");
    encoder.set("max_position_embeddings", PLACES);
    encoder.edit_tensors(|tensors| {
        let name = "embeddings.position_embeddings.weight".to_owned();
        let zeros = vec![0; PLACES * 32 * size_of::<f32>()];
        tensors.insert(name, (vec![PLACES, 32], zeros)).unwrap();
    });
    let huge = [
        "--set",
        "document.max_length=32768",
        "--set",
        "train.batch_size=65536",
        "-q",
    ];
    for (form, settings) in [
        (&[][..], "train.batch_size or document.max_length"),
        (
            &CLUSTERED,
            "train.batch_size or document.max_length or head.bottleneck",
        ),
    ] {
        let args = train_args("lightxml", "model", &join(&[&huge, form]));
        let args = with_encoder(&args, "long");
        let before = snapshot(desk.path());
        let output = desk.run(&args);
        check_refusal(&output, FAILURE, "training needs about ...", settings);
        assert!(snapshot(desk.path()) == before);
        let message = String::from_utf8(output.stderr).unwrap();
        let end = format!("free; make {settings} smaller\n");
        assert!(
            message.contains(" GiB of memory on cpu, where "),
            "{message}"
        );
        assert!(message.ends_with(&end), "{message}");
    }
}

#[test]
fn a_name_is_looked_up_in_the_hugging_face_cache() {
    let desk = Desk::with_catalogue(60);
    let args = train_args("lightxml", "model", &["-q"]);
    let args = with_encoder(&args, "ada/tiny");
    let run = || {
        let mut command = desk.command(&args);
        command.env("HF_HOME", "hf").output().unwrap()
    };
    let before = snapshot(desk.path());
    check_refusal(
        &run(),
        USAGE,
        "encoder: ada/tiny: no such folder, and version main is not in the Hugging Face cache: \
         hf/hub has no models--ada--tiny; get it with `hf download ada/tiny`, or give the folder \
         of an encoder; ...",
        "ada/tiny",
    );
    assert!(snapshot(desk.path()) == before);

    let repository = "hf/hub/models--ada--tiny";
    let encoder = EncoderCopy::new(&desk, &format!("{repository}/snapshots/0123abcd"));
    fs::create_dir(desk.file(repository).join("refs")).unwrap();
    desk.write(&format!("{repository}/refs/main"), "0123abcd");
    let output = run();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");

    // Training without a system takes encoders that are made to compare sentences.
    let plan = |more: &[&str]| {
        let asked = ["-o", "chosen", "--system", "auto", "--dry-run"];
        let mut command = desk.command(&join(&[&["train"], &TRAIN_PART, &asked, more]));
        let output = command.env("HF_HOME", "hf").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!plan(&[]).contains("ada/tiny"));
    desk.write(
        &format!("{repository}/snapshots/0123abcd/modules.json"),
        "[]",
    );
    // It has places for too few pieces, so that no member could take it.
    assert!(!plan(&[]).contains("ada/tiny"), "{}", plan(&[]));
    encoder.set("max_position_embeddings", 128);
    encoder.edit_tensors(|tensors| {
        let name = "embeddings.position_embeddings.weight";
        let (shape, numbers) = tensors.get_mut(name).unwrap();
        shape[0] *= 2;
        numbers.extend_from_within(..);
    });
    assert!(
        plan(&[]).contains("encoder     ada/tiny\n"),
        "{}",
        plan(&[])
    );
    assert!(!plan(&["--encoder", "none"]).contains("ada/tiny"));
    // One that is named may be too short for some of its uses.
    let named = plan(&["--encoder", "ada/tiny"]);
    assert!(named.contains("encoder     ada/tiny\n"), "{named}");

    // A model has all that it needs.
    fs::remove_dir_all(desk.file("hf")).unwrap();
    let lines = desk.succeed(&join(&[&["predict", "model", "-q"], &TEST_PART]));
    assert!(lines.lines().count() > 0);
}

fn num_files(folder: &Path) -> usize {
    let files = snapshot(folder).into_iter();
    files.filter(|(_, content)| content.is_some()).count()
}

#[test]
fn pieces_are_kept_for_the_next_run_where_the_user_wants() {
    let desk = Desk::with_catalogue(60);
    let train = |more: &[&str]| {
        let model = format!("model-{}", fs::read_dir(desk.path()).unwrap().count());
        let args = train_args("lightxml", &model, &join(&[more, &["-v"]]));
        let mut command = desk.command(&args);
        let output = command.env("XDG_CACHE_HOME", "own").output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        let weights = desk.file(&model).join("member-0.safetensors");
        (log, fs::read(weights).unwrap())
    };
    let (log, first) = train(&["--no-cache"]);
    assert!(log.contains("0 of 1 blocks from the cache"), "{log}");
    assert!(!desk.file("own").exists());

    for (hits, folder, more) in [
        ("0 of 1", "kept", &["--cache", "kept"][..]),
        ("1 of 1", "kept", &["--cache", "kept"]),
        ("0 of 1", "own/plethora/pieces", &[]),
        ("1 of 1", "own/plethora/pieces", &[]),
    ] {
        let (log, weights) = train(more);
        let expected = format!("{hits} blocks from the cache");
        assert!(log.contains(&expected), "{log}");
        assert_eq!(num_files(&desk.file(folder)), 1, "{folder}");
        assert!(weights == first, "the model is the same");
    }

    // A cache that cannot be written to costs time, not the model.
    desk.write("occupied", "not a folder");
    let (log, weights) = train(&["--cache", "occupied"]);
    let warning = "tokenised texts are not kept for the next time";
    assert!(log.contains(warning), "{log}");
    assert!(weights == first);
    assert_eq!(desk.read("occupied"), "not a folder");
    let both = train_args("lightxml", "x", &["--cache", "kept", "--no-cache"]);
    let message = "the argument '--cache <FOLDER>' cannot be used with '--no-cache'";
    refuse_args(&desk, &both, USAGE, message);
}
