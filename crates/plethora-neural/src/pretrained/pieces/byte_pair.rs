//! Byte-pair tokenizers from `vocab.json` and `merges.txt`, as `RoBERTa` has them.

use std::path::Path;

use plethora_core::Error;
use serde_json::{Map, Value, json};
use tokenizers::Tokenizer;

use super::added_tokens::TokenizerSettings;
use super::assemble::Draft;
use super::family::Family;
use super::frame::Frame;
use super::json;
use crate::Result;

/// Name of the vocabulary: pieces with their ids.
pub(super) const VOCABULARY_FILE: &str = "vocab.json";

/// Name of the merges: two pieces a line that become one, the most frequent first.
pub(super) const MERGES_FILE: &str = "merges.txt";

/// Builds the tokenizer of `folder`.
pub(super) fn build(folder: &Path, family: Family) -> Result<Tokenizer> {
    let path = folder.join(VOCABULARY_FILE);
    let settings = TokenizerSettings::read(folder, family)?;
    let vocabulary = read_vocabulary(&path)?;
    let merges = read_merges(&folder.join(MERGES_FILE), &vocabulary)?;
    let add_prefix_space = settings.flag("add_prefix_space")?.unwrap_or(false);
    let draft = Draft {
        model: json!({
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": false,
            "byte_fallback": false,
            "vocab": vocabulary,
            "merges": merges,
        }),
        normalizer: Value::Null,
        pre_tokenizer: json!({
            "type": "ByteLevel",
            "add_prefix_space": add_prefix_space,
            "trim_offsets": true,
            "use_regex": true,
        }),
        decoder: json!({
            "type": "ByteLevel",
            "add_prefix_space": true,
            "trim_offsets": true,
            "use_regex": true,
        }),
        added: settings.added(),
        frame: Frame::Roberta {
            cls: settings.special("cls_token"),
            sep: settings.special("sep_token"),
            add_prefix_space,
        },
    };
    draft.assemble(&path)
}

fn read_vocabulary(path: &Path) -> Result<Map<String, Value>> {
    let Some(vocabulary) = json::read_object(path)? else {
        let missing = std::io::ErrorKind::NotFound.into();
        return Err(Error::read(path)(missing).into());
    };
    let is_id = |id: &Value| id.as_u64().is_some_and(|id| u32::try_from(id).is_ok());
    match vocabulary.iter().find(|(_, id)| !is_id(id)) {
        None => Ok(vocabulary),
        Some((piece, id)) => {
            let message = format!("the id of {piece:?} is {id}; a number was expected");
            Err(Error::input(path, None, message).into())
        }
    }
}

fn read_merges(path: &Path, vocabulary: &Map<String, Value>) -> Result<Vec<[String; 2]>> {
    let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
    let mut merges = Vec::new();
    for (number, line) in (1_u64..).zip(text.lines()) {
        if line.starts_with("#version") {
            continue;
        }
        let mut parts = line.split(' ');
        let (Some(left), Some(right), None) = (parts.next(), parts.next(), parts.next()) else {
            let message = format!("two pieces and a space between them were expected: {line:?}");
            return Err(Error::input(path, number, message).into());
        };
        let joined = format!("{left}{right}");
        for piece in [left, right, &joined] {
            if !vocabulary.contains_key(piece) {
                let message = format!("{piece:?} is not in {VOCABULARY_FILE}");
                return Err(Error::input(path, number, message).into());
            }
        }
        merges.push([left.to_owned(), right.to_owned()]);
    }
    Ok(merges)
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    fn message(name: &str, content: &str) -> String {
        let folder = golden::folder("roberta");
        std::fs::write(folder.path().join(name), content).unwrap();
        let error = build(folder.path(), Family::Roberta)
            .unwrap_err()
            .to_string();
        let folder = format!("{}/", folder.path().display());
        error.replace(&folder, "")
    }

    #[test]
    fn files_that_cannot_work_are_refused_with_the_line() {
        assert_eq!(
            message(MERGES_FILE, "#version: 0.2\ni n\ni nn n\n"),
            "merges.txt:3: two pieces and a space between them were expected: \"i nn n\""
        );
        assert_eq!(
            message(MERGES_FILE, "#version: 0.2\ni n\nq x\n"),
            "merges.txt:3: \"qx\" is not in vocab.json"
        );
        assert_eq!(
            message(VOCABULARY_FILE, r#"{"a": 0, "b": -1}"#),
            "vocab.json: the id of \"b\" is -1; a number was expected"
        );
        let error = message(VOCABULARY_FILE, "{\"a\": 0,\n \"b\"");
        assert!(error.starts_with("vocab.json:2: damaged JSON"), "{error}");
    }
}
