//! Which label a user means.

use plethora_core::LabelId;
use plethora_core::corpus::{Label, LabelSpace};

use crate::failure::UsageError;
use crate::settings::nearest;

/// Keys that are listed where a name stands for several labels.
const LISTED_KEYS: usize = 5;

/// The label with this key, else with this name, else with this name or another one of its names in
/// any case.
pub(crate) fn find_label(labels: &LabelSpace, wanted: &str) -> Result<LabelId, UsageError> {
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
        [] => Err(unknown(labels, wanted)),
        [id] => Ok(id),
        _ => Err(ambiguous(labels, wanted, &found)),
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

fn ambiguous(labels: &LabelSpace, wanted: &str, found: &[LabelId]) -> UsageError {
    let keys: Vec<&str> = (found.iter().take(LISTED_KEYS))
        .map(|&id| labels.label(id).key.as_str())
        .collect();
    let more = if found.len() > LISTED_KEYS {
        ", ..."
    } else {
        ""
    };
    UsageError::new(format!(
        "--label: `{wanted}` is the name of {} labels; give one of their keys: {}{more}",
        found.len(),
        keys.join(", ")
    ))
}

fn unknown(labels: &LabelSpace, wanted: &str) -> UsageError {
    let names: Vec<(String, &str)> = (labels.labels().iter())
        .flat_map(|label| [label.name.as_str(), label.key.as_str()])
        .map(|name| (name.to_lowercase(), name))
        .collect();
    let guess = nearest(
        &wanted.to_lowercase(),
        names.iter().map(|(lower, _)| lower.as_str()),
    );
    let name = (names.iter()).find(|(lower, _)| Some(lower.as_str()) == guess);
    UsageError::new(match name {
        Some((_, name)) => format!("--label: unknown label `{wanted}`; did you mean `{name}`?"),
        None => format!(
            "--label: unknown label `{wanted}`; labels.jsonl in the model folder has all there are"
        ),
    })
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
            "--label: unknown label `bridgs`; did you mean `Bridges`?"
        );
        assert_eq!(
            message("xyz"),
            "--label: unknown label `xyz`; labels.jsonl in the model folder has all there are"
        );
    }

    #[test]
    fn a_name_of_several_labels_is_not_guessed() {
        assert_eq!(
            message("Mercury"),
            "--label: `Mercury` is the name of 2 labels; give one of their keys: C3, C4"
        );
    }
}
