//! APLC-XLNet: the same as of the other forms holds of adaptive clusters.

use plethora_core::Error as CoreError;
use plethora_neural::Error;
use plethora_neural::pretrained::{HeadForm, OpenPieceConfig};
use plethora_system::Device;
use plethora_system::settings::Auto;

use crate::forms::{ARCHITECTURES, encoder_of_letters, holds_all_the_way};
use crate::workshop::{
    Watch, Workshop, distance, documents, of_system, rank, rankings_of, set, set_of, small,
};

/// What makes a run short, with two tails and draws of some of their labels.
const SMALL: &str = r#"
encoder.layers = 2
encoder.pooling = "cls"
document.max_length = 24
adaptive.hidden = 16
adaptive.cut_offs = [20, 50]
adaptive.negatives = 8
train.epochs = 2
train.batch_size = 32
train.learning_rate = 0.002
train.label_rate = 5.0
train.hidden_rate = 2.0
train.averaging_every = 2
train.precision = "f32"
"#;

/// As in the paper.
const PAPER: &str = r#"
adaptive.bias = false
adaptive.roots = "none"
adaptive.negatives = 0
train.loss = "mean"
train.clip = "fixed"
train.clip_norm = 1.0
train.averaging = "none"
"#;

/// As in the paper's program.
const PROGRAM: &str = r#"
adaptive.bias = false
adaptive.roots = "absent"
adaptive.projection = "normed"
adaptive.negatives = 0
train.loss = "mean"
train.accumulate = 2
"#;

pub(crate) fn adaptive(changes: &str) -> OpenPieceConfig {
    let config = of_system("aplc-xlnet", &format!("{SMALL}\n{changes}"));
    config.validate().unwrap();
    config
}

#[test]
fn adaptive_form_trains_ranks_and_comes_back() {
    for changes in [
        "",
        PAPER,
        PROGRAM,
        "adaptive.tail_loss = \"conditional\"\ntrain.label_chunk = 7",
        "adaptive.cut_offs = \"auto\"\nadaptive.head_share = 1.0",
        "encoder.pooling = \"mean\"\nencoder.checkpointing = true",
    ] {
        holds_all_the_way(&adaptive(changes));
    }
}

#[test]
fn adaptive_form_stands_on_every_architecture() {
    for kind in ARCHITECTURES {
        let encoder = encoder_of_letters(kind);
        holds_all_the_way(&adaptive(&format!("encoder.folder = {:?}", encoder.path())));
    }
}

#[test]
fn equal_seeds_give_equal_models_and_other_seeds_others() {
    let config = adaptive("");
    let set = set(&config);
    let first = rankings_of(&set, &config);
    assert_eq!(first, rankings_of(&set, &config));
    assert_ne!(first, rankings_of(&set, &adaptive("seed = 99")));
}

#[test]
fn a_stopped_run_goes_on_to_the_weights_of_an_undisturbed_one() {
    for changes in ["", PROGRAM] {
        let config = adaptive(changes);
        let set = set(&config);
        let whole = rankings_of(&set, &config);
        let stopped = Workshop::new(&set, &config);
        for steps in [3, 5] {
            let run = stopped.try_train(&Watch::stopping_after(steps));
            assert!(
                matches!(run, Err(Error::Core(CoreError::Interrupted))),
                "{changes}"
            );
        }
        assert_eq!(rank(&stopped.train().0), whole, "{changes}");
    }
}

#[test]
fn every_setting_of_the_form_is_of_use() {
    let config = adaptive("");
    let set = set(&config);
    let expected = rankings_of(&set, &config);
    for change in [
        "adaptive.hidden = 12",
        "adaptive.dropout = 0.4",
        "adaptive.cut_offs = [20, 40]",
        "adaptive.shrink = 3.0",
        "adaptive.projection = \"normed\"",
        "adaptive.bias = false",
        "adaptive.roots = \"none\"",
        "adaptive.roots = \"absent\"",
        "adaptive.tail_loss = \"conditional\"",
        "adaptive.negatives = 0",
        "train.hidden_rate = 4.0",
    ] {
        let other = rankings_of(&set, &adaptive(change));
        assert!(distance(&other, &expected) > 1e-6, "{change}");
    }
}

#[test]
fn what_is_open_is_chosen_by_the_labels_and_shown() {
    let settle = |config: &OpenPieceConfig| {
        let set = set_of(config, documents(300));
        let choices = set.settle(config, Device::Cpu).unwrap();
        (choices.config, choices.summary, set.space.len())
    };
    let (config, summary, num_labels) = settle(&of_system("aplc-xlnet", "encoder.layers = 2"));
    let chosen = config.adaptive.as_ref().unwrap();
    assert_eq!(chosen.hidden, 768);
    let [cut_off] = chosen.cut_offs[..] else {
        panic!("{:?} is not one tail", chosen.cut_offs);
    };
    assert!(cut_off >= num_labels / 4 && cut_off <= num_labels * 3 / 4);
    let rest = num_labels - cut_off;
    let clusters =
        format!("a head of {cut_off} by 768 and tails of {rest} by 384 of {num_labels} labels");
    assert!(summary.starts_with(&clusters), "{summary}");
    let hidden_rate = config.train.hidden_rate;
    assert!((hidden_rate - 15.0_f64.sqrt()).abs() < 1e-9);

    let halves = of_system(
        "aplc-xlnet",
        "encoder.layers = 2\nadaptive.head_share = 0.5\nadaptive.num_tails = 3",
    );
    let (config, ..) = settle(&halves);
    assert_eq!(config.adaptive.unwrap().cut_offs.len(), 3);

    let far = adaptive("adaptive.cut_offs = [20, 100000]");
    let set = set_of(&far, documents(300));
    let message = set.settle(&far, Device::Cpu).unwrap_err().to_string();
    let expected =
        format!("adaptive.cut_offs: must be below the number of labels, which is {num_labels}");
    assert_eq!(message, expected);
    // Neither is it trained with where it was settled for other documents.
    let mut workshop = Workshop::new(&set, &adaptive(""));
    workshop.config.adaptive.as_mut().unwrap().cut_offs = vec![20, 100_000];
    let run = workshop.try_train(&Watch::stopping_after(u64::MAX));
    assert_eq!(run.err().unwrap().to_string(), expected);
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let refusal = |config: OpenPieceConfig| config.validate().unwrap_err().to_string();
    let of_adaptive = |change: &str| refusal(of_system("aplc-xlnet", change));
    assert_eq!(
        of_adaptive("head.form = \"flat\""),
        "head.form: must be adaptive in aplc-xlnet; other forms are those of lightxml"
    );
    assert_eq!(
        of_adaptive("head.bottleneck = 12"),
        "head: has settings of other forms, of which the adaptive one makes no use"
    );
    assert_eq!(
        of_adaptive("clusters.beam = 4"),
        "clusters: are those of the clustered form; the adaptive one has its own under adaptive"
    );
    assert_eq!(
        of_adaptive("adaptive.shrink = 0.0"),
        "adaptive.shrink: must be a number from 1, found 0"
    );
    let mut config = small("head.form = \"flat\"");
    config.head.form = Auto::Set(HeadForm::Adaptive);
    assert_eq!(
        refusal(config),
        "head.form: adaptive is the form of the system aplc-xlnet"
    );
}
