//! Sentence templates by purpose.

use super::lines;

pub(super) const TEXT: &str = include_str!("sentences.txt");

/// What a sentence is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    TitleNamed,
    TitlePeople,
    TitleImplied,
    TitlePerson,
    TitleVague,
    OpeningNamed,
    OpeningPeople,
    OpeningImplied,
    OpeningPerson,
    OpeningVague,
    Detail,
    PlaceNamed,
    PlaceAdjective,
    PlaceImplied,
    PeriodNamed,
    PeriodImplied,
    PersonNamed,
    SecondNamed,
    SecondPeople,
    SecondImplied,
    ItemNamed,
    ReadersNamed,
    MisleadingNamed,
    MisleadingImplied,
    MisleadingPlace,
    MisleadingPeriod,
    Generic,
}

impl Section {
    /// Number of sections.
    pub(crate) const COUNT: usize = Self::NAMES.len();

    const NAMES: [(Self, &'static str); 27] = [
        (Self::TitleNamed, "title.named"),
        (Self::TitlePeople, "title.people"),
        (Self::TitleImplied, "title.implied"),
        (Self::TitlePerson, "title.person"),
        (Self::TitleVague, "title.vague"),
        (Self::OpeningNamed, "opening.named"),
        (Self::OpeningPeople, "opening.people"),
        (Self::OpeningImplied, "opening.implied"),
        (Self::OpeningPerson, "opening.person"),
        (Self::OpeningVague, "opening.vague"),
        (Self::Detail, "detail"),
        (Self::PlaceNamed, "place.named"),
        (Self::PlaceAdjective, "place.adjective"),
        (Self::PlaceImplied, "place.implied"),
        (Self::PeriodNamed, "period.named"),
        (Self::PeriodImplied, "period.implied"),
        (Self::PersonNamed, "person.named"),
        (Self::SecondNamed, "second.named"),
        (Self::SecondPeople, "second.people"),
        (Self::SecondImplied, "second.implied"),
        (Self::ItemNamed, "item.named"),
        (Self::ReadersNamed, "readers.named"),
        (Self::MisleadingNamed, "misleading.named"),
        (Self::MisleadingImplied, "misleading.implied"),
        (Self::MisleadingPlace, "misleading.place"),
        (Self::MisleadingPeriod, "misleading.period"),
        (Self::Generic, "generic"),
    ];
}

/// All templates.
#[derive(Debug)]
pub(crate) struct Sentences(Vec<Vec<&'static str>>);

impl Sentences {
    /// The templates for a purpose; never empty.
    pub(crate) fn of(&self, section: Section) -> &[&'static str] {
        &self.0[section as usize]
    }
}

pub(super) fn parse() -> Sentences {
    let mut sentences = vec![Vec::new(); Section::NAMES.len()];
    let mut current = None;
    for line in lines(TEXT) {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            let section = Section::NAMES.iter().find(|(_, known)| *known == name);
            current = Some(section.expect("sections of the sentence table are known").0);
        } else {
            let section = current.expect("templates stand below a section");
            sentences[section as usize].push(line);
        }
    }
    Sentences(sentences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_templates_and_only_titles_lack_a_full_stop() {
        let sentences = parse();
        for (position, (section, name)) in Section::NAMES.into_iter().enumerate() {
            assert_eq!(section as usize, position);
            // The writer keeps one bit for each template of a section.
            assert!((1..=64).contains(&sentences.of(section).len()), "{name}");
            for template in sentences.of(section) {
                let ends = template.ends_with(['.', '?']);
                assert_eq!(ends, !name.starts_with("title."), "{template}");
            }
        }
    }
}
