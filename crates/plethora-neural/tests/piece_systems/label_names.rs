//! Label vectors that start from names.

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::Label;
use plethora_core::{LabelId, ScoredLabel};
use plethora_neural::NeuralModel as _;
use plethora_neural::pretrained::{CutsTexts, OpenPieceConfig, PieceSet, PieceSetBuilder};
use plethora_system::settings::Auto;

use crate::workshop::{OPTIONS, Workshop, documents, rankings_of, set, small};

/// Documents whose labels have names.
fn named(config: &OpenPieceConfig) -> PieceSet {
    let catalogue = Catalogue::new(CatalogueConfig {
        num_documents: 300,
        ..CatalogueConfig::default()
    });
    let labels: Vec<Label> = catalogue.unwrap().labels().collect();
    let mut builder = PieceSetBuilder::new(CutsTexts::new(config, None).unwrap());
    for document in documents(300) {
        builder.add(document).unwrap();
    }
    builder.finish(&labels).unwrap()
}

/// Rankings of the names of all labels as texts, by a network that has hardly learnt.
fn of_names(set: &PieceSet, config: &OpenPieceConfig) -> Vec<Vec<ScoredLabel>> {
    let (model, _) = Workshop::new(set, config).train();
    let names: Vec<&str> = set
        .space
        .labels()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    model.rank_texts(&names, OPTIONS).unwrap()
}

/// How many labels come first for the text that is their name.
fn num_first(rankings: &[Vec<ScoredLabel>]) -> usize {
    let labels = (0..).map(LabelId).zip(rankings);
    labels
        .filter(|(label, ranking)| ranking[0].label == *label)
        .count()
}

#[test]
fn a_label_is_first_for_its_name_before_any_document_taught_it() {
    for form in ["flat", "exact"] {
        let mut config = small(&format!(
            "head.form = \"{form}\"\nhead.bottleneck = 0\ntrain.epochs = 1\ntrain.learning_rate = 1e-9\n\
             head.label_learning_rate = 1e-9"
        ));
        let set = named(&config);
        let without = num_first(&of_names(&set, &config));
        config.head.names = Auto::Auto;
        // So long that how often a label occurs is of no matter.
        config.head.name_scale = 1e4;
        let with = num_first(&of_names(&set, &config));
        let total = set.space.len();
        assert!(10 * with > 9 * total, "{form}: {with} of {total}");
        assert!(10 * without < total, "{form}: {without} of {total}");
    }
}

#[test]
fn labels_without_names_and_forms_without_their_vectors_are_trained_as_ever() {
    let mut flat = small("head.form = \"flat\"");
    let set = set(&flat);
    let expected = rankings_of(&set, &flat);
    flat.head.names = Auto::Auto;
    assert_eq!(rankings_of(&set, &flat), expected);

    let mut clustered = small("head.form = \"clustered\"");
    let expected = rankings_of(&set, &clustered);
    clustered.head.names = Auto::Set(true);
    assert_eq!(rankings_of(&set, &clustered), expected);
}
