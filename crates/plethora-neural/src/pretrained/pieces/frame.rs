//! The special tokens that an architecture puts around a text.

use serde_json::{Value, json};
use tokenizers::Tokenizer;

/// Where the special tokens go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Frame<'a> {
    /// `[CLS] text [SEP]`.
    Bert { cls: &'a str, sep: &'a str },
    /// `<s> text </s>`; the places of pieces do not include the spaces before them.
    Roberta {
        cls: &'a str,
        sep: &'a str,
        add_prefix_space: bool,
    },
    /// `text <sep> <cls>`.
    Xlnet { cls: &'a str, sep: &'a str },
}

impl Frame<'_> {
    /// The `post_processor` of a `tokenizer.json`, with the ids of `tokenizer`.
    pub(super) fn post_processor(self, tokenizer: &Tokenizer) -> Value {
        match self {
            Self::Bert { cls, sep } => {
                let single = vec![special(cls, 0), text("A", 0), special(sep, 0)];
                let pair = [single.clone(), vec![text("B", 1), special(sep, 1)]].concat();
                template(tokenizer, &single, &pair, [cls, sep])
            }
            Self::Xlnet { cls, sep } => {
                let first = vec![text("A", 0), special(sep, 0)];
                let second = vec![text("B", 1), special(sep, 1)];
                let last = vec![special(cls, 2)];
                let single = [first.clone(), last.clone()].concat();
                let pair = [first, second, last].concat();
                template(tokenizer, &single, &pair, [cls, sep])
            }
            Self::Roberta {
                cls,
                sep,
                add_prefix_space,
            } => json!({
                "type": "RobertaProcessing",
                "sep": [sep, tokenizer.token_to_id(sep)],
                "cls": [cls, tokenizer.token_to_id(cls)],
                "trim_offsets": true,
                "add_prefix_space": add_prefix_space,
            }),
        }
    }
}

fn special(token: &str, type_id: u32) -> Value {
    json!({ "SpecialToken": { "id": token, "type_id": type_id } })
}

fn text(name: &str, type_id: u32) -> Value {
    json!({ "Sequence": { "id": name, "type_id": type_id } })
}

fn template(tokenizer: &Tokenizer, single: &[Value], pair: &[Value], tokens: [&str; 2]) -> Value {
    let entries = tokens.map(|token| {
        let id = tokenizer.token_to_id(token);
        let entry = json!({ "id": token, "ids": [id], "tokens": [token] });
        (token.to_owned(), entry)
    });
    json!({
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": Value::Object(entries.into_iter().collect()),
    })
}
