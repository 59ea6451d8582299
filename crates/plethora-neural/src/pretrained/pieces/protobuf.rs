//! The wire format of protocol buffers, as far as a `SentencePiece` model uses it.

/// A field of a message: its number and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    /// Numbers, flags and enumerations.
    Varint(u64),
    /// Eight bytes, of which nothing here is made.
    Fixed64,
    /// Four bytes, as of a `float`.
    Fixed32([u8; 4]),
    /// Strings, bytes and messages.
    Bytes(&'a [u8]),
}

/// The fields of a message in the order of the file; ends with `None` for damaged bytes.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Option<Field<'_>>> {
    let mut rest = Some(message);
    std::iter::from_fn(move || {
        let bytes = rest.filter(|bytes| !bytes.is_empty())?;
        let read = read_field(bytes);
        rest = read.map(|(_, rest)| rest);
        Some(read.map(|(field, _)| field))
    })
}

fn read_field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let (key, bytes) = read_varint(bytes)?;
    let (value, rest) = match key & 7 {
        0 => {
            let (number, rest) = read_varint(bytes)?;
            (Value::Varint(number), rest)
        }
        1 => (Value::Fixed64, bytes.get(8..)?),
        2 => {
            let (length, bytes) = read_varint(bytes)?;
            let (value, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
            (Value::Bytes(value), rest)
        }
        5 => {
            let (value, rest) = bytes.split_first_chunk()?;
            (Value::Fixed32(*value), rest)
        }
        _ => return None,
    };
    let number = key >> 3;
    Some((Field { number, value }, rest))
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (position, &byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f).checked_shl(7 * position as u32)?;
        if byte < 0x80 {
            return Some((number, &bytes[position + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind_are_read() {
        let bytes = [
            0x08, 0x96, 0x01, // 1: 150
            0x12, 0x02, b'h', b'i', // 2: "hi"
            0x1d, 0, 0, 0x80, 0x3f, // 3: 1.0
            0x21, 1, 2, 3, 4, 5, 6, 7, 8, // 4: eight bytes
            0xc0, 0x02, 0x00, // 40: 0
        ];
        let values: Vec<_> = fields(&bytes)
            .map(|field| field.map(|field| (field.number, field.value)))
            .collect();
        assert_eq!(
            values,
            [
                Some((1, Value::Varint(150))),
                Some((2, Value::Bytes(b"hi"))),
                Some((3, Value::Fixed32(1_f32.to_le_bytes()))),
                Some((4, Value::Fixed64)),
                Some((40, Value::Varint(0))),
            ]
        );
    }

    #[test]
    fn damaged_bytes_end_the_fields() {
        for bytes in [
            &[0x12, 0x05, b'h'][..],
            &[0x08],
            &[0x0b],
            &[0xff; 12],
            &[0x1d, 0],
        ] {
            let found: Vec<_> = fields(bytes).collect();
            assert_eq!(found, [None], "{bytes:?}");
        }
        assert_eq!(fields(&[]).count(), 0);
    }
}
