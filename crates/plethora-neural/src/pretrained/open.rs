//! The networks of a model folder.

use plethora_core::artifact::ModelReader;

use super::config::{PieceConfig, SettledForm};
use super::model::PieceMember;
use super::network::{HeadPlan, PieceNetwork, PieceSetup};
use crate::Result;
use crate::head::Clusters;
use crate::precision::prediction_numbers;
use crate::systems::label_clusters::{blank, open_clusters};
use crate::systems::network_file;
use crate::train::Network as _;
use crate::transformer::trained_folder::member_file_name;
use crate::transformer::{Architecture, Weights};

/// The networks of a system with this encoder.
pub(super) fn open_members(
    folder: &ModelReader,
    config: &PieceConfig,
    architecture: &Architecture,
    num_labels: usize,
    device: tch::Device,
) -> Result<Vec<PieceMember>> {
    let open_member = |member| {
        let plan = match config.form()? {
            SettledForm::Flat => HeadPlan::Flat,
            SettledForm::Exact => HeadPlan::Exact,
            SettledForm::Attention => HeadPlan::Attention,
            SettledForm::Clustered => {
                HeadPlan::Clustered(open_clusters(folder, member, num_labels)?)
            }
            SettledForm::Adaptive(config) => {
                HeadPlan::Adaptive(config.clone(), open_clusters(folder, member, num_labels)?)
            }
        };
        let name = member_file_name(member);
        let start = network_file::start(folder, &name)?;
        let num_clusters = plan.clusters().map_or(0, Clusters::num_clusters);
        let network = PieceNetwork::new(&PieceSetup {
            config,
            architecture,
            weights: Weights::Start(start),
            labels: blank(&vec![0; num_labels]),
            plan: &plan,
            clusters: blank(&vec![0; num_clusters]),
            device,
            numbers: prediction_numbers(config.train.precision, device),
            start,
            is_trained: false,
        })?;
        network_file::load(network.parameters(), folder, &name)?;
        Ok(PieceMember { plan, network })
    };
    (0..config.num_members()).map(open_member).collect()
}
