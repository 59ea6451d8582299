//! How texts become pieces.

use plethora_core::IndexRows;

use super::batch::Cut;
use super::config::DocumentConfig;
use super::pieces::Pieces;

impl DocumentConfig {
    /// How documents are cut that are too long, for batches on a device.
    pub(super) fn cut(&self, pieces: &Pieces, device: tch::Device) -> Cut {
        Cut::new(self.max_length, pieces.num_after(), device)
            .with_windows(self.windows, pieces.num_before())
    }
}

/// The vocabulary of an encoder, and how many of its pieces are read of a text.
#[derive(Debug, Clone)]
pub struct PieceReader {
    /// The vocabulary.
    pub pieces: Pieces,
    /// Pieces of a document beyond this many are cut.
    pub max_length: usize,
}

impl PieceReader {
    /// Reads as much of a text as all its windows hold.
    pub(super) fn of(pieces: Pieces, config: &DocumentConfig) -> Self {
        Self {
            max_length: config.cut(&pieces, tch::Device::Cpu).whole_length(),
            pieces,
        }
    }

    /// The pieces of a text.
    pub fn sequence(&self, text: &str) -> Vec<u32> {
        self.pieces.encode(text, self.max_length)
    }

    /// The pieces of many texts.
    pub fn sequences(&self, texts: &[impl AsRef<str> + Sync]) -> IndexRows {
        self.pieces.encode_all(texts, self.max_length)
    }
}
