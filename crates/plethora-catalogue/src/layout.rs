//! Which numbers of the label vocabulary belong to which kind of heading.

use crate::tables::tables;

/// Catalogues grow to all fields at this many labels per field.
const LABELS_PER_FIELD: u32 = 50;
/// Below this many labels per place, hand-written places are left out; above, places are invented.
const LABELS_PER_PLACE: u32 = 30;
const MIN_PLACES: u32 = 4;
/// Places beyond the hand-written ones, one in so many labels: names of places run out first.
const LABELS_PER_INVENTED_PLACE: u32 = 100;
/// Parts of a hundred of the remaining labels; compound headings take what is left.
const TOPIC_PERCENT: u32 = 28;
const PERSON_PERCENT: u32 = 16;

/// Centuries with a label: the 10th to the 20th.
pub(crate) const NUM_CENTURIES: u32 = 11;
/// Middle Ages, early modern period, modern period.
pub(crate) const NUM_ERAS: u32 = 3;

const NUM_KINDS: usize = 11;

/// A label by its kind and its number within the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Heading {
    Field(u32),
    Discipline(u32),
    Topic(u32),
    Region(u32),
    Place(u32),
    Era(u32),
    Century(u32),
    FormGroup(u32),
    Form(u32),
    Person(u32),
    Compound(u32),
}

impl Heading {
    const fn kind_and_number(self) -> (usize, u32) {
        match self {
            Self::Field(number) => (0, number),
            Self::Discipline(number) => (1, number),
            Self::Topic(number) => (2, number),
            Self::Region(number) => (3, number),
            Self::Place(number) => (4, number),
            Self::Era(number) => (5, number),
            Self::Century(number) => (6, number),
            Self::FormGroup(number) => (7, number),
            Self::Form(number) => (8, number),
            Self::Person(number) => (9, number),
            Self::Compound(number) => (10, number),
        }
    }
}

/// One block of consecutive label numbers for each kind of heading.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Number of labels of each kind, in the order of [`Heading`].
    sizes: [u32; NUM_KINDS],
}

impl Layout {
    /// The blocks of a vocabulary of `num_labels`, which must be large enough for all kinds.
    pub(crate) fn new(num_labels: u32) -> Self {
        let tables = tables();
        let fields = (num_labels / LABELS_PER_FIELD).clamp(2, tables.fields.len() as u32);
        let disciplines = fields * tables.disciplines_per_field() as u32;
        let written_places = tables.places.len() as u32;
        let places = (num_labels / LABELS_PER_PLACE).clamp(MIN_PLACES, written_places)
            + num_labels / LABELS_PER_INVENTED_PLACE;
        let regions = tables.regions.len() as u32;
        let (form_groups, forms) = (tables.form_groups.len() as u32, tables.forms.len() as u32);
        let fixed = fields + disciplines + regions + places + form_groups + forms;
        let rest = num_labels - fixed - NUM_ERAS - NUM_CENTURIES;
        let topics = rest * TOPIC_PERCENT / 100;
        let persons = rest * PERSON_PERCENT / 100;
        let compounds = rest - topics - persons;
        let sizes = [
            fields,
            disciplines,
            topics,
            regions,
            places,
            NUM_ERAS,
            NUM_CENTURIES,
            form_groups,
            forms,
            persons,
            compounds,
        ];
        Self { sizes }
    }

    /// Number of labels of all kinds.
    pub(crate) fn num_labels(&self) -> u32 {
        self.sizes.iter().sum()
    }

    /// Number of labels of one kind, given by any heading of it.
    pub(crate) fn count(&self, kind: fn(u32) -> Heading) -> u32 {
        self.sizes[kind(0).kind_and_number().0]
    }

    /// The label number of a heading.
    pub(crate) fn index(&self, heading: Heading) -> u32 {
        let (kind, number) = heading.kind_and_number();
        self.sizes[..kind].iter().sum::<u32>() + number
    }

    /// The heading with a label number, which must be below the number of labels.
    pub(crate) fn heading(&self, index: u32) -> Heading {
        const KINDS: [fn(u32) -> Heading; NUM_KINDS] = [
            Heading::Field,
            Heading::Discipline,
            Heading::Topic,
            Heading::Region,
            Heading::Place,
            Heading::Era,
            Heading::Century,
            Heading::FormGroup,
            Heading::Form,
            Heading::Person,
            Heading::Compound,
        ];
        let mut number = index;
        for (kind, &size) in KINDS.iter().zip(&self.sizes) {
            if number < size {
                return kind(number);
            }
            number -= size;
        }
        panic!("label number {index} is below the number of labels");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_heading_and_back() {
        for num_labels in [100, 101, 500, 2_000, 30_000] {
            let layout = Layout::new(num_labels);
            assert_eq!(layout.num_labels(), num_labels);
            for index in 0..num_labels {
                assert_eq!(layout.index(layout.heading(index)), index);
            }
        }
    }

    #[test]
    fn every_kind_occurs_even_in_the_smallest_vocabulary() {
        assert!(Layout::new(100).sizes.iter().all(|&size| size > 0));
    }
}
