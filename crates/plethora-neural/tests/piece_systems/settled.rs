//! What is left open is chosen by the data; what users set stays.

use plethora_core::artifact::WorkFolder;
use plethora_neural::pretrained::{HeadForm, OpenPieceConfig, PieceConfig};
use plethora_system::Device;
use tempfile::TempDir;

use crate::workshop::{Workshop, documents, of_recipe, rank, set_of};

fn settle(config: &OpenPieceConfig) -> (PieceConfig, String) {
    let set = set_of(config, documents(300));
    let choices = set.settle(config, Device::Cpu).unwrap();
    choices.config.validate().unwrap();
    (choices.config, choices.summary)
}

#[test]
fn what_is_open_is_chosen_and_shown() {
    let (config, summary) = settle(&of_recipe("encoder.layers = 2"));
    assert_eq!(config.head.form, HeadForm::Flat);
    // Texts are longer than the encoder has places.
    assert_eq!(config.document.max_length, 64);
    assert_eq!((config.train.batch_size, config.train.accumulate), (64, 1));
    assert_eq!(config.train.epochs, 40);
    assert_eq!(config.train.learning_rate, 2e-4);
    for part in [
        "one layer over ",
        "64 pieces per document",
        "40 epochs of batches of 64",
        "learning rate 2.0e-4 (labels 3.0e-3)",
    ] {
        assert!(summary.contains(part), "{summary}");
    }
}

#[test]
fn what_was_set_stays() {
    let set = of_recipe(
        r#"encoder.layers = 2
head.form = "clustered"
head.bottleneck = 24
clusters.beam = 4
document.max_length = 20
train.epochs = 3
train.batch_size = 12
train.accumulate = 2
train.learning_rate = 0.001
train.label_rate = 2.0
train.hidden_rate = 3.0"#,
    );
    let (config, summary) = settle(&set);
    // All that is set is there, as it was.
    let mut expected = serde_json::to_value(&set).unwrap();
    expected["clusters"]["predict_beam"] = 0.into();
    assert_eq!(serde_json::to_value(&config).unwrap(), expected);
    assert!(
        summary.starts_with("the best 4 clusters of at most 100 of "),
        "{summary}"
    );
    assert!(
        summary.contains("3 epochs of batches of 2 x 12"),
        "{summary}"
    );
}

#[test]
fn settled_settings_train_and_stay_where_a_run_is_resumed() {
    let open = of_recipe("encoder.layers = 2\nhead.form = \"clustered\"\ntrain.epochs = 1");
    let (config, _) = settle(&open);
    assert_eq!((config.clusters.beam, config.head.bottleneck), (10, 512));
    let set = set_of(&open, documents(60));
    assert_eq!(rank(&Workshop::new(&set, &open).train().0)[0].len(), 5);

    let folder = TempDir::new().unwrap();
    let work = WorkFolder::open(&folder.path().join("model"), "one", true).unwrap();
    let settle_run = |open| set.settle_run(open, Device::Cpu, &work).unwrap();
    let begun_with = settle_run(&open);
    let mut other = open.clone();
    other.train.epochs = 7.into();
    let resumed = settle_run(&other);
    assert_eq!(resumed.config, begun_with.config);
    assert_eq!(resumed.summary, begun_with.summary);
}
