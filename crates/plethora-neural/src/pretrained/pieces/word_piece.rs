//! `WordPiece` tokenizers from `vocab.txt`, as BERT, `DistilBERT` and `MPNet` have them.

use std::path::Path;

use plethora_core::Error;
use serde_json::{Map, Value, json};
use tokenizers::Tokenizer;

use super::added_tokens::TokenizerSettings;
use super::assemble::Draft;
use super::family::Family;
use super::frame::Frame;
use crate::Result;

/// Name of the vocabulary: a piece a line, whose number from 0 is its id.
pub(super) const VOCABULARY_FILE: &str = "vocab.txt";

/// Longer words are unknown as a whole.
const MAX_CHARACTERS_A_WORD: usize = 100;

/// Builds the tokenizer of `folder`.
pub(super) fn build(folder: &Path, family: Family) -> Result<Tokenizer> {
    let path = folder.join(VOCABULARY_FILE);
    let settings = TokenizerSettings::read(folder, family)?;
    let vocabulary = read_vocabulary(&path)?;
    let unknown = settings.special("unk_token");
    if !vocabulary.contains_key(unknown) {
        let message = format!(
            "{unknown}, the piece for unknown words, is not among its {} pieces",
            vocabulary.len()
        );
        return Err(Error::input(&path, None, message).into());
    }
    let (cls, sep) = (settings.special("cls_token"), settings.special("sep_token"));
    let frame = match family {
        Family::Mpnet => Frame::Roberta {
            cls,
            sep,
            add_prefix_space: false,
        },
        _ => Frame::Bert { cls, sep },
    };
    let draft = Draft {
        model: json!({
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": MAX_CHARACTERS_A_WORD,
            "vocab": vocabulary,
        }),
        normalizer: json!({
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": settings.flag("tokenize_chinese_chars")?.unwrap_or(true),
            "strip_accents": settings.flag("strip_accents")?,
            "lowercase": settings.flag("do_lower_case")?.unwrap_or(true),
        }),
        pre_tokenizer: json!({ "type": "BertPreTokenizer" }),
        decoder: json!({ "type": "WordPiece", "prefix": "##", "cleanup": true }),
        added: settings.added(),
        frame,
    };
    draft.assemble(&path)
}

fn read_vocabulary(path: &Path) -> Result<Map<String, Value>> {
    let bytes = std::fs::read(path).map_err(Error::read(path))?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Err(Error::input(path, None, "the vocabulary is empty").into());
    }
    bytes
        .split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(id, line)| {
            let line = std::str::from_utf8(line).map_err(|error| {
                let message = format!("not valid UTF-8: {error}");
                Error::input(path, id as u64 + 1, message)
            })?;
            Ok((line.trim_end().to_owned(), id.into()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    fn message(vocabulary: &[u8]) -> String {
        let folder = golden::folder("bert");
        std::fs::write(folder.path().join(VOCABULARY_FILE), vocabulary).unwrap();
        let error = build(folder.path(), Family::Bert).unwrap_err().to_string();
        let (_, message) = error.split_once("/vocab.txt").expect("names the file");
        message.to_owned()
    }

    #[test]
    fn vocabularies_that_cannot_work_are_refused() {
        assert_eq!(message(b""), ": the vocabulary is empty");
        assert_eq!(message(b"\n"), ": the vocabulary is empty");
        assert_eq!(
            message(b"[CLS]\n[SEP]\nthe\n"),
            ": [UNK], the piece for unknown words, is not among its 3 pieces"
        );
        let error = message(b"[UNK]\n[CLS]\n\xff\xfe\n");
        assert!(error.starts_with(":3: not valid UTF-8"), "{error}");
    }

    #[test]
    fn special_tokens_that_the_vocabulary_lacks_get_the_next_ids() {
        let folder = golden::folder("bert");
        std::fs::write(folder.path().join(VOCABULARY_FILE), "[UNK]\r\nthe\r\n").unwrap();
        let tokenizer = build(folder.path(), Family::Bert).unwrap();
        let ids = tokenizer
            .encode("The tree", true)
            .unwrap()
            .get_ids()
            .to_vec();
        // [SEP], [PAD], [CLS] and [MASK], in this order.
        assert_eq!(ids, [4, 1, 0, 2]);
    }
}
