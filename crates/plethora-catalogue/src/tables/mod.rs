//! The word lists of the catalogue, hand-written in the text files beside this one and compiled in.

mod forms;
mod names;
mod places;
mod sentences;
mod subjects;

use std::sync::LazyLock;

pub(crate) use forms::FormRow;
pub(crate) use names::Names;
pub(crate) use places::PlaceRow;
pub(crate) use sentences::{Section, Sentences};
pub(crate) use subjects::{DisciplineRow, FieldRow, SubjectRow};

/// All word lists.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) fields: Vec<FieldRow>,
    pub(crate) regions: Vec<&'static str>,
    pub(crate) places: Vec<PlaceRow>,
    pub(crate) form_groups: Vec<&'static str>,
    pub(crate) forms: Vec<FormRow>,
    pub(crate) names: Names,
    pub(crate) sentences: Sentences,
}

impl Tables {
    /// The same for every field.
    pub(crate) fn disciplines_per_field(&self) -> usize {
        self.fields[0].disciplines.len()
    }

    /// The same for every discipline.
    pub(crate) fn topics_per_discipline(&self) -> usize {
        self.fields[0].disciplines[0].topics.len()
    }
}

/// The word lists, parsed on first use.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| {
        let (regions, places) = places::parse();
        let (form_groups, forms) = forms::parse();
        Tables {
            fields: subjects::parse(),
            regions,
            places,
            form_groups,
            forms,
            names: names::parse(),
            sentences: sentences::parse(),
        }
    });
    &TABLES
}

/// The lines of a table that are neither empty nor comments, without indentation.
fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Splits a line into its columns.
fn columns<const COUNT: usize>(line: &'static str) -> [&'static str; COUNT] {
    let columns: Vec<&str> = line.split('|').map(str::trim).collect();
    columns
        .try_into()
        .unwrap_or_else(|_| panic!("table line has {COUNT} columns: {line}"))
}

/// Splits a column into its words.
fn list(column: &'static str) -> Vec<&'static str> {
    column.split(", ").collect()
}

/// Splits a line into its first word and the rest.
fn keyword(line: &'static str) -> (&'static str, &'static str) {
    line.split_once(' ')
        .expect("table lines start with a keyword")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_the_same_shape() {
        let tables = tables();
        for field in &tables.fields {
            assert_eq!(field.disciplines.len(), tables.disciplines_per_field());
            for discipline in &field.disciplines {
                assert_eq!(discipline.topics.len(), tables.topics_per_discipline());
                assert!(discipline.topics.iter().all(|topic| topic.terms.len() >= 5));
            }
        }
    }

    #[test]
    fn words_are_tidy() {
        for text in [
            subjects::TEXT,
            places::TEXT,
            forms::TEXT,
            names::TEXT,
            sentences::TEXT,
        ] {
            assert!(text.is_ascii());
            assert!(lines(text).all(|line| !line.contains("  ") && !line.contains(" ,")));
        }
    }
}
