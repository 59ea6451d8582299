//! A trained system of pieces that ranks labels.

use plethora_core::artifact::{ModelReader, ModelWriter, WorkFolder};
use plethora_core::{LabelId, ScoredLabel};
use plethora_system::{Explanation, RankOptions, keep_first};

use super::config::PieceConfig;
use super::encoder_files::check_fit;
use super::neighbours::TrainedNeighbours;
use super::network::{HeadPlan, PieceNetwork};
use super::open::open_members;
use super::pieces::Pieces;
use super::ranker::PieceRanker;
use super::reader::PieceReader;
use super::run::cut;
use crate::Result;
use crate::parameters::Parameters;
use crate::systems::NeuralModel;
use crate::systems::label_clusters::clusters_file_name;
use crate::systems::network_file::folder_of;
use crate::systems::rankings::{combine, depth};
use crate::train::Network as _;
use crate::transformer::Architecture;
use crate::transformer::trained_folder::{ARCHITECTURE_FILE, member_file_name};

/// A trained system.
#[derive(Debug)]
pub struct PieceModel {
    pub(super) config: PieceConfig,
    pub(super) reader: PieceReader,
    pub(super) architecture: Architecture,
    /// Their scores are averaged.
    pub(super) members: Vec<PieceMember>,
    /// Training documents that vote, where they do.
    pub(super) neighbours: Option<TrainedNeighbours>,
}

/// A trained network and how it scores labels.
#[derive(Debug)]
pub(crate) struct PieceMember {
    pub(crate) plan: HeadPlan,
    pub(crate) network: PieceNetwork,
}

impl PieceModel {
    /// How texts become pieces.
    pub fn reader(&self) -> &PieceReader {
        &self.reader
    }
}

impl NeuralModel for PieceModel {
    type Config = PieceConfig;

    fn config(&self) -> &PieceConfig {
        &self.config
    }

    fn networks(&self) -> Vec<(String, &Parameters)> {
        let members = self.members.iter().enumerate();
        members
            .map(|(number, member)| (member_file_name(number), member.network.parameters()))
            .collect()
    }

    fn open_networks(
        folder: &ModelReader,
        config: PieceConfig,
        num_labels: usize,
        device: tch::Device,
    ) -> Result<Self> {
        let encoder_file = folder.path(ARCHITECTURE_FILE)?;
        let architecture = Architecture::read(&encoder_file)?;
        let members = open_members(folder, &config, &architecture, num_labels, device)?;
        let pieces = Pieces::load_from(folder.folder())?;
        let parts = (&architecture, &pieces);
        let max_length = &config.document.max_length;
        check_fit(&config.encoder, max_length, parts, &encoder_file)?;
        let width = architecture.width();
        let neighbours = if config.neighbours.vote() {
            let path_of = |name: &str| folder.path(name);
            Some(TrainedNeighbours::open(path_of, width, num_labels)?)
        } else {
            None
        };
        Ok(Self {
            reader: PieceReader::of(pieces, &config.document),
            config,
            architecture,
            members,
            neighbours,
        })
    }

    fn rank_texts<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.reader.sequences(texts);
        if let Some(known) = &self.neighbours {
            return self.rank_with_neighbours(known, &sequences, options);
        }
        let of_networks = self
            .members
            .iter()
            .map(|PieceMember { network, .. }| {
                PieceRanker {
                    network,
                    cut: cut(&self.config, &self.reader, network.device()),
                    beam: (options.beam).unwrap_or_else(|| self.config.clusters.predict_beam()),
                    keep: depth(self.members.len(), options.top_k),
                }
                .rank(&sequences)
            })
            .collect::<Result<_>>()?;
        Ok(combine(of_networks, texts.len(), options.top_k))
    }

    fn keep_members(&mut self, num_members: usize) -> plethora_core::Result<()> {
        keep_first(&mut self.members, num_members)
    }

    fn explain_text(&self, text: &str, label: LabelId) -> Result<Explanation> {
        match &self.neighbours {
            Some(known) => self.explain_by_neighbours(known, text, label),
            None => self.explained(text, label),
        }
    }

    fn save_others(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        self.save_neighbours(work, writer)?;
        writer.write_json(ARCHITECTURE_FILE, &self.architecture)?;
        for (number, member) in self.members.iter().enumerate() {
            if let Some(clusters) = member.plan.clusters() {
                writer.write_json(&clusters_file_name(number), clusters)?;
            }
        }
        self.reader.pieces.save_to(&folder_of(writer))?;
        Ok(())
    }
}
