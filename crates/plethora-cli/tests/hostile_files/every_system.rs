//! A model of every system, twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::neural::{CLUSTERED, ENCODER, train_args};
use crate::support::{Desk, TEST_PART, TRAIN_PART, has_neural_systems, join};

const NAMES: [&str; 2] = ["--vocabulary", "labels.jsonl"];

/// Forms of systems whose folders have other files than the usual one's: a name, the system, what makes the form.
const FORMS: [(&str, &str, &[&str]); 5] = [
    ("lightxml-clustered", "lightxml", &CLUSTERED),
    (
        "lightxml-attention",
        "lightxml",
        &["--set", "head.form=attention"],
    ),
    ("lightxml-exact", "lightxml", &["--set", "head.form=exact"]),
    (
        "lightxml-neighbours",
        "lightxml",
        &["--set", "neighbours.num_neighbours=5"],
    ),
    (
        "treaderxml-mean",
        "treaderxml",
        &["--set", "neighbours.by=mean"],
    ),
];

/// Documents of ten features and four labels.
const NUM_ROWS: usize = 120;

/// Folders of models on a desk: `models/NAME` and, from equal runs, `again/NAME`.
pub(crate) struct EverySystem {
    desk: Desk,
}

impl EverySystem {
    /// Trains all systems that the program has, and makes what is made of models.
    pub(crate) fn train() -> Self {
        let desk = Desk::with_catalogue(120);
        for folder in ["models", "again"] {
            fs::create_dir(desk.file(folder)).unwrap();
            for spec in plethora::registry().systems() {
                let model = format!("{folder}/{}", spec.name);
                desk.succeed(&arguments(spec.name, &model));
            }
            let of = |name: &str| format!("{folder}/{name}");
            for (name, system, form) in FORMS.iter().filter(|_| has_neural_systems()) {
                let model = of(name);
                desk.succeed(&join(&[&arguments(system, &model), form]));
            }
            let features = of("features");
            desk.write("features.txt", &feature_rows());
            let format = ["--system", "parabel", "--format", "xmc-libsvm", "-j", "1"];
            desk.succeed(&join(&[
                &["train", "features.txt", "-q", "-o", &features],
                &format,
            ]));
            let [one, two, three] = ["parabel", "wide-tree", "knn"].map(of);
            for (name, way) in [
                ("mean", &[][..]),
                ("fused", &["--combination", "fused", "--fit"]),
                ("powers", &["--combination", "powers", "--fit"]),
                ("labels", &["--combination", "label-weights", "--fit"]),
            ] {
                let fit: &[&str] = if way.is_empty() { &[] } else { &TRAIN_PART };
                let target = of(&format!("ensemble-{name}"));
                let args = ["-q", "ensemble", &one, &two, &three, "-o", &target];
                desk.succeed(&join(&[&args, way, fit]));
            }
            let calibrated = of("calibrated");
            let thresholds = ["--thresholds", "label", "-o", &calibrated, "-q"];
            desk.succeed(&join(&[&["calibrate", &one], &TEST_PART, &thresholds]));
            let by_band = of("calibrated-bands");
            let bands = ["--by-frequency", "--method", "platt", "-o", &by_band, "-q"];
            desk.succeed(&join(&[&["calibrate", &one], &TEST_PART, &bands]));
            let chosen = of("auto");
            let budget = ["--budget", "10m", "-q", "-j", "1", "-o", &chosen];
            desk.succeed(&join(&[&["train"], &TRAIN_PART, &budget]));
        }
        Self { desk }
    }

    /// The folder with `models`.
    pub(crate) fn path(&self) -> &Path {
        self.desk.path()
    }

    /// Equal runs leave equal folders, byte by byte, with manifests and logs.
    pub(crate) fn assert_equal(&self) {
        let [one, other] = ["models", "again"].map(|folder| files(&self.desk.file(folder)));
        let paths = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&one), paths(&other));
        let differ: Vec<&PathBuf> = (one.iter())
            .filter(|(path, content)| other[*path] != **content)
            .map(|(path, _)| path)
            .collect();
        assert!(differ.is_empty(), "{differ:?}");
        let systems = plethora::registry().systems();
        for system in systems {
            assert!(one.contains_key(&Path::new(system.name).join("manifest.json")));
        }
    }
}

fn feature_rows() -> String {
    let rows = (0..NUM_ROWS).map(|row| format!("{} {}:1.0\n", row % 4, row % 10));
    format!("{NUM_ROWS} 10 4\n") + &rows.collect::<String>()
}

fn arguments<'a>(system: &'a str, model: &'a str) -> Vec<&'a str> {
    let linear = join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", model, "--system", system, "-j", "1"],
    ]);
    let args = match system {
        "wide-tree" | "parabel" | "bonsai" | "one-vs-all" | "knn" | "lexical" => linear,
        "siamese" => join(&[
            &linear,
            &["--encoder", ENCODER, "--set", "document.max_length=24"],
            &["--set", "train.epochs=1", "--no-cache"],
        ]),
        "dense" => join(&[
            &linear,
            &[
                "--encoder",
                ENCODER,
                "--set",
                "document.max_length=24",
                "--no-cache",
            ],
        ]),
        "xr-transformer" => join(&[
            &linear,
            &["--encoder", ENCODER, "--set", "document.max_length=24"],
            &["--set", "fine_tuning.epochs=1", "--no-cache"],
        ]),
        _ => train_args(system, model, &["--set", "train.epochs=1"]),
    };
    join(&[&args, &NAMES, &["-q"]])
}

/// Files by their paths in the folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}
