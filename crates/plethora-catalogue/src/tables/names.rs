//! Parts from which names are invented.

use super::{keyword, lines, list};

pub(super) const TEXT: &str = include_str!("names.txt");

/// Lists of parts; every combination of the parts of a name is pronounceable.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) given: Vec<&'static str>,
    pub(crate) surname_starts: Vec<&'static str>,
    pub(crate) surname_ends: Vec<&'static str>,
    pub(crate) place_starts: Vec<&'static str>,
    /// The end of a name and of its adjective.
    pub(crate) place_ends: Vec<(&'static str, &'static str)>,
    pub(crate) place_prefixes: Vec<&'static str>,
    pub(crate) town_ends: Vec<&'static str>,
    pub(crate) river_ends: Vec<&'static str>,
    pub(crate) coined_starts: Vec<&'static str>,
    pub(crate) coined_middles: Vec<&'static str>,
    pub(crate) coined_ends: Vec<&'static str>,
}

pub(super) fn parse() -> Names {
    let parts = |name: &str| {
        lines(TEXT)
            .map(keyword)
            .find(|(key, _)| *key == name)
            .map(|(_, rest)| list(rest))
            .expect("every list of name parts is there")
    };
    Names {
        given: parts("given"),
        surname_starts: parts("surname-start"),
        surname_ends: parts("surname-end"),
        place_starts: parts("place-start"),
        place_ends: parts("place-end")
            .into_iter()
            .map(|pair| pair.split_once(':').expect("place ends are pairs"))
            .collect(),
        place_prefixes: parts("place-prefix"),
        town_ends: parts("town-end"),
        river_ends: parts("river-end"),
        coined_starts: parts("coined-start"),
        coined_middles: parts("coined-middle"),
        coined_ends: parts("coined-end"),
    }
}
