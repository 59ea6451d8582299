//! The words that the sentences of a document share: subject, place, period, person, kind of item.

use crate::coin::Place;
use crate::draw::Draw;
use crate::facets::{Facet, Facets, Mention};
use crate::headings::{Person, first_year};
use crate::label::{century_in_words, century_name};
use crate::subject::Subject;
use crate::tables::FormRow;

/// What a record calls itself when its form is not said.
const ITEMS: [&str; 7] = [
    "study",
    "book",
    "volume",
    "work",
    "monograph",
    "account",
    "survey",
];

/// Everything that can fill the slots of a sentence. Sentences about a second subject, and
/// misleading ones, have a cast of their own.
#[derive(Debug, Clone)]
pub(crate) struct Cast {
    pub(crate) subject: Subject,
    pub(crate) place: Option<Facet<Place>>,
    pub(crate) century: Option<Facet<u32>>,
    pub(crate) person: Option<Person>,
    pub(crate) item: &'static str,
    pub(crate) readers: Option<&'static FormRow>,
    /// First and last year of the period, within the century.
    pub(crate) years: (u32, u32),
    /// Whether the slot `where` says place and period or stays empty.
    pub(crate) is_located: bool,
    next_term: usize,
    next_town: usize,
}

impl Cast {
    /// The cast of a document's own facets.
    pub(crate) fn of(facets: &Facets, draw: &mut Draw) -> Self {
        let mut cast = Self::of_subject(facets.subject.value.clone(), draw);
        cast.place.clone_from(&facets.place);
        cast.century.clone_from(&facets.century);
        cast.person.clone_from(&facets.person);
        cast.readers = facets.readers.as_ref().map(|readers| readers.value);
        if let Some(form) = &facets.form
            && form.mention != Mention::Implied
        {
            cast.item = form.value.mention;
        }
        if let Some(century) = &facets.century {
            cast.draw_years(century.value, draw);
        }
        if let Some(person) = &facets.person {
            cast.years = person.best_years();
        }
        cast
    }

    /// A cast with a subject only.
    pub(crate) fn of_subject(subject: Subject, draw: &mut Draw) -> Self {
        let next_term = draw.position(subject.terms.len());
        Self {
            subject,
            place: None,
            century: None,
            person: None,
            item: draw.pick(&ITEMS),
            readers: None,
            years: (0, 0),
            is_located: false,
            next_term,
            next_town: draw.position(3),
        }
    }

    /// Years within the century, for texts that imply it.
    pub(crate) fn draw_years(&mut self, century: u32, draw: &mut Draw) {
        let first = first_year(century) + draw.below(60) as u32;
        self.years = (first, first + 8 + draw.below(30) as u32);
    }

    /// The next characteristic word; neighbouring sentences use different ones.
    pub(crate) fn term(&mut self) -> &str {
        self.next_term = (self.next_term + 1) % self.subject.terms.len();
        &self.subject.terms[self.next_term]
    }

    /// The next town of the place, if there is a place.
    pub(crate) fn town(&mut self) -> &str {
        self.next_town += 1;
        let towns = self
            .place
            .as_ref()
            .map_or(&[][..], |place| &place.value.towns);
        if towns.is_empty() {
            "town"
        } else {
            &towns[self.next_town % towns.len()]
        }
    }

    /// The century with its article.
    pub(crate) fn century_phrase(&self, draw: &mut Draw) -> String {
        let century = self.century.as_ref().map_or(0, |century| century.value);
        let name = if draw.chance(50) {
            century_name(century)
        } else {
            century_in_words(century)
        };
        format!("the {name}")
    }

    /// Appends place and period with their prepositions and a leading space, or nothing.
    pub(crate) fn push_location(&mut self, out: &mut String, draw: &mut Draw) {
        if !self.is_located {
            return;
        }
        if let Some(place) = &self.place {
            match place.mention {
                Mention::Named => {
                    out.push_str(" in ");
                    out.push_str(&place.value.name);
                }
                Mention::Inflected => {
                    out.push_str(" in ");
                    out.push_str(&place.value.adjective);
                    out.push_str(draw.pick(&[" sources", " archives", " accounts", " lands"]));
                }
                Mention::Implied if draw.chance(30) => {
                    out.push_str(" along the ");
                    out.push_str(&place.value.river);
                }
                Mention::Implied => {
                    out.push_str(draw.pick(&[" in ", " in and around ", " at "]));
                    out.push_str(self.town());
                }
            }
        }
        if let Some(century) = &self.century {
            let (first, last) = self.years;
            let phrase = match century.mention {
                Mention::Named | Mention::Inflected => format!(" in {}", self.century_phrase(draw)),
                Mention::Implied => match draw.below(3) {
                    0 => format!(" between {first} and {last}"),
                    1 => format!(" around {first}"),
                    _ => format!(" after {first}"),
                },
            };
            out.push_str(&phrase);
        }
    }
}
