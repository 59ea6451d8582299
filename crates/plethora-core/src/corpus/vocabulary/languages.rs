//! Which languages of a vocabulary's names are taken.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::super::Label;
use super::super::source::Origin;
use crate::{Error, Result};

/// The language that readers of this program share.
const ENGLISH: &str = "en";

/// Languages whose names are taken, the first of which labels are called by, as `de,en`. Without any,
/// labels are called by English names where there are some.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct NameLanguages(Vec<String>);

/// A name with its language tag, empty where it has none.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) language: String,
}

/// The names of one label in all languages.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) own: Vec<Name>,
    pub(super) alternatives: Vec<Name>,
}

impl NameLanguages {
    /// True where the user has chosen none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label that these names make, called by its key where none is in these languages.
    pub(super) fn label(&self, key: String, names: &Names, parents: Vec<String>) -> Label {
        let Some(chosen) = names.own.iter().min_by_key(|name| self.rank(name)) else {
            return Label {
                parents,
                ..Label::from_key(key)
            };
        };
        let mut label = Label {
            key,
            name: chosen.text.clone(),
            alternatives: Vec::new(),
            parents,
        };
        // Names in two dozen other languages would drown those that a text can hold.
        let own = names.own.iter().filter(|_| !self.is_empty());
        for name in own.chain(&names.alternatives) {
            let is_readable = if self.is_empty() {
                name.language.is_empty() || name.language == chosen.language
            } else {
                self.place(name).is_some()
            };
            let is_new = name.text != label.name && !label.alternatives.contains(&name.text);
            if is_readable && is_new {
                label.alternatives.push(name.text.clone());
            }
        }
        label
    }

    /// The place of a name's language among those that are wanted.
    fn place(&self, name: &Name) -> Option<usize> {
        let primary = primary(&name.language);
        self.0
            .iter()
            .position(|wanted| *wanted == name.language || *wanted == primary)
    }

    /// The lower, the more a label should be called so: the languages in their order (without any English,
    /// of it the tag without a country first), names without language, others in the file's order.
    fn rank(&self, name: &Name) -> usize {
        let none = self.0.len().max(2);
        let place = if self.is_empty() && primary(&name.language) == ENGLISH {
            Some(usize::from(name.language != ENGLISH))
        } else {
            self.place(name)
        };
        place.unwrap_or(if name.language.is_empty() {
            none
        } else {
            none + 1
        })
    }

    /// Refuses languages that no name of a file is in.
    pub(super) fn check(&self, found: &BTreeSet<String>, origin: &Origin) -> Result<()> {
        let is_found = |wanted: &&String| {
            found
                .iter()
                .any(|language| language == *wanted || primary(language) == *wanted)
        };
        let Some(missing) = self.0.iter().find(|wanted| !is_found(wanted)) else {
            return Ok(());
        };
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let found = match &found[..] {
            [] => "does not tell languages".to_owned(),
            some => format!("has names in {}", some.join(", ")),
        };
        Err(origin.error(
            None,
            format!("no name in the language `{missing}`; the file {found}"),
        ))
    }
}

/// `de` of `de-at`.
fn primary(language: &str) -> &str {
    language.split('-').next().unwrap_or_default()
}

impl TryFrom<Vec<String>> for NameLanguages {
    type Error = Error;

    fn try_from(tags: Vec<String>) -> Result<Self> {
        let tags = tags.iter().map(|tag| tag.trim().to_ascii_lowercase());
        let tags: Vec<String> = tags.filter(|tag| !tag.is_empty()).collect();
        let is_tag = |tag: &String| {
            let mut parts = tag.split('-');
            parts
                .next()
                .is_some_and(|first| (2..=3).contains(&first.len()))
                && tag
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        match tags.iter().find(|tag| !is_tag(tag)) {
            Some(other) => Err(Error::usage(format!(
                "`{other}` is no tag of a language; expected tags as in the vocabulary, as de,en"
            ))),
            None => Ok(Self(tags)),
        }
    }
}

impl FromStr for NameLanguages {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::try_from(text.split(',').map(ToOwned::to_owned).collect::<Vec<_>>())
    }
}

impl fmt::Display for NameLanguages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(languages: &str) -> (String, Vec<String>) {
        let name = |text: &str, language: &str| Name {
            text: text.into(),
            language: language.into(),
        };
        let names = Names {
            own: vec![name("meri", "fi"), name("sea", "en-gb"), name("Meer", "de")],
            alternatives: vec![
                name("ocean", "en"),
                name("Ozean", "de-at"),
                name("main", ""),
            ],
        };
        let languages: NameLanguages = languages.parse().unwrap();
        let label = languages.label("1".into(), &names, Vec::new());
        (label.name, label.alternatives)
    }

    #[test]
    fn the_first_language_calls_labels_and_the_others_add_names() {
        let names = |name: &str, others: &[&str]| {
            (
                name.to_owned(),
                others.iter().map(|&other| other.to_owned()).collect(),
            )
        };
        assert_eq!(label("de,en"), names("Meer", &["sea", "ocean", "Ozean"]));
        assert_eq!(label("DE"), names("Meer", &["Ozean"]));
        assert_eq!(label("en, fi"), names("sea", &["meri", "ocean"]));
        assert_eq!(label(""), names("sea", &["main"]));
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for text in ["german", "d", "de;en", "de,Deutsch!"] {
            let error = text.parse::<NameLanguages>().unwrap_err().to_string();
            assert!(error.contains("is no tag of a language"), "{error}");
        }
    }
}
