//! Training of the neural systems.

use std::path::Path;
use std::time::Instant;

use plethora_core::artifact::ModelWriter;
use plethora_core::corpus::{Content, Document};
use plethora_core::metrics::Evaluation;
use plethora_core::{Error, Result};
use plethora_neural::{
    NeuralConfig, NeuralParts, NeuralSet, NeuralSetBuilder, NeuralTrainer, PieceConfig, TextReader,
    ValidationDocuments, VectorsConfig, check_encoder, resolve_encoder,
};
use plethora_predict::{Predictor, System};

use super::corpus::Corpus;
use super::family::{Family, Trained};
use super::job::TrainingJob;
use super::report::{ModelSize, Seconds};
use crate::Session;
use crate::corpus_reading::{in_file, no_labels};
use crate::folders;

impl Family for NeuralConfig {
    fn check(&self, job: &TrainingJob) -> Result<()> {
        job.device.open()?;
        match self {
            Self::Words(config) => check_vectors(&config.vectors)?,
            Self::TReader(config) => check_vectors(&config.vectors)?,
            Self::Pieces(config) => check_encoder(&with_encoder_folder(config)?)?,
        }
        match &job.valid {
            Some(corpus) if corpus.path.as_os_str() == "-" => Err(Error::config(
                "--valid",
                "must be a file: neural systems read it during training and again after it",
            )),
            _ => Ok(()),
        }
    }

    fn train(&self, job: &TrainingJob, session: &Session) -> Result<Trained> {
        let mut seconds = Seconds::default();
        let config = with_encoder(self)?;
        let (mut set, text_fields) = read(&config, job, session, &mut seconds)?;
        let started = Instant::now();
        let valid = match &job.valid {
            Some(corpus) => Some(read_validation(corpus, &set, session)?),
            None => None,
        };
        let asked_for = NeuralTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: &config,
            device: job.device,
        };
        let work = job.open_work(&asked_for.fingerprint()?, session)?;
        let choices = match set.settle_run(&config, job.device, &work) {
            Ok(choices) => choices,
            Err(error) => {
                if !job.resumes {
                    work.remove()?;
                }
                return Err(error.into());
            }
        };
        if let Some(summary) = &choices.summary {
            session.progress().start("settings", None);
            session.progress().finish(summary);
        }
        let model = NeuralTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: &choices.config.with_epoch_share(job.epoch_share),
            device: job.device,
        }
        .run(&work, session.progress())?;
        seconds.add("training", started.elapsed().as_secs_f64());
        let details = NeuralParts {
            space: &set.space,
            text_fields: &text_fields,
            num_documents: set.labels_of_documents.num_rows() as u64,
            evaluation: None,
        }
        .details(&model);
        Ok(Trained {
            size: ModelSize::Neural {
                reads: match &set.reader {
                    TextReader::Words(_) => "words",
                    TextReader::Pieces { .. } => "pieces",
                },
                gpu_memory_bytes: plethora_neural::train::memory::used_bytes(job.device),
                num_words: details.num_features,
                num_parameters: model.num_parameters(),
                device: job.device.to_string(),
            },
            num_without_labels: set.num_without_labels,
            predictor: Predictor::from_parts(System::Neural(model), set.space, None, details),
            work,
            seconds,
        })
    }

    fn save(
        &self,
        trained: &Trained,
        evaluation: Option<(&Evaluation, &str)>,
        writer: ModelWriter,
    ) -> Result<()> {
        let System::Neural(model) = trained.predictor.system() else {
            unreachable!("a neural system trains a neural model");
        };
        let details = trained.predictor.details();
        let parts = NeuralParts {
            space: trained.predictor.labels(),
            text_fields: &details.text_fields,
            num_documents: details.num_documents,
            evaluation,
        };
        Ok(parts.save(model, &trained.work, writer)?)
    }

    fn resume_point(&self) -> &'static str {
        "the last checkpoint"
    }
}

/// Vectors that are asked for must be there.
fn check_vectors(config: &VectorsConfig) -> Result<()> {
    if !config.file.is_empty() {
        let path = Path::new(&config.file);
        std::fs::File::open(path).map_err(Error::read(path))?;
    }
    Ok(())
}

/// The training documents, and the fields that their texts came from.
fn read(
    config: &NeuralConfig,
    job: &TrainingJob,
    session: &Session,
    seconds: &mut Seconds,
) -> Result<(NeuralSet, Vec<String>)> {
    let progress = session.progress();
    let started = Instant::now();
    progress.start("reading", job.data.options.docs_limit);
    let mut builder = NeuralSetBuilder::new(config, job.piece_cache.as_deref())?;
    let read = job.read(session, |document| {
        check_text(&document, config.system())?;
        Ok(builder.add(document)?)
    })?;
    let set = builder
        .finish(&read.labels)
        .map_err(|error| in_file(error.into(), &job.data.path))?;
    job.tell(&read, &set.space, set.num_without_labels);
    progress.finish(&format!(
        "{} documents, {} labels, {}",
        read.num_documents,
        set.space.len(),
        what_is_read(&set)
    ));
    seconds.add("reading", started.elapsed().as_secs_f64() - set.reading_s);
    seconds.add("tokenising", set.reading_s);
    Ok((set, job.data.text_fields(read.reader.format())))
}

fn what_is_read(set: &NeuralSet) -> String {
    match &set.reader {
        TextReader::Words(words) => format!("{} words", words.vocabulary().len()),
        TextReader::Pieces { .. } => format!(
            "{:.0} pieces a document",
            set.sequences.num_items() as f64 / set.sequences.num_rows().max(1) as f64
        ),
    }
}

/// The settings with the folder of the encoder instead of its name.
fn with_encoder(config: &NeuralConfig) -> Result<NeuralConfig> {
    Ok(match config {
        NeuralConfig::Words(_) | NeuralConfig::TReader(_) => config.clone(),
        NeuralConfig::Pieces(config) => NeuralConfig::Pieces(with_encoder_folder(config)?),
    })
}

fn with_encoder_folder(config: &PieceConfig) -> Result<PieceConfig> {
    let cache = folders::hub_cache();
    let folder = resolve_encoder(&config.encoder.folder, cache.as_deref())?;
    let mut config = config.clone();
    config.encoder.folder = folder.to_string_lossy().into_owned();
    Ok(config)
}

/// Documents to stop early on and to choose the best weights by.
fn read_validation(
    corpus: &Corpus,
    set: &NeuralSet,
    session: &Session,
) -> Result<ValidationDocuments> {
    let mut valid = ValidationDocuments::new();
    let mut reader = corpus.open()?;
    let mut num_documents = 0_u64;
    let mut has_labels = false;
    session.progress().start("reading validation", None);
    while let Some(document) = reader.next().transpose()? {
        has_labels |= !document.labels.is_empty();
        check_text(&document, "the system")
            .and_then(|()| valid.add(set, &document))
            .map_err(|error| in_file(error, &corpus.path))?;
        num_documents += 1;
        session.progress().advance(1);
        session.check_interrupt()?;
    }
    if !has_labels {
        return Err(no_labels(&corpus.path, reader.format(), "to validate by"));
    }
    session
        .progress()
        .finish(&format!("{num_documents} documents"));
    Ok(valid.finish(set))
}

fn check_text(document: &Document, system: &str) -> Result<()> {
    match &document.content {
        Content::Text(_) => Ok(()),
        Content::Features(_) => Err(Error::Data(format!(
            "document `{}` has features, but {system} reads texts; linear systems take features",
            document.id
        ))),
    }
}
