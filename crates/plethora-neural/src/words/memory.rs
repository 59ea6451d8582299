//! How much memory training will take, told before the first step.

use plethora_system::Device;

use super::config::{EncoderConfig, WordConfig};
use super::network::WordNetwork;
use crate::train::{Network as _, TrainConfig, memory};

/// Copies of an encoder's states that live at once in a step: gates, states, dropout and their
/// gradients.
const COPIES_OF_STATES: usize = 14;

/// Copies of an attention map and of what comes out of it: scores, softmax and their gradients.
const COPIES_OF_MAP: usize = 4;

/// Copies of the label rows of a batch: values, gradients, those of a chunk, and what the optimizer
/// makes of them.
const COPIES_OF_ROWS: usize = 6;

/// Bytes that training the network takes at most, about: the weights with all that is kept of them,
/// and one batch of the longest documents. `train` is how it is trained.
pub(crate) fn memory_need(
    network: &WordNetwork,
    (config, train): (&WordConfig, &TrainConfig),
    device: Device,
) -> u64 {
    let weights = memory::trainer_bytes(train, network.parameters(), device);
    let bytes = network.bytes_per_number();
    let places = train.batch_size * config.words.max_length;
    let states = match &config.encoder {
        EncoderConfig::Bilstm(lstm) => config.vectors.width + 2 * lstm.hidden,
        EncoderConfig::Cnn(cnn) => config.vectors.width + cnn.windows.len() * cnn.filters,
    };
    let head = network.head_need(train.batch_size, config.words.max_length);
    let map = head.map_size as usize;
    let scores = train.batch_size * head.num_scored as usize * 4 * 4;
    let activations = (places * states * COPIES_OF_STATES + map * COPIES_OF_MAP) * bytes;
    let rows = head.num_rows as usize * network.label_width() * COPIES_OF_ROWS * 4;
    weights + (activations + scores + rows) as u64
}
