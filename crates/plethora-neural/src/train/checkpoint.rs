//! Tensors and a few numbers in a file that is there as a whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plethora_core::artifact::{ArrayFileWriter, ArrayId, Dtype, MappedArrays};
use plethora_core::{Error as CoreError, Message};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tch::{Device, Tensor};

use crate::Result;
use crate::parameters::{RowShare, TrainedTensors};

/// The array that holds everything but tensors, as JSON.
const STATE_ARRAY: &str = "state";

/// Numbers that are copied at a time: a second copy of a large table would not fit.
const CHUNK: usize = 1 << 22;

/// Writes a checkpoint beside the one before, and takes its place only when everything is on disk:
/// neither a killed process nor a full disk nor a power failure costs both.
///
/// Of tables in shards it has the rows of all ranks. Each of these adds the same, in the same order, and one
/// of them writes.
#[derive(Debug)]
pub(super) struct CheckpointWriter {
    /// Absent in ranks that only say what their rows are.
    file: Option<CheckpointFile>,
}

#[derive(Debug)]
struct CheckpointFile {
    target: PathBuf,
    temporary: PathBuf,
    arrays: ArrayFileWriter,
    buffer: Vec<f32>,
}

impl CheckpointWriter {
    pub(super) fn create(target: &Path) -> Result<Self> {
        let mut temporary = target.as_os_str().to_owned();
        temporary.push(".new");
        let temporary = PathBuf::from(temporary);
        let file = CheckpointFile {
            target: target.to_owned(),
            arrays: ArrayFileWriter::create(&temporary).map_err(|error| at(target, error))?,
            temporary,
            buffer: Vec::new(),
        };
        Ok(Self { file: Some(file) })
    }

    /// For a rank that writes nothing itself.
    pub(super) fn of_follower() -> Self {
        Self { file: None }
    }

    /// Adds all tensors of a group.
    pub(super) fn add_all(&mut self, group: &str, tensors: &TrainedTensors) -> Result<()> {
        for (name, tensor, share) in tensors.shares() {
            let name = format!("{group}.{name}");
            match (share, &mut self.file) {
                (None, _) => self.add(&name, tensor)?,
                (Some(share), None) => share.see_all(tensor, |_| Ok(()))?,
                (Some(share), Some(file)) => file.add_all_rows(&name, tensor, share)?,
            }
        }
        Ok(())
    }

    /// Adds a tensor of 32-bit numbers.
    pub(super) fn add(&mut self, name: &str, tensor: &Tensor) -> Result<()> {
        match &mut self.file {
            Some(file) => file.add(name, tensor),
            None => Ok(()),
        }
    }

    /// Adds `state` and takes the place of the checkpoint before.
    pub(super) fn finish(self, state: &impl Serialize) -> Result<()> {
        match self.file {
            Some(file) => file.finish(state),
            None => Ok(()),
        }
    }
}

impl CheckpointFile {
    fn begin(&mut self, name: &str) -> Result<ArrayId> {
        let array = self.arrays.begin(name, Dtype::F32);
        Ok(array.map_err(|error| at(&self.target, error))?)
    }

    /// Adds the rows of all ranks.
    fn add_all_rows(&mut self, name: &str, own: &Tensor, share: RowShare) -> Result<()> {
        let array = self.begin(name)?;
        share.see_all(own, |values| {
            let appended = self.arrays.append(array, values);
            Ok(appended.map_err(|error| at(&self.target, error))?)
        })
    }

    fn add(&mut self, name: &str, tensor: &Tensor) -> Result<()> {
        let array = self.begin(name)?;
        let flat = tensor.detach().view([-1]);
        for start in (0..tensor.numel()).step_by(CHUNK) {
            let len = CHUNK.min(tensor.numel() - start);
            let chunk = flat.narrow(0, start as i64, len as i64);
            self.buffer.resize(len, 0.0);
            chunk
                .to_device(Device::Cpu)
                .f_copy_data(&mut self.buffer, len)?;
            self.arrays
                .append(array, &self.buffer)
                .map_err(|error| at(&self.target, error))?;
        }
        Ok(())
    }

    fn finish(mut self, state: &impl Serialize) -> Result<()> {
        let write = |source: io::Error| CoreError::write(&self.target)(source);
        let text = serde_json::to_vec(state).map_err(|error| write(error.into()))?;
        let added = self
            .arrays
            .begin(STATE_ARRAY, Dtype::U8)
            .and_then(|array| self.arrays.append(array, &text))
            .and_then(|()| self.arrays.finish());
        added.map_err(|error| at(&self.target, error))?;
        let placed = File::open(&self.temporary)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.target));
        if placed.is_err() {
            let _ = fs::remove_file(&self.temporary);
        }
        placed.map_err(write)?;
        // The name is not on disk before its folder is. Where folders cannot be synced, the system
        // does it in its own time.
        if let Some(folder) = self.target.parent() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

/// The error with the name that the file was to have.
fn at(target: &Path, error: CoreError) -> CoreError {
    match error {
        CoreError::Write { source, .. } => CoreError::write(target)(source),
        other => other,
    }
}

/// A damaged file is of no use to a run that resumes.
fn with_way_out(error: CoreError) -> CoreError {
    match error {
        CoreError::Model { path, message } => CoreError::Model {
            path,
            message: message.text("; ").message(Message::start_anew()),
        },
        other => other,
    }
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    arrays: MappedArrays,
}

impl Checkpoint {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            arrays: MappedArrays::open_own(path).map_err(with_way_out)?,
        })
    }

    /// Everything but tensors.
    pub(super) fn state<T: DeserializeOwned>(&self) -> Result<T> {
        let text = self.arrays.array::<u8>(STATE_ARRAY)?;
        serde_json::from_slice(text)
            .map_err(|error| self.error(format!("damaged checkpoint: {error}")))
    }

    /// True if it has the tensors of a group.
    pub(super) fn contains(&self, group: &str) -> bool {
        let mut names = self.arrays.names();
        names.any(|name| {
            name.strip_prefix(group)
                .is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// Gives all tensors of a group their values.
    pub(super) fn read_all(&self, group: &str, tensors: &TrainedTensors) -> Result<()> {
        for (name, tensor, share) in tensors.shares() {
            self.read_rows(&format!("{group}.{name}"), tensor, share)?;
        }
        Ok(())
    }

    /// Gives a tensor its values.
    pub(super) fn read(&self, name: &str, tensor: &Tensor) -> Result<()> {
        self.read_rows(name, tensor, None)
    }

    /// Gives a tensor, or what this process has of its rows, its values.
    fn read_rows(&self, name: &str, tensor: &Tensor, share: Option<RowShare>) -> Result<()> {
        let array = self.arrays.array::<f32>(name)?;
        let (start, len) = share.map_or((0, tensor.numel()), |share| {
            let width = tensor.size().iter().skip(1).product::<i64>();
            let start = share.own().start * width;
            (start as usize, (share.num_rows() * width) as usize)
        });
        if array.len() != len {
            let message = format!("array {name} has {} numbers, not {len}", array.len());
            return Err(self.error(message));
        }
        let array = &array[start..start + tensor.numel()];
        let flat = tensor.detach().view([-1]);
        for (index, chunk) in array.chunks(CHUNK).enumerate() {
            flat.narrow(0, (index * CHUNK) as i64, chunk.len() as i64)
                .f_copy_(&Tensor::f_from_slice(chunk)?)?;
        }
        Ok(())
    }

    /// Makes sure that the checkpoint is one of a network with these names and shapes.
    pub(super) fn check_layout(&self, found: &Layout, expected: &Layout) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let show = |entry: Option<&(String, Vec<i64>)>| match entry {
            Some((name, shape)) => format!("{name} {shape:?}"),
            None => "nothing".to_owned(),
        };
        let pairs = found.iter().zip(expected);
        let first = pairs
            .take_while(|(found, expected)| found == expected)
            .count();
        let message = format!(
            "checkpoint of another network: it holds {} where this one has {}; ",
            show(found.get(first)),
            show(expected.get(first))
        );
        Err(self.error(Message::new(message).message(Message::start_anew())))
    }

    fn error(&self, message: impl Into<Message>) -> crate::Error {
        CoreError::model(&self.path, message).into()
    }
}

/// Names and shapes of all parameters.
pub(super) type Layout = Vec<(String, Vec<i64>)>;

#[cfg(test)]
mod tests {
    use tch::Kind;

    use super::*;

    fn write(path: &Path, values: &[f32]) -> Result<()> {
        let mut writer = CheckpointWriter::create(path)?;
        writer.add("weights.a", &Tensor::from_slice(values))?;
        writer.finish(&values.len())
    }

    fn read(path: &Path, len: i64) -> Result<Vec<f32>> {
        let checkpoint = Checkpoint::open(path)?;
        let tensor = Tensor::zeros([len], (Kind::Float, Device::Cpu));
        checkpoint.read("weights.a", &tensor)?;
        assert_eq!(checkpoint.state::<usize>()?, len as usize);
        assert!(checkpoint.contains("weights"));
        assert!(!checkpoint.contains("weight"));
        Ok((&tensor).try_into().unwrap())
    }

    #[test]
    fn values_come_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let values: Vec<f32> = (0..CHUNK + 3).map(|index| 1.0 / index as f32).collect();
        write(&path, &values).unwrap();
        assert_eq!(read(&path, values.len() as i64).unwrap(), values);
        let error = read(&path, 2).unwrap_err().to_string();
        assert!(
            error.ends_with("array weights.a has 4194307 numbers, not 2"),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_keeps_the_checkpoint_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        write(&path, &[1.0, 2.0]).unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.path().join(".a.safetensors.new.part-0"))
            .unwrap();
        let error = write(&path, &vec![3.0; 1 << 18]).unwrap_err().to_string();
        assert!(
            error.ends_with("a.safetensors: cannot write: No space left on device (os error 28)"),
            "{error}"
        );
        assert_eq!(read(&path, 2).unwrap(), [1.0, 2.0]);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left behind"
        );
        write(&path, &[4.0]).unwrap();
        assert_eq!(read(&path, 1).unwrap(), [4.0]);
    }

    #[test]
    fn damaged_and_missing_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let missing = Checkpoint::open(&path).unwrap_err().to_string();
        assert!(missing.contains("a.safetensors: cannot read"), "{missing}");
        write(&path, &[1.0, 2.0]).unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let damaged = Checkpoint::open(&path).unwrap_err().to_string();
        assert!(damaged.contains("truncated or damaged"), "{damaged}");
    }
}
