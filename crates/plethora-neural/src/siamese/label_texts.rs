//! What the encoder reads of a label.

use plethora_core::corpus::Label;

use super::config::NamesConfig;

/// Stands between the names of a label.
const BETWEEN: &str = "; ";

/// The names of a label as one text; none where people cannot read what it is called.
pub(super) fn text_of(label: &Label, config: &NamesConfig) -> Option<String> {
    if !label.is_named() {
        return None;
    }
    let others = label.alternatives.iter().take(config.synonyms);
    let names = std::iter::once(&label.name).chain(others);
    let mut text = String::new();
    let mut num_words = 0;
    for name in names {
        let mut between = if text.is_empty() { "" } else { BETWEEN };
        for word in name.split_whitespace() {
            if num_words == config.max_words {
                return Some(text);
            }
            text.push_str(between);
            text.push_str(word);
            between = " ";
            num_words += 1;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_behind_each_other_up_to_the_limit() {
        let label = Label {
            name: "Tide  mills".into(),
            alternatives: vec!["sea mills".into(), "mills of the tide".into()],
            ..Label::from_key("gnd:1")
        };
        let text = |synonyms, max_words| {
            let config = NamesConfig {
                synonyms,
                max_words,
            };
            text_of(&label, &config).unwrap()
        };
        assert_eq!(text(0, 9), "Tide mills");
        assert_eq!(text(1, 9), "Tide mills; sea mills");
        assert_eq!(text(9, 5), "Tide mills; sea mills; mills");
        let huge = Label {
            name: "word ".repeat(10_000),
            ..Label::from_key("gnd:2")
        };
        let config = NamesConfig {
            synonyms: 0,
            max_words: 3,
        };
        assert_eq!(text_of(&huge, &config).unwrap(), "word word word");
        assert_eq!(text_of(&Label::from_key("gnd:1"), &config), None);
        assert_eq!(
            text_of(&Label::from_key("harbours"), &config).unwrap(),
            "harbours"
        );
    }
}
