//! Ranks in a ring: each sends to the next and hears from the one before.
//!
//! A sum is made in slices, one for each rank, which travel around the ring twice: once to gather what
//! every rank adds, once to tell all of them. So each process sends and receives less than twice the
//! values, however many there are.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::thread;

use plethora_core::{Error, Result};

use super::Ranks;
use crate::Shard;

/// A message that claims more was not sent by this program.
const MAX_MESSAGE_BYTES: u64 = 1 << 40;

/// Values whose bytes are sent at a time.
const BLOCK_VALUES: usize = 1 << 16;

/// A place in the ring.
#[derive(Debug)]
pub(super) struct Ring {
    place: Shard,
    neighbours: Mutex<Neighbours>,
}

#[derive(Debug)]
struct Neighbours {
    next: TcpStream,
    before: BufReader<TcpStream>,
}

impl Ring {
    pub(super) fn new(place: Shard, next: TcpStream, before: TcpStream) -> Self {
        let before = BufReader::with_capacity(1 << 18, before);
        Self {
            place,
            neighbours: Mutex::new(Neighbours { next, before }),
        }
    }

    /// Does something with the neighbours, of whom one may have ended.
    fn with<T>(&self, act: impl FnOnce(&mut Neighbours) -> io::Result<T>) -> Result<T> {
        let mut neighbours = self
            .neighbours
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        act(&mut neighbours).map_err(|error| {
            let (index, count) = (self.place.index(), self.place.count());
            let (before, next) = ((index + count - 1) % count, (index + 1) % count);
            Error::Compute(format!(
                "rank {index} of {count} has lost rank {before} or {next}, which has failed, was stopped or \
                 cannot be reached ({error}); what the others say tells why. Start all ranks again to resume \
                 from the last checkpoint"
            ))
        })
    }

    /// The slice that a rank, so many places before this one, begins with.
    fn slice(&self, places_before: usize, length: usize) -> std::ops::Range<usize> {
        let (index, count) = (self.place.index(), self.place.count());
        let slice = (index + 2 * count - places_before) % count;
        let slice = Shard::new(slice, count).expect("a remainder is below the count");
        let range = slice.range(length as u64);
        range.start as usize..range.end as usize
    }
}

impl Ranks for Ring {
    fn place(&self) -> Shard {
        self.place
    }

    fn sum(&self, values: &mut [f32]) -> Result<()> {
        let count = self.place.count();
        let length = values.len();
        self.with(|neighbours| {
            for turn in 0..2 * (count - 1) {
                let sent = values[self.slice(turn, length)].to_vec();
                let received = self.slice(turn + 1, length);
                let adds = turn + 1 < count;
                neighbours.exchange(
                    |next| write_values(next, &sent),
                    |before| read_values(before, &mut values[received], adds),
                )?;
            }
            Ok(())
        })
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        let (index, count) = (self.place.index(), self.place.count());
        let mut all = vec![Vec::new(); count];
        all[index] = own.to_vec();
        self.with(|neighbours| {
            for turn in 0..count - 1 {
                let sent = &all[(index + count - turn) % count];
                let received = neighbours.exchange(
                    |next| {
                        next.write_all(&(sent.len() as u64).to_le_bytes())?;
                        next.write_all(sent)
                    },
                    read_message,
                )?;
                all[(index + count - turn - 1) % count] = received;
            }
            Ok(())
        })?;
        Ok(all)
    }
}

impl Neighbours {
    /// Sends and receives at the same time: all ranks do, and none may wait for another to listen.
    fn exchange<T>(
        &mut self,
        send: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send,
        receive: impl FnOnce(&mut BufReader<TcpStream>) -> io::Result<T>,
    ) -> io::Result<T> {
        let Self { next, before } = self;
        thread::scope(|scope| {
            let sending = scope.spawn(move || send(next));
            let received = receive(before);
            if received.is_err() {
                // Whoever waits for room in the line must not wait for ever.
                let _ = before.get_ref().shutdown(std::net::Shutdown::Both);
            }
            let sent = sending
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("sending has failed")));
            let received = received?;
            sent?;
            Ok(received)
        })
    }
}

fn write_values(stream: &mut TcpStream, values: &[f32]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(4 * BLOCK_VALUES.min(values.len()));
    for block in values.chunks(BLOCK_VALUES) {
        bytes.clear();
        bytes.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        stream.write_all(&bytes)?;
    }
    Ok(())
}

/// Reads values, and adds them to those that are there or replaces them.
fn read_values(stream: &mut impl Read, values: &mut [f32], adds: bool) -> io::Result<()> {
    let mut bytes = vec![0; 4 * BLOCK_VALUES.min(values.len())];
    for block in values.chunks_mut(BLOCK_VALUES) {
        let bytes = &mut bytes[..4 * block.len()];
        stream.read_exact(bytes)?;
        for (value, bytes) in block.iter_mut().zip(bytes.chunks_exact(4)) {
            let received = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            *value = if adds { received + *value } else { received };
        }
    }
    Ok(())
}

fn read_message(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_MESSAGE_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Grows with what comes, whatever the length says.
    let mut message = Vec::new();
    stream.take(length).read_to_end(&mut message)?;
    if message.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(message)
}
