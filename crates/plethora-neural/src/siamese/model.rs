//! A trained model: an encoder and a vector per label.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::neighbours::{DenseIndex, Neighbour, Queries};
use plethora_core::training_log::TrainingLog;
use plethora_core::{Error, LabelId, ScoredLabel};
use plethora_system::resources::cpu_seconds;
use plethora_system::{Compute, Embeddings, Explanation, RankOptions, Ranker, Rankings};

use super::config::SiameseConfig;
use super::projection::{PROJECTION_FILE, Projection};
use super::prototypes::LEARNT_FILE;
use crate::dense::encoder::FrozenEncoder;
use crate::dense::text_vectors::TextVectors;
use crate::guard::guarded;
use crate::precision::prediction_numbers;
use crate::pretrained::{PieceReader, Pieces, check_fit};
use crate::systems::network_file::folder_of;
use crate::systems::reading::text_of;
use crate::transformer::trained_folder::ARCHITECTURE_FILE;
use crate::{Result, open_device};

/// Name of the vectors of labels in a model folder.
pub(super) const LABELS_FILE: &str = "label_vectors.safetensors";

/// Labels that share what a document gives: the nearest ones, whatever number is asked for.
const COMPETING: usize = 100;

/// Encodes texts and looks for the nearest labels.
#[derive(Debug)]
pub struct SiameseModel {
    pub(super) config: SiameseConfig,
    /// Tensors are not made to be shared by threads; everything else is.
    encoder: Mutex<TextVectors>,
    pub(super) projection: Option<Projection>,
    pub(super) labels: DenseIndex,
}

impl SiameseModel {
    /// The model that training has left in `work`.
    pub(super) fn open_unsaved(
        work: &WorkFolder,
        config: SiameseConfig,
        encoder: TextVectors,
        num_labels: usize,
    ) -> Result<Self> {
        let width = encoder.encoder().width();
        let path = work.path(PROJECTION_FILE);
        let projection = if path.is_file() {
            Some(Projection::open(&path, width)?)
        } else {
            None
        };
        let labels = open_labels(&work.path(LABELS_FILE), num_labels, width)?;
        Ok(Self {
            config,
            encoder: Mutex::new(encoder),
            projection,
            labels,
        })
    }

    /// Encoding changes nothing in an encoder, so that a panic leaves it as it was.
    pub(super) fn encoder(&self) -> MutexGuard<'_, TextVectors> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a model folder.
    pub fn open(folder: &ModelReader, num_labels: usize, compute: Compute) -> Result<Self> {
        let config: SiameseConfig = folder.read_json(CONFIG_FILE)?;
        config.validate()?;
        let device = open_device(compute.device)?;
        let numbers = prediction_numbers(compute.precision, device);
        let settings = config.frozen();
        let encoder = guarded(|| FrozenEncoder::open(folder, &settings, (device, numbers)))?;
        let reader = PieceReader {
            pieces: Pieces::load_from(folder.folder())?,
            max_length: config.document.max_length,
        };
        check_fit(
            &settings.transformer(),
            &reader.max_length,
            (encoder.architecture(), &reader.pieces),
            &folder.path(ARCHITECTURE_FILE)?,
        )?;
        let width = encoder.width();
        let projection = if folder.contains(PROJECTION_FILE) {
            Some(Projection::open(&folder.path(PROJECTION_FILE)?, width)?)
        } else {
            None
        };
        let labels = open_labels(&folder.path(LABELS_FILE)?, num_labels, width)?;
        Ok(Self {
            encoder: Mutex::new(TextVectors::new(encoder, reader)),
            config,
            projection,
            labels,
        })
    }

    /// The vectors of texts, of unit length, one behind the other.
    pub(super) fn vectors(&self, texts: &[impl AsRef<str> + Sync]) -> Result<Vec<f32>> {
        let mut values = self.encoder().of_texts(texts)?.to_f32();
        let width = self.labels.width();
        for vector in values.chunks_mut(width) {
            if let Some(projection) = &self.projection {
                let projected = projection.apply(vector);
                vector.copy_from_slice(&projected);
            }
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            if length > 0.0 {
                for value in vector {
                    *value /= length;
                }
            }
        }
        Ok(values)
    }

    /// The best labels of documents with these vectors.
    pub(super) fn rank_vectors(&self, vectors: &[f32], top_k: usize) -> Vec<Vec<ScoredLabel>> {
        let queries = Queries::of_others(top_k.max(COMPETING));
        let found = self.labels.nearest(vectors, &queries);
        let temperature = self.config.labels.temperature as f32;
        found
            .iter()
            .map(|nearest| shares(nearest, temperature, top_k))
            .collect()
    }

    /// The score of a label that is so similar to a document with this vector.
    pub(super) fn score(&self, vector: &[f32], similarity: f32) -> f32 {
        let nearest = (self.labels).nearest(vector, &Queries::of_others(COMPETING));
        let temperature = self.config.labels.temperature as f32;
        // Labels that have nothing in common with a document are not ranked.
        match nearest[0].first() {
            Some(first) if similarity > 0.0 => {
                let best = shares(&nearest[0], temperature, 1)[0].score;
                best * ((similarity - first.similarity) / temperature).exp()
            }
            _ => 0.0,
        }
    }

    fn write(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        for name in [LABELS_FILE, LEARNT_FILE] {
            work.give(name, writer)?;
        }
        if self.projection.is_some() {
            work.give(PROJECTION_FILE, writer)?;
        }
        let folder = folder_of(writer);
        self.encoder().reader().pieces.save_to(&folder)?;
        self.encoder().encoder().save(writer)?;
        writer.write_json(CONFIG_FILE, &self.config)?;
        if self.projection.is_some() || self.config.encoder.trained {
            TrainingLog::copy(work.folder(), &folder)?;
        }
        Ok(())
    }
}

/// Scores of labels by their similarities: what each has of all that compete, as in training. They sum to 1
/// over the competing ones.
fn shares(nearest: &[Neighbour], temperature: f32, top_k: usize) -> Vec<ScoredLabel> {
    let highest = nearest.first().map_or(0.0, |one| one.similarity);
    let part = |one: &Neighbour| ((one.similarity - highest) / temperature).exp();
    let total: f32 = nearest.iter().take(COMPETING).map(part).sum();
    let scored = nearest.iter().take(top_k).map(|one| ScoredLabel {
        label: LabelId(one.document),
        score: part(one) / total,
    });
    scored.collect()
}

fn open_labels(path: &std::path::Path, num_labels: usize, width: usize) -> Result<DenseIndex> {
    let labels = DenseIndex::open(path)?;
    if labels.num_documents() == num_labels && labels.width() == width {
        Ok(labels)
    } else {
        let message = "the vectors are of other labels, or of another encoder";
        Err(Error::model(path, message).into())
    }
}

impl Ranker for SiameseModel {
    fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> plethora_core::Result<Rankings> {
        let started = cpu_seconds();
        let texts: Vec<&str> = (documents.iter())
            .map(text_of)
            .collect::<plethora_core::Result<_>>()?;
        let vectors = self.vectors(&texts)?;
        let features_s = cpu_seconds() - started;
        Ok(Rankings {
            labels: self.rank_vectors(&vectors, options.top_k),
            features_s,
        })
    }

    fn explain(&self, text: &str, label: LabelId) -> plethora_core::Result<Explanation> {
        Ok(self.explained(text, label)?)
    }

    fn embed(&self, texts: &[&str]) -> plethora_core::Result<Option<Embeddings>> {
        Ok(Some(Embeddings {
            width: self.labels.width(),
            values: self.vectors(texts)?,
        }))
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> plethora_core::Result<()> {
        Ok(self.write(work, writer)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_do_not_depend_on_how_many_are_asked_for() {
        let nearest: Vec<Neighbour> = (0..150)
            .map(|document| Neighbour {
                document,
                similarity: 0.9 - 0.005 * document as f32,
            })
            .collect();
        let (few, many) = (shares(&nearest, 0.05, 5), shares(&nearest, 0.05, 150));
        assert_eq!(few[..], many[..5]);
        let total: f32 = many[..COMPETING].iter().map(|one| one.score).sum();
        assert!((total - 1.0).abs() < 1e-5);
        assert!((many[1].score / many[0].score - (-0.1_f32).exp()).abs() < 1e-4);
        assert!(shares(&[], 0.05, 5).is_empty());
    }
}
