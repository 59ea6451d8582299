//! How much memory training TReaderXML will take, told before the first step.

use plethora_system::Device;

use super::config::{Look, TReaderConfig};
use super::network::TReaderNetwork;
use crate::train::{Network as _, memory};

/// Copies of a side's states that an attention keeps for the way back: norm, queries, keys, values,
/// what is found, its projection, dropout and their gradients.
const COPIES_OF_STATES: usize = 12;

/// Copies of an attention map: scores, softmax and their gradients.
const COPIES_OF_MAP: usize = 4;

/// Bytes that training the network takes at most, about: the weights with all that is kept of them,
/// and one batch of the longest documents, of which each reads so many labels or fewer.
pub(super) fn memory_need(
    network: &TReaderNetwork,
    config: &TReaderConfig,
    (num_labels, num_read): (usize, usize),
    device: Device,
) -> u64 {
    let train = &config.train;
    let weights = memory::trainer_bytes(train, network.parameters(), device);
    let looks = [config.reading.first, config.reading.second];
    let own = looks.iter().filter(|look| **look != Look::None).count();
    let (num_labels_read, crosses, joint) = if config.teacher.is_read() {
        let meets = &config.interaction;
        (
            num_read + 1,
            usize::from(meets.cross),
            usize::from(meets.masked),
        )
    } else {
        (0, 0, 0)
    };
    let words = config.words.max_length;
    let places = words + num_labels_read;
    let states = places * config.vectors.width * (1 + (own + crosses + joint) * COPIES_OF_STATES);
    let maps = config.reading.heads
        * COPIES_OF_MAP
        * (own * (words * words + num_labels_read * num_labels_read)
            + crosses * 2 * words * num_labels_read
            + joint * places * places);
    let activations = train.batch_size * (states + maps) * network.bytes_per_number();
    let scores = train.batch_size * num_labels * 4 * 4;
    weights + (activations + scores) as u64
}
