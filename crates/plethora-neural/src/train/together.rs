//! Steps that several processes take together: each computes the gradient of its share of a step's
//! documents, and all of them take the step that the sum of these makes.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use plethora_core::Error as CoreError;
use plethora_system::Shard;
use plethora_system::ranks::{self, GpuValues, Ranks};
use sha2::{Digest, Sha256};
use tch::{Kind, Tensor};

use super::checkpoint::CheckpointWriter;
use super::exact::ExactValidation;
use super::label_shards;
use super::row_gradients::RowGradients;
use super::validation::Validation;
use crate::Result;
use crate::parameters::{Parameters, write_values};

/// Bytes of a file that travel at a time.
const BLOCK_BYTES: u64 = 1 << 26;

/// The processes that train a network, as one of them sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Together(&'static dyn Ranks);

/// What all ranks have learnt in a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Summed {
    /// The loss, a mean over the step's documents.
    pub(super) loss: f64,
    /// Documents of the step.
    pub(super) num_documents: usize,
    /// Whether to save a checkpoint now.
    pub(super) saves: bool,
    /// Whether to end here, with a checkpoint.
    pub(super) ends: bool,
}

impl Together {
    /// The group that this process is in.
    pub(super) fn of_process() -> Option<Self> {
        ranks::group().map(Self)
    }

    /// Which share of a step is this process's.
    pub(super) fn place(self) -> Shard {
        self.0.place()
    }

    /// True for the process that keeps checkpoints and the model.
    pub(super) fn is_first(self) -> bool {
        self.place().index() == 0
    }

    /// Makes sure that all ranks train the same, and gives them the files of a stage as rank 0 has them, so
    /// that all begin where it does.
    pub(super) fn begin(self, run: &str, files: &[PathBuf]) -> Result<()> {
        let all = self.0.gather(run.as_bytes())?;
        if let Some(rank) = all.iter().position(|one| *one != all[0]) {
            let message = format!(
                "rank {rank} has other data, settings or another program than rank 0; all ranks have to be \
                 started with the same"
            );
            return Err(CoreError::usage(message).into());
        }
        files.iter().try_for_each(|path| self.share_file(path))
    }

    /// Gives all ranks a file as rank 0 has it, which is nowhere an empty one.
    fn share_file(self, path: &Path) -> Result<()> {
        let mut source = if self.is_first() && path.is_file() {
            Some(File::open(path).map_err(CoreError::read(path))?)
        } else {
            None
        };
        let mut copy = None;
        loop {
            let mut block = Vec::new();
            if let Some(source) = &mut source {
                let read = source.take(BLOCK_BYTES).read_to_end(&mut block);
                read.map_err(CoreError::read(path))?;
            }
            let block = self.0.broadcast(&block)?;
            if block.is_empty() {
                break;
            }
            if !self.is_first() {
                let file = match &mut copy {
                    Some(file) => file,
                    None => copy.insert(File::create(path).map_err(CoreError::write(path))?),
                };
                file.write_all(&block).map_err(CoreError::write(path))?;
            }
        }
        if !self.is_first() && copy.is_none() && path.exists() {
            fs::remove_file(path).map_err(CoreError::write(path))?;
        }
        Ok(())
    }

    /// Leaves each rank its share of the labels, where they are changed in passing.
    pub(super) fn divide(self, parameters: &Parameters) -> Result<()> {
        label_shards::divide(parameters, self.0)
    }

    /// For a checkpoint of all ranks.
    pub(super) fn writer(self, path: &Path) -> Result<CheckpointWriter> {
        if self.is_first() {
            CheckpointWriter::create(path)
        } else {
            Ok(CheckpointWriter::of_follower())
        }
    }

    /// Adds up what all ranks have learnt: the gradients of the dense parameters in place, those of table rows
    /// in `rows`.
    pub(super) fn add_up(
        self,
        parameters: &Parameters,
        rows: &mut Vec<RowGradients>,
        own: Summed,
    ) -> Result<Summed> {
        let gradients = parameters.dense.gradients();
        let stays = self.sum_on_gpu(gradients)?;
        let mut values = if stays {
            Vec::new()
        } else {
            to_values(gradients)?
        };
        let wishes = [own.saves, own.ends].map(|wish| f32::from(u8::from(wish)));
        let learnt = [own.loss as f32, own.num_documents as f32];
        values.extend(learnt.into_iter().chain(wishes));
        self.0.sum(&mut values)?;
        let mut last = || values.pop().unwrap_or_default();
        let (ends, saves) = (last() > 0.0, last() > 0.0);
        let (num_documents, loss) = (last() as usize, f64::from(last()));
        if !stays {
            let summed = Tensor::from_slice(&values).view_as(gradients);
            gradients.shallow_clone().copy_(&summed);
        }
        if !parameters.tables.is_empty() {
            let mut message = Vec::new();
            for part in rows.iter() {
                write_rows(part, &mut message)?;
            }
            let mut parts = Vec::new();
            for message in self.0.gather(&message)? {
                let mut message = message.as_slice();
                while !message.is_empty() {
                    parts.push(read_rows(&mut message, gradients)?);
                }
            }
            *rows = RowGradients::merge_all(parts);
        }
        Ok(Summed {
            loss,
            num_documents,
            saves,
            ends,
        })
    }

    /// Adds up values of all ranks in place, if they are on GPUs that reach each other.
    fn sum_on_gpu(self, values: &Tensor) -> Result<bool> {
        let tch::Device::Cuda(gpu) = values.device() else {
            return Ok(false);
        };
        let place = GpuValues {
            address: values.data_ptr() as usize,
            length: values.numel(),
            gpu,
        };
        Ok(self.0.sum_on_gpu(place)?)
    }

    /// What rank 0 finds in a validation, for all of them. Where labels are divided, all have to look.
    pub(super) fn agree(
        self,
        is_divided: bool,
        validate: impl FnOnce() -> Result<Validation>,
    ) -> Result<Validation> {
        let mut message = Vec::new();
        if self.is_first() || is_divided {
            let found = ExactValidation::from(&validate()?);
            message = serde_json::to_vec(&found).map_err(|error| damaged(&error))?;
        }
        let message = self.0.broadcast(&message)?;
        let found: ExactValidation =
            serde_json::from_slice(&message).map_err(|error| damaged(&error))?;
        Ok(found.into())
    }

    /// Notes which dense weights this rank has, which are to be those of all.
    pub(super) fn note_weights(self, stage: &str, parameters: &Parameters) -> Result<()> {
        if tracing::enabled!(tracing::Level::DEBUG) {
            let mut bytes = Vec::new();
            write_values(parameters.dense.values(), &mut bytes)?;
            let sum = Sha256::digest(&bytes)
                .iter()
                .fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                });
            tracing::debug!(stage, rank = %self.place(), sha256 = sum, "dense weights");
        }
        Ok(())
    }
}

fn damaged(error: &dyn std::fmt::Display) -> crate::Error {
    CoreError::Compute(format!("the message of another rank is damaged: {error}")).into()
}

fn to_values(tensor: &Tensor) -> Result<Vec<f32>> {
    let row = tensor.to_device(tch::Device::Cpu).to_kind(Kind::Float);
    Ok(Vec::try_from(row.flatten(0, -1))?)
}

/// Table, number of rows and width, the numbers of the rows, their gradients.
fn write_rows(part: &RowGradients, message: &mut Vec<u8>) -> Result<()> {
    let rows: Vec<i64> = Vec::try_from(part.rows.to_device(tch::Device::Cpu))?;
    let width = part.gradient.size()[1] as u64;
    for number in [part.table as u64, rows.len() as u64, width] {
        message.extend(number.to_le_bytes());
    }
    message.extend(rows.iter().flat_map(|row| row.to_le_bytes()));
    write_values(&part.gradient, message)
}

/// Takes one part off a message; on the device of `like`.
fn read_rows(message: &mut &[u8], like: &Tensor) -> Result<RowGradients> {
    let (table, rows, values, width) =
        read_parts(message).ok_or_else(|| damaged(&"it ends too early"))?;
    let gradient = Tensor::from_slice(&values).view([rows.len() as i64, width as i64]);
    Ok(RowGradients {
        table,
        rows: Tensor::from_slice(&rows).to_device(like.device()),
        gradient: gradient.to_device(like.device()),
    })
}

fn read_parts(message: &mut &[u8]) -> Option<(usize, Vec<i64>, Vec<f32>, usize)> {
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = u64::from_le_bytes(*take(message, 8)?.first_chunk()?) as usize;
    }
    let [table, count, width] = numbers;
    let rows = take(message, count.checked_mul(8)?)?.as_chunks().0.iter();
    let rows = rows.map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let num_values = count.checked_mul(width)?;
    let values = take(message, num_values.checked_mul(4)?)?
        .as_chunks()
        .0
        .iter();
    let values = values.map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Some((table, rows, values, width))
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(taken)
}
