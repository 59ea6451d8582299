//! Large arrays of numbers in safetensors files: streamed to disk, mapped back into memory.
//!
//! A file is the length of its header as a little-endian `u64`, the header as JSON, and the arrays
//! without gaps. Ours hold the arrays by falling element size behind a header padded to eight bytes,
//! so that each array lies where its elements may lie in memory and can be used in place.

mod element;
mod mapped;
mod write;

pub use element::{Dtype, Element};
pub use mapped::{MappedArray, MappedArrays, map_large_files};
pub use write::{ArrayFileWriter, ArrayId};

use serde::{Deserialize, Serialize};

#[cfg(target_endian = "big")]
compile_error!("safetensors files are little-endian and are used in place");

/// Header entry of the key that holds free text instead of an array.
const METADATA_KEY: &str = "__metadata__";

/// Size of the number in front of the header.
const HEADER_LENGTH_BYTES: usize = 8;

/// What the header says about one array.
#[derive(Debug, Serialize, Deserialize)]
struct ArrayEntry {
    dtype: Dtype,
    shape: Vec<u64>,
    /// Start and end in bytes, counted from the end of the header.
    data_offsets: (u64, u64),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Values {
        U8(Vec<u8>),
        U16(Vec<u16>),
        F16(Vec<u16>),
        U32(Vec<u32>),
        U64(Vec<u64>),
        F32(Vec<f32>),
    }

    fn values() -> impl Strategy<Value = Values> {
        use proptest::collection::vec;
        prop_oneof![
            vec(any::<u8>(), 0..40).prop_map(Values::U8),
            vec(any::<u16>(), 0..40).prop_map(Values::U16),
            vec(any::<u16>(), 0..40).prop_map(Values::F16),
            vec(any::<u32>(), 0..40).prop_map(Values::U32),
            vec(any::<u64>(), 0..40).prop_map(Values::U64),
            vec(any::<f32>(), 0..40).prop_map(Values::F32),
        ]
    }

    /// Appends `values` in pieces, as training does.
    fn write_in_pieces<T: Element>(
        writer: &mut ArrayFileWriter,
        name: &str,
        dtype: Dtype,
        values: &[T],
    ) {
        let array = writer.begin(name, dtype).unwrap();
        for piece in values.chunks(7) {
            writer.append(array, piece).unwrap();
        }
        assert_eq!(writer.len(array), values.len() as u64);
    }

    fn assert_equal<T: Element + PartialEq + std::fmt::Debug>(
        arrays: &MappedArrays,
        name: &str,
        values: &[T],
    ) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        assert_eq!(
            bytemuck::cast_slice::<T, u8>(arrays.array::<T>(name).unwrap()),
            bytes
        );
        assert_eq!(
            bytemuck::cast_slice::<T, u8>(&arrays.owned::<T>(name).unwrap()),
            bytes
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn arrays_come_back_as_they_were_appended(
            arrays in proptest::collection::vec(values(), 0..6)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("weights.safetensors");
            let mut writer = ArrayFileWriter::create(&path).unwrap();
            for (index, values) in arrays.iter().enumerate() {
                let (writer, name) = (&mut writer, &*format!("array \"{index}\" é"));
                match values {
                    Values::U8(values) => write_in_pieces(writer, name, Dtype::U8, values),
                    Values::U16(values) => write_in_pieces(writer, name, Dtype::U16, values),
                    Values::F16(values) => write_in_pieces(writer, name, Dtype::F16, values),
                    Values::U32(values) => write_in_pieces(writer, name, Dtype::U32, values),
                    Values::U64(values) => write_in_pieces(writer, name, Dtype::U64, values),
                    Values::F32(values) => write_in_pieces(writer, name, Dtype::F32, values),
                }
            }
            writer.finish().unwrap();
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            let mapped = MappedArrays::open(&path).unwrap();
            prop_assert_eq!(mapped.names().count(), arrays.len());
            for (index, values) in arrays.iter().enumerate() {
                let name = &*format!("array \"{index}\" é");
                match values {
                    Values::U8(values) => assert_equal(&mapped, name, values),
                    Values::U16(values) | Values::F16(values) => assert_equal(&mapped, name, values),
                    Values::U32(values) => assert_equal(&mapped, name, values),
                    Values::U64(values) => assert_equal(&mapped, name, values),
                    Values::F32(values) => assert_equal(&mapped, name, values),
                }
            }
        }
    }
}
