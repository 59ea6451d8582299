//! What a Label Studio project asks for: the tags of its labelling interface that matter here.

/// Where texts come from and where labels go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelConfig {
    /// Name of the tag that labels belong to (`Choices` or `Taxonomy`).
    pub(crate) from_name: String,
    /// Name of the tag with the text.
    pub(crate) to_name: String,
    /// Field of a task that has the text.
    pub(crate) field: String,
    /// `choices` or `taxonomy`.
    pub(crate) kind: &'static str,
    /// True if a document takes one label only.
    pub(crate) is_single: bool,
}

impl LabelConfig {
    /// Reads the tags, or says which one is missing.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let tags = tags(text);
        let (kind, labels) = [("choices", "Choices"), ("taxonomy", "Taxonomy")]
            .into_iter()
            .find_map(|(kind, name)| Some((kind, tags.iter().find(|tag| tag.name == name)?)))
            .ok_or("label_config: expected a tag `Choices` or `Taxonomy`, found none")?;
        let named = |tag: &Tag, key: &str| {
            tag.attribute(key)
                .ok_or_else(|| format!("label_config: the tag `{}` has no {key}", tag.name))
        };
        let to_name = named(labels, "toName")?;
        let is_text = |tag: &&Tag| tag.attribute("name").as_ref() == Some(&to_name);
        let text = (tags.iter().find(is_text))
            .ok_or_else(|| format!("label_config: there is no tag with the name `{to_name}`"))?;
        let value = named(text, "value")?;
        let is_single =
            kind == "choices" && !matches!(labels.attribute("choice").as_deref(), Some("multiple"));
        Ok(Self {
            from_name: named(labels, "name")?,
            to_name,
            field: value.strip_prefix('$').unwrap_or(&value).to_owned(),
            kind,
            is_single,
        })
    }
}

/// A tag with its attributes as they are written.
struct Tag<'a> {
    name: &'a str,
    rest: &'a str,
}

impl Tag<'_> {
    fn attribute(&self, key: &str) -> Option<String> {
        let mut rest = self.rest;
        while let Some((before, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after
                .chars()
                .next()
                .filter(|&sign| sign == '"' || sign == '\'')?;
            let (value, further) = after[1..].split_once(quote)?;
            if before.trim() == key {
                return Some(unescaped(value));
            }
            rest = further;
        }
        None
    }
}

/// The opening tags, in their order.
fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    for part in text.split('<').skip(1) {
        let Some((tag, _)) = part.split_once('>') else {
            continue;
        };
        let tag = tag.trim_end_matches('/').trim();
        let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
        tags.push(Tag {
            name: &tag[..end],
            rest: &tag[end..],
        });
    }
    tags
}

fn unescaped(value: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    entities.into_iter().fold(value.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_texts_are_found() {
        let config = LabelConfig::parse(
            "<View>\n  <Text name='text' value=\"$body\"/>\n  <Choices choice=\"multiple\" \
             name=\"subject\" toName=\"text\"><Choice value=\"a &gt; b\"/></Choices></View>",
        );
        let expected = LabelConfig {
            from_name: "subject".into(),
            to_name: "text".into(),
            field: "body".into(),
            kind: "choices",
            is_single: false,
        };
        assert_eq!(config, Ok(expected));
        let taxonomy = LabelConfig::parse(
            "<View><Taxonomy name=\"t\" toName=\"x\"></Taxonomy><HyperText name=\"x\" value=\"$html\"/></View>",
        );
        let taxonomy = taxonomy.unwrap();
        assert_eq!((taxonomy.kind, taxonomy.is_single), ("taxonomy", false));
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = |text: &str| LabelConfig::parse(text).unwrap_err();
        assert!(refused("<View></View>").contains("`Choices` or `Taxonomy`"));
        assert!(refused("<Choices name='a'/>").contains("has no toName"));
        assert!(refused("<Choices name='a' toName='b'/>").contains("no tag with the name `b`"));
        assert!(refused("").contains("found none"));
    }
}
