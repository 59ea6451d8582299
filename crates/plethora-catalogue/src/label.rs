//! Headings as labels: key, name, other names and broader headings.

use plethora_core::corpus::Label;

use crate::headings::{Headings, century_ordinal, first_year};
use crate::layout::Heading;
use crate::subject::{Subject, capitalised};
use crate::tables::tables;

/// Eras with the first century of each, counted from 0.
const ERAS: [(&str, &str, u32); 3] = [
    ("Middle Ages", "Medieval period", 0),
    ("Early modern period", "Early modern times", 6),
    ("Modern period", "Modern times", 9),
];

const ORDINALS: [&str; 11] = [
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

impl Headings {
    /// The key of a heading: its label number, in a form that sorts.
    pub(crate) fn key(&self, heading: Heading) -> String {
        format!("C{:07}", self.layout.index(heading))
    }

    /// The label with a number below the number of labels.
    pub(crate) fn label(&self, index: u32) -> Label {
        let heading = self.layout.heading(index);
        let (name, alternatives, parents) = self.describe(heading);
        let parents = parents.into_iter().map(|parent| self.key(parent)).collect();
        Label {
            key: self.key(heading),
            name,
            alternatives,
            parents,
        }
    }

    fn describe(&self, heading: Heading) -> (String, Vec<String>, Vec<Heading>) {
        let tables = tables();
        match heading {
            Heading::Field(number) => describe_subject(&self.field(number)),
            Heading::Discipline(number) => describe_subject(&self.discipline(number)),
            Heading::Topic(number) => describe_subject(&self.topic(number)),
            Heading::Region(number) => {
                let name = tables.regions[number as usize];
                let name = name.strip_prefix("the ").unwrap_or(name);
                (
                    name.to_owned(),
                    inverted(name).into_iter().collect(),
                    Vec::new(),
                )
            }
            Heading::Place(number) => {
                let place = self.place(number);
                let alternative = inverted(&place.name).into_iter().collect();
                (place.name, alternative, vec![Heading::Region(place.region)])
            }
            Heading::Era(number) => {
                let (name, alternative, _) = ERAS[number as usize];
                (name.to_owned(), vec![alternative.to_owned()], Vec::new())
            }
            Heading::Century(number) => describe_century(number),
            Heading::FormGroup(number) => (
                capitalised(tables.form_groups[number as usize]),
                Vec::new(),
                Vec::new(),
            ),
            Heading::Form(number) => {
                let form = &tables.forms[number as usize];
                let alternatives = vec![capitalised(form.alternative)];
                (
                    capitalised(form.name),
                    alternatives,
                    vec![Heading::FormGroup(form.group)],
                )
            }
            Heading::Person(number) => self.describe_person(number),
            Heading::Compound(number) => self.describe_compound(number),
        }
    }

    fn describe_person(&self, number: u32) -> (String, Vec<String>, Vec<Heading>) {
        let person = self.person(number);
        let (given, surname) = (person.given, &person.surname);
        let name = format!("{surname}, {given}, {}-{}", person.birth, person.death);
        let alternatives = vec![
            format!("{given} {surname}"),
            format!("{}. {surname}", &given[..1]),
        ];
        (
            name,
            alternatives,
            self.topic(person.topic).parent.into_iter().collect(),
        )
    }

    fn describe_compound(&self, number: u32) -> (String, Vec<String>, Vec<Heading>) {
        let compound = self.compound(number);
        let topic = self.topic(compound.topic);
        let mut name = topic.heading_name();
        let mut parents = vec![topic.heading];
        let mut alternative = String::new();
        if let Some(place) = compound.place() {
            let found = self.place(place);
            name = format!("{name} -- {}", found.name);
            alternative = format!("{} in {}", topic.heading_name(), found.name);
            parents.push(Heading::Place(place));
        }
        if let Some(century) = compound.century() {
            name = format!("{name} -- {}", century_name(century));
            let years = format!("{}-{}", first_year(century), first_year(century) + 99);
            alternative = if alternative.is_empty() {
                topic.heading_name()
            } else {
                alternative
            };
            alternative = format!("{alternative}, {years}");
            parents.push(Heading::Century(century));
        }
        (name, vec![alternative], parents)
    }
}

fn describe_subject(subject: &Subject) -> (String, Vec<String>, Vec<Heading>) {
    let name = subject.heading_name();
    let synonym = subject
        .synonym
        .strip_prefix("the ")
        .unwrap_or(&subject.synonym);
    let mut alternatives = vec![capitalised(synonym)];
    alternatives.extend(inverted(&name));
    (name, alternatives, subject.parent.into_iter().collect())
}

fn describe_century(number: u32) -> (String, Vec<String>, Vec<Heading>) {
    let era = ERAS
        .iter()
        .rposition(|&(_, _, first)| first <= number)
        .unwrap_or(0);
    let alternatives = vec![
        capitalised(&century_in_words(number)),
        format!("{}-{}", first_year(number), first_year(number) + 99),
    ];
    (
        century_name(number),
        alternatives,
        vec![Heading::Era(era as u32)],
    )
}

/// "17th century".
pub(crate) fn century_name(century: u32) -> String {
    format!("{}th century", century_ordinal(century))
}

/// "seventeenth century".
pub(crate) fn century_in_words(century: u32) -> String {
    format!("{} century", ORDINALS[century as usize])
}

/// The name with its last word first ("Glass, Stained"), where it has two words or three and
/// neither preposition nor conjunction.
fn inverted(name: &str) -> Option<String> {
    let (front, last) = name.rsplit_once(' ')?;
    let is_phrase = front
        .split(' ')
        .any(|word| ["of", "for", "and", "in"].contains(&word));
    (!is_phrase).then(|| format!("{}, {front}", capitalised(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_inverted_by_their_last_word() {
        assert_eq!(inverted("Stained glass").as_deref(), Some("Glass, Stained"));
        assert_eq!(inverted("Glassblowing"), None);
        assert_eq!(inverted("Books for children"), None);
    }

    #[test]
    fn compounds_name_their_parts_and_have_them_as_parents() {
        let headings = Headings::new(1, 2_000);
        let number = (0..100).find(|&number| {
            let compound = headings.compound(number);
            compound.place().is_some() && compound.century().is_some()
        });
        let label = headings.label(headings.layout.index(Heading::Compound(number.unwrap())));
        assert_eq!(label.name.matches(" -- ").count(), 2);
        assert_eq!(label.parents.len(), 3);
        for parent in &label.parents {
            let index = parent[1..].parse().unwrap();
            assert!(label.name.contains(&headings.label(index).name));
        }
    }

    #[test]
    fn centuries_belong_to_their_era() {
        assert_eq!(describe_century(5).2, [Heading::Era(0)]);
        assert_eq!(describe_century(7).0, "17th century");
        assert_eq!(describe_century(7).2, [Heading::Era(1)]);
        assert_eq!(describe_century(10).2, [Heading::Era(2)]);
    }
}
