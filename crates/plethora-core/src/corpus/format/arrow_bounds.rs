//! What an Arrow file or stream says of itself, compared with what is there before the library that reads it takes memory
//! for it: that one believes lengths of blocks and of what they hold unpacked.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::{Block, Message, MessageHeader, RecordBatch, root_as_footer, root_as_message};

use super::ColumnarKind;

/// Taken on trust for the columns of a batch together: no more than what a row of a corpus may have.
const FREE: u64 = 256 << 20;

/// Beyond, a packed byte speaks for this many: texts have a tenth of that, columns of equal numbers more, but are short.
const PER_PACKED: u64 = 256;

/// Bytes at the end of a file: the length of the footer and the magic word.
const TRAILER: u64 = 10;

/// What begins a message; then comes the length of what describes it.
const CONTINUES: [u8; 4] = [0xff; 4];

/// Bytes before a packed buffer: its length when unpacked, or -1 where it is not packed.
const PREFIX: u64 = 8;

type Outcome<T> = Result<T, String>;

/// Refuses a file whose blocks reach beyond it, or that would unpack to far more than it has.
pub(super) fn check(path: &Path, kind: ColumnarKind) -> Outcome<()> {
    let file = File::open(path).map_err(told)?;
    let size = file.metadata().map_err(told)?.len();
    let mut source = Bounded {
        file: BufReader::new(file),
        size,
    };
    match kind {
        // Its lengths have 32 bits, and memory is taken for what is read.
        ColumnarKind::Parquet => Ok(()),
        ColumnarKind::ArrowFile => source.check_file(),
        ColumnarKind::ArrowStream => source.check_stream(),
    }
}

/// A file whose parts are read only where it has them.
struct Bounded<R> {
    file: R,
    size: u64,
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A length that a file gives as a signed number.
fn length(value: i64) -> Outcome<u64> {
    u64::try_from(value).map_err(|_| format!("a block has {value} bytes"))
}

impl<R: Read + Seek> Bounded<R> {
    fn read(&mut self, start: u64, length: u64) -> Outcome<Vec<u8>> {
        self.expect(start, length)?;
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(start)).map_err(told)?;
        self.file.read_exact(&mut bytes).map_err(told)?;
        Ok(bytes)
    }

    fn expect(&self, start: u64, length: u64) -> Outcome<()> {
        match start.checked_add(length) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(format!(
                "a block of {length} bytes at {start} is beyond its {} bytes",
                self.size
            )),
        }
    }

    fn number(&mut self, start: u64) -> Outcome<i32> {
        let bytes = self.read(start, 4)?;
        Ok(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn check_file(&mut self) -> Outcome<()> {
        let end = self.size.checked_sub(TRAILER);
        let end = end.ok_or("it is too short for a footer")?;
        let footer_length = length(self.number(end)?.into())?;
        let start = end.checked_sub(footer_length);
        let start = start.ok_or("its footer is longer than the file")?;
        let footer = self.read(start, footer_length)?;
        let footer = root_as_footer(&footer).map_err(told)?;
        let blocks = footer.dictionaries().into_iter().flatten();
        for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
            self.check_block(block)?;
        }
        Ok(())
    }

    fn check_block(&mut self, block: &Block) -> Outcome<()> {
        let start = length(block.offset())?;
        let described = length(block.metaDataLength().into())?;
        let body = start + described;
        self.expect(body, length(block.bodyLength())?)?;
        let bytes = self.read(start, described)?;
        let message = match bytes.split_first_chunk::<4>() {
            Some((&CONTINUES, rest)) => rest.get(4..),
            // As files had it before streams could be told from their end.
            Some((_, rest)) => Some(rest),
            None => None,
        };
        let message = message.ok_or("a block has no message")?;
        let message = root_as_message(message).map_err(told)?;
        self.check_batch(&message, body, length(block.bodyLength())?)
    }

    /// Messages one behind the other, up to one of length 0 or the end.
    fn check_stream(&mut self) -> Outcome<()> {
        let mut place = 0;
        while place + 4 <= self.size {
            let mut described = self.number(place)?;
            place += 4;
            if described == -1 {
                if place + 4 > self.size {
                    return Ok(());
                }
                described = self.number(place)?;
                place += 4;
            }
            if described == 0 {
                return Ok(());
            }
            let described = length(described.into())?;
            let bytes = self.read(place, described)?;
            let message = root_as_message(&bytes).map_err(told)?;
            let body = place + described;
            let body_length = length(message.bodyLength())?;
            self.expect(body, body_length)?;
            self.check_batch(&message, body, body_length)?;
            place = body + body_length;
        }
        Ok(())
    }

    fn check_batch(&mut self, message: &Message<'_>, body: u64, body_length: u64) -> Outcome<()> {
        let batch: Option<RecordBatch<'_>> = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message
                .header_as_dictionary_batch()
                .and_then(|dictionary| dictionary.data()),
            _ => None,
        };
        let Some(batch) = batch else { return Ok(()) };
        let (mut packed, mut unpacked) = (0_u64, 0_u64);
        for buffer in batch.buffers().into_iter().flatten() {
            let (start, size) = (length(buffer.offset())?, length(buffer.length())?);
            if start.checked_add(size).is_none_or(|end| end > body_length) {
                return Err(format!(
                    "a column of {size} bytes at {start} is beyond the {body_length} bytes of its block"
                ));
            }
            if batch.compression().is_none() || size < PREFIX {
                continue;
            }
            let prefix = self.read(body + start, PREFIX)?;
            let prefix = prefix.first_chunk::<8>().copied().unwrap_or_default();
            let announced = i64::from_le_bytes(prefix);
            if announced != -1 {
                unpacked = unpacked.saturating_add(length(announced)?);
                packed += size - PREFIX;
            }
        }
        if unpacked > packed.saturating_mul(PER_PACKED).max(FREE) {
            return Err(format!(
                "{packed} packed bytes would be {unpacked} when unpacked"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::PathBuf;

    use super::*;

    fn testdata(name: &str) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        root.join("../../testdata/formats").join(name)
    }

    fn checked(bytes: &[u8], kind: ColumnarKind) -> Outcome<()> {
        let mut source = Bounded {
            size: bytes.len() as u64,
            file: Cursor::new(bytes),
        };
        match kind {
            ColumnarKind::ArrowStream => source.check_stream(),
            _ => source.check_file(),
        }
    }

    #[test]
    fn files_of_other_programs_are_fine_and_cut_ones_are_not() {
        for name in ["pandas.feather", "polars.arrow", "pyarrow_lz4.arrow"] {
            let bytes = std::fs::read(testdata(name)).unwrap();
            checked(&bytes, ColumnarKind::ArrowFile).unwrap();
            assert!(checked(&bytes[..bytes.len() - 1], ColumnarKind::ArrowFile).is_err());
        }
        // The messages of their files are a stream, behind the magic word.
        for name in ["pandas.feather", "pyarrow_lz4.arrow"] {
            let bytes = std::fs::read(testdata(name)).unwrap();
            checked(&bytes[8..], ColumnarKind::ArrowStream).unwrap();
            // Within what describes the columns.
            let cut = &bytes[8..100];
            let message = checked(cut, ColumnarKind::ArrowStream).unwrap_err();
            assert!(message.contains("is beyond"), "{name}: {message}");
        }
    }

    #[test]
    fn columns_do_not_unpack_to_what_nobody_packed() {
        let bytes = std::fs::read(testdata("pyarrow_lz4.arrow")).unwrap();
        let places = (8..bytes.len() - 12).step_by(8).filter(|&place| {
            // Where a frame of LZ4 begins, the length is before it.
            bytes[place + 8..place + 12] == [0x04, 0x22, 0x4d, 0x18]
        });
        let places: Vec<usize> = places.collect();
        assert!(!places.is_empty());
        for place in places {
            for announced in [1_i64 << 29, i64::MAX, -2] {
                let mut forged = bytes.clone();
                forged[place..place + 8].copy_from_slice(&announced.to_le_bytes());
                let message = checked(&forged, ColumnarKind::ArrowFile).unwrap_err();
                assert!(message.contains("bytes"), "{message}");
                assert!(checked(&forged[8..], ColumnarKind::ArrowStream).is_err());
            }
        }
    }
}
