//! From the narrow vector of both sides to labels.

use super::config::TReaderForm;
use super::network::TReaderSetup;
use crate::head::{AllLabels, Exact, ExactConfig, ExactSetup};
use crate::parameters::{DenseParametersBuilder, RowTable};
use crate::start::Start;

/// How labels are scored and trained.
#[derive(Debug)]
pub(super) enum Head {
    Flat(AllLabels),
    Exact(Exact),
}

impl Head {
    /// The head that the settings ask for, and its tables, of which the first will be number
    /// `first_table`.
    pub(super) fn new(
        setup: &TReaderSetup<'_>,
        first_table: usize,
        builder: &mut DenseParametersBuilder,
    ) -> (Self, Vec<RowTable>) {
        let TReaderSetup { config, device, .. } = *setup;
        let head = &config.head;
        let width = head.bottleneck;
        if head.form == TReaderForm::Flat {
            let flat = AllLabels::over_vectors(width, &setup.labels, builder);
            return (Self::Flat(flat), Vec::new());
        }
        let settings = ExactConfig {
            bottleneck: 0,
            learning_rate: head.label_learning_rate,
            momentum: head.label_momentum,
            weight_decay: head.label_weight_decay,
            chunk: config.train.label_chunk,
        };
        let setup = ExactSetup {
            config: &settings,
            width,
            labels: setup.labels,
            first_table,
            device,
        };
        let (exact, tables) = Exact::new(&setup, builder, Start::blank());
        (Self::Exact(exact), tables)
    }
}
