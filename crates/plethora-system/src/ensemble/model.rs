//! An ensemble that is ready to rank.

use std::cmp::Ordering;

use plethora_core::artifact::{CONFIG_FILE, LABELS_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{Content, Document};
use plethora_core::{Error, LabelId, Message, Result};
use rayon::prelude::*;

use super::combiner::{Combiner, Vote};
use super::config::EnsembleConfig;
use super::member_folder::MemberFolder;
use crate::{
    Embeddings, ExplainingMember, ExplainingNeighbour, Explanation, OpenParts, Predictor,
    RankOptions, Ranker, Rankings,
};

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
    /// Ids in the ensemble of the member's own labels; none for labels that the ensemble was rid of.
    ensemble_ids: Vec<Option<LabelId>>,
}

impl EnsembleModel {
    /// Opens all members of an ensemble.
    ///
    /// # Errors
    /// [`Error::Model`] if a member cannot be opened or does not fit the ensemble;
    /// [`Error::Config`] if the machine has no such device.
    pub(super) fn open(folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Self> {
        let config = EnsembleConfig::of(folder)?;
        let found = MemberFolder::all(folder, &config)?;
        Self::new(config, found, parts)
    }

    /// An ensemble of members that were found somewhere.
    pub(super) fn new(
        config: EnsembleConfig,
        found: Vec<MemberFolder>,
        parts: &OpenParts<'_>,
    ) -> Result<Self> {
        let members = (found.into_iter())
            .map(|found| {
                if found.details.takes_text != parts.details.takes_text {
                    let message = "takes other documents than the ensemble";
                    return Err(Error::model(found.folder.folder(), message));
                }
                Member::open(found, parts)
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            combiner: Combiner::new(&config, parts.labels),
            config,
            members,
            train_counts: parts.labels.train_counts().to_vec(),
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

    /// The score of one label for one document, as ranking gives it.
    fn score(&self, document: &Document, label: LabelId) -> Result<f32> {
        let rankings = self.rank_all(std::slice::from_ref(document), self.usual())?;
        let mut ranked = rankings.labels.iter().flatten();
        Ok(ranked
            .find(|scored| scored.label == label)
            .map_or(0.0, |scored| scored.score))
    }

    /// All labels that some member ranks, best first.
    fn rank_all(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let (votes, features_s) = self.votes_for(documents, options)?;
        // Networks are not for several threads at once, so that these get no more than they need.
        let (combiner, train_counts) = (&self.combiner, &self.train_counts);
        Ok(Rankings {
            labels: votes
                .into_par_iter()
                .map(|votes| combiner.combine(votes, train_counts))
                .collect(),
            features_s,
        })
    }

    /// What the members rank for documents.
    pub(super) fn votes(&self, documents: &[Document]) -> Result<Vec<Vec<Vote>>> {
        Ok(self.votes_for(documents, self.usual())?.0)
    }

    /// As deep as the members are asked for.
    fn usual(&self) -> RankOptions {
        RankOptions {
            top_k: self.config.depth,
            beam: None,
        }
    }

    /// The votes, and the seconds that features took.
    fn votes_for(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> Result<(Vec<Vec<Vote>>, f64)> {
        let options = RankOptions {
            top_k: options.top_k.max(self.config.depth),
            ..options
        };
        let mut votes: Vec<Vec<Vote>> = vec![Vec::new(); documents.len()];
        let mut features_s = 0.0;
        for (place, member) in self.members.iter().enumerate() {
            let rankings = member.predictor.rank_timed(documents, options)?;
            features_s += rankings.features_s;
            for (votes, ranking) in votes.iter_mut().zip(rankings.labels) {
                let known = ranking.into_iter().filter_map(|scored| {
                    let label = member.ensemble_ids[scored.label.index()]?;
                    Some((label, scored.score))
                });
                votes.extend(known.enumerate().map(|(rank, (label, score))| Vote {
                    label,
                    member: place,
                    rank: rank + 1,
                    score,
                }));
            }
        }
        Ok((votes, features_s))
    }
}

impl Ranker for EnsembleModel {
    fn rank(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let mut rankings = self.rank_all(documents, options)?;
        for ranking in &mut rankings.labels {
            ranking.truncate(options.top_k);
        }
        Ok(rankings)
    }

    /// Those of the first member that has any.
    fn embed(&self, texts: &[&str]) -> Result<Option<Embeddings>> {
        let members = self.members.iter().map(|member| &member.predictor);
        for predictor in members {
            if let Some(found) = predictor.ranker().embed(texts)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Weights of different systems cannot be added up, so that one member speaks for all: the one that
    /// says most for the label, of those that name a place or a document.
    fn explain(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let mut reason = Message::new("none of them knows it");
        let mut best: Option<(bool, f64, &Member, Explanation)> = None;
        for (member, weight) in self.members.iter().zip(&self.config.weights) {
            let Some(own_label) = member.own_label(label) else {
                continue;
            };
            let found = match member.predictor.explain(text, own_label) {
                Ok(found) => found,
                Err(Error::Data(message)) => {
                    reason = message;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let says_why = !found.spans.is_empty() || !found.neighbours.is_empty();
            let says = f64::from(found.score) * weight;
            let is_better = |other: &(bool, f64, &Member, Explanation)| {
                (says_why, says).partial_cmp(&(other.0, other.1)) == Some(Ordering::Greater)
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((says_why, says, member, found));
            }
        }
        let Some((_, _, member, found)) = best else {
            let refused = Message::new("no member of the ensemble can explain the label: ");
            return Err(Error::Data(refused.message(reason)));
        };
        let document = Document {
            id: String::new(),
            content: Content::Text(text.to_owned()),
            labels: Vec::new(),
        };
        let score = self.score(&document, label)?;
        Ok(member.speaks(found, label, score))
    }

    /// Members are copied by [`EnsembleParts`](super::EnsembleParts), which knows where they are.
    fn save(&self, _work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        writer.write_json(CONFIG_FILE, &self.config)
    }

    /// As many as the member that takes the fewest.
    fn documents_per_batch(&self) -> usize {
        let members = self.members.iter();
        let sizes = members.map(|member| member.predictor.documents_per_batch());
        sizes.min().unwrap_or(1)
    }
}

impl Member {
    fn open(found: MemberFolder, parts: &OpenParts<'_>) -> Result<Self> {
        let labels = parts.labels;
        let predictor = Predictor::from_folder(&found.folder, parts.registry, parts.compute)?;
        let own = predictor.labels().labels().iter();
        let ensemble_ids: Vec<_> = own.map(|label| labels.id(&label.key)).collect();
        if ensemble_ids.iter().all(Option::is_none) {
            let path = found.folder.folder().join(LABELS_FILE);
            return Err(Error::model(&path, "the ensemble has none of the labels"));
        }
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
        let own = self.ensemble_ids.iter().position(|&id| id == Some(label))?;
        Some(LabelId(own as u32))
    }

    /// What the member says of a label, as the ensemble's explanation.
    fn speaks(&self, found: Explanation, label: LabelId, score: f32) -> Explanation {
        Explanation {
            label,
            score,
            network_score: None,
            member: Some(match found.member {
                Some(inner) => ExplainingMember {
                    name: format!("{}/{}", self.name, inner.name),
                    ..inner
                },
                None => ExplainingMember {
                    name: self.name.clone(),
                    system: self.predictor.details().system.clone(),
                },
            }),
            neighbours: (found.neighbours.into_iter())
                .map(|neighbour| ExplainingNeighbour {
                    labels: self.ensemble_labels(&neighbour.labels),
                    ..neighbour
                })
                .collect(),
            ..found
        }
    }

    /// The ensemble's labels for labels of the member.
    fn ensemble_labels(&self, own: &[LabelId]) -> Vec<LabelId> {
        own.iter()
            .filter_map(|label| self.ensemble_ids[label.index()])
            .collect()
    }
}
