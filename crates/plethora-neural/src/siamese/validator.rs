//! How well a network ranks labels for documents it was not trained on.

use tch::Device;

use super::batches::KnownLabels;
use super::network::SiameseNetwork;
use super::prototypes::Learnt;
use super::search::nearest;
use super::training_set::{SiameseSet, ValidationSet};
use crate::Result;
use crate::systems::validation::{DEPTH, truths, validation};
use crate::train::{Validation, Validator};

/// Ranks all labels.
pub(super) struct SiameseValidator<'a> {
    pub(super) valid: &'a ValidationSet,
    pub(super) known: &'a KnownLabels,
    pub(super) set: &'a SiameseSet,
    pub(super) device: Device,
}

impl Validator<SiameseNetwork> for SiameseValidator<'_> {
    fn validate(&mut self, network: &SiameseNetwork) -> Result<Validation> {
        network.refresh();
        let names = network.vectors(&self.set.names)?;
        let learnt = match network.free() {
            Some(rows) => Learnt {
                labels: self.known.labels.clone(),
                rows,
            },
            None => Learnt::default(),
        };
        let labels = learnt.vectors(&names, &self.set.is_named);
        let documents = network.vectors(&self.valid.documents)?;
        let rankings = nearest(&documents, &labels, DEPTH, self.device);
        let truths = truths(&self.valid.labels);
        validation(self.set.space.len(), truths.zip(rankings))
    }
}
