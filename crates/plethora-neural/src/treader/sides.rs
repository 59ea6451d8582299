//! The two sides of the network: the text, and the labels of its neighbours.

use tch::Tensor;

use super::attention::{Attention, Pass, Place, States};
use super::config::TReaderConfig;
use super::network::TReaderSetup;
use super::pooling::Pooling;
use super::reading::Reading;
use super::scores::LabelScores;
use super::tokens::LabelTokens;
use crate::parameters::{DenseParametersBuilder, RowTable};
use crate::start::Start;

/// How one side is read.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) reading: Reading,
    /// To the other side.
    pub(super) cross: Option<Attention>,
    pub(super) pooling: Pooling,
}

/// The side of the neighbours' labels.
#[derive(Debug)]
pub(super) struct TeacherSide {
    pub(super) tokens: LabelTokens,
    pub(super) side: Side,
    /// By which what was read of a label raises its score.
    pub(super) scores: Option<LabelScores>,
}

impl Side {
    pub(super) fn new(
        name: &str,
        config: &TReaderConfig,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let width = config.vectors.width;
        let meets = config.teacher.is_read() && config.interaction.cross;
        let cross = format!("{name}.cross");
        Self {
            reading: Reading::new(name, width, &config.reading, builder, start),
            cross: meets.then(|| {
                let place = Place {
                    name: &cross,
                    width,
                    is_added: true,
                };
                Attention::new(&place, &config.reading, true, builder, start)
            }),
            pooling: Pooling::new(name, config, builder),
        }
    }
}

impl TeacherSide {
    pub(super) fn new(
        setup: &TReaderSetup<'_>,
        builder: &mut DenseParametersBuilder,
        tables: &mut Vec<RowTable>,
    ) -> Self {
        let (config, start) = (setup.config, setup.start);
        Self {
            tokens: LabelTokens::new(setup, builder, tables),
            side: Side::new("teacher", config, builder, start),
            scores: (config.teacher.own_scores).then(|| LabelScores::new(config, builder, start)),
        }
    }
}

/// Each side looks at the other as it was before.
pub(super) fn meet(
    pass: Pass<'_>,
    (text_side, text): (&Side, States),
    (label_side, labels): (&Side, States),
) -> (States, States) {
    let (Some(from_text), Some(from_labels)) = (&text_side.cross, &label_side.cross) else {
        return (text, labels);
    };
    let of_text = from_text.to_other(pass, &text, &labels);
    let of_labels = from_labels.to_other(pass, &labels, &text);
    let added = |side: States, found: Tensor| States {
        states: side.states + found,
        mask: side.mask,
    };
    (added(text, of_text), added(labels, of_labels))
}
