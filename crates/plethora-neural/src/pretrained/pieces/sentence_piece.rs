//! Unigram tokenizers from the `spiece.model` of `SentencePiece`, as `XLNet` has them.

use std::path::Path;

use plethora_core::Error;
use serde_json::{Value, json};
use tokenizers::normalizers::Precompiled;
use tokenizers::{AddedToken, Tokenizer};

use super::added_tokens::TokenizerSettings;
use super::assemble::Draft;
use super::family::Family;
use super::frame::Frame;
use super::protobuf::{self, fields};
use crate::Result;

/// Name of the vocabulary: pieces with their scores, and rules for characters.
pub(super) const MODEL_FILE: &str = "spiece.model";

/// `TrainerSpec.model_type` of a unigram model.
const UNIGRAM: u64 = 1;

/// Builds the tokenizer of `folder`.
pub(super) fn build(folder: &Path, family: Family) -> Result<Tokenizer> {
    let path = folder.join(MODEL_FILE);
    let settings = TokenizerSettings::read(folder, family)?;
    let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
    let model = SentencePieceModel::read(&bytes)
        .ok_or("not a SentencePiece model: its messages are damaged".to_owned())
        .and_then(SentencePieceModel::check)
        .map_err(|message| Error::model(&path, message))?;
    let metaspace = json!({
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": true,
    });
    let added = added_tokens(&model, &settings);
    let vocabulary: Vec<Value> = model
        .pieces
        .iter()
        .map(|piece| json!([piece.text, f64::from(piece.score)]))
        .collect();
    let draft = Draft {
        model: json!({
            "type": "Unigram",
            "unk_id": model.unknown_id,
            "vocab": vocabulary,
            "byte_fallback": false,
        }),
        normalizer: normalizer(&path, &model, &settings)?,
        pre_tokenizer: json!({
            "type": "Sequence",
            "pretokenizers": [{ "type": "WhitespaceSplit" }, metaspace],
        }),
        decoder: metaspace.clone(),
        added: &added,
        frame: Frame::Xlnet {
            cls: settings.special("cls_token"),
            sep: settings.special("sep_token"),
        },
    };
    draft.assemble(&path)
}

/// The changes that `XLNet`'s texts go through before they are cut into pieces.
fn normalizer(
    path: &Path,
    model: &SentencePieceModel,
    settings: &TokenizerSettings,
) -> Result<Value> {
    let replace =
        |text: &str| json!({ "type": "Replace", "pattern": { "String": text }, "content": "\"" });
    let mut steps = vec![replace("``"), replace("''")];
    if !settings.flag("keep_accents")?.unwrap_or(false) {
        steps.extend([json!({ "type": "NFKD" }), json!({ "type": "StripAccents" })]);
    }
    if settings.flag("do_lower_case")?.unwrap_or(false) {
        steps.push(json!({ "type": "Lowercase" }));
    }
    if !model.character_rules.is_empty() {
        let rules = Precompiled::from(model.character_rules)
            .ok()
            .and_then(|rules| serde_json::to_value(rules).ok())
            .ok_or_else(|| Error::model(path, "its rules for characters are damaged"))?;
        steps.push(rules);
    }
    Ok(json!({ "type": "Sequence", "normalizers": steps }))
}

/// Special tokens, then the pieces that a text is never cut inside of.
fn added_tokens(model: &SentencePieceModel, settings: &TokenizerSettings) -> Vec<AddedToken> {
    let named = settings.added();
    let whole = model.pieces.iter().filter_map(|piece| {
        let is_special = match piece.kind {
            PieceKind::Control => true,
            PieceKind::UserDefined => named.iter().any(|token| token.content == piece.text),
            PieceKind::Normal => return None,
        };
        Some(AddedToken::from(piece.text, is_special).normalized(false))
    });
    named.iter().cloned().chain(whole).collect()
}

/// What a tokenizer needs of `ModelProto`.
struct SentencePieceModel<'a> {
    pieces: Vec<Piece<'a>>,
    kind: u64,
    unknown_id: u64,
    character_rules: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    score: f32,
    kind: PieceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    /// Also the unknown piece, unused pieces and bytes, which are found by their score or not at
    /// all.
    Normal,
    Control,
    UserDefined,
}

impl<'a> SentencePieceModel<'a> {
    /// `None` if the bytes are no such message.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut model = Self {
            pieces: Vec::new(),
            kind: UNIGRAM,
            unknown_id: 0,
            character_rules: &[],
        };
        for field in fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, protobuf::Value::Bytes(piece)) => model.pieces.push(Piece::read(piece)?),
                (2, protobuf::Value::Bytes(trainer)) => model.read_trainer(trainer)?,
                (3, protobuf::Value::Bytes(normalizer)) => model.read_normalizer(normalizer)?,
                _ => {}
            }
        }
        Some(model)
    }

    fn read_trainer(&mut self, bytes: &'a [u8]) -> Option<()> {
        for field in fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (3, protobuf::Value::Varint(kind)) => self.kind = kind,
                (40, protobuf::Value::Varint(id)) => self.unknown_id = id,
                _ => {}
            }
        }
        Some(())
    }

    fn read_normalizer(&mut self, bytes: &'a [u8]) -> Option<()> {
        for field in fields(bytes) {
            let field = field?;
            if let (2, protobuf::Value::Bytes(rules)) = (field.number, field.value) {
                self.character_rules = rules;
            }
        }
        Some(())
    }

    fn check(self) -> Result<Self, String> {
        if self.kind != UNIGRAM {
            return Err("a unigram model was expected, as XLNet has it".to_owned());
        }
        if self.unknown_id >= self.pieces.len() as u64 {
            return Err(format!(
                "piece {} is to stand for unknown ones, but there are {} pieces",
                self.unknown_id,
                self.pieces.len()
            ));
        }
        let is_usable = |piece: &Piece| !piece.text.is_empty() && piece.score.is_finite();
        match self.pieces.iter().position(|piece| !is_usable(piece)) {
            None => Ok(self),
            Some(id) => Err(format!("piece {id} is empty or its score is no number")),
        }
    }
}

impl<'a> Piece<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut piece = Self {
            text: "",
            score: 0.0,
            kind: PieceKind::Normal,
        };
        for field in fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, protobuf::Value::Bytes(text)) => piece.text = std::str::from_utf8(text).ok()?,
                (2, protobuf::Value::Fixed32(score)) => piece.score = f32::from_le_bytes(score),
                (3, protobuf::Value::Varint(3)) => piece.kind = PieceKind::Control,
                (3, protobuf::Value::Varint(4)) => piece.kind = PieceKind::UserDefined,
                _ => {}
            }
        }
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    /// A field of bytes, below 128 of them.
    fn bytes_field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn piece(text: &str, score: f32) -> Vec<u8> {
        let score = [&[0x15][..], &score.to_le_bytes()].concat();
        bytes_field(1, &[bytes_field(1, text.as_bytes()), score].concat())
    }

    fn message(model: &[u8]) -> String {
        let folder = golden::folder("xlnet");
        std::fs::write(folder.path().join(MODEL_FILE), model).unwrap();
        let error = build(folder.path(), Family::Xlnet).unwrap_err().to_string();
        let (_, message) = error.split_once("/spiece.model: ").expect("names the file");
        message.to_owned()
    }

    #[test]
    fn smallest_model_is_read() {
        let folder = golden::folder("xlnet");
        let model = [piece("<unk>", 0.0), piece("▁a", -1.0)].concat();
        std::fs::write(folder.path().join(MODEL_FILE), model).unwrap();
        let tokenizer = build(folder.path(), Family::Xlnet).unwrap();
        let ids = tokenizer.encode("a b", true).unwrap().get_ids().to_vec();
        // <s> and </s> got 2 and 3, <sep> 4, <pad> 5, <cls> 6.
        assert_eq!(ids, [1, 0, 4, 6]);
    }

    #[test]
    fn models_that_cannot_work_are_refused() {
        let whole = std::fs::read(golden::folder("xlnet").path().join(MODEL_FILE)).unwrap();
        let damaged = "not a SentencePiece model: its messages are damaged";
        assert_eq!(message(&whole[..whole.len() - 7]), damaged);
        assert_eq!(message(b"{\"no\": \"protobuf\"}"), damaged);
        assert_eq!(
            message(b""),
            "piece 0 is to stand for unknown ones, but there are 0 pieces"
        );
        let pieces = [piece("<unk>", 0.0), piece("▁a", f32::NAN)].concat();
        assert_eq!(
            message(&pieces),
            "piece 1 is empty or its score is no number"
        );
        let byte_pairs = [piece("<unk>", 0.0), bytes_field(2, &[3 << 3, 2])].concat();
        assert_eq!(
            message(&byte_pairs),
            "a unigram model was expected, as XLNet has it"
        );
        let rules = bytes_field(3, &bytes_field(2, &[200, 0, 0, 0, 1]));
        let rules = [piece("<unk>", 0.0), rules].concat();
        assert_eq!(message(&rules), "its rules for characters are damaged");
    }

    #[test]
    fn accents_stay_where_they_are_to() {
        let folder = golden::folder("xlnet");
        let config = r#"{"keep_accents": true}"#;
        std::fs::write(folder.path().join("tokenizer_config.json"), config).unwrap();
        let kept = build(folder.path(), Family::Xlnet).unwrap();
        let normalized = |tokenizer: &Tokenizer| {
            let mut text = tokenizers::NormalizedString::from("Ångström ''naïve``");
            let normalizer = tokenizer.get_normalizer().unwrap();
            tokenizers::Normalizer::normalize(normalizer, &mut text).unwrap();
            text.get().to_owned()
        };
        assert_eq!(normalized(&kept), "Ångström \"naïve\"");
        let plain = golden::folder("xlnet");
        let plain = build(plain.path(), Family::Xlnet).unwrap();
        assert_eq!(normalized(&plain), "Angstrom \"naive\"");
    }
}
