//! LightAttention's head: clusters of labels attend to the words and recall, the labels of the best
//! clusters are held against the text and ranked, and both learn at once.
//!
//! The generator is AttentionXML's head with clusters for labels. With the attention vector w of a
//! label, its vector E and states h the discriminator has m = Σ softmax(w·h) h and the logit
//! E·a(W m + b): AttentionXML's head over the candidates alone. A label's score is the product of its
//! own probability and its cluster's. Candidates are chosen as in Jiang et al. 2021.

mod discriminator;

use tch::{Device, Kind, Tensor};

use super::attention::{Attention, LearntApart, Lesson};
use super::attention_form::AttentionForm;
use super::shared_context::InContext;
use super::{HeadNeed, Scored, StatesHead, StatesInput};
use crate::Result;
use crate::head::candidates::{Candidates, ClusterChoice, ListedCandidates};
use crate::head::document_lists::DocumentLists;
use crate::head::{
    Clusters, HeadStep, LabelFacts, LabelHead, LabelPlaces, Phase, Ranked, send_back,
};
use crate::parameters::{DenseParametersBuilder, TableRows};
use crate::start::Start;
use crate::train::{Learnt, LossScale};
use crate::words::clustered_attention_config::ClusteredAttentionConfig;
use discriminator::Discriminator;

/// Generator and discriminator.
#[derive(Debug)]
pub(crate) struct ClusteredAttention {
    generator: Attention,
    choice: ClusterChoice,
    discriminator: Discriminator,
    /// How much the score of its cluster counts in a label's.
    path_weight: f64,
    /// Which table of the parameters holds the rows of the labels.
    table: usize,
}

/// What a new head starts from.
pub(crate) struct ClusteredAttentionSetup<'a> {
    pub(crate) config: &'a ClusteredAttentionConfig,
    /// Numbers of a state.
    pub(crate) width: usize,
    pub(crate) clusters: &'a Clusters,
    /// Training documents of each cluster, see [`Clusters::count_documents`].
    pub(crate) cluster_facts: LabelFacts<'a>,
    pub(crate) labels: LabelFacts<'a>,
    /// Clusters of a document in training.
    pub(crate) beam: usize,
    /// Labels computed together; 0 chooses.
    pub(crate) label_chunk: usize,
    /// Which table of the parameters will hold the rows of the labels.
    pub(crate) table: usize,
    pub(crate) device: Device,
}

impl ClusteredAttention {
    /// A fresh head, and the first rows of the labels.
    pub(crate) fn new(
        setup: &ClusteredAttentionSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let form = AttentionForm {
            name: "head.generator",
            ..AttentionForm::plain(setup.config.generator.clone(), setup.width)
        };
        let facts = &setup.cluster_facts;
        let of_generator = start.named("generator");
        let mut generator = Attention::of_all(form, facts, builder, of_generator);
        generator.set_chunk(setup.label_chunk);
        let of_discriminator = start.named("discriminator");
        let (discriminator, rows) = Discriminator::new(setup, builder, of_discriminator);
        let head = Self {
            generator,
            choice: ClusterChoice::new(setup.clusters, setup.beam, setup.device),
            discriminator,
            path_weight: setup.config.discriminator.path_weight,
            table: setup.table,
        };
        (head, rows)
    }

    fn learn_labels(
        &self,
        input: &StatesInput<'_>,
        candidates: &Candidates,
        targets: &LabelPlaces,
        step_scale: f64,
    ) -> (LearntApart, TableRows) {
        let ListedCandidates {
            lists,
            places,
            weights,
            truth,
        } = tch::no_grad(|| self.choice.listed(candidates, targets));
        let rows = self.gather(input, candidates.labels());
        let learnt = match &self.discriminator {
            Discriminator::Label(attention) => {
                let lesson = Lesson {
                    scored: &Scored::Candidates {
                        rows: &rows,
                        places: &places,
                        filled: &weights,
                    },
                    targets: &truth,
                    added_to: None,
                    scale: step_scale,
                };
                attention.learn_apart(input, &lesson, |_| {})
            }
            Discriminator::Cluster(shared) | Discriminator::Document(shared) => {
                let beside = (
                    targets.documents(),
                    self.choice.clusters_of(&targets.labels()),
                );
                let asked = Asked {
                    rows: &rows,
                    places: &places,
                    lists: &lists,
                    chosen: candidates.chosen(),
                    beside: Some(&beside),
                };
                let contexts = self.contexts(input, &asked);
                let hidden = shared.hidden(&input.parameters.dense, contexts.vectors);
                let in_context = asked.in_context(&hidden, &contexts.columns);
                shared.learn_apart(input, &in_context, (&weights, &truth), step_scale)
            }
        };
        (learnt, rows)
    }

    /// Scores of candidates before the sigmoid.
    ///
    /// # Shapes
    /// Gives documents x candidates; padding has a number that means nothing.
    fn label_logits(&self, input: &StatesInput<'_>, asked: &Asked<'_>) -> Tensor {
        match &self.discriminator {
            Discriminator::Label(attention) => {
                let scored = Scored::Candidates {
                    rows: asked.rows,
                    places: asked.places,
                    filled: &asked.lists.is_listed.to_kind(Kind::Float),
                };
                attention.logits(input, &scored)
            }
            Discriminator::Cluster(shared) | Discriminator::Document(shared) => {
                let contexts = self.contexts(input, asked);
                let hidden = shared.hidden(&input.parameters.dense, contexts.vectors);
                shared.logits(input, &asked.in_context(&hidden, &contexts.columns))
            }
        }
    }

    /// What the labels of a document share, and which of it is each candidate's.
    fn contexts(&self, input: &StatesInput<'_>, asked: &Asked<'_>) -> Contexts {
        let lists = asked.lists;
        if !matches!(self.discriminator, Discriminator::Cluster(_)) {
            return Contexts {
                vectors: mean_state(input),
                columns: lists.numbers.zeros_like(),
            };
        }
        let (clusters, columns) = tch::no_grad(|| {
            let clusters = self.choice.list_clusters(asked.chosen, asked.beside);
            let of_labels = self.choice.clusters_of(&lists.numbers);
            let columns = clusters.columns_of(&of_labels, &lists.is_listed);
            (clusters.numbers, columns)
        });
        let vectors = self.generator.contexts(input, &clusters);
        Contexts { vectors, columns }
    }

    /// The rows of some labels.
    fn gather(&self, input: &StatesInput<'_>, labels: &Tensor) -> TableRows {
        input.parameters.tables[self.table].gather(self.table, labels)
    }
}

impl LabelHead<StatesInput<'_>> for ClusteredAttention {
    /// The loss is that of clusters and that of candidates, each summed or averaged as the step says, and
    /// averaged over documents.
    fn learn(&self, input: &StatesInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let (targets, scale, step_scale) = (step.targets, step.loss, step.part.scale);
        let per_document = match scale {
            LossScale::Sum => 1,
            LossScale::Mean => self.choice.num_clusters(),
        };
        let share = 1.0 / (targets.num_documents() as i64 * per_document) as f64;
        let choose = |logits: &Tensor| {
            let said = self.choice.recalled(logits, targets);
            self.choice.choose(&said, targets, scale)
        };
        if step.phase == Phase::Rank {
            let chosen = tch::no_grad(|| choose(&self.generator.logits(input, &Scored::All)));
            let (ranked, rows) = self.learn_labels(input, &chosen, targets, step_scale);
            send_back(&ranked.back);
            return Ok(Learnt {
                loss: ranked.loss,
                rows: vec![rows],
            });
        }
        let mut chunks = Vec::new();
        let recalled = self.generator.learn_apart(
            input,
            &Lesson {
                scored: &Scored::All,
                targets: &self.choice.truth(targets),
                added_to: None,
                scale: share * step_scale,
            },
            |logits| chunks.push(logits.shallow_clone()),
        );
        if step.phase == Phase::Recall {
            send_back(&recalled.back);
            return Ok(Learnt {
                loss: recalled.loss * share,
                rows: Vec::new(),
            });
        }
        let candidates = tch::no_grad(|| choose(&Tensor::cat(&chunks, 1)));
        let (ranked, rows) = self.learn_labels(input, &candidates, targets, step_scale);
        let back: Vec<(Tensor, Tensor)> = recalled.back.into_iter().chain(ranked.back).collect();
        send_back(&back);
        Ok(Learnt {
            loss: recalled.loss * share + ranked.loss,
            rows: vec![rows],
        })
    }

    fn rank(&self, input: &StatesInput<'_>, beam: usize, keep: usize) -> Ranked {
        let _no_grad = tch::no_grad_guard();
        let of_clusters = self.generator.logits(input, &Scored::All).log_sigmoid();
        let (_, chosen) = self.choice.best(&of_clusters, beam);
        let lists = self.choice.list(&chosen, None);
        let labels = self.choice.labels_of(&chosen);
        let places = lists.numbers.bucketize(&labels, false, false);
        let asked = Asked {
            rows: &self.gather(input, &labels),
            places: &(places * lists.is_listed.to_kind(Kind::Int64)),
            lists: &lists,
            chosen: &chosen,
            beside: None,
        };
        let logits = self.label_logits(input, &asked);
        let paths = of_clusters.gather(1, &self.choice.clusters_of(&lists.numbers), false);
        let scores = (logits.log_sigmoid() + paths * self.path_weight)
            .masked_fill(&lists.is_listed.logical_not(), f64::NEG_INFINITY);
        let keep = (keep as i64).min(scores.size()[1]);
        let (log_scores, columns) = scores.topk(keep, 1, true, true);
        Ranked {
            labels: lists.numbers.gather(1, &columns, false),
            log_scores,
        }
    }
}

impl StatesHead for ClusteredAttention {
    /// How strongly a label attends to each word; where labels have no attention of their own, how
    /// strongly the label's cluster does.
    fn attention(&self, input: &StatesInput<'_>, label: u32) -> Option<Tensor> {
        match &self.discriminator {
            Discriminator::Label(attention) => attention.attention(input, label),
            Discriminator::Cluster(_) | Discriminator::Document(_) => {
                let cluster = self.choice.cluster_of(label);
                self.generator.attention(input, cluster)
            }
        }
    }

    fn need(&self, batch: (i64, i64), device: Device) -> HeadNeed {
        let num_candidates = self.choice.num_candidates();
        let num_clusters = self.choice.num_clusters();
        let of_labels = self.discriminator.map_size(batch, num_candidates, device);
        let of_clusters = self.generator.map_size(batch, num_clusters, device);
        HeadNeed {
            map_size: of_labels.max(of_clusters),
            num_scored: num_clusters + num_candidates,
            num_rows: (batch.0 * num_candidates).min(self.choice.num_labels()),
        }
    }

    #[cfg(test)]
    fn as_clustered(&self) -> Option<&ClusteredAttention> {
        Some(self)
    }
}

/// The candidates that are to be scored.
struct Asked<'a> {
    /// The rows of all labels that a document of the batch has as a candidate.
    rows: &'a TableRows,
    /// documents x candidates: places among those rows; zero for padding.
    places: &'a Tensor,
    lists: &'a DocumentLists,
    /// documents x clusters of each.
    chosen: &'a Tensor,
    /// Documents and further clusters whose labels they have as candidates.
    beside: Option<&'a (Tensor, Tensor)>,
}

impl<'a> Asked<'a> {
    fn in_context(&self, hidden: &'a Tensor, columns: &'a Tensor) -> InContext<'a> {
        InContext {
            hidden,
            columns,
            rows: self.rows,
            places: self.places,
        }
    }
}

/// What the labels of the documents share.
struct Contexts {
    /// documents x contexts x width of a state.
    vectors: Tensor,
    /// documents x candidates: which of them is a candidate's.
    columns: Tensor,
}

/// The mean of a document's states, which are zero where it is over.
///
/// # Shapes
/// Gives documents x 1 x width.
fn mean_state(input: &StatesInput<'_>) -> Tensor {
    let states = input.states;
    let sum = states.sum_dim_intlist(1, true, Kind::Float);
    let mean = match input.mask {
        Some(mask) => sum / mask.sum_dim_intlist(1, true, Kind::Float).unsqueeze(-1),
        None => sum / states.size()[1] as f64,
    };
    mean.to_kind(states.kind())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::Said;
