//! Title and abstract of a document.

use crate::cast::Cast;
use crate::draw::Draw;
use crate::facets::{Facet, Facets, Mention};
use crate::headings::{Headings, draw_century};
use crate::phrase::fill;
use crate::tables::{Section, tables};
use crate::typo::add_typo;

/// Bounds on the number of words of an abstract.
const MIN_WORDS: usize = 30;
const MAX_WORDS: usize = 150;
/// Abstracts aim at a length between these, in words.
const SHORTEST_AIM: u64 = 30;
const LONGEST_AIM: u64 = 140;
/// Words of a generic sentence, about, for planning.
const GENERIC_WORDS: usize = 9;
const PLANNED_WORDS: usize = 11;

const MISLEADING_PERCENT: u32 = 40;
const MISLEADING_PLACE_PERCENT: u32 = 15;
const MISLEADING_PERIOD_PERCENT: u32 = 15;
const TYPO_PERCENT: u32 = 20;

/// Which cast speaks in a sentence.
#[derive(Debug, Clone, Copy)]
enum Voice {
    Document,
    Second,
    Stranger,
}

/// A sentence to be written: one of a section's templates, or a given one.
#[derive(Debug, Clone, Copy)]
enum Sentence {
    Any(Section, Voice),
    Given(&'static str),
}

/// Writes one document.
pub(crate) struct Writer<'a> {
    facets: &'a Facets,
    draw: &'a mut Draw,
    noise_percent: u32,
    document: Cast,
    second: Option<Cast>,
    stranger: Cast,
    /// One bit for each template used, by section.
    used: [u64; Section::COUNT],
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        facets: &'a Facets,
        headings: &Headings,
        noise_percent: u32,
        draw: &'a mut Draw,
    ) -> Self {
        let document = Cast::of(facets, draw);
        let second = facets.second.as_ref();
        let second = second.map(|second| Cast::of_subject(second.value.clone(), draw));
        let mut stranger = Cast::of_subject(headings.topic(headings.draw_topic(draw)), draw);
        let place = headings.place(headings.draw_place(draw));
        stranger.place = Some(Facet {
            value: place,
            mention: Mention::Named,
        });
        let century = draw_century(0, draw);
        stranger.century = Some(Facet {
            value: century,
            mention: Mention::Named,
        });
        stranger.draw_years(century, draw);
        Self {
            facets,
            draw,
            noise_percent,
            document,
            second,
            stranger,
            used: [0; Section::COUNT],
        }
    }

    /// Title and abstract.
    pub(crate) fn write(mut self) -> (String, String) {
        let mut title = String::with_capacity(80);
        self.document.is_located = self.draw.chance(45);
        let in_title = self.document.is_located;
        let template = self.template(self.title_section());
        fill(template, &mut self.document, self.draw, &mut title);

        let mut text = String::with_capacity(900);
        self.document.is_located = !in_title || self.draw.chance(35);
        let is_located = in_title || self.document.is_located;
        let template = self.template(self.opening_section());
        fill(template, &mut self.document, self.draw, &mut text);

        for sentence in self.plan(is_located) {
            self.append(sentence, &mut text);
        }
        while num_words(&text) < MIN_WORDS {
            self.append(Sentence::Any(Section::Generic, Voice::Document), &mut text);
        }
        if self.happens(TYPO_PERCENT) {
            for _ in 0..=self.draw.below(2) {
                add_typo(&mut text, self.draw);
            }
        }
        (title, text)
    }

    /// True in so many of a hundred documents with the usual noise.
    fn happens(&mut self, percent: u32) -> bool {
        self.draw
            .chance((percent * self.noise_percent / 100).min(100))
    }

    fn title_section(&self) -> Section {
        match self.facets.subject.mention {
            _ if self.facets.is_about_person => Section::TitlePerson,
            _ if self.facets.is_vague => Section::TitleVague,
            Mention::Named => Section::TitleNamed,
            Mention::Inflected => Section::TitlePeople,
            Mention::Implied => Section::TitleImplied,
        }
    }

    fn opening_section(&self) -> Section {
        match self.facets.subject.mention {
            _ if self.facets.is_about_person => Section::OpeningPerson,
            _ if self.facets.is_vague => Section::OpeningVague,
            Mention::Named => Section::OpeningNamed,
            Mention::Inflected => Section::OpeningPeople,
            Mention::Implied => Section::OpeningImplied,
        }
    }

    /// The sentences after the opening, in random order.
    fn plan(&mut self, is_located: bool) -> Vec<Sentence> {
        let mut plan = Vec::with_capacity(12);
        let num_details = if self.facets.is_vague {
            0
        } else {
            1 + self.draw.position(3)
        };
        plan.extend([Sentence::Any(Section::Detail, Voice::Document)].repeat(num_details));
        self.plan_location(is_located, &mut plan);
        self.plan_facets(&mut plan);
        self.plan_misleading(&mut plan);
        let aim = (SHORTEST_AIM + self.draw.below(LONGEST_AIM - SHORTEST_AIM)) as usize;
        let missing = aim.saturating_sub((plan.len() + 1) * PLANNED_WORDS) / GENERIC_WORDS;
        plan.extend([Sentence::Any(Section::Generic, Voice::Document)].repeat(missing));
        self.draw.shuffle(&mut plan);
        plan
    }

    /// Place and period, unless title or opening has said enough.
    fn plan_location(&mut self, is_located: bool, plan: &mut Vec<Sentence>) {
        if let Some(place) = &self.facets.place
            && (!is_located || self.draw.chance(30))
        {
            let section = match place.mention {
                Mention::Named => Section::PlaceNamed,
                Mention::Inflected => Section::PlaceAdjective,
                Mention::Implied => Section::PlaceImplied,
            };
            plan.push(Sentence::Any(section, Voice::Document));
        }
        if let Some(century) = &self.facets.century
            && (!is_located || self.draw.chance(30))
        {
            let section = match century.mention {
                Mention::Named => Section::PeriodNamed,
                Mention::Inflected | Mention::Implied => Section::PeriodImplied,
            };
            plan.push(Sentence::Any(section, Voice::Document));
        }
    }

    fn plan_facets(&mut self, plan: &mut Vec<Sentence>) {
        if self.facets.person.is_some() && !self.facets.is_about_person {
            plan.push(Sentence::Any(Section::PersonNamed, Voice::Document));
        }
        if let Some(second) = &self.facets.second {
            let section = match second.mention {
                Mention::Named => Section::SecondNamed,
                Mention::Inflected => Section::SecondPeople,
                Mention::Implied => Section::SecondImplied,
            };
            plan.push(Sentence::Any(section, Voice::Second));
        }
        if let Some(form) = &self.facets.form {
            plan.push(match form.mention {
                Mention::Implied => Sentence::Given(form.value.implied),
                _ => Sentence::Any(Section::ItemNamed, Voice::Document),
            });
        }
        if let Some(readers) = &self.facets.readers {
            plan.push(match readers.mention {
                Mention::Implied => Sentence::Given(readers.value.implied),
                _ => Sentence::Any(Section::ReadersNamed, Voice::Document),
            });
        }
    }

    fn plan_misleading(&mut self, plan: &mut Vec<Sentence>) {
        if self.happens(MISLEADING_PERCENT) {
            let sections = [Section::MisleadingNamed, Section::MisleadingImplied];
            plan.push(Sentence::Any(self.draw.pick(&sections), Voice::Stranger));
        }
        if self.happens(MISLEADING_PLACE_PERCENT) {
            plan.push(Sentence::Any(Section::MisleadingPlace, Voice::Stranger));
        }
        if self.happens(MISLEADING_PERIOD_PERCENT) {
            plan.push(Sentence::Any(Section::MisleadingPeriod, Voice::Stranger));
        }
    }

    /// Appends a sentence unless the text would become too long.
    fn append(&mut self, sentence: Sentence, text: &mut String) {
        let before = text.len();
        text.push(' ');
        let (template, voice) = match sentence {
            Sentence::Any(section, voice) => (self.template(section), voice),
            Sentence::Given(template) => (template, Voice::Document),
        };
        let cast = match voice {
            Voice::Document => &mut self.document,
            Voice::Second => self.second.as_mut().unwrap_or(&mut self.document),
            Voice::Stranger => &mut self.stranger,
        };
        fill(template, cast, self.draw, text);
        if num_words(text) > MAX_WORDS {
            text.truncate(before);
        }
    }

    /// One of a section's templates, none twice in a document while others are left.
    fn template(&mut self, section: Section) -> &'static str {
        let templates = tables().sentences.of(section);
        let used = &mut self.used[section as usize];
        if used.count_ones() as usize == templates.len() {
            *used = 0;
        }
        let mut position = self.draw.position(templates.len());
        while *used & (1 << position) != 0 {
            position = (position + 1) % templates.len();
        }
        *used |= 1 << position;
        templates[position]
    }
}

fn num_words(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b' ').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_sentences_outlast_a_text() {
        assert!(tables().sentences.of(Section::Generic).len() * 5 > MAX_WORDS);
    }
}
