//! The architectures whose tokenizers can be built where a folder has no `tokenizer.json`.

use std::path::Path;

use plethora_core::Error;
use serde_json::{Map, Value};

use super::json;
use crate::Result;

/// Name of an encoder's settings in its folder.
pub(super) const CONFIG_FILE: &str = "config.json";

/// An architecture, as far as its tokenizer differs from those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// BERT, `DistilBERT` and ELECTRA: `WordPiece`, `[CLS] text [SEP]`.
    Bert,
    /// `MPNet`: `WordPiece`, `<s> text </s>`.
    Mpnet,
    /// `RoBERTa`: byte pairs, `<s> text </s>`.
    Roberta,
    /// `XLNet`: `SentencePiece`, `text <sep> <cls>`.
    Xlnet,
}

impl Family {
    /// The `model_type` names in `config.json`.
    const NAMES: [(&str, Self); 6] = [
        ("bert", Self::Bert),
        ("distilbert", Self::Bert),
        ("electra", Self::Bert),
        ("mpnet", Self::Mpnet),
        ("roberta", Self::Roberta),
        ("xlnet", Self::Xlnet),
    ];

    /// What `config.json` in `folder` says.
    pub(super) fn of_folder(folder: &Path) -> Result<Self> {
        let path = folder.join(CONFIG_FILE);
        let Some(config) = json::read_object(&path)? else {
            let message = "no config.json: this is no folder of a Hugging Face encoder";
            return Err(Error::model(folder, message).into());
        };
        Self::of_config(&config).map_err(|message| Error::input(&path, None, message).into())
    }

    fn of_config(config: &Map<String, Value>) -> Result<Self, String> {
        let names = Self::NAMES.map(|(name, _)| name).join(", ");
        let Some(Value::String(name)) = config.get("model_type") else {
            return Err(format!("no model_type; one of {names} was expected"));
        };
        Self::NAMES
            .iter()
            .find(|(known, _)| known == name)
            .map(|&(_, family)| family)
            .ok_or_else(|| {
                format!(
                    "without a tokenizer.json, the tokenizer of model_type {name:?} cannot be \
                     built; one of {names} was expected"
                )
            })
    }

    /// The special tokens by the keys of `tokenizer_config.json`, in the order in which
    /// `transformers` adds them to a vocabulary that lacks them.
    pub(super) fn special_tokens(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Bert => &[
                ("unk_token", "[UNK]"),
                ("sep_token", "[SEP]"),
                ("pad_token", "[PAD]"),
                ("cls_token", "[CLS]"),
                ("mask_token", "[MASK]"),
            ],
            Self::Mpnet => &[
                ("bos_token", "<s>"),
                ("eos_token", "</s>"),
                ("unk_token", "[UNK]"),
                ("sep_token", "</s>"),
                ("pad_token", "<pad>"),
                ("cls_token", "<s>"),
                ("mask_token", "<mask>"),
            ],
            Self::Roberta => &[
                ("bos_token", "<s>"),
                ("eos_token", "</s>"),
                ("unk_token", "<unk>"),
                ("sep_token", "</s>"),
                ("pad_token", "<pad>"),
                ("cls_token", "<s>"),
                ("mask_token", "<mask>"),
            ],
            Self::Xlnet => &[
                ("bos_token", "<s>"),
                ("eos_token", "</s>"),
                ("unk_token", "<unk>"),
                ("sep_token", "<sep>"),
                ("pad_token", "<pad>"),
                ("cls_token", "<cls>"),
                ("mask_token", "<mask>"),
            ],
        }
    }

    /// Whether the mask token takes the space before it along, where no file says so.
    pub(super) fn mask_takes_space(self) -> bool {
        matches!(self, Self::Mpnet | Self::Xlnet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(config: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(CONFIG_FILE), config).unwrap();
        let error = Family::of_folder(folder.path()).unwrap_err().to_string();
        let prefix = folder.path().display().to_string();
        error
            .strip_prefix(&prefix)
            .expect("names the file")
            .to_owned()
    }

    #[test]
    fn unknown_architectures_are_named_with_the_known_ones() {
        let known = "one of bert, distilbert, electra, mpnet, roberta, xlnet was expected";
        assert_eq!(
            message(r#"{"model_type": "gpt2"}"#),
            format!(
                "/config.json: without a tokenizer.json, the tokenizer of model_type \"gpt2\" \
                 cannot be built; {known}"
            )
        );
        assert_eq!(
            message("{}"),
            format!("/config.json: no model_type; {known}")
        );
        assert_eq!(message("[]"), "/config.json:1: a JSON object was expected");
        assert!(message("{\n  \"model_type").starts_with("/config.json:2: damaged JSON: EOF"));
    }

    #[test]
    fn folder_without_settings_is_no_encoder() {
        let folder = tempfile::tempdir().unwrap();
        let error = Family::of_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no config.json"), "{error}");
    }
}
