//! Documents longer than a window, and labels that attend to all of them.

use plethora_core::corpus::{Content, Document};
use plethora_neural::NeuralModel as _;

use crate::forms::{encoder_of_letters, holds_all_the_way};
use crate::workshop::{
    OPTIONS, Workshop, distance, documents, rankings_of, set, set_of, small, texts,
};

/// Windows so short that most documents have several.
const WINDOWS: &str = "document.max_length = 16\ndocument.windows = 3";

const ATTENTION: &str = "head.form = \"attention\"\nhead.bottleneck = 12";

#[test]
fn documents_in_windows_train_rank_and_come_back() {
    for changes in [
        "head.form = \"flat\"",
        "head.form = \"flat\"\nencoder.pooling = \"mean\"\nencoder.checkpointing = true",
        "head.form = \"clustered\"",
        ATTENTION,
        "head.form = \"attention\"\nencoder.pooling = \"mean\"\ntrain.accumulate = 2",
    ] {
        holds_all_the_way(&small(&format!("{WINDOWS}\n{changes}")));
    }
}

#[test]
fn attention_without_windows_trains_ranks_and_comes_back() {
    holds_all_the_way(&small(&format!("{ATTENTION}\ntrain.loss = \"mean\"")));
}

#[test]
fn encoders_with_their_special_pieces_at_the_end_or_distances_have_windows_too() {
    for kind in ["mpnet", "xlnet"] {
        let encoder = encoder_of_letters(kind);
        let folder = format!("encoder.folder = {:?}", encoder.path());
        holds_all_the_way(&small(&format!("{WINDOWS}\n{ATTENTION}\n{folder}")));
    }
}

/// Documents that a window of 24 pieces holds.
fn short_documents() -> Vec<Document> {
    let mut documents = documents(250);
    for document in &mut documents {
        let text: String = document.text().unwrap().chars().take(12).collect();
        document.content = Content::Text(text);
    }
    documents
}

#[test]
fn documents_of_one_window_are_read_as_without_windows() {
    for form in ["head.form = \"flat\"", ATTENTION] {
        let one = small(form);
        let several = small(&format!("{form}\ndocument.windows = 4"));
        let model = |config| {
            let set = set_of(config, short_documents());
            Workshop::new(&set, config).train().0
        };
        let (one, several) = (model(&one), model(&several));
        let short = short_documents();
        let short: Vec<&str> = short.iter().map(|one| one.text().unwrap()).collect();
        let rank = |texts: &[&str]| {
            let rank = |model: &plethora_neural::pretrained::PieceModel| {
                model.rank_texts(texts, OPTIONS).unwrap()
            };
            [rank(&one), rank(&several)]
        };
        let [without, with] = rank(&short);
        assert_eq!(without, with);
        // Among longer ones, too, which are read as a whole.
        let long = texts();
        let mixed: Vec<&str> = (short.iter().copied().take(30))
            .chain(long.iter().map(String::as_str))
            .collect();
        let [without, with] = rank(&mixed);
        assert!(distance(&with[..30], &without[..30]) < 1e-6);
        assert!(distance(&with[30..], &without[30..]) > 1e-4);
    }
}

#[test]
fn what_lies_behind_the_first_window_counts() {
    let end = "document.max_length = 9\n";
    for form in ["head.form = \"flat\"", ATTENTION] {
        let config = small(&format!("{end}{form}\ndocument.windows = 2"));
        let set = set(&config);
        let model = Workshop::new(&set, &config).train().0;
        let rank = |text: &str| model.rank_texts(&[text], OPTIONS).unwrap();
        // Seven letters in each window, between its special pieces.
        assert_eq!(model.reader().sequence(&"q w e r t z ".repeat(9)).len(), 16);
        let first = "q w e r t z u i o p a s d f";
        assert_ne!(rank("q w e r t z u"), rank(first));
        assert_eq!(rank(first), rank(&format!("{first} g h j")));
    }
}

#[test]
fn chunks_of_labels_and_checkpointing_change_no_weight() {
    let of = |more: &str| {
        let mean = "encoder.pooling = \"mean\"";
        small(&format!("{WINDOWS}\n{ATTENTION}\n{mean}\n{more}"))
    };
    let set = set(&of(""));
    let expected = rankings_of(&set, &of(""));
    for more in ["train.label_chunk = 7", "encoder.checkpointing = true"] {
        let difference = distance(&rankings_of(&set, &of(more)), &expected);
        assert!(difference < 1e-4, "{more}: {difference}");
    }
    for change in [
        "head.bottleneck = 20",
        "train.hidden_rate = 9.0",
        "document.windows = 2",
        "document.max_length = 20",
    ] {
        let difference = distance(&rankings_of(&set_again(change), &of(change)), &expected);
        assert!(difference > 1e-6, "{change}");
    }
}

/// Settings of documents need documents that were read by them.
fn set_again(change: &str) -> plethora_neural::pretrained::PieceSet {
    set(&small(&format!("{WINDOWS}\n{ATTENTION}\n{change}")))
}
