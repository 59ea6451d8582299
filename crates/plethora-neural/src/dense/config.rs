//! Settings of linear classifiers over terms and vectors.

use plethora_core::checks::{check, number_from, share_below_one, within};
use plethora_core::text::TfIdfConfig;
use plethora_core::tree::TreeConfig;
use plethora_core::{Error, Result};
use plethora_linear::trees::{LinearConfig, SolverConfig};
use plethora_system::Precision;
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blend::{Blend, Voice};
use super::fine_tuning_config::{FineTuning, OpenFineTuning};
use crate::setting::Setting;
use crate::transformer::{Pooling, TransformerConfig};

/// More neighbours would be a typing error.
const MAX_NEIGHBOURS: usize = 100_000;

/// Settings as users give them: what they leave open is chosen by the encoder and the documents.
pub type OpenDenseConfig = DenseConfig<Auto<Pooling>, Auto<f32>, OpenFineTuning>;

/// Settings of a system of the family, with all choices made: what models have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenseConfig<Pool = Pooling, Number = f32, Tuning = FineTuning> {
    /// Name of the system.
    pub system: String,
    /// Seeds the trees, the order of documents and which are held back.
    pub seed: u64,
    /// The pretrained encoder.
    pub encoder: EncoderConfig<Pool>,
    /// How the encoder is fine-tuned before it reads; absent where it stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fine_tuning: Option<Tuning>,
    /// Documents before the encoder.
    pub document: DocumentConfig,
    /// How texts become TF-IDF features.
    pub text: TfIdfConfig,
    /// The linear classifiers over both.
    pub classifiers: ClassifiersConfig,
    /// The documents whose vectors are nearest.
    pub neighbours: NeighboursConfig<Number>,
    /// The documents whose terms are nearest.
    pub term_neighbours: NeighboursConfig<Number>,
    /// How the weights of the neighbours are found.
    pub train: FitConfig,
}

/// The pretrained encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig<Pool = Pooling> {
    /// The Hugging Face folder or hub name.
    pub folder: String,
    /// How the states of a document's pieces become one.
    pub pooling: Pool,
}

/// Documents before the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentConfig {
    /// Pieces of a document beyond this many are cut.
    pub max_length: usize,
}

/// Linear classifiers on a label tree, over TF-IDF features and the numbers of the vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifiersConfig {
    /// Length of a document's vector beside its TF-IDF row, whose length is 1.
    pub vector_weight: f32,
    /// Trees whose scores are averaged.
    pub num_trees: usize,
    /// Nodes kept at each level in prediction.
    pub beam: usize,
    /// Nodes per level to which each training document is sent to serve as a hard negative.
    pub hard_negatives: usize,
    /// Cost of a mistake on a hard negative, as a share of the solver's cost.
    pub hard_negative_cost: f32,
    /// Exponent of the path's probability in a label's score.
    pub path_weight: f32,
    /// How labels are grouped.
    pub tree: TreeConfig,
    /// How the classifiers of a node are trained.
    pub solver: SolverConfig,
}

/// Training documents that vote for their labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighboursConfig<Number = f32> {
    /// Training documents that vote; 0 for none.
    pub num_neighbours: usize,
    /// Exponent of a neighbour's similarity in its vote.
    pub power: Number,
    /// How much the votes count beside the classifiers.
    pub weight: Number,
}

/// How the weights of the neighbours are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitConfig {
    /// Numbers that the encoder computes with.
    pub precision: Precision,
    /// Share of the training documents held back to choose weights by, where no others are given.
    pub valid_share: f64,
    /// ... and how many at most.
    pub valid_max: usize,
}

impl<Pool, Number: Setting<f32>, Tuning> DenseConfig<Pool, Number, Tuning> {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        check(
            self.document.max_length >= 3,
            "document.max_length",
            "must be at least 3, of which two are special pieces",
        )?;
        let weight = self.classifiers.vector_weight;
        number_from("classifiers.vector_weight", weight, 0.0)?;
        self.text.validate()?;
        let of_classifiers = |error: Error| error.within("classifiers");
        self.linear().validate().map_err(of_classifiers)?;
        self.neighbours
            .validate()
            .map_err(|error| error.within("neighbours"))?;
        self.term_neighbours
            .validate()
            .map_err(|error| error.within("term_neighbours"))?;
        share_below_one("train.valid_share", self.train.valid_share)
    }

    /// Neighbours by vectors and by terms.
    pub(super) fn voices(&self) -> [&NeighboursConfig<Number>; 2] {
        [&self.neighbours, &self.term_neighbours]
    }

    /// The settings of the linear classifiers by themselves.
    pub(super) fn linear(&self) -> LinearConfig {
        let classifiers = &self.classifiers;
        LinearConfig {
            system: self.system.clone(),
            seed: self.seed,
            text: self.text.clone(),
            num_trees: classifiers.num_trees,
            beam: classifiers.beam,
            hard_negatives: classifiers.hard_negatives,
            hard_negative_cost: classifiers.hard_negative_cost,
            path_weight: classifiers.path_weight,
            tree: classifiers.tree.clone(),
            solver: classifiers.solver.clone(),
        }
    }
}

impl OpenDenseConfig {
    /// The settings with these choices.
    pub(super) fn settled(
        &self,
        encoder: EncoderConfig,
        fine_tuning: Option<FineTuning>,
        blend: Blend,
    ) -> DenseConfig {
        let voice = |open: &NeighboursConfig<_>, voice: Voice| NeighboursConfig {
            num_neighbours: open.num_neighbours,
            power: voice.power,
            weight: voice.weight,
        };
        let Blend([by_vectors, by_terms]) = blend;
        DenseConfig {
            system: self.system.clone(),
            seed: self.seed,
            encoder,
            fine_tuning,
            document: self.document.clone(),
            text: self.text.clone(),
            classifiers: self.classifiers.clone(),
            neighbours: voice(&self.neighbours, by_vectors),
            term_neighbours: voice(&self.term_neighbours, by_terms),
            train: self.train.clone(),
        }
    }

    /// Refuses settings that cannot work, naming the key.
    pub(super) fn validate_all(&self) -> Result<()> {
        self.validate()?;
        match &self.fine_tuning {
            Some(tuning) => (tuning.validate()).map_err(|error| error.within("fine_tuning")),
            None => Ok(()),
        }
    }

    /// True where the weights or powers of neighbours are left to training.
    pub(super) fn leaves_choices(&self) -> bool {
        self.voices().into_iter().any(|voice| {
            voice.num_neighbours > 0 && (voice.power.is_auto() || voice.weight.is_auto())
        })
    }
}

impl<Number: Setting<f32>> NeighboursConfig<Number> {
    fn validate(&self) -> Result<()> {
        within("num_neighbours", self.num_neighbours, 0..=MAX_NEIGHBOURS)?;
        for (value, key) in [(&self.power, "power"), (&self.weight, "weight")] {
            if let Some(&value) = value.value() {
                number_from(key, value, 0.0)?;
            }
        }
        Ok(())
    }
}

impl EncoderConfig {
    /// The settings of the encoder as a network has them.
    pub(crate) fn transformer(&self) -> TransformerConfig {
        TransformerConfig {
            folder: self.folder.clone(),
            layers: 1,
            pooling: self.pooling,
            dropout: 0.0,
            attention_dropout: 0.0,
            train_distances: false,
            checkpointing: false,
        }
    }
}
