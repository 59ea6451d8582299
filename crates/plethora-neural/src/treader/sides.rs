//! The two sides of the network: the text, and the labels of its neighbours.

use tch::Tensor;

use super::attention::{Attention, Pass, Place, States};
use super::config::{Look, Residual, TReaderConfig};
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
    /// Of both sides, one behind the other.
    pub(super) joint: Option<Joint>,
    /// By which what was read of a label raises its score.
    pub(super) scores: Option<LabelScores>,
}

/// A masked attention over the labels and the text behind them.
#[derive(Debug)]
pub(super) struct Joint {
    attention: Attention,
    has_residual: bool,
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
            joint: (config.interaction.masked).then(|| Joint::new(config, builder, start)),
            scores: (config.teacher.own_scores).then(|| LabelScores::new(config, builder, start)),
        }
    }
}

impl Joint {
    fn new(config: &TReaderConfig, builder: &mut DenseParametersBuilder, start: Start) -> Self {
        let has_residual = config.reading.residual != Residual::None;
        let place = Place {
            name: "joint",
            width: config.vectors.width,
            is_added: has_residual,
        };
        Self {
            attention: Attention::new(&place, &config.reading, false, builder, start),
            has_residual,
        }
    }

    /// Text and labels after it.
    pub(super) fn forward(
        &self,
        pass: Pass<'_>,
        text: &States,
        labels: &States,
    ) -> (States, States) {
        let num_labels = labels.values.size()[1];
        let both = labels.followed_by(text);
        let found = self.attention.to_itself(pass, &both, Look::Masked);
        let found = if self.has_residual {
            found + &both.values
        } else {
            found
        };
        let part = |side: &States, first: i64| States {
            values: found.narrow(1, first, side.values.size()[1]),
            mask: side.mask.as_ref().map(Tensor::shallow_clone),
            has_gaps: false,
        };
        (part(text, num_labels), part(labels, 0))
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
        values: side.values + found,
        ..side
    };
    (added(text, of_text), added(labels, of_labels))
}
