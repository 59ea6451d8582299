//! The vectors that words start with.

use std::path::Path;

use plethora_core::text::{WordVectors, Words, train_skip_gram};
use plethora_core::{Error, IndexRows, Progress, SeedStream};
use tch::{Device, Kind, Tensor};

use super::vectors_config::{VectorStart, VectorsConfig};
use crate::Result;
use crate::start::Start;

/// Spread of random vectors where no file shows how vectors spread.
const RANDOM_SPREAD: f64 = 0.3;

/// rows x width: the first vector of each word; that of the padding is zero.
pub(crate) fn first_vectors(
    (words, sequences): (&Words, &IndexRows),
    config: &VectorsConfig,
    seed: SeedStream,
    progress: &dyn Progress,
) -> Result<Tensor> {
    let file = read_file(words, sequences, config, progress)?;
    let shape = [words.num_rows() as i64, config.width as i64];
    let start = Start::seeded(seed.named("word vectors"));
    let mut vectors = match config.start {
        VectorStart::Uniform => start.uniform(&shape, 1.0),
        VectorStart::Random => {
            let spread = file.as_ref().map_or(RANDOM_SPREAD, spread);
            start.normal(&shape, spread)
        }
        VectorStart::SkipGram => {
            let seed = seed.named("skip-gram");
            progress.start("skip-gram word vectors", None);
            let values = train_skip_gram(
                sequences,
                words.num_rows(),
                &config.skip_gram,
                seed,
                progress,
            )?;
            progress.finish(&format!("{} words", words.vocabulary().len()));
            Tensor::from_slice(&values).view(shape)
        }
    };
    if let Some(file) = &file {
        let rows: Vec<i64> = file.rows().iter().map(|&row| i64::from(row)).collect();
        let values = Tensor::from_slice(file.values()).view([-1, config.width as i64]);
        vectors = vectors.index_copy_(0, &Tensor::from_slice(&rows), &values);
    }
    let padding = Tensor::zeros([config.width as i64], (Kind::Float, Device::Cpu));
    vectors.select(0, i64::from(Words::PADDING)).copy_(&padding);
    Ok(vectors)
}

fn read_file(
    words: &Words,
    sequences: &IndexRows,
    config: &VectorsConfig,
    progress: &dyn Progress,
) -> Result<Option<WordVectors>> {
    if config.file.is_empty() {
        return Ok(None);
    }
    progress.start("word vectors", None);
    let path = Path::new(&config.file);
    let vectors = WordVectors::read(path, words, Some(config.width)).map_err(with_setting)?;
    let coverage = vectors.coverage(words, sequences);
    progress.finish(&format!(
        "{} of {} words, {:.1} % of the text",
        coverage.num_covered,
        coverage.num_words,
        100.0 * coverage.share_of_running_words
    ));
    Ok(Some(vectors))
}

/// Vectors of another width are right for another setting.
fn with_setting(error: Error) -> Error {
    match error {
        Error::Input {
            path,
            line,
            message,
        } if message.to_string().contains("were expected") => Error::Input {
            path,
            line,
            message: message.text("; set vectors.width to its width"),
        },
        other => other,
    }
}

/// Standard deviation of the numbers of a file.
fn spread(vectors: &WordVectors) -> f64 {
    let values = vectors.values();
    let squares: f64 = values.iter().map(|&value| f64::from(value).powi(2)).sum();
    (squares / values.len().max(1) as f64).sqrt()
}
