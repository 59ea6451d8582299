//! Using the arrays of a safetensors file where they lie.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{Mmap, MmapMut};

use super::super::open_regular;
use super::{ArrayEntry, Dtype, Element, HEADER_LENGTH_BYTES, METADATA_KEY};
use crate::{Error, Result};

/// Whether large files are mapped, see [`map_large_files`].
static MAPS_LARGE_FILES: AtomicBool = AtomicBool::new(false);

/// Files up to this size are read into memory in any case.
const SMALL_BYTES: u64 = 64 << 20;

/// Has this process map files above 64 MiB from now on, and read them as they are touched. That saves memory where a model is
/// larger than what is asked of it; but the system ends a process (SIGBUS) whose mapped file somebody cuts. Unless this
/// is called, files are read into memory as a whole, and what becomes of them on the disk does no harm.
pub fn map_large_files() {
    MAPS_LARGE_FILES.store(true, Ordering::Relaxed);
}

/// The arrays of a safetensors file, read into memory or mapped.
#[derive(Debug, Clone)]
pub struct MappedArrays {
    path: PathBuf,
    map: Arc<Mmap>,
    arrays: BTreeMap<String, Location>,
}

#[derive(Debug, Clone)]
struct Location {
    dtype: Dtype,
    /// Bytes of the file.
    range: Range<usize>,
}

impl MappedArrays {
    /// Reads or maps the file at `path` and checks that its header fits it.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is no safetensors file or a part of it is missing;
    /// [`Error::Read`] if the system cannot open or map it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::with(path, MAPS_LARGE_FILES.load(Ordering::Relaxed))
    }

    /// The same for a file of a cache or of a run, which is mapped where it is large: these may be larger than memory, and nobody
    /// but this program has a reason to change them.
    pub fn open_own(path: &Path) -> Result<Self> {
        Self::with(path, true)
    }

    fn with(path: &Path, maps_large_files: bool) -> Result<Self> {
        let file = open_regular(path).map_err(Error::read(path))?;
        let map = map(file, maps_large_files).map_err(Error::read(path))?;
        let arrays = read_header(&map).map_err(|message| Error::model(path, message))?;
        Ok(Self {
            path: path.to_owned(),
            map: Arc::new(map),
            arrays,
        })
    }

    /// The names of the arrays in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// The kind of an array's elements, if the file has the array.
    pub fn dtype(&self, name: &str) -> Option<Dtype> {
        self.arrays.get(name).map(|location| location.dtype)
    }

    /// The array `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file has no such array or its elements are of another kind.
    pub fn array<T: Element>(&self, name: &str) -> Result<&[T]> {
        let range = self.locate::<T>(name)?;
        Ok(cast(&self.map[range]))
    }

    /// The array `name` as a value of its own, for structures that outlive this one.
    pub fn owned<T: Element>(&self, name: &str) -> Result<MappedArray<T>> {
        let range = self.locate::<T>(name)?;
        Ok(MappedArray {
            map: Arc::clone(&self.map),
            range,
            element: PhantomData,
        })
    }

    /// Finds an array and makes sure that [`cast`] will take it.
    fn locate<T: Element>(&self, name: &str) -> Result<Range<usize>> {
        let fail = |message| Err(Error::model(&self.path, message));
        let Some(location) = self.arrays.get(name) else {
            return fail(format!("array {name} is missing"));
        };
        if !T::DTYPES.contains(&location.dtype) {
            let expected = T::DTYPES[0];
            return fail(format!(
                "array {name} is {:?}, not {expected:?}",
                location.dtype
            ));
        }
        let range = location.range.clone();
        if !range.is_empty() && bytemuck::try_cast_slice::<u8, T>(&self.map[range.clone()]).is_err()
        {
            return fail(format!("array {name} is not aligned to its elements"));
        }
        Ok(range)
    }
}

/// One array of a mapped file that keeps the mapping alive.
#[derive(Debug, Clone)]
pub struct MappedArray<T> {
    map: Arc<Mmap>,
    range: Range<usize>,
    element: PhantomData<T>,
}

impl<T: Element> Deref for MappedArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        cast(&self.map[self.range.clone()])
    }
}

/// An empty array may lie anywhere, even where its elements could not.
fn cast<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() {
        &[]
    } else {
        bytemuck::cast_slice(bytes)
    }
}

/// The bytes of a file: a copy of them, or as they lie on the disk.
fn map(mut file: File, maps_large_files: bool) -> io::Result<Mmap> {
    let length = file.metadata()?.len();
    if length > 0 && !(maps_large_files && length > SMALL_BYTES) {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut copy = MmapMut::map_anon(length)?;
        file.read_exact(&mut copy)?;
        return copy.make_read_only();
    }
    #[expect(unsafe_code, reason = "a file mapping is unsafe by nature")]
    // SAFETY: model files are never changed in place, here or by `ModelWriter`: a new version
    // is another file under the same name, and the mapping keeps the old one alive. Somebody
    // who cuts the file from outside ends this process with SIGBUS, as with any mapped file;
    // `map_large_files` says so to those who choose it.
    unsafe {
        Mmap::map(&file)
    }
}

fn read_header(file: &[u8]) -> Result<BTreeMap<String, Location>, String> {
    let (length, rest) = file
        .split_first_chunk::<HEADER_LENGTH_BYTES>()
        .ok_or("not a safetensors file: too short")?;
    let length = u64::from_le_bytes(*length);
    let header = usize::try_from(length)
        .ok()
        .and_then(|length| rest.get(..length))
        .ok_or_else(|| format!("not a safetensors file: no header of {length} bytes"))?;
    let data_start = HEADER_LENGTH_BYTES + header.len();
    let mut entries: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| format!("damaged header: {error}"))?;
    entries.remove(METADATA_KEY);
    let locate = |(name, entry)| {
        let entry: ArrayEntry =
            serde_json::from_value(entry).map_err(|error| format!("array {name}: {error}"))?;
        match byte_range(&entry, data_start, file.len()) {
            Some(range) => Ok((
                name,
                Location {
                    dtype: entry.dtype,
                    range,
                },
            )),
            None => Err(format!(
                "array {name} does not fit the file: truncated or damaged"
            )),
        }
    };
    entries.into_iter().map(locate).collect()
}

/// The bytes of an array in the file, if its shape, offsets and the file agree.
fn byte_range(entry: &ArrayEntry, data_start: usize, file_len: usize) -> Option<Range<usize>> {
    let (start, end) = entry.data_offsets;
    let size = entry
        .shape
        .iter()
        .try_fold(entry.dtype.size() as u64, |size, &length| {
            size.checked_mul(length)
        })?;
    let start = data_start.checked_add(usize::try_from(start).ok()?)?;
    let end = data_start.checked_add(usize::try_from(end).ok()?)?;
    (start <= end && end <= file_len && (end - start) as u64 == size).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabelId;

    /// A file with this header and as many data bytes, opened.
    fn open(header: &str, data: usize) -> Result<MappedArrays> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend((0..data).map(|index| index as u8));
        std::fs::write(&path, bytes).unwrap();
        MappedArrays::open(&path)
    }

    fn message<T>(result: Result<T>) -> String {
        match result {
            Err(error @ Error::Model { .. }) => error.to_string(),
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("no error"),
        }
    }

    #[test]
    fn files_of_other_programs_are_read_too() {
        let header = concat!(
            r#"{"__metadata__":{"format":"pt"},"#,
            r#""table":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}} "#
        );
        let arrays = open(header, 4).unwrap();
        assert_eq!(arrays.names().collect::<Vec<_>>(), ["table"]);
        assert_eq!(arrays.array::<u8>("table").unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn a_file_that_is_overwritten_stays_as_it_was_opened_whatever_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        for size in [9000, SMALL_BYTES + 9000] {
            let header =
                format!(r#"{{"x":{{"dtype":"U8","shape":[{size}],"data_offsets":[0,{size}]}}}}"#);
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend_from_slice(header.as_bytes());
            let start = bytes.len() as u64;
            bytes.extend([7; 100]);
            std::fs::write(&path, bytes).unwrap();
            // The rest takes no room on the disk.
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(start + size).unwrap();
            let arrays = MappedArrays::open(&path).unwrap();
            // As `cp new/* served/` does: cut first, which a mapping does not survive.
            std::fs::write(&path, "").unwrap();
            let found: &[u8] = arrays.array("x").unwrap();
            assert_eq!(found.len() as u64, size);
            assert_eq!(found[..100], [7; 100]);
            assert_eq!(found.last(), Some(&0));
        }
    }

    #[test]
    fn wrong_requests_name_the_array() {
        let header = r#"{"ids":{"dtype":"U32","shape":[1],"data_offsets":[0,4]}}    "#;
        assert_eq!(header.len() % 4, 0);
        let arrays = open(header, 4).unwrap();
        assert_eq!(
            arrays.array::<LabelId>("ids").unwrap(),
            [LabelId(0x0302_0100)]
        );
        assert!(message(arrays.array::<f32>("ids")).ends_with("array ids is U32, not F32"));
        assert!(message(arrays.array::<f32>("names")).ends_with("array names is missing"));
        let arrays = open(&header[1..].replacen('"', "{\"", 1).replace("    ", " "), 4).unwrap();
        let unaligned = message(arrays.owned::<u32>("ids"));
        assert!(
            unaligned.ends_with("array ids is not aligned to its elements"),
            "{unaligned}"
        );
    }

    #[test]
    fn arrays_beyond_the_file_are_refused() {
        for offsets in [
            "[0,8]",
            "[4,8]",
            "[4,0]",
            "[0,3]",
            "[18446744073709551615,3]",
        ] {
            let header =
                format!(r#"{{"ids":{{"dtype":"U32","shape":[1],"data_offsets":{offsets}}}}}"#);
            assert!(message(open(&header, 4)).contains("array ids does not fit the file"));
        }
        let shape = "[4294967296,4294967296,4294967296]";
        let header = format!(r#"{{"x":{{"dtype":"U8","shape":{shape},"data_offsets":[0,0]}}}}"#);
        assert!(message(open(&header, 4)).contains("array x does not fit the file"));
    }

    #[test]
    fn what_is_no_safetensors_file_is_refused() {
        assert!(message(open("not json", 0)).contains("damaged header"));
        let header = r#"{"x":{"dtype":"C64","shape":[0],"data_offsets":[0,0]}}"#;
        assert!(message(open(header, 0)).contains("array x: unknown variant `C64`"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        for bytes in [&b""[..], b"short", b"\xff\xff\xff\xff\xff\xff\xff\xff{}"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(message(MappedArrays::open(&path)).contains("not a safetensors file"));
        }
    }
}
