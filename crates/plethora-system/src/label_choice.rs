//! Which label a user means.

use std::fmt;

use plethora_core::LabelId;
use plethora_core::corpus::{Label, LabelSpace};

use crate::settings::nearest;

/// Keys that are listed where a name stands for several labels.
const LISTED_KEYS: usize = 5;

/// Why it is not clear which label a user means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnclearLabel {
    /// No label is called so.
    Unknown {
        /// What the user wrote.
        wanted: String,
        /// The name or key that is most like it.
        guess: Option<String>,
    },
    /// Several labels are called so.
    Ambiguous {
        /// What the user wrote.
        wanted: String,
        /// The keys of the labels.
        keys: Vec<String>,
    },
}

impl fmt::Display for UnclearLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { wanted, guess } => {
                write!(formatter, "unknown label `{wanted}`")?;
                match guess {
                    Some(guess) => write!(formatter, "; did you mean `{guess}`?"),
                    None => Ok(()),
                }
            }
            Self::Ambiguous { wanted, keys } => {
                let listed = keys.iter().take(LISTED_KEYS).map(String::as_str);
                let listed: Vec<&str> = listed.collect();
                let more = if keys.len() > LISTED_KEYS {
                    ", ..."
                } else {
                    ""
                };
                write!(
                    formatter,
                    "`{wanted}` is the name of {} labels; give one of their keys: {}{more}",
                    keys.len(),
                    listed.join(", ")
                )
            }
        }
    }
}

/// The label with this key, else with this name, else with this name or another one of its names in
/// any case.
pub fn find_label(labels: &LabelSpace, wanted: &str) -> Result<LabelId, UnclearLabel> {
    if let Some(id) = labels.id(wanted) {
        return Ok(id);
    }
    let lower = wanted.to_lowercase();
    let is_alike = |name: &String| name.to_lowercase() == lower;
    let named = matching(labels, |label| label.name == wanted);
    let found = if named.is_empty() {
        matching(labels, |label| {
            is_alike(&label.name) || label.alternatives.iter().any(is_alike)
        })
    } else {
        named
    };
    match found[..] {
        [] => Err(UnclearLabel::Unknown {
            wanted: wanted.to_owned(),
            guess: most_alike(labels, &lower),
        }),
        [id] => Ok(id),
        _ => Err(UnclearLabel::Ambiguous {
            wanted: wanted.to_owned(),
            keys: (found.iter())
                .map(|&id| labels.label(id).key.clone())
                .collect(),
        }),
    }
}

fn matching(labels: &LabelSpace, is_meant: impl Fn(&Label) -> bool) -> Vec<LabelId> {
    (0..)
        .map(LabelId)
        .zip(labels.labels())
        .filter(|(_, label)| is_meant(label))
        .map(|(id, _)| id)
        .collect()
}

/// The name or key that is most like a text in lower case.
fn most_alike(labels: &LabelSpace, lower: &str) -> Option<String> {
    let names: Vec<(String, &str)> = (labels.labels().iter())
        .flat_map(|label| [label.name.as_str(), label.key.as_str()])
        .map(|name| (name.to_lowercase(), name))
        .collect();
    let guess = nearest(lower, names.iter().map(|(lower, _)| lower.as_str()))?;
    let found = names.iter().find(|(lower, _)| lower == guess);
    found.map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> LabelSpace {
        let label = |key: &str, name: &str, alternative: &str| Label {
            key: key.into(),
            name: name.into(),
            alternatives: vec![alternative.into()],
            parents: Vec::new(),
        };
        let labels = vec![
            label("C1", "Tides", "Ebb and flow"),
            label("C2", "Bridges", "Viaducts"),
            label("C3", "Mercury", "Planets"),
            label("C4", "Mercury", "Metals"),
            label("Tides", "Household", "Detergents"),
        ];
        LabelSpace::new(labels, vec![1; 5])
    }

    fn message(wanted: &str) -> String {
        find_label(&space(), wanted).unwrap_err().to_string()
    }

    #[test]
    fn keys_come_before_names_and_names_before_other_spellings() {
        for (wanted, id) in [
            ("C1", 0),
            ("Tides", 4),
            ("tides", 0),
            ("Bridges", 1),
            ("bridges", 1),
            ("ebb and FLOW", 0),
        ] {
            assert_eq!(
                find_label(&space(), wanted).unwrap(),
                LabelId(id),
                "{wanted}"
            );
        }
    }

    #[test]
    fn unknown_labels_bring_the_nearest_name() {
        assert_eq!(
            message("bridgs"),
            "unknown label `bridgs`; did you mean `Bridges`?"
        );
        assert_eq!(message("xyz"), "unknown label `xyz`");
    }

    #[test]
    fn a_name_of_several_labels_is_not_guessed() {
        assert_eq!(
            message("Mercury"),
            "`Mercury` is the name of 2 labels; give one of their keys: C3, C4"
        );
    }
}
