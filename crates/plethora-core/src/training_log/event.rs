//! `TensorBoard`'s `Event` message in the wire format of protocol buffers: only the fields that a
//! training log uses.

/// Fields of `Event`, of the `Summary` in it, and of the `Value`s in that.
const WALL_TIME: u64 = 1;
const STEP: u64 = 2;
const FILE_VERSION: u64 = 3;
const SUMMARY: u64 = 5;
const SUMMARY_VALUE: u64 = 1;
const VALUE_TAG: u64 = 1;
const VALUE_SIMPLE: u64 = 2;

/// How a field is laid out.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

/// The version of event files, which their first event tells.
const VERSION: &str = "brain.Event:2";

/// The first event of a file.
pub(super) fn encode_version(wall_time: f64) -> Vec<u8> {
    let mut event = Vec::new();
    put_f64(&mut event, WALL_TIME, wall_time);
    put_bytes(&mut event, FILE_VERSION, VERSION.as_bytes());
    event
}

/// An event with the values of one step.
pub(super) fn encode_values(wall_time: f64, step: u64, values: &[(&str, f64)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in values {
        let mut entry = Vec::new();
        put_bytes(&mut entry, VALUE_TAG, tag.as_bytes());
        put_key(&mut entry, VALUE_SIMPLE, FIXED_32);
        entry.extend((*value as f32).to_le_bytes());
        put_bytes(&mut summary, SUMMARY_VALUE, &entry);
    }
    let mut event = Vec::new();
    put_f64(&mut event, WALL_TIME, wall_time);
    // What is 0 is left out, as protocol buffers do.
    if step > 0 {
        put_key(&mut event, STEP, VARINT);
        put_varint(&mut event, step);
    }
    put_bytes(&mut event, SUMMARY, &summary);
    event
}

/// The step of an event, or none where the bytes are no event.
pub(super) fn decode_step(mut event: &[u8]) -> Option<u64> {
    let mut step = 0;
    while !event.is_empty() {
        let key = take_varint(&mut event)?;
        match key & 7 {
            VARINT => {
                let value = take_varint(&mut event)?;
                if key >> 3 == STEP {
                    step = value;
                }
            }
            FIXED_64 => drop(event.split_off(..8)?),
            FIXED_32 => drop(event.split_off(..4)?),
            BYTES => {
                let length = usize::try_from(take_varint(&mut event)?).ok()?;
                event.split_off(..length)?;
            }
            _ => return None,
        }
    }
    Some(step)
}

fn put_key(message: &mut Vec<u8>, field: u64, layout: u64) {
    put_varint(message, field << 3 | layout);
}

fn put_f64(message: &mut Vec<u8>, field: u64, value: f64) {
    put_key(message, field, FIXED_64);
    message.extend(value.to_le_bytes());
}

fn put_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_key(message, field, BYTES);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

/// Seven bits a byte, lowest first; the eighth says that more follow.
fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

fn take_varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *message.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_back() {
        for step in [0, 1, 127, 128, 1 << 40, u64::MAX] {
            let event = encode_values(2.5, step, &[("loss", 0.5), ("valid/P@1", 0.25)]);
            assert_eq!(decode_step(&event), Some(step));
        }
        assert_eq!(decode_step(&encode_version(2.5)), Some(0));
    }

    #[test]
    fn what_is_no_event_has_no_step() {
        let event = encode_values(2.5, 300, &[("loss", 0.5)]);
        assert_eq!(decode_step(&event[..event.len() - 1]), None);
        assert_eq!(decode_step(&[0xff; 12]), None);
        assert_eq!(decode_step(&[0x0f]), None);
    }
}
