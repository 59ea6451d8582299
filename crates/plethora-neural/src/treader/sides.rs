//! The two sides of the network: the text, and the labels of its neighbours.

use tch::Tensor;

use super::attention::{Attention, Pass, Place, States};
use super::config::{TReaderConfig, TeacherTokens};
use super::network::TReaderSetup;
use super::pooling::Pooling;
use super::reading::Reading;
use super::scores::LabelScores;
use super::tokens::LabelTokens;
use crate::parameters::{DenseParametersBuilder, RowTable};
use crate::start::Start;

/// Spread of the vectors that labels start with.
const LABEL_SPREAD: f64 = 0.1;

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
    /// The table of the vectors that labels have of their own.
    pub(super) label_table: Option<usize>,
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
        let has_vectors =
            config.teacher.label_vectors && config.teacher.tokens == TeacherTokens::Labels;
        let label_table = has_vectors.then(|| {
            let shape = [setup.num_known as i64, config.vectors.width as i64];
            let vectors = start.named("label vectors").normal(&shape, LABEL_SPREAD);
            let table = RowTable::new("label_vectors", &vectors, true, setup.device);
            tables.push(table.of_labels());
            tables.len() - 1
        });
        Self {
            tokens: LabelTokens::new(config, builder, start),
            side: Side::new("teacher", config, builder, start),
            label_table,
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
