//! What one document is about, how openly its text says so, and which labels it gets.

use crate::assignment::Assignment;
use crate::choice::Choice;
use crate::coin::Place;
use crate::draw::Draw;
use crate::headings::{Headings, Person};
use crate::layout::Heading;
use crate::subject::Subject;
use crate::tables::{FormRow, tables};

/// Mentions by openness, of a hundred: by name, by an inflected form, only implied.
const MENTION_WEIGHTS: [u32; 3] = [45, 20, 35];
/// Texts that say next to nothing about their subject.
const VAGUE_PERCENT: u32 = 3;

/// How openly a text names one of its headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mention {
    Named,
    Inflected,
    Implied,
}

/// Something a document is about, and how openly.
#[derive(Debug, Clone)]
pub(crate) struct Facet<T> {
    pub(crate) value: T,
    pub(crate) mention: Mention,
}

impl<T> Facet<T> {
    fn draw(value: T, draw: &mut Draw) -> Self {
        let mentions = [Mention::Named, Mention::Inflected, Mention::Implied];
        Self {
            value,
            mention: mentions[draw.weighted(&MENTION_WEIGHTS)],
        }
    }
}

/// All facets of a document and its labels.
#[derive(Debug, Clone)]
pub(crate) struct Facets {
    pub(crate) subject: Facet<Subject>,
    pub(crate) second: Option<Facet<Subject>>,
    pub(crate) place: Option<Facet<Place>>,
    pub(crate) century: Option<Facet<u32>>,
    pub(crate) form: Option<Facet<&'static FormRow>>,
    pub(crate) readers: Option<Facet<&'static FormRow>>,
    pub(crate) person: Option<Person>,
    pub(crate) is_about_person: bool,
    pub(crate) is_vague: bool,
    pub(crate) labels: Vec<Heading>,
}

impl Facets {
    /// The facets of a document, with the noise scaled to `noise_percent` of the usual.
    pub(crate) fn draw(headings: &Headings, noise_percent: u32, draw: &mut Draw) -> Self {
        let choice = Choice::draw(headings, draw);
        let is_vague = draw.chance(VAGUE_PERCENT * noise_percent / 100);
        let labels = Assignment::new(draw, noise_percent).labels(&choice, headings);
        let form = |number: u32| &tables().forms[number as usize];
        Self {
            subject: Facet::draw(choice.subject, draw),
            second: choice
                .second
                .map(|number| Facet::draw(headings.topic(number), draw)),
            place: choice
                .place
                .map(|number| Facet::draw(headings.place(number), draw)),
            century: choice.century.map(|number| Facet::draw(number, draw)),
            form: choice.form.map(|number| Facet::draw(form(number), draw)),
            readers: choice.readers.map(|number| Facet::draw(form(number), draw)),
            person: choice.person.map(|number| headings.person(number)),
            is_about_person: choice.is_about_person,
            is_vague,
            labels,
        }
    }
}
