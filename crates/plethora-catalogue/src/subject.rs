//! What a document can be about, with the words that name and imply it.

use std::borrow::Cow;

use crate::coin;
use crate::draw::Draw;
use crate::layout::Heading;
use crate::tables::{FieldRow, SubjectRow};

type Words = Cow<'static, str>;

/// A field, discipline or topic.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) heading: Heading,
    /// The broader heading, where there is one.
    pub(crate) parent: Option<Heading>,
    /// As it stands in a sentence.
    pub(crate) name: Words,
    pub(crate) synonym: Words,
    pub(crate) people: Words,
    /// Characteristic words that imply the subject without naming it.
    pub(crate) terms: Vec<Words>,
    /// The first century in which books treat the subject, as people count it; 0 for any.
    pub(crate) since: u32,
}

impl Subject {
    /// A hand-written subject.
    pub(crate) fn written(heading: Heading, parent: Option<Heading>, row: &SubjectRow) -> Self {
        Self {
            heading,
            parent,
            name: row.name.into(),
            synonym: row.synonym.into(),
            people: row.people.into(),
            terms: row.terms.iter().map(|&term| term.into()).collect(),
            since: row.since,
        }
    }

    /// The name without its article, with a capital, as headings are written.
    pub(crate) fn heading_name(&self) -> String {
        capitalised(self.name.strip_prefix("the ").unwrap_or(&self.name))
    }
}

/// Which topics of a field are invented, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InventedTopic {
    /// Number among the field's invented topics.
    pub(crate) number: u64,
    /// Varies the order in which names are used.
    pub(crate) offset: u64,
}

impl InventedTopic {
    /// Name and synonym: first the field's own words, then, when they are used up, surnames.
    fn names(self, field: &FieldRow) -> (String, String) {
        let objects = field.objects.len() as u64;
        let described = field.modifiers.len() as u64 * objects;
        if self.number < described {
            let place = coin::scatter(self.number, described, self.offset);
            let modifier = field.modifiers[(place / objects) as usize];
            let object = field.objects[(place % objects) as usize];
            (
                format!("{modifier} {object}"),
                format!("{object} of the {modifier} kind"),
            )
        } else {
            let named = coin::num_surnames() * objects;
            let place = coin::scatter(self.number - described, named, self.offset);
            let surname = coin::surname(place / objects);
            let object = field.objects[(place % objects) as usize];
            (
                format!("{surname} {object}"),
                format!("{object} named after {surname}"),
            )
        }
    }

    /// The topic, below one of the field's disciplines.
    pub(crate) fn subject(
        self,
        field: &FieldRow,
        (heading, parent): (Heading, Heading),
        discipline: usize,
        draw: &mut Draw,
    ) -> Subject {
        let (name, synonym) = self.names(field);
        let row = &field.disciplines[discipline].subject;
        let own = [coin::technical_word(draw), coin::technical_word(draw)];
        let first = draw.position(row.terms.len());
        let shared = [row.terms[first], row.terms[(first + 1) % row.terms.len()]];
        let mut terms: Vec<Words> = own.into_iter().map(Words::from).collect();
        terms.extend(shared.map(Words::from));
        let object = draw.pick(&field.objects);
        terms.push(format!("{} {object}", draw.pick(&field.modifiers)).into());
        Subject {
            heading,
            parent: Some(parent),
            people: format!("specialists in {name}").into(),
            name: name.into(),
            synonym: synonym.into(),
            terms,
            since: field.disciplines[discipline].subject.since,
        }
    }
}

/// The text with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut capitalised = String::with_capacity(text.len());
    push_capitalised(&mut capitalised, text);
    capitalised
}

/// Appends the text with a capital first letter.
pub(crate) fn push_capitalised(out: &mut String, text: &str) {
    let mut chars = text.chars();
    if let Some(first) = chars.next() {
        out.extend(first.to_uppercase());
        out.push_str(chars.as_str());
    }
}
