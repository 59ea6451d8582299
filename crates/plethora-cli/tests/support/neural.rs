//! Neural systems that are trained in no time.

use super::{TRAIN_PART, join};

/// An encoder so small that tests can train it: a random BERT, which knows nothing.
pub(crate) const ENCODER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");

/// Few documents, so that an epoch takes no time. One thread: those of several tests on a few
/// processors would wait for each other. Tests of what follows want no second training.
const SHORT: [&str; 12] = [
    "--set",
    "train.batch_size=16",
    "--set",
    "train.epochs=2",
    "--set",
    "train.valid_max=40",
    "--set",
    "train.return_held_back=false",
    "--seed",
    "3",
    "-j",
    "1",
];

/// Small networks over words.
const SMALL_WORDS: [&str; 6] = [
    "--set",
    "vectors.width=16",
    "--set",
    "words.max_length=40",
    "--set",
    "head.layers=16",
];

/// The same for attention with clusters, of few labels, so that there are several.
const SMALL_CLUSTERED_WORDS: [&str; 14] = [
    "--set",
    "vectors.width=16",
    "--set",
    "words.max_length=40",
    "--set",
    "encoder.hidden=16",
    "--set",
    "head.generator.layers=16",
    "--set",
    "head.discriminator.layers=16",
    "--set",
    "clusters.tree.max_leaf=8",
    "--set",
    "clusters.beam=4",
];

/// A small network over words and the labels of neighbours.
const SMALL_READER: [&str; 6] = [
    "--set",
    "vectors.width=16",
    "--set",
    "words.max_length=40",
    "--set",
    "head.bottleneck=16",
];

/// Of a small encoder, what it can.
const SMALL_PIECES: [&str; 6] = [
    "--encoder",
    ENCODER,
    "--set",
    "encoder.layers=2",
    "--set",
    "document.max_length=24",
];

/// What gives a system of pieces the clustered form, with several clusters.
pub(crate) const CLUSTERED: [&str; 8] = [
    "--set",
    "head.form=clustered",
    "--set",
    "head.bottleneck=16",
    "--set",
    "clusters.beam=3",
    "--set",
    "clusters.tree.max_leaf=8",
];

/// What makes a system small.
fn small(system: &str) -> Vec<&'static str> {
    match system {
        "lightxml" => SMALL_PIECES.to_vec(),
        "aplc-xlnet" => join(&[
            &SMALL_PIECES,
            &[
                "--set",
                "adaptive.hidden=16",
                "--set",
                "adaptive.num_tails=2",
            ],
        ]),
        "treaderxml" => SMALL_READER.to_vec(),
        "xml-cnn" => join(&[&SMALL_WORDS, &["--set", "encoder.filters=8"]]),
        // Groups of few labels, so that there are several.
        "attentionxml-plt" => join(&[
            &SMALL_WORDS,
            &["--set", "encoder.hidden=16"],
            &["--set", "plt.tree.max_leaf=8", "--beam", "4"],
        ]),
        "lightattention" => SMALL_CLUSTERED_WORDS.to_vec(),
        _ => join(&[&SMALL_WORDS, &["--set", "encoder.hidden=16"]]),
    }
}

/// Arguments that train a system on the training part of the catalogue.
pub(crate) fn train_args<'a>(system: &'a str, model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", model, "--system", system],
        &SHORT,
        &small(system),
        more,
    ])
}

/// The arguments with another encoder.
pub(crate) fn with_encoder<'a>(args: &[&'a str], encoder: &'a str) -> Vec<&'a str> {
    let replaced = |arg: &&'a str| if *arg == ENCODER { encoder } else { *arg };
    args.iter().map(replaced).collect()
}
