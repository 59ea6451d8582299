//! Regions and places with their towns and rivers.

use super::{columns, lines, list};

pub(super) const TEXT: &str = include_str!("places.txt");

/// A place and the words that point to it.
#[derive(Debug)]
pub(crate) struct PlaceRow {
    pub(crate) region: u32,
    pub(crate) name: &'static str,
    pub(crate) adjective: &'static str,
    pub(crate) towns: Vec<&'static str>,
    pub(crate) river: &'static str,
}

pub(super) fn parse() -> (Vec<&'static str>, Vec<PlaceRow>) {
    let (mut regions, mut places) = (Vec::new(), Vec::new());
    for line in lines(TEXT) {
        if let Some(region) = line.strip_prefix("region ") {
            regions.push(region);
            continue;
        }
        let [name, adjective, towns, river] = columns(line);
        let region = (regions.len() - 1) as u32;
        places.push(PlaceRow {
            region,
            name,
            adjective,
            towns: list(towns),
            river,
        });
    }
    (regions, places)
}
