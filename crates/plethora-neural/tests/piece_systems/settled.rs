//! What is left open is chosen by the data; what users set stays.

use plethora_neural::{Device, HeadForm, NeuralConfig, PieceConfig};

use crate::workshop::{Workshop, documents, of_recipe, rank, set_of};

fn settle(config: &PieceConfig) -> (PieceConfig, String) {
    let mut set = set_of(config, documents(300));
    let choices = set
        .settle(&NeuralConfig::Pieces(config.clone()), Device::Cpu)
        .unwrap();
    choices.config.validate().unwrap();
    match choices.config {
        NeuralConfig::Pieces(config) => (config, choices.summary.unwrap()),
        _ => panic!("the settings of pieces became others"),
    }
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
        "64 pieces a document",
        "40 epochs of batches of 64",
        "step size 2.0e-4 (labels 3.0e-3)",
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
train.label_rate = 2.0"#,
    );
    let (config, summary) = settle(&set);
    assert_eq!(config, set);
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
fn settled_settings_train_and_settle_no_further() {
    let open = of_recipe("encoder.layers = 2\nhead.form = \"clustered\"\ntrain.epochs = 1");
    let (config, _) = settle(&open);
    assert_eq!((config.clusters.beam, config.head.bottleneck), (10, 512));
    assert_eq!(settle(&config).0, config);
    let set = set_of(&config, documents(60));
    assert_eq!(rank(&Workshop::new(&set, &config).train().0)[0].len(), 5);
}
