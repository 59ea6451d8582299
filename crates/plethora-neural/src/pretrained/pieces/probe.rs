//! What a tokenizer does, found by trying it.

use tokenizers::Tokenizer;

/// A text that every tokenizer makes pieces of.
const ORDINARY_TEXT: &str = "a text";

/// Characters that no vocabulary has.
const STRANGE_TEXT: &str = "\u{e0ff} \u{1bc9f}\u{16ff0} \u{13460}";

/// A word of this many strange characters is too long for every vocabulary.
const LONG_WORD: usize = 300;

/// Makes sure that texts without a known piece are no failure.
pub(super) fn strange_texts(tokenizer: &Tokenizer) -> Result<(), String> {
    let text = format!("{STRANGE_TEXT} {}", "\u{a66e}".repeat(LONG_WORD));
    match tokenizer.encode(text, true) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("it fails for unknown characters: {error}")),
    }
}

/// The special tokens that a tokenizer puts before and after a text.
pub(super) fn special_tokens(tokenizer: &Tokenizer) -> Result<(Vec<u32>, Vec<u32>), String> {
    let encode = |add_special| {
        tokenizer
            .encode(ORDINARY_TEXT, add_special)
            .map_err(|error| error.to_string())
    };
    let (plain, framed) = (encode(false)?, encode(true)?);
    if plain.is_empty() {
        return Err(format!("it makes no pieces of {ORDINARY_TEXT:?}"));
    }
    let num_before = framed
        .get_special_tokens_mask()
        .iter()
        .take_while(|&&is_special| is_special == 1)
        .count();
    let (before, rest) = framed.get_ids().split_at(num_before);
    match rest.strip_prefix(plain.get_ids()) {
        Some(after) if before.len() + after.len() > 0 => Ok((before.to_vec(), after.to_vec())),
        Some(_) => Err("it adds no special tokens, which an encoder needs".to_owned()),
        None => Err("it does not leave a text's pieces together".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Pieces, TOKENIZER_FILE, golden};

    /// What opening says of a `tokenizer.json` after a change.
    fn message(change: impl Fn(&mut Value)) -> String {
        let folder = golden::folder("tokenizer.json");
        let path = folder.path().join(TOKENIZER_FILE);
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut json);
        std::fs::write(&path, json.to_string()).unwrap();
        let error = Pieces::open(folder.path()).unwrap_err().to_string();
        let (_, message) = error
            .split_once("/tokenizer.json: not a tokenizer that can be used: ")
            .expect("names the file");
        message.to_owned()
    }

    #[test]
    fn tokenizers_that_cannot_work_are_refused() {
        let error = message(|json| {
            json["model"]["vocab"]
                .as_object_mut()
                .unwrap()
                .remove("[UNK]");
        });
        assert!(
            error.starts_with("it fails for unknown characters: WordPiece"),
            "{error}"
        );
        assert_eq!(
            message(|json| json["post_processor"] = Value::Null),
            "it adds no special tokens, which an encoder needs"
        );
        assert!(message(|json| json["model"]["type"] = json!("Other")).contains("line 1"));
    }
}
