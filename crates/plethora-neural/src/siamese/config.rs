//! Settings of the system `siamese`.

use plethora_core::checks::{above_zero, at_least, check, number_from, share_below_one, within};
use plethora_core::{Error, Result};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dense::DocumentConfig;
use crate::setting::Setting;
use crate::train::{ChosenNumbers, TrainConfig};
use crate::transformer::{Pooling, TransformerConfig};

/// Documents that are computed together, where nobody says so: with vectors, and with an encoder that
/// learns.
const BATCH_SIZES: (usize, usize) = (256, 64);

/// Learning rates, likewise.
const RATES: (f64, f64) = (3e-4, 2e-5);

/// Learning rates of free vectors as multiples of them, likewise.
const LABEL_RATES: (f64, f64) = (10.0, 50.0);

/// Settings as users give them.
pub type OpenSiameseConfig =
    SiameseConfig<Auto<Pooling>, Auto<bool>, Auto<f32>, Auto<usize>, Auto<f64>>;

/// Settings of the system `siamese`, with all choices made: what models have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "Pool: Serialize, Flag: Serialize, Number: Serialize, Batch: Serialize, \
                     Rate: Serialize + From<f64> + PartialEq",
        deserialize = "Pool: Deserialize<'de>, Flag: Deserialize<'de>, Number: Deserialize<'de>, \
                       Batch: Deserialize<'de>, Rate: Deserialize<'de> + From<f64>"
    )
)]
#[schemars(
    bound = "Pool: JsonSchema, Flag: JsonSchema, Number: JsonSchema, Batch: JsonSchema, \
                    Rate: JsonSchema + Serialize + From<f64> + PartialEq"
)]
pub struct SiameseConfig<Pool = Pooling, Flag = bool, Number = f32, Batch = usize, Rate = f64> {
    /// Name of the system.
    pub system: String,
    /// Seeds the order of documents, dropout, random negatives and which documents are held back.
    pub seed: u64,
    /// The pretrained encoder.
    pub encoder: EncoderConfig<Pool, Flag>,
    /// Documents before the encoder.
    pub document: DocumentConfig,
    /// Names of labels before the encoder.
    pub names: NamesConfig,
    /// What makes the vector of a label.
    pub labels: PrototypeConfig<Number>,
    /// Labels that documents are told apart from.
    pub negatives: NegativesConfig,
    /// How weights are found.
    pub train: TrainConfig<Batch, usize, Rate>,
}

/// The pretrained encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig<Pool = Pooling, Flag = bool> {
    /// The Hugging Face folder or hub name.
    pub folder: String,
    /// How the states of a text's pieces become one.
    pub pooling: Pool,
    /// Whether the encoder learns; where it does not, a matrix behind it does.
    pub trained: Flag,
    /// Share of the numbers of states that a training step leaves out.
    pub dropout: f64,
}

/// Names of labels before the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamesConfig {
    /// Other names of a label that are read with its name, at most.
    pub synonyms: usize,
    /// Words of all names of a label, at most.
    pub max_words: usize,
}

/// What makes the vector of a label: its names, a free vector, and the mean of its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrototypeConfig<Number = f32> {
    /// Whether labels with documents have a free vector beside that of their names.
    pub free: bool,
    /// Weight of the mean vector of a label's documents; 0 for none.
    pub centroid: Number,
    /// Documents that are added to those of a label, so that means of few count for less.
    pub shrinkage: f32,
    /// Similarities are divided by it before they compete: low ones make the nearest label stand out.
    pub temperature: f64,
}

/// Labels that training documents are told apart from, beside those of the others in their batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NegativesConfig {
    /// The nearest wrong labels of each document.
    pub mined: usize,
    /// Times that they are looked for; the epochs are divided among these.
    pub rounds: usize,
    /// Labels that a batch is compared with, filled up with random ones.
    pub pool: usize,
}

impl<Pool, Flag, Number, Batch, Rate> SiameseConfig<Pool, Flag, Number, Batch, Rate>
where
    Number: Setting<f32>,
    Batch: Setting<usize> + Clone,
    Rate: Setting<f64> + Clone,
{
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        check(
            self.document.max_length >= 3,
            "document.max_length",
            "must be at least 3, of which two are special pieces",
        )?;
        share_below_one("encoder.dropout", self.encoder.dropout)?;
        at_least("names.max_words", self.names.max_words, 1)?;
        if let Some(&weight) = self.labels.centroid.value() {
            number_from("labels.centroid", weight, 0.0)?;
        }
        number_from("labels.shrinkage", self.labels.shrinkage, 0.0)?;
        above_zero("labels.temperature", self.labels.temperature)?;
        within("negatives.mined", self.negatives.mined, 0..=1000)?;
        within("negatives.rounds", self.negatives.rounds, 1..=1000)?;
        at_least("negatives.pool", self.negatives.pool, 2)?;
        // No epoch at all is a model of names, and of the means of documents.
        let mut train = self.train.clone();
        train.epochs = train.epochs.max(1);
        train
            .validate()
            .map_err(|error: Error| error.within("train"))
    }
}

/// What is chosen before training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices {
    pub(super) pooling: Pooling,
    pub(super) trains_encoder: bool,
}

impl OpenSiameseConfig {
    /// The settings with these choices; the weight of means is still the one that `centroid` says.
    pub(super) fn settled(&self, folder: String, choices: Choices, centroid: f32) -> SiameseConfig {
        let pick = |(frozen, trained): (f64, f64)| {
            if choices.trains_encoder {
                trained
            } else {
                frozen
            }
        };
        let (frozen, trained) = BATCH_SIZES;
        let train = &self.train;
        SiameseConfig {
            system: self.system.clone(),
            seed: self.seed,
            encoder: EncoderConfig {
                folder,
                pooling: choices.pooling,
                trained: choices.trains_encoder,
                dropout: self.encoder.dropout,
            },
            document: self.document.clone(),
            names: self.names.clone(),
            labels: PrototypeConfig {
                free: self.labels.free,
                centroid,
                shrinkage: self.labels.shrinkage,
                temperature: self.labels.temperature,
            },
            negatives: self.negatives.clone(),
            train: train.settled(ChosenNumbers {
                epochs: train.epochs,
                batch_size: train.batch_size.unwrap_or_else(|| {
                    if choices.trains_encoder {
                        trained
                    } else {
                        frozen
                    }
                }),
                learning_rate: train.learning_rate.unwrap_or_else(|| pick(RATES)),
                label_rate: train.label_rate.unwrap_or_else(|| pick(LABEL_RATES)),
                hidden_rate: 1.0,
            }),
        }
    }
}

impl SiameseConfig {
    /// False where names are all there is: nothing is trained, and means of documents do not count, so that their
    /// texts need no reading.
    pub(super) fn learns_from_documents(&self) -> bool {
        self.train.epochs > 0 || self.labels.centroid > 0.0
    }

    /// The settings of the encoder as a network has them.
    pub(super) fn transformer(&self) -> TransformerConfig {
        TransformerConfig {
            folder: self.encoder.folder.clone(),
            layers: 1,
            pooling: self.encoder.pooling,
            dropout: self.encoder.dropout,
            attention_dropout: 0.0,
            train_distances: false,
            checkpointing: false,
        }
    }

    /// The same as the family of frozen encoders names them.
    pub(super) fn frozen(&self) -> crate::dense::EncoderConfig {
        crate::dense::EncoderConfig {
            folder: self.encoder.folder.clone(),
            pooling: self.encoder.pooling,
        }
    }
}
