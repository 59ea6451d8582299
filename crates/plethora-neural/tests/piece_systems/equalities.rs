//! Ways of training that must come to the same.

use plethora_core::ScoredLabel;
use plethora_core::artifact::WorkFolder;
use plethora_neural::pretrained::PieceModel;

use crate::workshop::{Workshop, arrays, distance, rankings_of, set, small};

/// Scores after training equal each other in all but rounding, which training makes larger.
fn assert_same(found: &[Vec<ScoredLabel>], expected: &[Vec<ScoredLabel>]) {
    let difference = distance(found, expected);
    assert!(difference < 1e-4, "{difference}");
}

#[test]
fn one_label_a_cluster_is_the_flat_form() {
    for more in ["", "train.loss = \"mean\"", "train.accumulate = 2"] {
        let flat = small(&format!("head.form = \"flat\"\n{more}"));
        let clustered = small(&format!(
            "head.form = \"clustered\"\nclusters.tree.max_leaf = 1\n{more}"
        ));
        let set = set(&flat);
        let expected = rankings_of(&set, &flat);
        assert_same(&rankings_of(&set, &clustered), &expected);
        // Both have learnt something: other settings give other scores.
        let other = small(&format!("head.form = \"flat\"\ntrain.epochs = 1\n{more}"));
        assert!(distance(&rankings_of(&set, &other), &expected) > 1e-3);
    }
}

#[test]
fn checkpointing_changes_no_weight() {
    let kept = small("head.form = \"flat\"");
    let again = small("head.form = \"flat\"\nencoder.checkpointing = true");
    let set = set(&kept);
    assert_same(&rankings_of(&set, &again), &rankings_of(&set, &kept));
}

#[test]
fn no_share_of_dropout_is_no_dropout() {
    let set = set(&small(""));
    for form in ["flat", "clustered"] {
        let form = format!("head.form = \"{form}\"\n");
        let never = small(&format!("{form}document.dropout_share = 0.0"));
        let nothing = small(&format!(
            "{form}document.dropout = 0.0\nencoder.dropout = 0.0\nencoder.attention_dropout = 0.0"
        ));
        let always = small(&form);
        let expected = rankings_of(&set, &nothing);
        assert_same(&rankings_of(&set, &never), &expected);
        assert!(distance(&rankings_of(&set, &always), &expected) > 1e-4);
    }
}

#[test]
fn half_a_share_of_dropout_is_neither_all_nor_none() {
    let of_share = |share: &str| {
        let config = small(&format!(
            "head.form = \"flat\"\ndocument.dropout_share = {share}"
        ));
        rankings_of(&set(&config), &config)
    };
    let half = of_share("0.5");
    for other in ["0.0", "1.0"] {
        assert!(distance(&of_share(other), &half) > 1e-4, "{other}");
    }
}

#[test]
fn equal_seeds_give_equal_models_and_other_seeds_others() {
    for changes in [
        "head.form = \"flat\"",
        "head.form = \"clustered\"\nclusters.num_clusterings = 2",
        "head.form = \"exact\"",
    ] {
        let config = small(changes);
        let set = set(&config);
        let first = rankings_of(&set, &config);
        assert_eq!(first, rankings_of(&set, &config), "{changes}");
        let other = small(&format!("{changes}\nseed = 99"));
        assert_ne!(first, rankings_of(&set, &other), "{changes}");
    }
}

#[test]
fn clusterings_of_one_model_differ() {
    let config = small("head.form = \"clustered\"\nclusters.num_clusterings = 2");
    let set = set(&config);
    let workshop = Workshop::new(&set, &config);
    let (model, work) = workshop.train();
    let reader = workshop.save(&model, &work);
    let clusters = |member: usize| {
        let name = format!("clusters-{member}.json");
        reader.read_json::<serde_json::Value>(&name).unwrap()
    };
    assert_ne!(clusters(0), clusters(1));
    assert!(!reader.contains("clusters-2.json"));
}

#[test]
fn static_negatives_leave_encoder_and_clusters_at_rest() {
    let config = small("head.form = \"clustered\"\nhead.negatives = \"static\"");
    let set = set(&config);
    let workshop = Workshop::new(&set, &config);
    let weights = |work: &WorkFolder, model: &PieceModel| {
        let reader = workshop.save(model, work);
        arrays(&reader.path("member-0.safetensors").unwrap())
    };
    let (model, work) = workshop.train();
    let second = weights(&work, &model);
    // A second stage that is taken for complete leaves the network as the first one did.
    let file = |stage: &str| work.path(&format!("member-0.{stage}.weights.safetensors"));
    std::fs::copy(file("clusters"), file("labels")).unwrap();
    drop(work);
    let (model, work) = workshop.train();
    let first = weights(&work, &model);
    assert!(first.keys().eq(second.keys()));
    let mut num_moved = 0;
    for (name, before) in &first {
        let has_moved = *before != second[name];
        let ranks_labels = name.contains("bottleneck") || name.ends_with("labels");
        assert_eq!(has_moved, ranks_labels, "{name}");
        num_moved += usize::from(has_moved);
    }
    assert!(num_moved >= 2 && first.len() > num_moved + 10);
}
