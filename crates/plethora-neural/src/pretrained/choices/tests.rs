//! What is chosen for data and machines.

use std::path::Path;

use super::*;
use crate::pretrained::config::recipe;

pub(super) fn architecture() -> Architecture {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
    Architecture::read(Path::new(folder)).unwrap()
}

pub(super) fn facts(architecture: &Architecture, free_memory: Option<u64>) -> Facts<'_> {
    Facts {
        architecture,
        num_labels: 5000,
        num_documents: 20_000,
        num_special: 2,
        device: Device::Cpu,
        free_memory,
    }
}

fn config() -> OpenPieceConfig {
    let mut config = recipe("lightxml");
    config.document.max_length = Auto::Set(64);
    config
}

fn choose(facts: &Facts<'_>, open: &OpenPieceConfig) -> PieceConfig {
    let chosen = facts.choose(open, None, std::iter::empty()).unwrap();
    chosen.validate().unwrap();
    chosen
}

#[test]
fn batches_are_halved_where_memory_is_short() {
    let architecture = architecture();
    let chosen = |free_memory| {
        let facts = facts(&architecture, free_memory);
        let config = choose(&facts, &config());
        let fits = facts.check_memory(&config).is_ok();
        (config.train.batch_size, config.train.accumulate, fits)
    };
    assert_eq!(chosen(None), (64, 1, true));
    assert_eq!(chosen(Some(1 << 40)), (64, 1, true));
    let needed = |batch_size: usize| {
        let mut config = config();
        config.train.batch_size = batch_size.into();
        let facts = facts(&architecture, None);
        let config = choose(&facts, &config);
        facts.sizes(&config).unwrap().bytes(Device::Cpu)
    };
    let room_for = |batch_size| Some((needed(batch_size) as f64 * 1.12) as u64);
    assert_eq!(chosen(room_for(32)), (32, 2, true));
    assert_eq!(chosen(room_for(8)), (8, 8, true));
    assert_eq!(chosen(Some(1 << 10)), (4, 16, false));
}

#[test]
fn batches_that_were_set_stay_and_are_refused_where_they_do_not_fit() {
    let architecture = architecture();
    let facts = facts(&architecture, Some(1 << 20));
    for (form, settings) in [
        (HeadForm::Flat, "train.batch_size or document.max_length"),
        (
            HeadForm::Exact,
            "train.batch_size or document.max_length or head.bottleneck",
        ),
    ] {
        let mut config = config();
        config.head.form = form.into();
        config.train.batch_size = 48.into();
        let config = choose(&facts, &config);
        assert_eq!((config.train.batch_size, config.train.accumulate), (48, 1));
        let message = facts.check_memory(&config).unwrap_err().to_string();
        let end = format!("make {settings} smaller");
        assert!(message.ends_with(&end), "{message}");
    }
}

#[test]
fn many_labels_are_clustered() {
    let architecture = architecture();
    let chosen = |num_labels| {
        let facts = Facts {
            num_labels,
            ..facts(&architecture, None)
        };
        let config = choose(&facts, &config());
        (config.head.form, config.clusters.beam)
    };
    assert_eq!(chosen(100_000), (HeadForm::Flat, 0));
    assert_eq!(chosen(100_001), (HeadForm::Clustered, 50));
    assert_eq!(chosen(1_000_000), (HeadForm::Clustered, 75));
    let of_windows = |windows, num_labels| form_of(Auto::Auto, windows, num_labels);
    assert_eq!(of_windows(1, 30_000), HeadForm::Flat);
    assert_eq!(of_windows(2, 30_000), HeadForm::Attention);
    assert_eq!(of_windows(2, 30_001), HeadForm::Flat);
}

#[test]
fn longest_documents_alone_are_cut() {
    let architecture = architecture();
    let length = |lengths: &[usize]| facts(&architecture, None).max_length(lengths);
    let mut lengths = vec![20; 99];
    lengths.push(60);
    assert_eq!(length(&lengths), 32);
    assert_eq!(length(&[40; 10]), 40);
    assert_eq!(length(&[3]), 32);
    // The encoder has no more places.
    assert_eq!(length(&[100; 10]), 64);
}

#[test]
fn windows_are_chosen_by_the_lengths_of_documents_on_a_gpu() {
    let architecture = architecture();
    let mut open = recipe("lightxml");
    open.document.windows = Auto::Auto;
    let chosen = |device, length| {
        let facts = Facts {
            device,
            ..facts(&architecture, None)
        };
        facts.lengths(&open, vec![length; 20])
    };
    let gpu = Device::Cuda(0);
    assert_eq!(chosen(gpu, 64), (64, 1));
    assert_eq!(chosen(gpu, 65), (64, 2));
    assert_eq!(chosen(gpu, 2 + 3 * 62), (64, 3));
    assert_eq!(chosen(gpu, 1000), (64, 4));
    assert_eq!(chosen(Device::Cpu, 1000), (64, 1));
    open.document.windows = Auto::Set(7);
    assert_eq!(facts(&architecture, None).lengths(&open, vec![10]), (32, 7));
}
