//! Choosing rows by the values of their fields, as `--where split=train` does.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// Values named in the message when nothing matches.
const MAX_VALUES_SHOWN: usize = 8;

/// Keeps rows whose field has a value. Of several filters, those on one field accept any of their
/// values, and all fields must be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The field's name.
    pub field: String,
    /// The accepted value.
    pub value: String,
}

impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((field, value)) if !field.trim().is_empty() => Ok(Self {
                field: field.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(Error::config(
                "where",
                format!("`{text}`: expected FIELD=VALUE"),
            )),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.field, self.value)
    }
}

/// All filters of a read, grouped by field, and what they met.
#[derive(Debug, Clone, Default)]
pub(super) struct RowFilter {
    groups: Vec<FieldFilter>,
    /// One entry per group: whether the row at hand is accepted by it.
    accepted: Vec<bool>,
    has_kept_a_row: bool,
}

#[derive(Debug, Clone)]
struct FieldFilter {
    field: String,
    values: Vec<String>,
    /// Values met while no row was kept yet, to tell the user.
    seen: BTreeSet<String>,
}

impl RowFilter {
    pub(super) fn new(filters: &[Filter]) -> Self {
        let mut groups: Vec<FieldFilter> = Vec::new();
        for Filter { field, value } in filters {
            match groups.iter_mut().find(|group| group.field == *field) {
                Some(group) => group.values.push(value.clone()),
                None => groups.push(FieldFilter {
                    field: field.clone(),
                    values: vec![value.clone()],
                    seen: BTreeSet::new(),
                }),
            }
        }
        Self {
            accepted: vec![false; groups.len()],
            groups,
            has_kept_a_row: false,
        }
    }

    /// The fields that decide, in the order of their indices.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.field.as_str())
    }

    /// The index of a field that decides.
    pub(super) fn index_of(&self, field: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.field == field)
    }

    /// Forgets the row before.
    pub(super) fn start_row(&mut self) {
        self.accepted.fill(false);
    }

    /// Judges a value of the deciding field `index` in the row at hand; a field with several
    /// values is accepted for any of them.
    pub(super) fn judge(&mut self, index: usize, value: &str) {
        let group = &mut self.groups[index];
        if group.values.iter().any(|accepted| accepted == value) {
            self.accepted[index] = true;
        } else if !self.has_kept_a_row && group.seen.len() <= MAX_VALUES_SHOWN {
            group.seen.insert(value.to_owned());
        }
    }

    /// True if the deciding field `index` of the row at hand was accepted.
    pub(super) fn accepts(&self, index: usize) -> bool {
        self.accepted[index]
    }

    /// True if every deciding field of the row at hand was accepted.
    pub(super) fn keeps_row(&mut self) -> bool {
        let keeps = self.accepted.iter().all(|&accepted| accepted);
        self.has_kept_a_row |= keeps;
        keeps
    }

    /// What was asked for and what there was instead; for a read that kept no row.
    pub(super) fn explain(&self) -> String {
        let describe = |group: &FieldFilter| {
            let asked = group.values.join("` or `");
            if group.seen.is_empty() {
                return format!("{}=`{asked}`", group.field);
            }
            let mut seen: Vec<String> = group
                .seen
                .iter()
                .take(MAX_VALUES_SHOWN)
                .map(|value| format!("`{value}`"))
                .collect();
            if group.seen.len() > MAX_VALUES_SHOWN {
                seen.push("...".into());
            }
            format!("{}=`{asked}` (found {})", group.field, seen.join(", "))
        };
        self.groups
            .iter()
            .map(describe)
            .collect::<Vec<_>>()
            .join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(filters: &[&str], row: &[(&str, &str)]) -> bool {
        let filters: Vec<Filter> = filters.iter().map(|text| text.parse().unwrap()).collect();
        let mut filter = RowFilter::new(&filters);
        filter.start_row();
        for (field, value) in row {
            if let Some(index) = filter.index_of(field) {
                filter.judge(index, value);
            }
        }
        filter.keeps_row()
    }

    #[test]
    fn one_field_accepts_any_value_and_all_fields_must_accept() {
        let filters = ["split=train", "split=dev", "lang=en"];
        assert!(keeps(&filters, &[("lang", "en"), ("split", "dev")]));
        assert!(!keeps(&filters, &[("lang", "de"), ("split", "dev")]));
        assert!(!keeps(&filters, &[("split", "dev")]));
        assert!(keeps(&[], &[]));
    }

    #[test]
    fn filters_are_read_from_field_equals_value() {
        let filter: Filter = "note=a=b".parse().unwrap();
        assert_eq!(
            (filter.field.as_str(), filter.value.as_str()),
            ("note", "a=b")
        );
        assert_eq!(
            "split".parse::<Filter>().unwrap_err().to_string(),
            "where: `split`: expected FIELD=VALUE"
        );
    }

    #[test]
    fn an_explanation_names_what_was_found_instead() {
        let mut filter = RowFilter::new(&["split=trian".parse().unwrap()]);
        for value in ["train", "test", "train"] {
            filter.start_row();
            filter.judge(0, value);
            assert!(!filter.keeps_row());
        }
        assert_eq!(filter.explain(), "split=`trian` (found `test`, `train`)");
    }
}
