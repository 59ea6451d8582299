//! The reading module: one or two attentions, and what is added to them.

use super::attention::{Attention, Pass, Place, States};
use super::config::{Look, ReadingConfig, Residual};
use crate::parameters::DenseParametersBuilder;
use crate::start::Start;

/// Reads one side.
#[derive(Debug)]
pub(super) struct Reading {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    attention: Attention,
    look: Look,
    has_residual: bool,
}

impl Reading {
    pub(super) fn new(
        side: &str,
        width: usize,
        config: &ReadingConfig,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let steps = [
            ("first", config.first, config.residual != Residual::None),
            ("second", config.second, config.residual == Residual::Both),
        ];
        let steps = steps.into_iter().filter(|(_, look, _)| *look != Look::None);
        Self {
            steps: steps
                .map(|(name, look, has_residual)| Step {
                    attention: Attention::new(
                        &Place {
                            name: &format!("{side}.{name}"),
                            width,
                            is_added: has_residual,
                        },
                        config,
                        false,
                        builder,
                        start,
                    ),
                    look,
                    has_residual,
                })
                .collect(),
        }
    }

    /// # Shapes
    /// From documents x places x width to the same.
    pub(super) fn forward(&self, pass: Pass<'_>, mut side: States) -> States {
        for step in &self.steps {
            let found = step.attention.to_itself(pass, &side, step.look);
            side.values = if step.has_residual {
                side.values + found
            } else {
                found
            };
        }
        side
    }
}
