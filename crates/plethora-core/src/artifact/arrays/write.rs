//! Writing an array file whose arrays grow side by side and never fit in memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use super::{ArrayEntry, Dtype, Element, HEADER_LENGTH_BYTES, METADATA_KEY};
use crate::{Error, Result};

const BUFFER_BYTES: usize = 1 << 17;

/// Names one array of an [`ArrayFileWriter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayId(usize);

/// Streams arrays to disk and joins them to one safetensors file at the end.
///
/// Each array grows in a hidden file of its own beside the target, which is why many can grow at
/// the same time. Dropped unfinished, the writer removes them.
///
/// ```
/// # use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArrays};
/// # fn main() -> plethora_core::Result<()> {
/// # let scratch = tempfile::tempdir().expect("a temporary folder");
/// # let path = scratch.path().join("weights.safetensors");
/// let mut writer = ArrayFileWriter::create(&path)?;
/// let features = writer.begin("features", Dtype::U32)?;
/// let weights = writer.begin("weights", Dtype::F32)?;
/// for (feature, weight) in [(3_u32, 0.5_f32), (8, -0.25)] {
///     writer.append(features, &[feature])?;
///     writer.append(weights, &[weight])?;
/// }
/// writer.finish()?;
///
/// let arrays = MappedArrays::open(&path)?;
/// assert_eq!(arrays.array::<f32>("weights")?, [0.5, -0.25]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ArrayFileWriter {
    target: PathBuf,
    arrays: Vec<GrowingArray>,
}

#[derive(Debug)]
struct GrowingArray {
    name: String,
    dtype: Dtype,
    len: u64,
    file: BufWriter<File>,
    path: PathBuf,
}

impl GrowingArray {
    fn size(&self) -> u64 {
        self.len * self.dtype.size() as u64
    }
}

impl ArrayFileWriter {
    /// Starts the file `target`, whose folders are made where they are missing.
    pub fn create(target: &Path) -> Result<Self> {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(Error::write(target))?;
        }
        Ok(Self {
            target: target.to_owned(),
            arrays: Vec::new(),
        })
    }

    /// Starts an empty array.
    ///
    /// # Panics
    ///
    /// If the file has an array of this name already.
    pub fn begin(&mut self, name: &str, dtype: Dtype) -> Result<ArrayId> {
        assert!(
            name != METADATA_KEY && self.arrays.iter().all(|array| array.name != name),
            "the name {name} is taken"
        );
        let id = ArrayId(self.arrays.len());
        let path = self.hidden_path(&format!("part-{}", id.0));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(Error::write(&self.target))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        self.arrays.push(GrowingArray {
            name: name.to_owned(),
            dtype,
            len: 0,
            file,
            path,
        });
        Ok(id)
    }

    /// Adds `values` to the end of an array.
    ///
    /// # Panics
    ///
    /// If the array was begun with another kind of elements.
    pub fn append<T: Element>(&mut self, array: ArrayId, values: &[T]) -> Result<()> {
        let array = &mut self.arrays[array.0];
        assert!(
            T::DTYPES.contains(&array.dtype),
            "{} holds {:?}, which {} does not stand for",
            array.name,
            array.dtype,
            std::any::type_name::<T>()
        );
        array.len += values.len() as u64;
        array
            .file
            .write_all(bytemuck::cast_slice(values))
            .map_err(Error::write(&self.target))
    }

    /// Number of elements an array has so far.
    pub fn len(&self, array: ArrayId) -> u64 {
        self.arrays[array.0].len
    }

    /// True while an array has no element.
    pub fn is_empty(&self, array: ArrayId) -> bool {
        self.len(array) == 0
    }

    /// Joins the arrays to the target file.
    pub fn finish(mut self) -> Result<()> {
        // Stable: equal sizes keep the order in which they were begun.
        self.arrays
            .sort_by_key(|array| std::cmp::Reverse(array.dtype.size()));
        let joined = self.hidden_path("joined");
        let result = self
            .join(&joined)
            .and_then(|()| fs::rename(&joined, &self.target))
            .map_err(Error::write(&self.target));
        if result.is_err() {
            let _ = fs::remove_file(&joined);
        }
        result
    }

    fn join(&mut self, path: &Path) -> io::Result<()> {
        let mut joined = File::create(path)?;
        joined.write_all(&self.header()?)?;
        for array in &mut self.arrays {
            array.file.flush()?;
            let size = array.size();
            let file = array.file.get_mut();
            file.rewind()?;
            // From file to file, so that the system copies without us, or shares the blocks.
            if io::copy(file, &mut joined)? != size {
                return Err(io::Error::other(format!(
                    "array {} changed on disk",
                    array.name
                )));
            }
            // At once, so that no more than one array is on disk twice.
            fs::remove_file(&array.path)?;
        }
        Ok(())
    }

    fn header(&self) -> io::Result<Vec<u8>> {
        let mut entries = BTreeMap::new();
        let mut start = 0;
        for array in &self.arrays {
            let end = start + array.size();
            let (dtype, shape) = (array.dtype, vec![array.len]);
            entries.insert(
                &array.name,
                ArrayEntry {
                    dtype,
                    shape,
                    data_offsets: (start, end),
                },
            );
            start = end;
        }
        let mut json = serde_json::to_vec(&entries)?;
        json.resize(json.len().next_multiple_of(8), b' ');
        let mut header = Vec::with_capacity(HEADER_LENGTH_BYTES + json.len());
        header.extend_from_slice(&(json.len() as u64).to_le_bytes());
        header.append(&mut json);
        Ok(header)
    }

    fn hidden_path(&self, suffix: &str) -> PathBuf {
        let name = self
            .target
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        self.target.with_file_name(format!(".{name}.{suffix}"))
    }
}

impl Drop for ArrayFileWriter {
    fn drop(&mut self) {
        for array in &self.arrays {
            // Already gone after a join.
            let _ = fs::remove_file(&array.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ArrayFileWriter::create(&folder.path().join("a.safetensors")).unwrap();
        let array = writer.begin("x", Dtype::U8).unwrap();
        writer.append(array, &[1_u8]).unwrap();
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn bytes_are_those_of_the_published_layout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let mut writer = ArrayFileWriter::create(&path).unwrap();
        let small = writer.begin("small", Dtype::U8).unwrap();
        let large = writer.begin("large", Dtype::U64).unwrap();
        writer.append(small, &[7_u8]).unwrap();
        writer.append(large, &[2_u64]).unwrap();
        writer.finish().unwrap();
        let json = concat!(
            r#"{"large":{"dtype":"U64","shape":[1],"data_offsets":[0,8]},"#,
            r#""small":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}}"#,
        );
        let mut expected = (json.len().next_multiple_of(8) as u64)
            .to_le_bytes()
            .to_vec();
        expected.extend_from_slice(json.as_bytes());
        expected.resize(expected.len().next_multiple_of(8), b' ');
        expected.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(fs::read(&path).unwrap(), expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_names_the_file_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        std::os::unix::fs::symlink("/dev/full", folder.path().join(".a.safetensors.part-0"))
            .unwrap();
        let mut writer = ArrayFileWriter::create(&path).unwrap();
        let array = writer.begin("x", Dtype::U8).unwrap();
        let error = writer
            .append(array, &vec![0_u8; 2 * BUFFER_BYTES])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a.safetensors: cannot write: No space left on device"),
            "{error}"
        );
    }
}
