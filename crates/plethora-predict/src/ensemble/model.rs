//! An ensemble that is ready to rank.

use plethora_core::artifact::{LABELS_FILE, ModelDetails, ModelReader};
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::{Error, LabelId, Result, ScoredLabel};
use plethora_linear::RankOptions;
use rayon::prelude::*;

use super::config::{Combination, EnsembleConfig};
use super::member_folder::MemberFolder;
use crate::{Compute, Predictor, Prepared};

/// Several models that rank as one.
#[derive(Debug)]
pub struct EnsembleModel {
    config: EnsembleConfig,
    members: Vec<Member>,
}

/// A model of an ensemble.
#[derive(Debug)]
pub struct Member {
    name: String,
    predictor: Predictor,
    /// Its share of all weights.
    share: f64,
    /// Ids in the ensemble of the member's own labels.
    ensemble_ids: Vec<LabelId>,
}

/// The score that a member gives to a label of the ensemble.
struct Vote {
    label: LabelId,
    share: f64,
    score: f32,
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
        let members = MemberFolder::all(folder, &config)?
            .into_iter()
            .zip(config.shares())
            .map(|(found, share)| {
                if found.details.takes_text != details.takes_text {
                    let message = "takes other documents than the ensemble";
                    return Err(Error::model(found.folder.folder(), message));
                }
                Member::open(found, share, labels, compute)
            })
            .collect::<Result<_>>()?;
        Ok(Self { config, members })
    }

    /// The settings.
    pub fn config(&self) -> &EnsembleConfig {
        &self.config
    }

    /// The models, in the order of their folders.
    pub fn members(&self) -> &[Member] {
        &self.members
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
        if prepared.len() != self.members.len() {
            return Err(crate::prepared::of_another_model());
        }
        let options = RankOptions {
            top_k: options.top_k.max(self.config.depth),
            ..options
        };
        let mut votes: Vec<Vec<Vote>> = Vec::new();
        for (member, prepared) in self.members.iter().zip(prepared) {
            let rankings = member.predictor.rank_prepared(prepared, options)?;
            votes.resize_with(rankings.len(), Vec::new);
            for (votes, ranking) in votes.iter_mut().zip(rankings) {
                votes.extend(ranking.into_iter().map(|scored| member.vote(scored)));
            }
        }
        // Networks are not for several threads at once, so that these get no more than they need.
        let combination = self.config.combination;
        Ok(votes
            .into_par_iter()
            .map(|votes| combine(votes, combination))
            .collect())
    }
}

impl Member {
    fn open(
        found: MemberFolder,
        share: f64,
        labels: &LabelSpace,
        compute: Compute,
    ) -> Result<Self> {
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
            share,
            ensemble_ids,
        })
    }

    /// Name of its folder in that of the ensemble (`member-0`).
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

    fn vote(&self, scored: ScoredLabel) -> Vote {
        Vote {
            label: self.ensemble_ids[scored.label.index()],
            share: self.share,
            score: scored.score,
        }
    }
}

/// One ranking from the votes of all members.
fn combine(mut votes: Vec<Vote>, combination: Combination) -> Vec<ScoredLabel> {
    // Stable, so that scores are summed in the order of the members.
    votes.sort_by_key(|vote| vote.label);
    let mut ranking: Vec<ScoredLabel> = votes
        .chunk_by(|left, right| left.label == right.label)
        .map(|votes| ScoredLabel {
            label: votes[0].label,
            score: combination.score(votes.iter().map(|vote| (vote.share, vote.score))),
        })
        .collect();
    // Stable, so that of equal scores the first label comes first.
    ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
    ranking
}
