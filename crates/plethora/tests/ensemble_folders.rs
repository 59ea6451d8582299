//! Ensembles as folders: what they hold, and what is refused when they are made and opened.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::fs;
use std::path::Path;

use plethora::registry;
use plethora_core::artifact::{ModelReader, ModelWriter};
use plethora_system::{EnsembleConfig, RankOptions};
use support::models::Models;
use support::{as_features, config, documents, train};

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

/// Why these models make no ensemble, without the folder they are in.
fn refusal(models: &Models, members: &[&str]) -> String {
    let config = EnsembleConfig::equal(members.len());
    let error = models.combine(members, config, "refused").unwrap_err();
    assert!(!models.path("refused").exists());
    error
        .to_string()
        .replace(&models.path("").display().to_string(), "")
}

#[test]
fn members_are_copied_whole_and_the_ensemble_stands_alone() {
    let models = Models::train(documents());
    let before = models
        .open("one")
        .rank(&models.documents[..3], OPTIONS)
        .unwrap();
    fs::write(models.path("one/notes.txt"), "not part of the model").unwrap();
    models.ensemble(EnsembleConfig::equal(2));
    for name in ["one", "two"] {
        fs::remove_dir_all(models.path(name)).unwrap();
    }
    let both = models.open("both");
    let first = models.open("both/member-0");
    assert_eq!(first.rank(&models.documents[..3], OPTIONS).unwrap(), before);
    assert!(!models.path("both/member-0/notes.txt").exists());
    let manifest = both.manifest().unwrap();
    assert!(manifest.files.contains_key("member-1/manifest.json"));
    assert!(manifest.files.contains_key("member-0/tree-2.safetensors"));
}

#[cfg(unix)]
#[test]
fn copies_share_nothing_with_the_originals() {
    use std::os::unix::fs::MetadataExt;
    let models = Models::train(documents());
    models.ensemble(EnsembleConfig::equal(2));
    for (original, copy) in [("one", "both/member-0"), ("two", "both/member-1")] {
        for name in ModelReader::open(&models.path(copy))
            .unwrap()
            .manifest()
            .files
            .keys()
        {
            let inode = |model: &str| fs::metadata(models.path(model).join(name)).unwrap().ino();
            assert_ne!(inode(original), inode(copy), "{name}");
        }
    }
}

#[test]
fn models_that_do_not_fit_together_are_refused() {
    let models = Models::train(documents());
    train(
        &as_features(&models.documents),
        &config("wide-tree"),
        &models.path("rows"),
    );
    for (members, message) in [
        (
            &["one"][..],
            "members: an ensemble needs at least two models, found 1",
        ),
        (
            &["one", "rows"],
            "rows: takes features, but one takes texts: an ensemble gives the same documents to \
             all its models",
        ),
        (&["one", "nowhere"], "nowhere: no such model folder"),
    ] {
        assert_eq!(refusal(&models, members), message);
    }
    fs::write(models.path("two/tree-0.safetensors"), "damaged").unwrap();
    let message = refusal(&models, &["one", "two"]);
    assert!(
        message.starts_with("two/tree-0.safetensors: the file is truncated"),
        "{message}"
    );
}

#[test]
fn damage_in_a_member_is_found() {
    let models = Models::train(documents());
    models.ensemble(EnsembleConfig::equal(2));
    let tree = models.path("both/member-1/tree-0.safetensors");
    let mut bytes = fs::read(&tree).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&tree, bytes).unwrap();
    let error = registry()
        .open(&models.path("both"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("member-1/tree-0.safetensors: the file is damaged"),
        "{error}"
    );
}

/// A change to the folder of an ensemble.
type Change = fn(&Path);

/// Writes the ensemble again, with consistent checksums, after a change to its folder.
fn write_again(models: &Models, change: Change) -> String {
    models.ensemble(EnsembleConfig::equal(2));
    let (from, target) = (models.path("both"), models.path("changed"));
    let reader = ModelReader::open(&from).unwrap();
    change(&from);
    let writer = ModelWriter::create(&target, true).unwrap();
    for name in reader.manifest().files.keys() {
        let bytes = fs::read(from.join(name)).unwrap();
        writer.write_bytes(name, &bytes).unwrap();
    }
    let manifest = reader.manifest();
    (writer.finish(&manifest.kind, manifest.details.clone())).unwrap();
    registry().open(&target).unwrap_err().to_string()
}

#[test]
fn folders_that_contradict_themselves_are_refused() {
    let models = Models::train(documents());
    let cases: [(Change, &str); 3] = [
        (
            |folder| {
                let name = "config.json";
                fs::copy(
                    folder.join("member-1").join(name),
                    folder.join("member-0").join(name),
                )
                .unwrap();
            },
            "member-0/config.json: the file is ",
        ),
        (
            |folder| {
                let path = folder.join("member-0/README.md");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(path, text.replace("classifier", "klassifier")).unwrap();
            },
            "member-0/README.md: the file is not the one that the ensemble was made with",
        ),
        (
            |folder| {
                let text = r#"{"combination":"mean","depth":100,"weights":[1,-1]}"#;
                fs::write(folder.join("config.json"), text).unwrap();
            },
            "config.json: weights: expected numbers above 0, found -1",
        ),
    ];
    for (change, message) in cases {
        let error = write_again(&models, change);
        assert!(error.contains(message), "{error}");
    }
}
