//! Fields, disciplines and topics with the words that go with them.

use super::{columns, keyword, lines, list};

pub(super) const TEXT: &str = include_str!("subjects.txt");

/// A subject as it stands in running text.
#[derive(Debug)]
pub(crate) struct SubjectRow {
    pub(crate) name: &'static str,
    pub(crate) synonym: &'static str,
    pub(crate) people: &'static str,
    pub(crate) terms: Vec<&'static str>,
    /// The first century in which books treat the subject, as people count it; 0 for any.
    pub(crate) since: u32,
}

/// A discipline and its topics.
#[derive(Debug)]
pub(crate) struct DisciplineRow {
    pub(crate) subject: SubjectRow,
    pub(crate) topics: Vec<SubjectRow>,
}

/// A field, its disciplines, and the words from which further topics are made.
#[derive(Debug)]
pub(crate) struct FieldRow {
    pub(crate) subject: SubjectRow,
    pub(crate) modifiers: Vec<&'static str>,
    pub(crate) objects: Vec<&'static str>,
    pub(crate) disciplines: Vec<DisciplineRow>,
}

pub(super) fn parse() -> Vec<FieldRow> {
    let mut fields: Vec<FieldRow> = Vec::new();
    for line in lines(TEXT) {
        let (kind, rest) = keyword(line);
        if kind == "field" {
            let [name, synonym, people] = columns(rest);
            let subject = SubjectRow {
                name,
                synonym,
                people,
                terms: Vec::new(),
                since: 0,
            };
            fields.push(FieldRow {
                subject,
                modifiers: Vec::new(),
                objects: Vec::new(),
                disciplines: Vec::new(),
            });
            continue;
        }
        let field = fields
            .last_mut()
            .expect("the table of subjects starts with a field");
        match kind {
            "modifiers" => field.modifiers = list(rest),
            "objects" => field.objects = list(rest),
            "discipline" => {
                let subject = subject(rest);
                // A book on the whole field speaks the language of its disciplines.
                field.subject.terms.extend(&subject.terms[..2]);
                field.disciplines.push(DisciplineRow {
                    subject,
                    topics: Vec::new(),
                });
            }
            "topic" => field
                .disciplines
                .last_mut()
                .expect("topics stand below a discipline")
                .topics
                .push(subject(rest)),
            _ => panic!("unknown keyword in the table of subjects: {kind}"),
        }
    }
    fields
}

fn subject(rest: &'static str) -> SubjectRow {
    let [name, synonym, people, terms] = columns(rest);
    let (name, since) = match name.split_once(" @") {
        Some((name, since)) => (name, since.parse().expect("centuries are numbers")),
        None => (name, 0),
    };
    SubjectRow {
        name,
        synonym,
        people,
        terms: list(terms),
        since,
    }
}
