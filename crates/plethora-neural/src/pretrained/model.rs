//! A trained system of pieces that ranks labels.

use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::training_log::TrainingLog;
use plethora_core::{Error, LabelId, ScoredLabel};
use plethora_system::{Compute, Device, Explanation, RankOptions, Ranker, Rankings};

use super::config::PieceConfig;
use super::encoder_files::check_fit;
use super::network::{HeadPlan, PieceNetwork};
use super::open::{ARCHITECTURE_FILE, member_file_name, open_members};
use super::pieces::Pieces;
use super::ranker::PieceRanker;
use super::reader::PieceReader;
use super::run::cut;
use crate::guard::guarded;
use crate::systems::label_clusters::clusters_file_name;
use crate::systems::network_file::{self, folder_of};
use crate::systems::rankings::{combine, depth};
use crate::systems::reading::text_of;
use crate::train::Network as _;
use crate::transformer::Architecture;
use crate::{Result, open_device};

/// A trained system.
#[derive(Debug)]
pub struct PieceModel {
    config: PieceConfig,
    reader: PieceReader,
    architecture: Architecture,
    /// Their scores are averaged.
    members: Vec<PieceMember>,
    device: Device,
}

/// A trained network and how it scores labels.
#[derive(Debug)]
pub(crate) struct PieceMember {
    pub(crate) plan: HeadPlan,
    pub(crate) network: PieceNetwork,
}

impl PieceModel {
    pub(super) fn new(
        config: PieceConfig,
        pieces: Pieces,
        architecture: Architecture,
        members: Vec<PieceMember>,
        device: Device,
    ) -> Self {
        Self {
            reader: PieceReader {
                pieces,
                max_length: config.document.max_length,
            },
            config,
            architecture,
            members,
            device,
        }
    }

    /// Opens the networks of a model folder; on which device and with which numbers they were trained
    /// does not matter.
    pub fn open(folder: &ModelReader, num_labels: usize, compute: Compute) -> Result<Self> {
        let mut config: PieceConfig = folder.read_json(CONFIG_FILE)?;
        config.validate()?;
        config.train.precision = compute.precision;
        let device = open_device(compute.device)?;
        guarded(|| {
            let encoder_file = folder.path(ARCHITECTURE_FILE)?;
            let architecture = Architecture::read(&encoder_file)?;
            let members = open_members(folder, &config, &architecture, num_labels, device)?;
            let pieces = Pieces::load_from(folder.folder())?;
            let parts = (&architecture, &pieces);
            check_fit(
                &config.encoder,
                &config.document.max_length,
                parts,
                &encoder_file,
            )?;
            Ok(Self::new(
                config,
                pieces,
                architecture,
                members,
                compute.device,
            ))
        })
    }

    /// The best labels of each text, best first.
    pub fn rank_texts(
        &self,
        texts: &[impl AsRef<str> + Sync],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.reader.sequences(texts);
        let beam = options.beam;
        guarded(|| {
            let of_networks = self
                .members
                .iter()
                .map(|PieceMember { network, .. }| {
                    PieceRanker {
                        network,
                        cut: cut(&self.config, &self.reader, network.device()),
                        beam: beam.unwrap_or_else(|| self.config.clusters.predict_beam()),
                        keep: depth(self.members.len(), options.top_k),
                    }
                    .rank(&sequences)
                })
                .collect::<Result<_>>()?;
            Ok(combine(of_networks, texts.len(), options.top_k))
        })
    }

    /// The settings.
    pub fn config(&self) -> &PieceConfig {
        &self.config
    }

    /// How texts become pieces.
    pub fn reader(&self) -> &PieceReader {
        &self.reader
    }

    /// The device that computes.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Number of trained values.
    pub fn num_parameters(&self) -> u64 {
        self.members
            .iter()
            .map(|member| network_file::num_parameters(member.network.parameters()))
            .sum()
    }

    fn write(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        writer.write_json(ARCHITECTURE_FILE, &self.architecture)?;
        for (number, member) in self.members.iter().enumerate() {
            if let Some(clusters) = member.plan.clusters() {
                writer.write_json(&clusters_file_name(number), clusters)?;
            }
            let path = writer.path(&member_file_name(number));
            network_file::save(member.network.parameters(), &path)?;
        }
        writer.write_json(CONFIG_FILE, &self.config)?;
        let folder = folder_of(writer);
        self.reader.pieces.save_to(&folder)?;
        TrainingLog::copy(work.folder(), &folder)?;
        Ok(())
    }
}

impl Ranker for PieceModel {
    fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> plethora_core::Result<Rankings> {
        let texts: Vec<&str> = documents
            .iter()
            .map(text_of)
            .collect::<plethora_core::Result<_>>()?;
        Ok(self.rank_texts(&texts, options)?.into())
    }

    fn explain(&self, _text: &str, _label: LabelId) -> plethora_core::Result<Explanation> {
        Err(Error::data(format!(
            "{} cannot be explained yet: it has no attention that leads from labels to words",
            self.config.system
        )))
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> plethora_core::Result<()> {
        Ok(self.write(work, writer)?)
    }
}
