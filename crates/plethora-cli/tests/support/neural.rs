//! Neural systems that are trained in no time.

use super::{TRAIN_PART, join};

/// Networks so small that an epoch takes no time. One thread: those of several tests on a few
/// processors would wait for each other.
const SMALL: [&str; 16] = [
    "--set",
    "vectors.width=16",
    "--set",
    "words.max_length=40",
    "--set",
    "head.layers=16",
    "--set",
    "train.batch_size=16",
    "--set",
    "train.epochs=2",
    "--set",
    "train.valid_max=40",
    "--seed",
    "3",
    "-j",
    "1",
];

/// What makes the encoder of a system small.
fn small_encoder(system: &str) -> [&'static str; 2] {
    match system {
        "xml-cnn" => ["--set", "encoder.filters=8"],
        _ => ["--set", "encoder.hidden=16"],
    }
}

/// Groups of few labels, so that there are several.
fn small_tree(system: &str) -> &'static [&'static str] {
    match system {
        "attentionxml-plt" => &["--set", "plt.tree.max_leaf=8", "--beam", "4"],
        _ => &[],
    }
}

/// Arguments that train a system on the training part of the catalogue.
pub(crate) fn train_args<'a>(system: &'a str, model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", model, "--system", system],
        &SMALL,
        &small_encoder(system),
        small_tree(system),
        more,
    ])
}
