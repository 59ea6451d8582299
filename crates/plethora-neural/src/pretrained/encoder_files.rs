//! The files of an encoder that a system of pieces starts from.

use std::path::Path;

use plethora_core::Error;
use plethora_system::settings::Auto;

use super::batch::Cut;
use super::choices::MAX_CHOSEN_WINDOWS;
use super::config::OpenPieceConfig;
use super::pieces::Pieces;
use crate::Result;
use crate::parameters::DenseParametersBuilder;
use crate::setting::Setting;
use crate::transformer::{Architecture, Transformer, TransformerConfig, Weights};

/// Pieces of a document that are kept at most, where the encoder itself knows no limit.
pub(super) const MAX_PIECES: usize = 512;

/// What is known of an encoder before its weights are read.
pub(crate) struct EncoderFiles {
    pub(crate) architecture: Architecture,
    pub(crate) pieces: Pieces,
    /// Pieces of a document, or of a window of it, that are kept.
    pub(crate) max_length: usize,
}

impl EncoderFiles {
    /// Reads the encoder that the settings name, and makes sure that they suit it.
    pub(crate) fn open(
        encoder: &TransformerConfig,
        max_length: &impl Setting<usize>,
    ) -> Result<Self> {
        let folder = Path::new(&encoder.folder);
        let architecture = Architecture::read(folder)?;
        let pieces = Pieces::open(folder)?;
        check_fit(encoder, max_length, (&architecture, &pieces), folder)?;
        let longest = || architecture.max_length().unwrap_or(MAX_PIECES);
        let max_length = max_length.value().copied().unwrap_or_else(longest);
        Ok(Self {
            architecture,
            pieces,
            max_length,
        })
    }

    /// Pieces of a document that are kept where it is read in so many windows at most.
    pub(crate) fn whole_length(&self, windows: Auto<usize>) -> usize {
        Cut::new(self.max_length, self.pieces.num_after(), tch::Device::Cpu)
            .with_windows(
                windows.unwrap_or_else(|| MAX_CHOSEN_WINDOWS),
                self.pieces.num_before(),
            )
            .whole_length()
    }
}

/// Makes sure that encoder, tokenizer and settings go together; `encoder_file` is where the encoder
/// comes from, for messages.
pub(crate) fn check_fit(
    encoder: &TransformerConfig,
    max_length: &impl Setting<usize>,
    (architecture, pieces): (&Architecture, &Pieces),
    encoder_file: &Path,
) -> Result<()> {
    pieces.check_vocabulary(architecture.vocab_size(), encoder_file)?;
    encoder
        .check_layers(architecture.num_layers())
        .map_err(|error| error.within("encoder"))?;
    match architecture.max_length() {
        Some(limit) if !max_length.holds(|&length| length <= limit) => {
            let message = format!("must be at most {limit}, which the encoder has places for");
            Err(Error::config("document.max_length", message).into())
        }
        _ => Ok(()),
    }
}

/// Reads all of the encoder that the settings name and forgets it again, so that what is missing or
/// damaged shows before hours are spent on the documents.
///
/// # Errors
///
/// [`Config`](plethora_core::Error::Config) for settings that do not suit the encoder; otherwise the
/// file that cannot be used, and why.
pub fn check_encoder(config: &OpenPieceConfig) -> Result<()> {
    let files = EncoderFiles::open(&config.encoder, &config.document.max_length)?;
    let weights = Weights::Folder(Path::new(&config.encoder.folder));
    let mut builder = DenseParametersBuilder::default();
    Transformer::new(&files.architecture, &config.encoder, &mut builder, weights)?;
    Ok(())
}
