//! The phrases that name a label, with what people write around names taken away.

use plethora_core::corpus::{Label, is_readable};

/// What kind of name a phrase is for a label; a bit each, as one phrase may be several.
pub(super) mod kind {
    /// The name.
    pub(in crate::lexical) const OWN: u8 = 1;
    /// Another name of the same thing.
    pub(in crate::lexical) const ALTERNATIVE: u8 = 2;
    /// A name without its qualifier, as `Mercury` of `Mercury (planet)`.
    pub(in crate::lexical) const SHORTENED: u8 = 4;
    /// All of them: a phrase with none of these bits was learnt.
    pub(in crate::lexical) const ALL: u8 = OWN | ALTERNATIVE | SHORTENED;
}

/// All forms of a label's names, each with its kind.
pub(super) fn forms(label: &Label) -> Vec<(String, u8)> {
    let mut forms = Vec::new();
    // A key that serves as a name is one only if people can read it.
    if label.name != label.key || is_readable(&label.key) {
        add_forms(&label.name, kind::OWN, &mut forms);
    }
    for name in &label.alternatives {
        add_forms(name, kind::ALTERNATIVE, &mut forms);
    }
    forms
}

/// A name; without a qualifier at its end, in brackets; a single comma turned, as in `Darwin, Charles`.
fn add_forms(name: &str, kind: u8, forms: &mut Vec<(String, u8)>) {
    forms.push((name.to_owned(), kind));
    let short = without_qualifier(name);
    if let Some(short) = short {
        forms.push((short.to_owned(), kind | kind::SHORTENED));
    }
    let mut parts = short.unwrap_or(name).split(',');
    if let (Some(last), Some(first), None) = (parts.next(), parts.next(), parts.next()) {
        let kind = match short {
            Some(_) => kind | kind::SHORTENED,
            None => kind,
        };
        forms.push((format!("{first} {last}"), kind));
    }
}

fn without_qualifier(name: &str) -> Option<&str> {
    let name = name.trim_end();
    let open = match name.chars().last()? {
        ')' => '(',
        '>' => '<',
        ']' => '[',
        _ => return None,
    };
    let short = name[..name.rfind(open)?].trim_end();
    (!short.is_empty()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Vec<String> {
        let label = Label {
            key: "gnd:1".into(),
            name: name.into(),
            ..Label::default()
        };
        forms(&label).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn qualifiers_are_dropped_and_persons_turned() {
        assert_eq!(names("Memristor"), ["Memristor"]);
        assert_eq!(
            names("Interkulturalität (Motiv)"),
            ["Interkulturalität (Motiv)", "Interkulturalität"]
        );
        assert_eq!(
            names("Darwin, Charles"),
            ["Darwin, Charles", " Charles Darwin"]
        );
        assert_eq!(
            names("Mann, Thomas <Autor>").last().unwrap(),
            " Thomas Mann"
        );
        assert_eq!(names("a, b, c"), ["a, b, c"]);
        assert_eq!(names("(x)"), ["(x)"]);
        assert_eq!(names(")"), [")"]);
    }

    #[test]
    fn kinds_tell_names_from_synonyms() {
        let label = Label {
            alternatives: vec!["Vessels (sea)".into()],
            ..Label::from_key("Ships")
        };
        let kinds: Vec<u8> = forms(&label).into_iter().map(|(_, kind)| kind).collect();
        let short = kind::ALTERNATIVE | kind::SHORTENED;
        assert_eq!(kinds, [kind::OWN, kind::ALTERNATIVE, short]);
    }

    #[test]
    fn keys_that_nobody_reads_are_no_names() {
        for key in [
            "gnd:4026801-9",
            "gnd:4",
            "http://example.org/sea",
            "123",
            "a1",
            "",
        ] {
            assert!(!is_readable(key), "{key}");
            assert!(forms(&Label::from_key(key)).is_empty(), "{key}");
        }
        for key in ["sea", "buffer overflow", "COVID-19", "Wal", "Art: glass"] {
            assert!(is_readable(key), "{key}");
        }
    }
}
