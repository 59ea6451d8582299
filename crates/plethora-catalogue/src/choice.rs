//! Which headings a document is about.

use crate::draw::Draw;
use crate::headings::{Headings, draw_century};
use crate::layout::Heading;
use crate::subject::Subject;
use crate::tables::tables;

/// Documents by subject, of a hundred: a topic, a compound heading, a person, a discipline, a field.
const SUBJECT_WEIGHTS: [u32; 5] = [50, 27, 13, 7, 3];
const SECOND_PERCENT: u32 = 35;
const RELATED_SECOND_PERCENT: u32 = 65;
const PLACE_PERCENT: u32 = 45;
const CENTURY_PERCENT: u32 = 45;
const FORM_PERCENT: u32 = 50;
const READERS_PERCENT: u32 = 12;
/// Persons may be the subject or a figure in a book on their topic.
const PERSON_IS_SUBJECT_PERCENT: u32 = 60;

/// The numbers of the headings that a document is about.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) subject: Subject,
    pub(crate) second: Option<u32>,
    pub(crate) place: Option<u32>,
    pub(crate) century: Option<u32>,
    pub(crate) compound: Option<u32>,
    pub(crate) person: Option<u32>,
    pub(crate) is_about_person: bool,
    pub(crate) form: Option<u32>,
    pub(crate) readers: Option<u32>,
}

impl Choice {
    pub(crate) fn draw(headings: &Headings, draw: &mut Draw) -> Self {
        let mut choice = Self::draw_subject(headings, draw);
        if choice.compound.is_none() {
            if draw.chance(PLACE_PERCENT) {
                choice.place = Some(headings.draw_place(draw));
            }
            if choice.person.is_none() && draw.chance(CENTURY_PERCENT) {
                choice.century = Some(draw_century(choice.subject.since, draw));
            }
        }
        let topic = match choice.subject.heading {
            Heading::Topic(topic) => Some(topic),
            _ => None,
        };
        if draw.chance(SECOND_PERCENT) {
            let second = match topic {
                Some(topic) if draw.chance(RELATED_SECOND_PERCENT) => {
                    headings.related_topic(topic, draw)
                }
                _ => headings.draw_topic(draw),
            };
            choice.second = Some(second).filter(|_| topic != Some(second));
        }
        choice.draw_forms(draw);
        choice.is_about_person = choice.person.is_some() && draw.chance(PERSON_IS_SUBJECT_PERCENT);
        choice
    }

    /// The subject, with what comes with it: compounds and persons have a place or a time.
    fn draw_subject(headings: &Headings, draw: &mut Draw) -> Self {
        let any = |kind, draw: &mut Draw| draw.below(u64::from(headings.layout.count(kind))) as u32;
        match draw.weighted(&SUBJECT_WEIGHTS) {
            0 => Self::about(headings.topic(headings.draw_topic(draw))),
            1 => {
                let number = headings.draw_rare(Heading::Compound, draw);
                let compound = headings.compound(number);
                Self {
                    compound: Some(number),
                    place: compound.place(),
                    century: compound.century(),
                    ..Self::about(headings.topic(compound.topic))
                }
            }
            2 => {
                let number = headings.draw_rare(Heading::Person, draw);
                let person = headings.person(number);
                Self {
                    person: Some(number),
                    century: Some(person.century),
                    ..Self::about(headings.topic(person.topic))
                }
            }
            3 => Self::about(headings.discipline(any(Heading::Discipline, draw))),
            _ => Self::about(headings.field(any(Heading::Field, draw))),
        }
    }

    fn about(subject: Subject) -> Self {
        Self {
            subject,
            second: None,
            place: None,
            century: None,
            compound: None,
            person: None,
            is_about_person: false,
            form: None,
            readers: None,
        }
    }

    /// A form of publication and a kind of readers, either of which may be absent.
    fn draw_forms(&mut self, draw: &mut Draw) {
        let forms = &tables().forms;
        let num_forms = forms.iter().filter(|form| !form.is_readers).count() as u32;
        let num_readers = forms.len() as u32 - num_forms;
        if draw.chance(FORM_PERCENT) {
            self.form = Some(draw.zipf(num_forms, 2));
        }
        if draw.chance(READERS_PERCENT) {
            self.readers = Some(num_forms + draw.zipf(num_readers, 1));
        }
    }
}
