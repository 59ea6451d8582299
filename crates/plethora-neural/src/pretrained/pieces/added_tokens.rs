//! Tokens that are found in a text before it is cut into pieces: the special ones and those that
//! somebody added to a vocabulary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plethora_core::Error;
use serde_json::{Map, Value};
use tokenizers::AddedToken;

use super::family::Family;
use super::json;
use crate::Result;

const CONFIG_FILE: &str = "tokenizer_config.json";
const SPECIAL_TOKENS_FILE: &str = "special_tokens_map.json";
const ADDED_TOKENS_FILE: &str = "added_tokens.json";

/// What the files beside a vocabulary say of its tokenizer.
#[derive(Debug)]
pub(super) struct TokenizerSettings {
    path: PathBuf,
    options: Map<String, Value>,
    named: BTreeMap<&'static str, AddedToken>,
    /// In the order in which they get ids where the vocabulary has none for them.
    added: Vec<AddedToken>,
}

impl TokenizerSettings {
    /// Reads the settings of `folder`, which may have none.
    pub(super) fn read(folder: &Path, family: Family) -> Result<Self> {
        let path = folder.join(CONFIG_FILE);
        let mut options = json::read_object(&path)?.unwrap_or_default();
        let mut added = added_tokens_by_id(&path, &options)?;
        if !options.contains_key("added_tokens_decoder") {
            // The form of older folders.
            let special = json::read_object(&folder.join(SPECIAL_TOKENS_FILE))?;
            options.extend(special.unwrap_or_default());
        }
        let mut named = BTreeMap::new();
        for &(key, content) in family.special_tokens() {
            let mut token = match options.get(key) {
                None | Some(Value::Null) => AddedToken::from(content, true),
                Some(value) => read_token(&path, key, value)?,
            };
            let is_plain = !matches!(options.get(key), Some(Value::Object(_)));
            token.lstrip |= is_plain && key == "mask_token" && family.mask_takes_space();
            if let Some(known) = added.values().find(|known| known.content == token.content) {
                token = known.clone();
                token.special = true;
            }
            named.insert(key, token);
        }
        let extra = extra_tokens(&path, &options)?;
        if added.is_empty() && !options.contains_key("added_tokens_decoder") {
            let is_special = |content: &str| {
                named
                    .values()
                    .chain(&extra)
                    .any(|token| token.content == content)
            };
            added = read_added_file(&folder.join(ADDED_TOKENS_FILE), is_special)?;
        }
        let in_order = family
            .special_tokens()
            .iter()
            .map(|(key, _)| named[key].clone());
        let added = added.into_values().chain(in_order).chain(extra).collect();
        Ok(Self {
            path,
            options,
            named,
            added,
        })
    }

    /// The setting `key`, which is true or false.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        json::flag(&self.path, &self.options, key)
    }

    /// The text of the special token `key`.
    pub(super) fn special(&self, key: &str) -> &str {
        &self.named[key].content
    }

    /// All tokens to be found in texts as they are.
    pub(super) fn added(&self) -> &[AddedToken] {
        &self.added
    }
}

/// Tokens of `tokenizer_config.json` with their ids.
fn added_tokens_by_id(
    path: &Path,
    options: &Map<String, Value>,
) -> Result<BTreeMap<u32, AddedToken>> {
    let Some(Value::Object(tokens)) = options.get("added_tokens_decoder") else {
        return Ok(BTreeMap::new());
    };
    tokens
        .iter()
        .map(|(id, token)| {
            let key = format!("added_tokens_decoder.{id}");
            let Ok(id) = id.parse() else {
                let message = format!("{key}: a number was expected");
                return Err(Error::input(path, None, message).into());
            };
            let mut read = read_token(path, &key, token)?;
            read.special = token["special"].as_bool().unwrap_or(false);
            Ok((id, read))
        })
        .collect()
}

/// Tokens of `added_tokens.json`, which has nothing but their ids.
fn read_added_file(
    path: &Path,
    is_special: impl Fn(&str) -> bool,
) -> Result<BTreeMap<u32, AddedToken>> {
    let tokens = json::read_object(path)?.unwrap_or_default();
    tokens
        .into_iter()
        .map(|(content, id)| {
            let Some(Ok(id)) = id.as_u64().map(u32::try_from) else {
                let message = format!("the id of {content:?} is {id}; a number was expected");
                return Err(Error::input(path, None, message).into());
            };
            let special = is_special(&content);
            Ok((id, AddedToken::from(content, special).normalized(!special)))
        })
        .collect()
}

fn extra_tokens(path: &Path, options: &Map<String, Value>) -> Result<Vec<AddedToken>> {
    let key = "extra_special_tokens";
    let older_key = "additional_special_tokens";
    let tokens = options.get(key).or_else(|| options.get(older_key));
    let Some(Value::Array(tokens)) = tokens else {
        return Ok(Vec::new());
    };
    tokens
        .iter()
        .map(|token| read_token(path, key, token))
        .collect()
}

/// A special token, written as its text or as an object.
fn read_token(path: &Path, key: &str, value: &Value) -> Result<AddedToken> {
    let content = value.as_str().or_else(|| value["content"].as_str());
    let Some(content) = content.filter(|content| !content.is_empty()) else {
        let message = format!("{key}: the text of a token was expected");
        return Err(Error::input(path, None, message).into());
    };
    let flag = |key: &str| value[key].as_bool();
    let token = AddedToken::from(content, true)
        .single_word(flag("single_word").unwrap_or(false))
        .lstrip(flag("lstrip").unwrap_or(false))
        .rstrip(flag("rstrip").unwrap_or(false))
        .normalized(flag("normalized").unwrap_or(false));
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    fn message(name: &str, content: &str) -> String {
        let folder = golden::folder("bert");
        std::fs::write(folder.path().join(name), content).unwrap();
        let settings = TokenizerSettings::read(folder.path(), Family::Bert);
        let error = settings
            .and_then(|settings| settings.flag("do_lower_case"))
            .unwrap_err()
            .to_string();
        let folder = format!("{}/", folder.path().display());
        error.replace(&folder, "")
    }

    #[test]
    fn settings_of_the_wrong_kind_are_named() {
        assert_eq!(
            message(CONFIG_FILE, r#"{"do_lower_case": "yes"}"#),
            "tokenizer_config.json: do_lower_case is \"yes\"; true or false was expected"
        );
        assert_eq!(
            message(CONFIG_FILE, r#"{"cls_token": 7}"#),
            "tokenizer_config.json: cls_token: the text of a token was expected"
        );
        assert_eq!(
            message(
                CONFIG_FILE,
                r#"{"added_tokens_decoder": {"x": {"content": "a"}}}"#
            ),
            "tokenizer_config.json: added_tokens_decoder.x: a number was expected"
        );
        assert_eq!(
            message(ADDED_TOKENS_FILE, r#"{"a": "b"}"#),
            "added_tokens.json: the id of \"a\" is \"b\"; a number was expected"
        );
    }

    #[test]
    fn later_files_overrule_and_named_tokens_are_special() {
        let folder = golden::folder("bert");
        let config = r#"{"cls_token": "[A]", "sep_token": {"content": "[Z]", "rstrip": true},
            "additional_special_tokens": ["[X]"]}"#;
        std::fs::write(folder.path().join(CONFIG_FILE), config).unwrap();
        let map = r#"{"cls_token": "[B]"}"#;
        std::fs::write(folder.path().join(SPECIAL_TOKENS_FILE), map).unwrap();
        let added = r#"{"[X]": 9, "word": 8}"#;
        std::fs::write(folder.path().join(ADDED_TOKENS_FILE), added).unwrap();
        let settings = TokenizerSettings::read(folder.path(), Family::Bert).unwrap();
        assert_eq!(settings.special("cls_token"), "[B]");
        assert_eq!(settings.special("sep_token"), "[Z]");
        let found: Vec<_> = settings
            .added()
            .iter()
            .map(|token| {
                (
                    &*token.content,
                    token.special,
                    token.normalized,
                    token.rstrip,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("word", false, true, false),
                ("[X]", true, false, false),
                ("[UNK]", true, false, false),
                ("[Z]", true, false, true),
                ("[PAD]", true, false, false),
                ("[B]", true, false, false),
                ("[MASK]", true, false, false),
                ("[X]", true, false, false),
            ]
        );
    }
}
