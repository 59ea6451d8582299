//! From documents to vectors, by an encoder as it is or by one that learns their labels first.

use std::time::Instant;

use plethora_core::artifact::WorkFolder;
use plethora_core::{IndexRows, Result};
use plethora_system::{DocumentStream, RunContext, Stages, Trainable as _};

use super::config::{EncoderConfig, OpenDenseConfig};
use super::encoder::FrozenEncoder;
use super::fine_tuning::{FineTuner, Tuned};
use super::fine_tuning_config::{FineTuning, OpenFineTuning};
use super::pooling;
use super::text_vectors::{TextVectors, WaitingTexts};
use super::training_set::{DenseSet, DenseValidation, ReadDocuments, ReadValidation, encode};
use super::vectors::Vectors;
use crate::open_device;
use crate::precision::frozen_numbers;
use crate::pretrained::{
    EncoderFiles, PieceCorpusBuilder, PieceReader, PieceTexts, resolve_encoder, weight_files,
};
use crate::systems::fingerprint::Fingerprint;
use crate::transformer::trained_folder::ENCODER_FILE;

/// All that classifiers and neighbours need.
pub(super) struct Prepared {
    /// The encoder that read the documents.
    pub(super) encoder: TextVectors,
    pub(super) set: DenseSet,
    /// Documents to choose weights by, where some are given.
    pub(super) valid: Option<DenseValidation>,
    pub(super) fingerprint: String,
    pub(super) work: WorkFolder,
    pub(super) stages: Stages,
    /// How the encoder was fine-tuned, where it was.
    pub(super) tuning: Option<FineTuning>,
    /// Labels that the network ranks highest for each document.
    pub(super) candidates: Option<IndexRows>,
}

impl OpenDenseConfig {
    /// The encoder that the settings name, with the settings that it asks for.
    fn encoder_config(&self, run: &RunContext<'_>) -> crate::Result<EncoderConfig> {
        let folder = resolve_encoder(&self.encoder.folder, run.encoder_cache)?;
        Ok(EncoderConfig {
            pooling: match self.encoder.pooling.set() {
                Some(pooling) => pooling,
                None => pooling::of_folder(&folder)?,
            },
            folder: folder.to_string_lossy().into_owned(),
        })
    }

    /// The files of an encoder, as far as documents are read.
    fn encoder_files(&self, config: &EncoderConfig) -> crate::Result<EncoderFiles> {
        EncoderFiles::open(&config.transformer(), &self.document.max_length)
    }

    /// The encoder as it is.
    pub(super) fn load_encoder(
        &self,
        run: &RunContext<'_>,
    ) -> crate::Result<(EncoderConfig, TextVectors)> {
        let config = self.encoder_config(run)?;
        let files = self.encoder_files(&config)?;
        let device = open_device(run.compute.device)?;
        let numbers = frozen_numbers(self.train.precision, device);
        let encoder = FrozenEncoder::load(files.architecture, &config, (device, numbers))?;
        let reader = PieceReader {
            pieces: files.pieces,
            max_length: files.max_length,
        };
        let vectors = TextVectors::new(encoder, reader);
        let vectors = match run.piece_cache {
            Some(cache) => {
                let files = weight_files(config.folder.as_ref());
                vectors.with_cache(cache, config.pooling, &files)?
            }
            None => vectors,
        };
        Ok((config, vectors))
    }

    /// Reads and encodes the documents with the encoder as it is.
    pub(super) fn read_frozen(
        &self,
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
    ) -> Result<(EncoderConfig, Prepared)> {
        let (config, encoder) = self.load_encoder(run)?;
        let mut waiting = WaitingTexts::default();
        let take = |texts: &[String]| encoder.wait(texts, &mut waiting);
        let (read, mut stages) = ReadDocuments::read(documents, run, self, take)?;
        let started = Instant::now();
        let set = read.with_vectors(encode_waiting(&encoder, &waiting, run)?);
        let valid = match run.valid {
            Some(source) => {
                let mut waiting = WaitingTexts::default();
                let read = ReadValidation::read(source, run, &set.set, |texts| {
                    encoder.wait(texts, &mut waiting);
                    // Words are of no interest here.
                    texts.iter().map(|_| []).collect()
                })?;
                Some(read.with_vectors(encode_waiting(&encoder, &waiting, run)?))
            }
            None => None,
        };
        stages.end("vectors", started);
        let fingerprint = set.fingerprint(self, valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let prepared = Prepared {
            encoder,
            set,
            valid,
            fingerprint,
            work,
            stages,
            tuning: None,
            candidates: None,
        };
        Ok((config, prepared))
    }

    /// Reads the documents, fine-tunes the encoder by their labels, and encodes them.
    pub(super) fn read_tuned(
        &self,
        tuning: &OpenFineTuning,
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
    ) -> Result<(EncoderConfig, Prepared)> {
        let config = self.encoder_config(run)?;
        let EncoderFiles {
            architecture,
            pieces,
            max_length,
        } = self.encoder_files(&config)?;
        let mut corpus = PieceCorpusBuilder::new(pieces, max_length, run.piece_cache);
        let take = |texts: &[String]| corpus.push_batch(texts);
        let (read, mut stages) = ReadDocuments::read(documents, run, self, take)?;
        let (pieces, rows) = corpus.finish();
        let reader = PieceReader { pieces, max_length };
        let valid = match run.valid {
            Some(source) => {
                let take = |texts: &[String]| reader.sequences(texts);
                Some(ReadValidation::read(source, run, &read.set, take)?)
            }
            None => None,
        };
        let texts = PieceTexts::new(reader, rows, architecture.clone());
        let fingerprint = self.fingerprint(&config, (&read, &texts), valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let started = Instant::now();
        let tuned = FineTuner {
            config: self,
            tuning,
            encoder: &config,
            set: &read.set,
            texts,
            valid: valid.as_ref().map(|valid| &valid.documents),
            run,
        };
        let Tuned {
            settings,
            candidates,
            texts,
        } = tuned.run(&work)?;
        stages.end("fine-tuning", started);
        let started = Instant::now();
        let device = open_device(run.compute.device)?;
        let numbers = frozen_numbers(self.train.precision, device);
        let file = work.path(ENCODER_FILE);
        let encoder = FrozenEncoder::load_file(architecture, &config, &file, (device, numbers))?;
        let encoder = TextVectors::new(encoder, texts.reader);
        let vectors = encode(run, (texts.rows.num_rows(), ""), |after| {
            encoder.encode_pieces(texts.rows.rows(), after)
        })?;
        let set = read.with_vectors(vectors);
        let valid = match valid {
            Some(read) => {
                let rows = &read.documents.sequences;
                let vectors = encode(run, (rows.num_rows(), ""), |after| {
                    encoder.encode_pieces(rows.rows(), after)
                })?;
                Some(read.with_vectors(vectors))
            }
            None => None,
        };
        stages.end("vectors", started);
        let prepared = Prepared {
            encoder,
            set,
            valid,
            fingerprint,
            work,
            stages,
            tuning: Some(settings),
            candidates,
        };
        Ok((config, prepared))
    }

    /// Says which data, settings and seed a run has, before vectors are made.
    fn fingerprint(
        &self,
        encoder: &EncoderConfig,
        (read, texts): (&ReadDocuments, &PieceTexts),
        valid: Option<&ReadValidation>,
    ) -> Result<String> {
        let mut fingerprint = Fingerprint::new(self, read.set.space.labels())?;
        fingerprint.add_features(read.set.features.rows());
        fingerprint.add_rows(read.set.labels_of_documents.rows());
        fingerprint.add_rows(texts.rows.rows());
        if let Some(valid) = valid {
            fingerprint.add_features(valid.features.rows());
            fingerprint.add_validation(&valid.documents);
        }
        fingerprint.add_files(&weight_files(encoder.folder.as_ref()))?;
        Ok(fingerprint.finish())
    }
}

/// The vectors of texts, from the cache or from the encoder.
fn encode_waiting(
    encoder: &TextVectors,
    waiting: &WaitingTexts,
    run: &RunContext<'_>,
) -> Result<Vectors> {
    let more = format!(", {} of them from the cache", waiting.num_known());
    encode(run, (waiting.len(), &more), |after| {
        encoder.encode(waiting, after)
    })
}
