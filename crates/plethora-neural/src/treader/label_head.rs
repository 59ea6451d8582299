//! From the narrow vector of both sides to labels.

use super::config::{LabelStart, TReaderForm};
use super::network::TReaderSetup;
use crate::head::{AllLabels, Exact, ExactConfig, ExactSetup, VectorHead};
use crate::parameters::{DenseParametersBuilder, RowTable};
use crate::start::Start;

impl TReaderSetup<'_> {
    /// The head that the settings ask for, and its tables, of which the first will be number
    /// `first_table`.
    pub(super) fn head(
        &self,
        first_table: usize,
        builder: &mut DenseParametersBuilder,
    ) -> (Box<VectorHead>, Vec<RowTable>) {
        let head = &self.config.head;
        let width = head.bottleneck;
        if head.form == TReaderForm::Flat {
            let flat = AllLabels::new(width, head.output, &self.labels, builder);
            if head.start == LabelStart::Random {
                flat.start_at_random(builder, self.start.named("outputs"));
            }
            return (Box::new(flat), Vec::new());
        }
        let settings = ExactConfig {
            bottleneck: 0,
            learning_rate: head.label_learning_rate,
            momentum: head.label_momentum,
            weight_decay: head.label_weight_decay,
            chunk: self.config.train.label_chunk,
        };
        let setup = ExactSetup {
            config: &settings,
            width,
            labels: self.labels,
            first_table,
            device: self.device,
        };
        let (exact, tables) = Exact::new(&setup, builder, Start::blank());
        (Box::new(exact), tables)
    }
}
