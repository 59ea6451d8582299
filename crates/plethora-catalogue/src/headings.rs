//! The subject headings of one catalogue, each made from its number when it is needed.

use hashbrown::HashSet;
use plethora_core::SeedStream;
use rustc_hash::FxBuildHasher;

use crate::coin::{self, Place};
use crate::draw::Draw;
use crate::layout::{Heading, Layout, NUM_CENTURIES};
use crate::subject::{InventedTopic, Subject};
use crate::tables::{DisciplineRow, FieldRow, tables};

/// Keeps the first topics from being in nearly every document.
const TOPIC_SHIFT: u32 = 6;
const PLACE_SHIFT: u32 = 3;
/// Books on recent centuries are more common; from the 10th to the 20th.
const CENTURY_WEIGHTS: [u32; NUM_CENTURIES as usize] = [2, 2, 3, 4, 5, 7, 10, 13, 16, 20, 18];
/// The century of number 0.
const FIRST_CENTURY: u32 = 10;
/// Age of a person in a year that certainly belongs to the person's century.
const AGE_AT_WORK: u32 = 35;
/// Of a hundred compound headings, how many have a place only, a century only, and both.
const COMPOUND_WEIGHTS: [u32; 3] = [40, 20, 40];

/// A topic narrowed by a place, a century, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Compound {
    pub(crate) topic: u32,
    place: u16,
    century: u8,
}

impl Compound {
    const NO_PLACE: u16 = u16::MAX;
    const NO_CENTURY: u8 = u8::MAX;

    fn new(topic: u32, place: Option<u32>, century: Option<u32>) -> Self {
        Self {
            topic,
            place: place.map_or(Self::NO_PLACE, |place| place as u16),
            century: century.map_or(Self::NO_CENTURY, |century| century as u8),
        }
    }

    pub(crate) fn place(self) -> Option<u32> {
        (self.place != Self::NO_PLACE).then_some(u32::from(self.place))
    }

    pub(crate) fn century(self) -> Option<u32> {
        (self.century != Self::NO_CENTURY).then_some(u32::from(self.century))
    }
}

/// An invented person with the topic and century of his or her work.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) given: &'static str,
    pub(crate) surname: String,
    pub(crate) birth: u32,
    pub(crate) death: u32,
    pub(crate) topic: u32,
    pub(crate) century: u32,
}

impl Person {
    /// Years of work, within the person's century.
    pub(crate) const fn best_years(&self) -> (u32, u32) {
        (self.birth + AGE_AT_WORK - 2, self.birth + AGE_AT_WORK + 9)
    }
}

/// The vocabulary of a catalogue: a few orders and one small row a compound heading are held,
/// everything else follows from numbers.
#[derive(Debug, Clone)]
pub(crate) struct Headings {
    pub(crate) layout: Layout,
    stream: SeedStream,
    offset: u64,
    /// Rows of the table of fields.
    fields: Vec<usize>,
    /// Hand-written topics by popularity, counted through the chosen fields.
    written_topics: Vec<u32>,
    /// Position of each hand-written topic in `written_topics`.
    written_ranks: Vec<u32>,
    /// Rows of the table of places by popularity.
    places: Vec<usize>,
    compounds: Vec<Compound>,
}

impl Headings {
    pub(crate) fn new(seed: u64, num_labels: u32) -> Self {
        let tables = tables();
        let stream = SeedStream::new(seed).named("catalogue headings");
        let layout = Layout::new(num_labels);
        let mut draw = Draw::new(stream.named("order"));
        let mut fields: Vec<usize> = (0..tables.fields.len()).collect();
        draw.shuffle(&mut fields);
        fields.truncate(layout.count(Heading::Field) as usize);
        let num_disciplines = fields.len() * tables.disciplines_per_field();
        let num_written = (num_disciplines * tables.topics_per_discipline()) as u32;
        let mut written_topics: Vec<u32> = (0..num_written).collect();
        draw.shuffle(&mut written_topics);
        let mut written_ranks = vec![0; written_topics.len()];
        for (rank, &written) in (0..).zip(&written_topics) {
            written_ranks[written as usize] = rank;
        }
        let mut places: Vec<usize> = (0..tables.places.len()).collect();
        draw.shuffle(&mut places);
        let offset = draw.below(u64::MAX);
        let compounds = Vec::new();
        let mut headings = Self {
            layout,
            stream,
            offset,
            fields,
            written_topics,
            written_ranks,
            places,
            compounds,
        };
        headings.compounds = headings.draw_compounds();
        headings
    }

    /// Distinct compounds; popular topics and places come first and most often.
    fn draw_compounds(&self) -> Vec<Compound> {
        let mut draw = Draw::new(self.stream.named("compounds"));
        let count = self.layout.count(Heading::Compound) as usize;
        let mut seen = HashSet::with_capacity_and_hasher(count, FxBuildHasher);
        let mut compounds = Vec::with_capacity(count);
        while compounds.len() < count {
            let topic = self.draw_topic(&mut draw);
            let kind = draw.weighted(&COMPOUND_WEIGHTS);
            let place = (kind != 1).then(|| self.draw_place(&mut draw));
            let century = (kind != 0).then(|| draw_century(self.since(topic), &mut draw));
            let compound = Compound::new(topic, place, century);
            if seen.insert(compound) {
                compounds.push(compound);
            }
        }
        compounds
    }

    /// A topic by popularity.
    pub(crate) fn draw_topic(&self, draw: &mut Draw) -> u32 {
        draw.zipf(self.layout.count(Heading::Topic), TOPIC_SHIFT)
    }

    /// A place by popularity.
    pub(crate) fn draw_place(&self, draw: &mut Draw) -> u32 {
        draw.zipf(self.layout.count(Heading::Place), PLACE_SHIFT)
    }

    /// A person or compound heading by popularity: flat, since there are many and all are rare.
    pub(crate) fn draw_rare(&self, kind: fn(u32) -> Heading, draw: &mut Draw) -> u32 {
        let count = self.layout.count(kind);
        draw.zipf(count, count / 10)
    }

    pub(crate) fn compound(&self, number: u32) -> Compound {
        self.compounds[number as usize]
    }

    /// The subject of a field, discipline or topic.
    pub(crate) fn field(&self, number: u32) -> Subject {
        let row = self.field_row(number);
        Subject::written(Heading::Field(number), None, &row.subject)
    }

    pub(crate) fn discipline(&self, number: u32) -> Subject {
        let (field, row) = self.discipline_row(number);
        Subject::written(
            Heading::Discipline(number),
            Some(Heading::Field(field)),
            &row.subject,
        )
    }

    pub(crate) fn topic(&self, number: u32) -> Subject {
        let tables = tables();
        let heading = Heading::Topic(number);
        if let Some(&written) = self.written_topics.get(number as usize) {
            let per_discipline = tables.topics_per_discipline() as u32;
            let discipline = written / per_discipline;
            let row =
                &self.discipline_row(discipline).1.topics[(written % per_discipline) as usize];
            return Subject::written(heading, Some(Heading::Discipline(discipline)), row);
        }
        let invented = number - self.written_topics.len() as u32;
        let num_fields = self.fields.len() as u32;
        let field = invented % num_fields;
        let per_field = tables.disciplines_per_field();
        let mut draw = Draw::new(self.stream.named("topic").child(u64::from(number)));
        let discipline = draw.position(per_field);
        let parent = Heading::Discipline(field * per_field as u32 + discipline as u32);
        InventedTopic {
            number: u64::from(invented / num_fields),
            offset: self.offset,
        }
        .subject(
            self.field_row(field),
            (heading, parent),
            discipline,
            &mut draw,
        )
    }

    /// The first century in which books treat a topic.
    fn since(&self, topic: u32) -> u32 {
        self.topic(topic).since
    }

    /// Another topic near this one: of its discipline or, for invented topics, of its field.
    pub(crate) fn related_topic(&self, number: u32, draw: &mut Draw) -> u32 {
        let count = self.layout.count(Heading::Topic);
        let related = if let Some(&written) = self.written_topics.get(number as usize) {
            let per_discipline = tables().topics_per_discipline() as u32;
            let step = 1 + draw.below(u64::from(per_discipline) - 1) as u32;
            let within = (written % per_discipline + step) % per_discipline;
            self.written_ranks[(written - written % per_discipline + within) as usize]
        } else {
            number + self.fields.len() as u32 * (1 + draw.below(3) as u32)
        };
        if related < count {
            related
        } else {
            self.draw_topic(draw)
        }
    }

    pub(crate) fn place(&self, number: u32) -> Place {
        if let Some(&row) = self.places.get(number as usize) {
            let row = &tables().places[row];
            return Place {
                region: row.region,
                name: row.name.to_owned(),
                adjective: row.adjective.to_owned(),
                towns: row.towns.iter().map(ToString::to_string).collect(),
                river: row.river.to_owned(),
            };
        }
        let invented = u64::from(number) - self.places.len() as u64;
        let place = coin::scatter(invented, coin::num_invented_places(), self.offset);
        let mut draw = Draw::new(self.stream.named("place").child(u64::from(number)));
        coin::invented_place(place, &mut draw)
    }

    pub(crate) fn person(&self, number: u32) -> Person {
        let name = coin::scatter(u64::from(number), coin::num_full_names(), self.offset);
        let (given, surname) = coin::full_name(name);
        let mut draw = Draw::new(self.stream.named("person").child(u64::from(number)));
        let topic = self.draw_topic(&mut draw);
        let century = draw_century(self.since(topic), &mut draw);
        // A year of work well within the century.
        let active = first_year(century) + 5 + draw.below(55) as u32;
        let birth = active - AGE_AT_WORK;
        let death = birth + 45 + draw.below(35) as u32;
        Person {
            given,
            surname,
            birth,
            death,
            topic,
            century,
        }
    }

    fn field_row(&self, number: u32) -> &'static FieldRow {
        &tables().fields[self.fields[number as usize]]
    }

    fn discipline_row(&self, number: u32) -> (u32, &'static DisciplineRow) {
        let per_field = tables().disciplines_per_field() as u32;
        let field = number / per_field;
        (
            field,
            &self.field_row(field).disciplines[(number % per_field) as usize],
        )
    }
}

/// A century not before `since`, as people count it, later ones more often.
pub(crate) fn draw_century(since: u32, draw: &mut Draw) -> u32 {
    let first = since.saturating_sub(FIRST_CENTURY).min(NUM_CENTURIES - 1);
    first + draw.weighted(&CENTURY_WEIGHTS[first as usize..]) as u32
}

/// The century as people count it: 17 for the years from 1601 to 1700.
pub(crate) const fn century_ordinal(century: u32) -> u32 {
    century + FIRST_CENTURY
}

/// The first year of a century.
pub(crate) const fn first_year(century: u32) -> u32 {
    (century_ordinal(century) - 1) * 100 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suffice_for_the_largest_vocabulary() {
        let layout = Layout::new(1_000_000);
        assert!(u64::from(layout.count(Heading::Person)) <= coin::num_full_names());
        assert!(u64::from(layout.count(Heading::Place)) <= coin::num_invented_places());
        let per_field = layout.count(Heading::Topic) / layout.count(Heading::Field);
        let objects = tables()
            .fields
            .iter()
            .map(|field| field.objects.len())
            .min()
            .unwrap() as u64;
        assert!(u64::from(per_field) <= coin::num_surnames() * objects);
        assert!(layout.count(Heading::Place) < u32::from(Compound::NO_PLACE));
    }

    #[test]
    fn related_topics_are_others_that_exist() {
        for num_labels in [100, 2_000] {
            let headings = Headings::new(1, num_labels);
            let count = headings.layout.count(Heading::Topic);
            let mut draw = Draw::new(SeedStream::new(5));
            assert!((0..count).all(|topic| headings.related_topic(topic, &mut draw) < count));
        }
    }
}
