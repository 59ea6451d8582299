//! Which labels the cataloguer gives to a document: not all that fit, and now and then a wrong one.

use crate::choice::Choice;
use crate::draw::Draw;
use crate::headings::{Headings, draw_century};
use crate::layout::Heading;
use crate::tables::tables;

/// How often the cataloguer leaves out a heading that fits, by how central it is.
const MISSING_SUBJECT_PERCENT: u32 = 6;
const MISSING_TOPIC_OF_COMPOUND_PERCENT: u32 = 15;
const MISSING_SECOND_PERCENT: u32 = 30;
const MISSING_FACET_PERCENT: u32 = 25;
const MISSING_FACET_OF_COMPOUND_PERCENT: u32 = 60;
/// However strong the noise, some headings are given.
const MAX_MISSING_PERCENT: u32 = 95;
/// How often the cataloguer replaces a heading by one that does not fit.
const WRONG_PERCENT: u32 = 3;
/// How often the cataloguer adds the broader heading.
const PARENT_PERCENT: u32 = 8;

const MIN_LABELS: usize = 2;
const MAX_LABELS: usize = 5;

/// The cataloguer's list while it is being made.
pub(crate) struct Assignment<'a> {
    draw: &'a mut Draw,
    noise_percent: u32,
    kept: Vec<Heading>,
    left_out: Vec<Heading>,
}

impl<'a> Assignment<'a> {
    pub(crate) fn new(draw: &'a mut Draw, noise_percent: u32) -> Self {
        Self {
            draw,
            noise_percent,
            kept: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The labels of a document, between two and five.
    pub(crate) fn labels(mut self, choice: &Choice, headings: &Headings) -> Vec<Heading> {
        self.add_subject(choice);
        self.add_facets(choice);
        if let Some(parent) = choice.subject.parent
            && self.draw.chance(PARENT_PERCENT)
        {
            self.kept.push(parent);
        }
        self.kept.truncate(MAX_LABELS);
        self.fill_up(choice);
        if self.draw.chance(WRONG_PERCENT * self.noise_percent / 100) {
            self.replace_one(headings);
        }
        self.kept
    }

    fn add(&mut self, heading: Heading, missing_percent: u32) {
        let missing_percent = (missing_percent * self.noise_percent / 100).min(MAX_MISSING_PERCENT);
        if self.draw.chance(missing_percent) {
            self.left_out.push(heading);
        } else {
            self.kept.push(heading);
        }
    }

    /// Subject and person, the most specific heading first.
    fn add_subject(&mut self, choice: &Choice) {
        if let Some(compound) = choice.compound {
            self.add(Heading::Compound(compound), MISSING_SUBJECT_PERCENT);
        }
        if let Some(person) = choice.person {
            let missing_percent = if choice.is_about_person {
                MISSING_SUBJECT_PERCENT
            } else {
                MISSING_SECOND_PERCENT
            };
            self.add(Heading::Person(person), missing_percent);
        }
        let missing_percent = if choice.compound.is_some() || choice.is_about_person {
            MISSING_TOPIC_OF_COMPOUND_PERCENT
        } else {
            MISSING_SUBJECT_PERCENT
        };
        self.add(choice.subject.heading, missing_percent);
    }

    fn add_facets(&mut self, choice: &Choice) {
        let missing_percent = if choice.compound.is_some() {
            MISSING_FACET_OF_COMPOUND_PERCENT
        } else {
            MISSING_FACET_PERCENT
        };
        if let Some(place) = choice.place {
            self.add(Heading::Place(place), missing_percent);
        }
        if let Some(century) = choice.century {
            self.add(Heading::Century(century), missing_percent);
        }
        if let Some(second) = choice.second {
            self.add(Heading::Topic(second), MISSING_SECOND_PERCENT);
        }
        for form in [choice.form, choice.readers].into_iter().flatten() {
            self.add(Heading::Form(form), MISSING_FACET_PERCENT);
        }
    }

    /// Brings a short list to the least number of labels.
    fn fill_up(&mut self, choice: &Choice) {
        let subject = choice.subject.heading;
        let neighbour = match subject {
            Heading::Field(field) => {
                Heading::Discipline(field * tables().disciplines_per_field() as u32)
            }
            _ => choice.subject.parent.unwrap_or(subject),
        };
        for heading in self.left_out.drain(..).chain([subject, neighbour]) {
            if self.kept.len() < MIN_LABELS && !self.kept.contains(&heading) {
                self.kept.push(heading);
            }
        }
    }

    fn replace_one(&mut self, headings: &Headings) {
        let wrong = match self.draw.below(3) {
            0 => Heading::Place(headings.draw_place(self.draw)),
            1 => Heading::Century(draw_century(0, self.draw)),
            _ => Heading::Topic(headings.draw_topic(self.draw)),
        };
        if !self.kept.contains(&wrong) {
            let replaced = self.draw.position(self.kept.len());
            self.kept[replaced] = wrong;
        }
    }
}
