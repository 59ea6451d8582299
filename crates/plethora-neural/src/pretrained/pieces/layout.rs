//! What a `tokenizer.json` may ask for. The library takes memory for every id up to the highest, and
//! replaces as often as it is told: a small file must not take all memory or time.

use plethora_core::Announced;
use serde_json::Value;

/// Bytes that a pattern may be replaced with: those of real tokenizers have three.
const MAX_CONTENT_BYTES: usize = 64;

/// Refuses what would cost far more than the file lets one think.
pub(super) fn check(layout: &Value) -> Result<(), String> {
    check_ids(layout)?;
    for part in ["normalizer", "pre_tokenizer", "decoder", "post_processor"] {
        check_part(&layout[part])?;
    }
    Ok(())
}

/// Ids may have gaps, but not be mostly gaps.
fn check_ids(layout: &Value) -> Result<(), String> {
    let empty = Vec::new();
    let added = layout["added_tokens"].as_array().unwrap_or(&empty);
    let pieces = layout["model"]["vocab"].as_object();
    let of_pieces = pieces.into_iter().flat_map(|pieces| pieces.values());
    let ids = of_pieces.chain(added.iter().map(|token| &token["id"]));
    let (mut highest, mut num_ids) = (0, 0);
    for id in ids.filter_map(Value::as_u64) {
        highest = highest.max(id);
        num_ids += 1;
    }
    match Announced::new(highest).believed(num_ids) {
        Some(_) => Ok(()),
        None => Err(format!(
            "its ids reach {highest} where it has {num_ids} pieces"
        )),
    }
}

/// Looks at a part and at those inside of it.
fn check_part(part: &Value) -> Result<(), String> {
    match part {
        Value::Array(parts) => parts.iter().try_for_each(check_part),
        Value::Object(fields) => {
            let is = |key: &str, value: &str| fields.get(key).is_some_and(|found| found == value);
            let content = fields.get("content").or_else(|| fields.get("prepend"));
            let length = content.and_then(Value::as_str).map_or(0, str::len);
            if (is("type", "Replace") || is("type", "Prepend")) && length > MAX_CONTENT_BYTES {
                return Err(format!(
                    "it replaces a pattern with {length} bytes, expected at most {MAX_CONTENT_BYTES}"
                ));
            }
            let pattern = fields.get("pattern").and_then(Value::as_object);
            let mut patterns = pattern.into_iter().flat_map(|pattern| pattern.values());
            if is("type", "Replace") && patterns.any(|pattern| pattern == "") {
                return Err("it replaces the empty pattern, which is everywhere".into());
            }
            fields.values().try_for_each(check_part)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_have_few_gaps_and_replacements_are_short() {
        let layout = |id: u64, normalizer: Value| {
            json!({
                "model": {"vocab": {"a": 0, "b": id}},
                "added_tokens": [{"id": 2}],
                "normalizer": {"type": "Sequence", "normalizers": [normalizer]},
            })
        };
        let replace = |pattern: &str, content: &str| json!({"type": "Replace", "pattern": {"String": pattern}, "content": content});
        let fine = layout(250_000, replace(" ", "▁"));
        assert_eq!(check(&fine), Ok(()));
        for (layout, expected) in [
            (
                layout(1 << 31, Value::Null),
                "its ids reach 2147483648 where it has 3 pieces",
            ),
            (layout(1, replace("", "x")), "the empty pattern"),
            (
                layout(1, replace("a", &"x".repeat(100_000))),
                "with 100000 bytes",
            ),
            (
                layout(1, json!({"type": "Prepend", "prepend": "x".repeat(65)})),
                "with 65 bytes",
            ),
        ] {
            let message = check(&layout).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        let unigram = json!({"model": {"type": "Unigram", "vocab": [["a", -1.0]]}});
        assert_eq!(check(&unigram), Ok(()));
    }
}
