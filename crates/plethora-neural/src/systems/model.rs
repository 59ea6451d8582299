//! What all trained networks do alike: open, rank, explain and save.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::training_log::TrainingLog;
use plethora_core::{LabelId, ScoredLabel};
use plethora_system::{Compute, Explanation, RankOptions, Ranker, Rankings, keep_first};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::network_file;
use super::reading::text_of;
use super::trainer::Trains;
use crate::guard::guarded;
use crate::parameters::Parameters;
use crate::{Result, open_device};

/// The trained networks of a system, and what makes sequences of texts.
pub trait NeuralModel: Debug + Send + Sized + 'static {
    /// Its settings.
    type Config: Trains + Serialize + DeserializeOwned;

    /// The settings.
    fn config(&self) -> &Self::Config;

    /// The parameters of all networks, with the names of their files.
    fn networks(&self) -> Vec<(String, &Parameters)>;

    /// Opens the networks of a model folder with settings that were checked.
    fn open_networks(
        folder: &ModelReader,
        config: Self::Config,
        num_labels: usize,
        device: tch::Device,
    ) -> Result<Self>;

    /// The best labels of each text, best first.
    fn rank_texts<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>>;

    /// From now on ranks with the first so many of its networks alone.
    ///
    /// # Errors
    /// [`Error::Usage`](plethora_core::Error::Usage) if it has fewer.
    fn keep_members(&mut self, num_members: usize) -> plethora_core::Result<()> {
        // A network alone is its own first member.
        keep_first(&mut vec![()], num_members)
    }

    /// Why a label has its score for a text.
    ///
    /// # Errors
    /// [`Error::Data`](plethora_core::Error::Data) if the system cannot tell.
    fn explain_text(&self, text: &str, label: LabelId) -> Result<Explanation>;

    /// Numbers, as bits, that were fitted to validation documents and that no training without them finds.
    fn fitted(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Writes what a model has beside settings and networks; `work` is where training left its files.
    fn save_others(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()>;

    /// Opens a model folder; on which device and with which numbers its networks were trained does not
    /// matter.
    fn open(folder: &ModelReader, num_labels: usize, compute: impl Into<Compute>) -> Result<Self> {
        let compute = compute.into();
        let mut config: Self::Config = folder.read_json(CONFIG_FILE)?;
        config.validate()?;
        config.train_mut().precision = compute.precision;
        let device = open_device(compute.device)?;
        guarded(|| Self::open_networks(folder, config, num_labels, device))
    }

    /// Writes settings and trained values into a model folder; `work` is where training left its files.
    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        self.save_others(work, writer)?;
        for (name, parameters) in self.networks() {
            network_file::save(parameters, &writer.path(&name))?;
        }
        writer.write_json(CONFIG_FILE, self.config())?;
        TrainingLog::copy(work.folder(), &network_file::folder_of(writer))?;
        Ok(())
    }

    /// Number of trained values.
    fn num_parameters(&self) -> u64 {
        let networks = self.networks().into_iter();
        networks
            .map(|(_, parameters)| network_file::num_parameters(parameters))
            .sum()
    }
}

/// A trained system. Networks do one thing at a time: tensors are not made to be shared by threads.
#[derive(Debug)]
pub struct NeuralRanker<M>(Mutex<M>);

impl<M> NeuralRanker<M> {
    /// Ranks with these networks.
    pub fn new(model: M) -> Self {
        Self(Mutex::new(model))
    }

    /// Ranking changes nothing in a model, so that a panic leaves it as it was.
    fn model(&self) -> MutexGuard<'_, M> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: NeuralModel> Ranker for NeuralRanker<M> {
    fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> plethora_core::Result<Rankings> {
        let texts: plethora_core::Result<Vec<&str>> = documents.iter().map(text_of).collect();
        let texts = texts?;
        let model = self.model();
        Ok(guarded(|| model.rank_texts(&texts, options))?.into())
    }

    fn keep_members(&mut self, num_members: usize) -> plethora_core::Result<()> {
        let model = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        model.keep_members(num_members)
    }

    fn explain(&self, text: &str, label: LabelId) -> plethora_core::Result<Explanation> {
        let model = self.model();
        Ok(guarded(|| model.explain_text(text, label))?)
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> plethora_core::Result<()> {
        Ok(self.model().save(work, writer)?)
    }
}
