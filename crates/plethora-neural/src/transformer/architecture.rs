//! What the config.json of an encoder says.

use std::path::{Path, PathBuf};

use plethora_core::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::config_keys::{ConfigKeys, KeyNames};
use super::rotary::RotaryShape;
use super::trained_folder;
use crate::Result;
use crate::curve::Curve;

/// Kinds of encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchitectureKind {
    /// BERT and what was trained with its layers, as `MiniLM`.
    Bert,
    /// `RoBERTa`, `XLM-RoBERTa` and `CamemBERT`.
    Roberta,
    /// `MPNet`: learned biases by the distance of pieces beside positions.
    Mpnet,
    /// `DistilBERT`.
    Distilbert,
    /// `XLNet`: positions by distance alone.
    Xlnet,
    /// ELECTRA: BERT whose vectors of pieces may be narrower than its states.
    Electra,
    /// `ModernBERT`: norms before the parts of a layer, rotations for positions, and layers that look at near
    /// pieces alone.
    Modernbert,
}

/// `model_type` as configurations have it.
const MODEL_TYPES: [(&str, ArchitectureKind); 9] = [
    ("bert", ArchitectureKind::Bert),
    ("roberta", ArchitectureKind::Roberta),
    ("xlm-roberta", ArchitectureKind::Roberta),
    ("camembert", ArchitectureKind::Roberta),
    ("mpnet", ArchitectureKind::Mpnet),
    ("distilbert", ArchitectureKind::Distilbert),
    ("xlnet", ArchitectureKind::Xlnet),
    ("electra", ArchitectureKind::Electra),
    ("modernbert", ArchitectureKind::Modernbert),
];

/// `transformers` counts positions of `MPNet` from this piece whatever the configuration says.
const MPNET_PAD: i64 = 1;

/// Distances of `MPNet` fall into this many classes, whatever the configuration says.
pub(super) const DISTANCE_CLASSES: i64 = 32;

/// Where the piece is that stands for the whole document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPiece {
    /// Before the text.
    First,
    /// Behind it.
    Last,
}

/// The shape of an encoder, from its `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Architecture {
    /// As it was read, with what is not needed here.
    original: Map<String, Value>,
    kind: ArchitectureKind,
    num_layers: i64,
    pub(super) shape: LayerShape,
    pub(super) vocab_size: i64,
    /// Rows of the table of positions, where there is one.
    pub(super) num_positions: i64,
    /// The row of the first piece.
    pub(super) first_position: i64,
    /// Rows of the table of segments, where there is one.
    pub(super) num_types: i64,
    /// Numbers of a piece's vector, where it is not yet a state.
    pub(super) embedding_width: i64,
    /// Positions as rotations.
    pub(super) rotary: Option<RotaryShape>,
    /// Spread of fresh weights.
    pub(super) initializer_range: f64,
    /// Distances beyond this one count as this one; 0 for none.
    pub(super) clamp_len: i64,
}

/// What all layers have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LayerShape {
    /// Numbers of a piece's state.
    pub(super) width: i64,
    pub(super) num_heads: i64,
    /// Numbers inside the feed-forward part.
    pub(super) inner_width: i64,
    pub(super) activation: Curve,
    pub(super) norm_eps: f64,
}

impl LayerShape {
    /// Numbers of a head.
    pub(super) fn head_width(&self) -> i64 {
        self.width / self.num_heads
    }
}

impl Architecture {
    /// Reads the `config.json` of a folder, or the file itself.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or has no JSON object, and keys that are missing or have values
    /// that are not supported; the message names file, key and what is supported.
    pub fn read(path: &Path) -> Result<Self> {
        let file: PathBuf = if trained_folder::is_model(path) {
            path.join(trained_folder::ARCHITECTURE_FILE)
        } else if path.is_dir() {
            path.join("config.json")
        } else {
            path.to_owned()
        };
        let text = std::fs::read_to_string(&file).map_err(Error::read(&file))?;
        Self::from_json(&text, &file)
    }

    /// The same from the text of the file, which is `path` in messages.
    pub fn from_json(text: &str, path: &Path) -> Result<Self> {
        let object: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| Error::input(path, error.line() as u64, error.to_string()))?;
        Self::of_object(object, path)
    }

    /// The text of a `config.json` with all that the one had from which this was read.
    pub fn to_json(&self) -> String {
        let mut text = format!("{:#}", Value::Object(self.original.clone()));
        text.push('\n');
        text
    }

    fn of_object(object: Map<String, Value>, path: &Path) -> Result<Self> {
        let keys = ConfigKeys {
            path,
            object: &object,
        };
        let model_type = keys.text("model_type")?;
        let known = MODEL_TYPES.iter().find(|(name, _)| *name == model_type);
        let Some(&(_, kind)) = known else {
            let names = MODEL_TYPES.map(|(name, _)| name).join(", ");
            return Err(keys.unsupported("model_type", &Value::from(model_type), &names));
        };
        let mut architecture = read_keys(&keys, kind)?;
        architecture.original = object;
        Ok(architecture)
    }

    /// Which kind of encoder it is.
    pub fn kind(&self) -> ArchitectureKind {
        self.kind
    }

    /// Numbers of a piece's state.
    pub fn width(&self) -> usize {
        self.shape.width as usize
    }

    /// Numbers inside the second half of a layer.
    pub fn inner_width(&self) -> usize {
        self.shape.inner_width as usize
    }

    /// Heads of attention.
    pub fn num_heads(&self) -> usize {
        self.shape.num_heads as usize
    }

    /// Number of layers, without the embeddings.
    pub fn num_layers(&self) -> usize {
        self.num_layers as usize
    }

    /// Number of pieces that have a vector.
    pub fn vocab_size(&self) -> usize {
        self.vocab_size as usize
    }

    /// Pieces that a document may have, special ones among them; absent where there is no limit.
    pub fn max_length(&self) -> Option<usize> {
        (self.kind != ArchitectureKind::Xlnet)
            .then_some((self.num_positions - self.first_position) as usize)
    }

    /// Where the piece is that stands for the document.
    pub fn document_piece(&self) -> DocumentPiece {
        match self.kind {
            ArchitectureKind::Xlnet => DocumentPiece::Last,
            _ => DocumentPiece::First,
        }
    }
}

/// Everything but the object itself.
fn read_keys(keys: &ConfigKeys<'_>, kind: ArchitectureKind) -> Result<Architecture> {
    check_habits(keys, kind)?;
    let names = KeyNames::of(kind);
    let shape = LayerShape {
        width: keys.size(names.width)?,
        num_heads: keys.size(names.num_heads)?,
        inner_width: keys.size(names.inner_width)?,
        activation: keys.activation(names.activation)?,
        // Not a setting of `DistilBERT`, and the same there.
        norm_eps: match kind {
            ArchitectureKind::Modernbert => keys.float_or("norm_eps", 1e-5)?,
            _ => keys.float_or("layer_norm_eps", 1e-12)?,
        },
    };
    if shape.width % shape.num_heads != 0 {
        let (heads, width) = (shape.num_heads, shape.width);
        let (of_heads, of_width) = (names.num_heads, names.width);
        return Err(keys.error(format!(
            "`{of_heads}` is {heads}, which does not divide `{of_width}`, {width}"
        )));
    }
    let (num_positions, first_position) = positions(keys, kind)?;
    Ok(Architecture {
        original: Map::new(),
        kind,
        num_layers: keys.layers(names.num_layers)?,
        shape,
        vocab_size: keys.size("vocab_size")?,
        num_positions,
        first_position,
        num_types: match kind {
            ArchitectureKind::Bert | ArchitectureKind::Roberta | ArchitectureKind::Electra => {
                keys.count_or("type_vocab_size", 2)?
            }
            _ => 0,
        },
        embedding_width: match kind {
            ArchitectureKind::Electra => keys.count_or("embedding_size", 128)?,
            _ => shape.width,
        },
        rotary: match kind {
            ArchitectureKind::Modernbert => Some(rotary(keys)?),
            _ => None,
        },
        initializer_range: keys.float_or("initializer_range", 0.02)?,
        // -1 stands for none.
        clamp_len: keys.float_or("clamp_len", -1.0)?.max(0.0) as i64,
    })
}

/// Makes sure that nothing is asked for that the layers do not do.
fn check_habits(keys: &ConfigKeys<'_>, kind: ArchitectureKind) -> Result<()> {
    match kind {
        ArchitectureKind::Bert | ArchitectureKind::Roberta | ArchitectureKind::Electra => {
            keys.expect("position_embedding_type", "absolute")?;
            keys.expect("is_decoder", false)
        }
        ArchitectureKind::Mpnet => keys.expect("relative_attention_num_buckets", DISTANCE_CLASSES),
        ArchitectureKind::Distilbert => Ok(()),
        ArchitectureKind::Modernbert => {
            keys.expect("attention_bias", false)?;
            keys.expect("mlp_bias", false)?;
            keys.expect("norm_bias", false)?;
            let width = keys.size("hidden_size")? / keys.size("num_attention_heads")?;
            if width % 2 == 1 {
                return Err(keys.error(format!("a head has {width} numbers, which is odd")));
            }
            Ok(())
        }
        ArchitectureKind::Xlnet => {
            keys.expect("attn_type", "bi")?;
            keys.expect("bi_data", false)?;
            let width = keys.size("d_model")?;
            if width % 2 == 1 {
                return Err(keys.error(format!("`d_model` is {width}, which is odd")));
            }
            keys.expect("d_head", width / keys.size("n_head")?)
        }
    }
}

/// The numbers of rotations, as older and newer configurations have them.
fn rotary(keys: &ConfigKeys<'_>) -> Result<RotaryShape> {
    let theta = |old: &str, layers: &str, default: f64| -> Result<f64> {
        let newer = keys.float_inside_both("rope_parameters", layers, "rope_theta");
        newer.map_or_else(|| keys.float_or(old, default), Ok)
    };
    Ok(RotaryShape {
        global_theta: theta("global_rope_theta", "full_attention", 160_000.0)?,
        local_theta: theta("local_rope_theta", "sliding_attention", 10_000.0)?,
        reach: keys.count_or("local_attention", 128)? / 2,
        global_every: keys.count_or("global_attn_every_n_layers", 3)?.max(1),
    })
}

/// How many rows of positions there are and which is the first piece's.
fn positions(keys: &ConfigKeys<'_>, kind: ArchitectureKind) -> Result<(i64, i64)> {
    let first = match kind {
        ArchitectureKind::Xlnet => return Ok((0, 0)),
        ArchitectureKind::Bert
        | ArchitectureKind::Distilbert
        | ArchitectureKind::Electra
        | ArchitectureKind::Modernbert => 0,
        ArchitectureKind::Roberta => keys.count_or("pad_token_id", 1)? + 1,
        ArchitectureKind::Mpnet => MPNET_PAD + 1,
    };
    let number = keys.size("max_position_embeddings")?;
    if number <= first {
        return Err(keys.error(format!(
            "`max_position_embeddings` is {number} where more than {first} are needed"
        )));
    }
    Ok((number, first))
}

impl TryFrom<Map<String, Value>> for Architecture {
    type Error = crate::Error;

    fn try_from(object: Map<String, Value>) -> Result<Self> {
        Self::of_object(object, Path::new("config.json"))
    }
}

impl From<Architecture> for Map<String, Value> {
    fn from(architecture: Architecture) -> Self {
        architecture.original
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::golden;
    use super::*;

    fn read(object: &Value) -> Result<Architecture> {
        Architecture::from_json(&object.to_string(), Path::new("somewhere/config.json"))
    }

    fn bert() -> Value {
        json!({
            "model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
            "num_hidden_layers": 3, "intermediate_size": 16, "vocab_size": 10,
            "max_position_embeddings": 512, "_name_or_path": "kept"
        })
    }

    #[test]
    fn configurations_say_what_an_encoder_is() {
        for (kind, max_length, num_layers) in [
            ("bert", Some(48), 3),
            ("roberta", Some(46), 2),
            ("mpnet", Some(46), 2),
            ("distilbert", Some(48), 2),
            ("xlnet", None, 3),
            ("electra", Some(48), 2),
            ("modernbert", Some(48), 4),
        ] {
            let architecture = Architecture::read(&golden::folder(kind)).unwrap();
            let file = golden::folder(kind).join("config.json");
            assert_eq!(Architecture::read(&file).unwrap(), architecture);
            assert_eq!(architecture.max_length(), max_length);
            assert_eq!(architecture.num_layers(), num_layers);
            assert_eq!(architecture.width(), 32);
            assert_eq!(architecture.vocab_size(), 60);
            assert_eq!(format!("{:?}", architecture.kind()).to_lowercase(), kind);
            let piece = architecture.document_piece();
            assert_eq!(piece == DocumentPiece::Last, kind == "xlnet");
        }
    }

    #[test]
    fn nothing_of_a_configuration_is_lost() {
        let architecture = read(&bert()).unwrap();
        let again = Architecture::from_json(&architecture.to_json(), Path::new("x")).unwrap();
        assert_eq!(again, architecture);
        assert!(architecture.to_json().contains("kept"));
        let value = serde_json::to_value(&architecture).unwrap();
        assert_eq!(value, bert());
        let again: Architecture = serde_json::from_value(value).unwrap();
        assert_eq!(again, architecture);
        assert!(serde_json::from_value::<Architecture>(json!({"model_type": "t5"})).is_err());
    }

    #[test]
    fn what_is_not_supported_is_refused_by_file_and_key() {
        let refused = |key: &str, value: Value| {
            let mut object = bert();
            object[key] = value;
            let message = read(&object).unwrap_err().to_string();
            let message = message.strip_prefix("somewhere/config.json: ").unwrap();
            message.to_owned()
        };
        assert_eq!(
            refused("model_type", "gpt2".into()),
            "`model_type` is \"gpt2\", which is not supported; supported is bert, roberta, \
             xlm-roberta, camembert, mpnet, distilbert, xlnet, electra, modernbert"
        );
        assert_eq!(
            refused("model_type", Value::Null),
            "`model_type` is missing"
        );
        assert_eq!(
            refused("hidden_act", "tanh".into()),
            "`hidden_act` is \"tanh\", which is not supported; supported is gelu, gelu_python, \
             gelu_new, gelu_fast, gelu_pytorch_tanh, relu, silu, swish"
        );
        assert_eq!(
            refused("position_embedding_type", "relative_key".into()),
            "`position_embedding_type` is \"relative_key\", which is not supported; supported is \
             \"absolute\""
        );
        assert_eq!(
            refused("hidden_size", "wide".into()),
            "`hidden_size` is \"wide\" where a number from 1 to 16777216 is expected"
        );
        assert!(refused("vocab_size", Value::Null).ends_with("`vocab_size` is missing"));
        assert!(refused("num_hidden_layers", 1001.into()).contains("from 1 to 1000 is"));
        assert_eq!(
            refused("num_attention_heads", 3.into()),
            "`num_attention_heads` is 3, which does not divide `hidden_size`, 8"
        );
        assert!(refused("layer_norm_eps", "small".into()).contains("a number is expected"));
        assert!(refused("is_decoder", true.into()).ends_with("supported is false"));
    }

    #[test]
    fn files_that_are_no_configuration_are_refused() {
        let error = |text: &str| {
            let path = Path::new("somewhere/config.json");
            Architecture::from_json(text, path).unwrap_err().to_string()
        };
        assert!(error("{\n\"a\": }").starts_with("somewhere/config.json:2: "));
        assert!(error("[]").starts_with("somewhere/config.json:1: "));
        let missing = Architecture::read(Path::new("nowhere")).unwrap_err();
        assert!(missing.to_string().starts_with("nowhere: cannot read: "));
        let unidirectional = json!({
            "model_type": "xlnet", "attn_type": "uni", "d_model": 8, "n_head": 2, "n_layer": 1,
            "d_inner": 8, "vocab_size": 10
        });
        let message = read(&unidirectional).unwrap_err().to_string();
        assert!(message.contains("`attn_type` is \"uni\""), "{message}");
    }
}
