//! Invented names: surnames, places, towns, rivers and technical words, made from their parts.

use crate::draw::Draw;
use crate::tables::tables;

/// A place as the text and the labels need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) region: u32,
    pub(crate) name: String,
    pub(crate) adjective: String,
    pub(crate) towns: Vec<String>,
    pub(crate) river: String,
}

/// Maps `0..size` onto itself one to one, so that neighbours end up far apart.
pub(crate) fn scatter(number: u64, size: u64, offset: u64) -> u64 {
    debug_assert!(number < size);
    // Steps near the golden section of the size spread best; only a step without a common divisor
    // with the size visits every number.
    let mut step = (size * 618 / 1_000).max(1);
    while greatest_common_divisor(step, size) != 1 {
        step += 1;
    }
    (number * step + offset % size) % size
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Number of distinct surnames.
pub(crate) fn num_surnames() -> u64 {
    let names = &tables().names;
    (names.surname_starts.len() * names.surname_ends.len()) as u64
}

/// The surname with a number below [`num_surnames`].
pub(crate) fn surname(number: u64) -> String {
    let names = &tables().names;
    let ends = names.surname_ends.len() as u64;
    let start = names.surname_starts[(number / ends) as usize];
    join(start, names.surname_ends[(number % ends) as usize])
}

/// Number of distinct pairs of given name and surname.
pub(crate) fn num_full_names() -> u64 {
    tables().names.given.len() as u64 * num_surnames()
}

/// The given name and surname with a number below [`num_full_names`].
pub(crate) fn full_name(number: u64) -> (&'static str, String) {
    let given = tables().names.given[(number / num_surnames()) as usize];
    (given, surname(number % num_surnames()))
}

/// Number of distinct invented places.
pub(crate) fn num_invented_places() -> u64 {
    let names = &tables().names;
    (names.place_starts.len() * names.place_ends.len() * (names.place_prefixes.len() + 1)) as u64
}

/// The invented place with a number below [`num_invented_places`]; its region and towns are drawn.
pub(crate) fn invented_place(number: u64, draw: &mut Draw) -> Place {
    let tables = tables();
    let names = &tables.names;
    let ends = names.place_ends.len() as u64;
    let (end, adjective_end) = names.place_ends[(number % ends) as usize];
    let starts = names.place_starts.len() as u64;
    let start = names.place_starts[(number / ends % starts) as usize];
    let prefix = match (number / ends / starts) as usize {
        0 => String::new(),
        prefix => format!("{} ", names.place_prefixes[prefix - 1]),
    };
    let town = |draw: &mut Draw| join(draw.pick(&names.place_starts), draw.pick(&names.town_ends));
    Place {
        region: draw.below(tables.regions.len() as u64) as u32,
        name: format!("{prefix}{start}{end}"),
        adjective: format!("{prefix}{start}{adjective_end}"),
        towns: (0..3).map(|_| town(draw)).collect(),
        river: join(draw.pick(&names.place_starts), draw.pick(&names.river_ends)),
    }
}

/// A technical word that no dictionary has, in the plural.
pub(crate) fn technical_word(draw: &mut Draw) -> String {
    let names = &tables().names;
    let stem = join(
        draw.pick(&names.coined_starts),
        draw.pick(&names.coined_middles),
    );
    stem + draw.pick(&names.coined_ends)
}

/// Joins two parts, without a third equal letter in a row or a doubled one at the seam.
fn join(start: &str, end: &str) -> String {
    let trimmed = match (start.chars().last(), end.chars().next()) {
        (Some(last), Some(first)) if last == first => &start[..start.len() - 1],
        _ => start,
    };
    format!("{trimmed}{end}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use plethora_core::SeedStream;

    #[test]
    fn scattering_loses_no_number() {
        for size in [1, 2, 7, 120, 36_000] {
            let scattered: HashSet<u64> = (0..size).map(|n| scatter(n, size, 99)).collect();
            assert_eq!(scattered.len() as u64, size);
            assert!(scattered.iter().all(|&number| number < size));
        }
    }

    #[test]
    fn surnames_and_places_are_distinct() {
        let surnames: HashSet<String> = (0..num_surnames()).map(surname).collect();
        assert_eq!(surnames.len() as u64, num_surnames());
        let mut draw = Draw::new(SeedStream::new(1));
        let places: HashSet<String> = (0..num_invented_places())
            .map(|n| invented_place(n, &mut draw).name)
            .collect();
        assert_eq!(places.len() as u64, num_invented_places());
        assert!(
            tables()
                .places
                .iter()
                .all(|place| !places.contains(place.name))
        );
    }
}
