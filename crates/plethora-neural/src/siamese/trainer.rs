//! Training: rounds of mining and learning, then one vector per label.

use std::collections::BTreeMap;

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::DenseIndex;
use plethora_core::{IndexRows, SeedStream};
use plethora_system::RunContext;

use super::batches::{KnownLabels, SiameseBatches};
use super::config::{OpenSiameseConfig, SiameseConfig};
use super::mining::{truth_among, wrong_labels};
use super::model::LABELS_FILE;
use super::network::SiameseNetwork;
use super::projection::{PROJECTION_FILE, Projection};
use super::prototypes::{LEARNT_FILE, Learnt, Means, Parts, with_free};
use super::search::nearest;
use super::training_set::{SiameseSet, Texts, ValidationSet};
use super::validator::SiameseValidator;
use crate::dense::text_vectors::TextVectors;
use crate::pretrained::Cut;
use crate::systems::chosen::Chosen;
use crate::systems::journal::Journal;
use crate::systems::returning::{FIRST, SECOND};
use crate::systems::run_settings::share_of_epochs;
use crate::systems::validation::{DEPTH, truths, validation};
use crate::systems::validation_documents::Split;
use crate::systems::vectors::Vectors;
use crate::train::{TrainConfig, Trainer, TrainingLength};
use crate::{Result, open_device};

/// Weights of means that are tried.
const CENTROIDS: [f32; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The weight where there are too few documents to choose by.
pub(super) const USUAL_CENTROID: f32 = 1.0;

/// A run.
pub(super) struct SiameseTrainer<'a> {
    pub(super) set: &'a SiameseSet,
    /// Documents to choose by, where some are given.
    pub(super) valid: Option<&'a ValidationSet>,
    /// The settings as they were asked for, and with what was chosen of them.
    pub(super) open: &'a OpenSiameseConfig,
    pub(super) config: &'a SiameseConfig,
    pub(super) run: &'a RunContext<'a>,
    /// Says which data and settings the run has.
    pub(super) fingerprint: &'a str,
}

/// Documents to train on, and to choose by.
struct Documents<'a> {
    trained: &'a [u32],
    valid: &'a ValidationSet,
}

/// One training of the network.
struct Pass<'a> {
    documents: Documents<'a>,
    known: KnownLabels,
    work: &'a WorkFolder,
    /// What an earlier one without the held-back documents has chosen.
    chosen: Option<&'a Chosen<SiameseConfig>>,
}

/// A network, and the encoder where it stands behind one that stays as it is.
struct TrainedNetwork {
    network: SiameseNetwork,
    frozen: Option<TextVectors>,
}

impl SiameseTrainer<'_> {
    /// Trains and writes the vectors of labels into `work`; gives the settings with the weight of means, and
    /// the encoder.
    pub(super) fn run(
        &self,
        encoder: TextVectors,
        work: &WorkFolder,
    ) -> Result<(SiameseConfig, TextVectors)> {
        let total = self.num_documents();
        let split = if self.valid.is_some() {
            Split::none_held(total)
        } else {
            let seed = SeedStream::new(self.config.seed);
            Split::hold_back(total, self.config.train.holding_back(), seed)
        };
        let held = self.set.held_back(&split.held);
        let pass = Pass {
            documents: Documents {
                trained: &split.documents,
                valid: self.valid.unwrap_or(&held),
            },
            known: KnownLabels::new(self.set, &split.documents),
            work,
            chosen: None,
        };
        let returns = self.config.train.return_held_back && !split.held.is_empty();
        if returns && self.trains() {
            return self.run_twice(encoder, pass, work);
        }
        let (trained, chosen) = self.train(encoder, &pass, Journal::new(work.folder()))?;
        self.write_labels(&trained.network, &pass, &chosen.config)?;
        Ok((chosen.config, trained.into_encoder()))
    }

    /// First without the held-back documents, then with them, for as long as they have chosen.
    fn run_twice(
        &self,
        mut encoder: TextVectors,
        pass: Pass<'_>,
        work: &WorkFolder,
    ) -> Result<(SiameseConfig, TextVectors)> {
        let chosen = if let Some(chosen) = Chosen::read(work)? {
            chosen
        } else {
            let first = WorkFolder::open(&work.path(FIRST), self.fingerprint, true)?;
            let pass = Pass {
                work: &first,
                ..pass
            };
            let journal = Journal::new(work.folder());
            let (trained, chosen) = self.train(encoder, &pass, journal)?;
            encoder = match trained.frozen {
                Some(frozen) => frozen,
                // This one has learnt.
                None => self.open.load_encoder(self.run)?.1,
            };
            chosen.write(work)?;
            first.remove()?;
            chosen
        };
        let all: Vec<u32> = (0..self.num_documents() as u32).collect();
        let pass = Pass {
            documents: Documents {
                trained: &all,
                valid: &ValidationSet::none(),
            },
            known: KnownLabels::new(self.set, &all),
            work,
            chosen: Some(&chosen),
        };
        let journal = Journal::behind(work.folder(), chosen.log, SECOND);
        let (trained, _) = self.train(encoder, &pass, journal)?;
        self.write_labels(&trained.network, &pass, &chosen.config)?;
        Ok((chosen.config.clone(), trained.into_encoder()))
    }

    /// Trains a network, and chooses how long that takes and how much means count.
    fn train(
        &self,
        encoder: TextVectors,
        pass: &Pass<'_>,
        mut journal: Journal<'_>,
    ) -> Result<(TrainedNetwork, Chosen<SiameseConfig>)> {
        let device = open_device(self.run.compute.device)?;
        let width = encoder.encoder().width();
        let num_after = encoder.reader().pieces.num_after();
        let cut = Cut::new(self.config.document.max_length, num_after, device);
        let num_free = pass.known.labels.len();
        let mut frozen = None;
        let network = if self.config.encoder.trained {
            SiameseNetwork::encoded(self.config, encoder, num_free)
        } else {
            frozen = Some(encoder);
            SiameseNetwork::projected(self.config, width, num_free, device)
        };
        let lengths = if self.trains() {
            self.train_rounds(&network, pass, cut, &mut journal)?
        } else {
            BTreeMap::new()
        };
        network.refresh();
        let mut config = self.config.clone();
        config.labels.centroid = match pass.chosen {
            Some(chosen) => chosen.config.labels.centroid,
            None => self.centroid(&network, pass)?,
        };
        let chosen = Chosen {
            config,
            lengths,
            fitted: Vec::new(),
            log: journal.place(),
        };
        Ok((TrainedNetwork { network, frozen }, chosen))
    }

    /// Documents that are learnt from.
    fn num_documents(&self) -> usize {
        if self.config.learns_from_documents() {
            self.set.labels_of_documents.num_rows()
        } else {
            0
        }
    }

    /// False where names, and the means of documents, are all there is.
    pub(super) fn trains(&self) -> bool {
        self.config.train.epochs > 0 && self.num_documents() > 0
    }

    fn train_rounds(
        &self,
        network: &SiameseNetwork,
        pass: &Pass<'_>,
        cut: Cut,
        journal: &mut Journal<'_>,
    ) -> Result<BTreeMap<String, TrainingLength>> {
        let Pass {
            documents, known, ..
        } = pass;
        let device = open_device(self.run.compute.device)?;
        let names = self.set.names.some(&known.labels);
        let is_named: Vec<bool> = (known.labels.iter())
            .map(|&label| self.set.is_named[label as usize])
            .collect();
        let epochs = share_of_epochs(self.config.train.epochs, self.run.epoch_share);
        // Where every batch meets every label, there is nothing to look for.
        let has_all = self.set.space.len() <= self.config.negatives.pool;
        let rounds = if has_all {
            1
        } else {
            self.config.negatives.rounds.min(epochs)
        };
        let mut lengths = BTreeMap::new();
        for round in 0..rounds {
            let mined = if has_all || self.config.negatives.mined == 0 {
                documents.trained.iter().map(|_| []).collect()
            } else {
                self.mine(network, documents, known, (&names, &is_named))?
            };
            let seed = SeedStream::new(self.config.seed)
                .named("round")
                .child(round as u64);
            let batches = SiameseBatches {
                set: self.set,
                documents: documents.trained,
                known,
                mined: &mined,
                pool: self.config.negatives.pool,
                cut,
                seed: seed.named("pool"),
            };
            let mut validator = SiameseValidator {
                valid: documents.valid,
                known,
                set: self.set,
                device,
            };
            let validator = (!documents.valid.is_empty()).then_some(&mut validator as _);
            let train = TrainConfig {
                epochs: epochs * (round + 1) / rounds - epochs * round / rounds,
                ..self.config.train.clone()
            };
            let name = format!("round-{round}");
            journal.begin(match rounds {
                1 => String::new(),
                _ => format!("{name}/"),
            });
            let outcome = Trainer {
                config: &train,
                seed: seed.named("training"),
                work: pass.work,
                name: &name,
                length: (pass.chosen).and_then(|chosen| chosen.lengths.get(&name).copied()),
                progress: self.run.progress,
                journal,
            }
            .run(network, &batches, validator)?;
            journal.end(outcome.steps, outcome.epochs);
            lengths.insert(name, outcome.kept);
        }
        Ok(lengths)
    }

    /// The nearest wrong labels of the documents that are trained on.
    fn mine(
        &self,
        network: &SiameseNetwork,
        documents: &Documents<'_>,
        known: &KnownLabels,
        (names, is_named): (&Texts, &[bool]),
    ) -> Result<IndexRows> {
        self.run.check_interrupt()?;
        let progress = self.run.progress;
        progress.start("mining", None);
        network.refresh();
        let labels = with_free(
            &network.vectors(names)?,
            is_named,
            network.free().as_deref(),
        );
        let vectors = network.vectors(&self.set.documents.some(documents.trained))?;
        let truth = truth_among(&self.set.labels_of_documents, documents.trained, known);
        let device = open_device(self.run.compute.device)?;
        let count = self.config.negatives.mined;
        let mined = wrong_labels(&vectors, &labels, &truth, (count, device));
        progress.finish(&format!("{} wrong labels", mined.num_items()));
        Ok(mined)
    }

    /// How much the means of documents count: what ranks those best that are not trained on.
    fn centroid(&self, network: &SiameseNetwork, pass: &Pass<'_>) -> Result<f32> {
        if let Some(weight) = self.open.labels.centroid.set() {
            return Ok(weight);
        }
        let Documents { trained, valid } = pass.documents;
        if valid.is_empty() || self.num_documents() == 0 {
            return Ok(USUAL_CENTROID);
        }
        let vectors = self.vectors(network)?;
        let asked = network.vectors(&valid.documents)?;
        let (mut best, mut best_score) = (USUAL_CENTROID, f64::NEG_INFINITY);
        for weight in CENTROIDS {
            self.run.check_interrupt()?;
            let learnt = self.learnt(network, pass, &vectors, (trained, weight));
            let score = self.quality(&learnt, &vectors.names, (&asked, valid))?;
            tracing::debug!("means of documents with weight {weight}: {score:.4}");
            if score > best_score {
                (best, best_score) = (weight, score);
            }
        }
        Ok(best)
    }

    /// Writes one vector of each label, from all documents.
    fn write_labels(
        &self,
        network: &SiameseNetwork,
        pass: &Pass<'_>,
        config: &SiameseConfig,
    ) -> Result<()> {
        let (progress, work) = (self.run.progress, pass.work);
        progress.start("labels", None);
        self.run.check_interrupt()?;
        let set = self.set;
        let vectors = self.vectors(network)?;
        let all: Vec<u32> = (0..self.num_documents() as u32).collect();
        let weight = config.labels.centroid;
        let learnt = self.learnt(network, pass, &vectors, (&all, weight));
        learnt.write(&work.path(LEARNT_FILE))?;
        let labels = learnt.vectors(&vectors.names, &set.is_named);
        DenseIndex::write_halves(labels.bits(), labels.width(), &work.path(LABELS_FILE))?;
        if let Some(values) = network.projection().filter(|_| self.trains()) {
            Projection::write(&values, &work.path(PROJECTION_FILE))?;
        }
        progress.finish(&format!(
            "{} vectors, {} of them with documents, which count {weight}",
            labels.len(),
            learnt.labels.len(),
        ));
        Ok(())
    }

    fn vectors(&self, network: &SiameseNetwork) -> Result<SetVectors> {
        Ok(SetVectors {
            names: network.vectors(&self.set.names)?,
            documents: network.vectors(&self.set.documents)?,
        })
    }

    /// What labels learn from their documents among these, whose means count so much.
    fn learnt(
        &self,
        network: &SiameseNetwork,
        pass: &Pass<'_>,
        vectors: &SetVectors,
        (documents, weight): (&[u32], f32),
    ) -> Learnt {
        let set = self.set;
        let free = network.free().filter(|_| self.trains());
        let free = free.as_deref().map(|rows| (&pass.known.labels[..], rows));
        let rows = &set.labels_of_documents;
        let means = Means::new(&vectors.documents, rows, documents, set.space.len());
        let parts = Parts {
            names: &vectors.names,
            is_named: &set.is_named,
            free,
            means: &means,
        };
        parts.learnt(weight, self.config.labels.shrinkage)
    }

    fn quality(
        &self,
        learnt: &Learnt,
        names: &Vectors,
        (documents, valid): (&Vectors, &ValidationSet),
    ) -> Result<f64> {
        let labels = learnt.vectors(names, &self.set.is_named);
        let device = open_device(self.run.compute.device)?;
        let rankings = nearest(documents, &labels, DEPTH, device);
        let truths = truths(&valid.labels);
        Ok(validation(self.set.space.len(), truths.zip(rankings))?.score)
    }
}

/// Names of labels and documents by a network.
struct SetVectors {
    names: Vectors,
    documents: Vectors,
}

impl TrainedNetwork {
    fn into_encoder(self) -> TextVectors {
        let encoder = self.frozen.or_else(|| self.network.into_encoder());
        encoder.expect("a network has an encoder, or stands behind one")
    }
}
