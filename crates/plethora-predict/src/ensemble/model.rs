//! An ensemble that is ready to rank.

use plethora_core::artifact::{LABELS_FILE, ModelDetails, ModelReader};
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::{Error, LabelId, Result, ScoredLabel};
use plethora_linear::RankOptions;
use rayon::prelude::*;

use super::combiner::{Combiner, Vote};
use super::config::EnsembleConfig;
use super::member_folder::MemberFolder;
use crate::{Compute, Predictor, Prepared};

/// Several models that rank as one.
#[derive(Debug)]
pub struct EnsembleModel {
    config: EnsembleConfig,
    combiner: Combiner,
    members: Vec<Member>,
    train_counts: Vec<u32>,
}

/// A model of an ensemble.
#[derive(Debug)]
pub struct Member {
    name: String,
    predictor: Predictor,
    /// Ids in the ensemble of the member's own labels.
    ensemble_ids: Vec<LabelId>,
}

impl EnsembleModel {
    /// Opens all members of an ensemble with these labels; neural ones compute as told.
    ///
    /// # Errors
    /// [`Error::Model`] if a member cannot be opened or does not fit the ensemble;
    /// [`Error::Config`] if the machine has no such device.
    pub(crate) fn open(
        folder: &ModelReader,
        details: &ModelDetails,
        labels: &LabelSpace,
        compute: Compute,
    ) -> Result<Self> {
        let config = EnsembleConfig::of(folder)?;
        let found = MemberFolder::all(folder, &config)?;
        Self::new(config, found, details, labels, compute)
    }

    /// An ensemble of members that were found somewhere.
    pub(super) fn new(
        config: EnsembleConfig,
        found: Vec<MemberFolder>,
        details: &ModelDetails,
        labels: &LabelSpace,
        compute: Compute,
    ) -> Result<Self> {
        let members = (found.into_iter())
            .map(|found| {
                if found.details.takes_text != details.takes_text {
                    let message = "takes other documents than the ensemble";
                    return Err(Error::model(found.folder.folder(), message));
                }
                Member::open(found, labels, compute)
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            combiner: Combiner::new(&config),
            config,
            members,
            train_counts: labels.train_counts().to_vec(),
        })
    }

    /// The settings.
    pub fn config(&self) -> &EnsembleConfig {
        &self.config
    }

    /// The models, in the order of their folders.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Documents to rank together: as many as the member that takes the fewest.
    pub fn documents_per_batch(&self) -> usize {
        let members = self.members.iter();
        let sizes = members.map(|member| member.predictor.documents_per_batch());
        sizes.min().unwrap_or(1)
    }

    /// Documents in the form that each member ranks.
    pub(crate) fn prepare(&self, documents: &[Document]) -> Result<Vec<Prepared>> {
        let members = self.members.iter();
        members
            .map(|member| member.predictor.prepare(documents))
            .collect()
    }

    /// The best labels of each document, best first.
    pub(crate) fn rank(
        &self,
        prepared: &[Prepared],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let mut rankings = self.rank_all(prepared, options)?;
        for ranking in &mut rankings {
            ranking.truncate(options.top_k);
        }
        Ok(rankings)
    }

    /// The score of one label for one document, as ranking gives it.
    pub(crate) fn score(&self, document: &Document, label: LabelId) -> Result<f32> {
        let prepared = self.prepare(std::slice::from_ref(document))?;
        let options = RankOptions {
            top_k: self.config.depth,
            beam: None,
        };
        let rankings = self.rank_all(&prepared, options)?;
        let mut ranked = rankings.iter().flatten();
        Ok(ranked
            .find(|scored| scored.label == label)
            .map_or(0.0, |scored| scored.score))
    }

    /// All labels that some member ranks, best first.
    fn rank_all(
        &self,
        prepared: &[Prepared],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let votes = self.votes_for(prepared, options)?;
        // Networks are not for several threads at once, so that these get no more than they need.
        let (combiner, train_counts) = (&self.combiner, &self.train_counts);
        Ok(votes
            .into_par_iter()
            .map(|votes| combiner.combine(votes, train_counts))
            .collect())
    }

    /// What the members rank for documents.
    pub(super) fn votes(&self, documents: &[Document]) -> Result<Vec<Vec<Vote>>> {
        let options = RankOptions {
            top_k: self.config.depth,
            beam: None,
        };
        self.votes_for(&self.prepare(documents)?, options)
    }

    fn votes_for(&self, prepared: &[Prepared], options: RankOptions) -> Result<Vec<Vec<Vote>>> {
        if prepared.len() != self.members.len() {
            return Err(crate::prepared::of_another_model());
        }
        let options = RankOptions {
            top_k: options.top_k.max(self.config.depth),
            ..options
        };
        let mut votes: Vec<Vec<Vote>> = Vec::new();
        for (place, (member, prepared)) in self.members.iter().zip(prepared).enumerate() {
            let rankings = member.predictor.rank_prepared(prepared, options)?;
            votes.resize_with(rankings.len(), Vec::new);
            for (votes, ranking) in votes.iter_mut().zip(rankings) {
                let ranking = ranking.into_iter().enumerate();
                votes.extend(ranking.map(|(rank, scored)| Vote {
                    label: member.ensemble_ids[scored.label.index()],
                    member: place,
                    rank: rank + 1,
                    score: scored.score,
                }));
            }
        }
        Ok(votes)
    }
}

impl Member {
    fn open(found: MemberFolder, labels: &LabelSpace, compute: Compute) -> Result<Self> {
        let predictor = Predictor::from_folder(&found.folder, compute)?;
        let own = predictor.labels().labels().iter();
        let ensemble_ids = own
            .map(|label| {
                labels.id(&label.key).ok_or_else(|| {
                    Error::model(
                        &found.folder.folder().join(LABELS_FILE),
                        format!("the ensemble does not have the label {}", label.key),
                    )
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            name: found.name,
            predictor,
            ensemble_ids,
        })
    }

    /// Its folder from that of the ensemble (`member-0`, or `../parabel` where it was not copied).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model, which has label ids of its own.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// The member's own id of a label of the ensemble, if it knows it.
    pub fn own_label(&self, label: LabelId) -> Option<LabelId> {
        let own = self.ensemble_ids.iter().position(|&id| id == label)?;
        Some(LabelId(own as u32))
    }

    /// The ensemble's labels for labels of the member.
    pub(crate) fn ensemble_labels(&self, own: &[LabelId]) -> Vec<LabelId> {
        own.iter()
            .map(|label| self.ensemble_ids[label.index()])
            .collect()
    }
}
