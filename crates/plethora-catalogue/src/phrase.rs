//! Filling the slots of a sentence template.

use crate::cast::Cast;
use crate::draw::Draw;
use crate::subject::push_capitalised;

const NUMBERS: [&str; 18] = [
    "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "fourteen", "fifteen", "sixteen", "eighteen", "twenty", "thirty", "forty", "sixty",
];
const ORDINALS: [&str; 8] = [
    "second", "third", "fourth", "fifth", "sixth", "seventh", "ninth", "tenth",
];

/// Of a hundred mentions by name, how many use the main name rather than the synonym.
const MAIN_NAME_PERCENT: u32 = 75;

/// Appends the template to `out` with its slots filled from the cast.
pub(crate) fn fill(template: &str, cast: &mut Cast, draw: &mut Draw, out: &mut String) {
    let mut rest = template;
    let mut value = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (slot, after) = after
            .split_once('}')
            .expect("slots of templates are closed");
        out.push_str(before);
        value.clear();
        let is_capital = slot.starts_with(|first: char| first.is_ascii_uppercase());
        push_value(&slot.to_ascii_lowercase(), cast, draw, &mut value);
        mend_article(out, &value);
        if is_capital {
            push_capitalised(out, &value);
        } else {
            out.push_str(&value);
        }
        rest = after;
    }
    out.push_str(rest);
}

fn push_value(slot: &str, cast: &mut Cast, draw: &mut Draw, value: &mut String) {
    match slot {
        "topic" if draw.chance(MAIN_NAME_PERCENT) => value.push_str(&cast.subject.name),
        "topic" => value.push_str(&cast.subject.synonym),
        "people" => value.push_str(&cast.subject.people),
        "term" => value.push_str(cast.term()),
        "terms" => push_terms(cast, draw, value),
        "where" => cast.push_location(value, draw),
        "place" => value.push_str(cast.place.as_ref().map_or("", |place| &place.value.name)),
        "adjective" => {
            value.push_str(
                cast.place
                    .as_ref()
                    .map_or("", |place| &place.value.adjective),
            );
        }
        "river" => value.push_str(cast.place.as_ref().map_or("", |place| &place.value.river)),
        "town" => value.push_str(cast.town()),
        "towns" => {
            value.push_str(cast.town());
            value.push_str(" and ");
            value.push_str(cast.town());
        }
        "century" => value.push_str(&cast.century_phrase(draw)),
        "years" => push_numbers(value, [cast.years.0, cast.years.1], " to ", ""),
        "year" => value.push_str(&(cast.years.0 + draw.below(9) as u32).to_string()),
        "person" => {
            if let Some(person) = &cast.person {
                value.push_str(person.given);
                value.push(' ');
                value.push_str(&person.surname);
            }
        }
        "surname" => {
            value.push_str(
                cast.person
                    .as_ref()
                    .map_or("", |person| person.surname.as_str()),
            );
        }
        "item" => value.push_str(cast.item),
        "readers" => value.push_str(cast.readers.map_or("", |readers| readers.mention)),
        "number" => value.push_str(draw.pick(&NUMBERS)),
        "ordinal" => value.push_str(draw.pick(&ORDINALS)),
        "thousands" => {
            let numbers = [1 + draw.below(8) as u32, 1 + draw.below(9) as u32];
            push_numbers(value, numbers, ",", "00");
        }
        _ => panic!("templates have no slot {slot}"),
    }
}

fn push_numbers(value: &mut String, [first, last]: [u32; 2], between: &str, end: &str) {
    value.push_str(&first.to_string());
    value.push_str(between);
    value.push_str(&last.to_string());
    value.push_str(end);
}

/// Two or three characteristic words as a list.
fn push_terms(cast: &mut Cast, draw: &mut Draw, value: &mut String) {
    value.push_str(cast.term());
    if draw.chance(50) {
        value.push_str(", ");
        value.push_str(cast.term());
    }
    value.push_str(" and ");
    value.push_str(cast.term());
}

/// Turns an "a" at the end of `out` into "an" where the next word asks for it.
fn mend_article(out: &mut String, next: &str) {
    let is_article = out
        .strip_suffix("a ")
        .or_else(|| out.strip_suffix("A "))
        .is_some_and(|before| before.is_empty() || before.ends_with(' '));
    if is_article && next.starts_with(['a', 'e', 'i', 'o', 'u']) {
        out.insert(out.len() - 1, 'n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_follow_the_next_word() {
        let mended = |text: &str, next: &str| {
            let mut out = text.to_owned();
            mend_article(&mut out, next);
            out
        };
        assert_eq!(mended("A ", "atlas"), "An ");
        assert_eq!(mended("It is a ", "essay"), "It is an ");
        assert_eq!(mended("It is a ", "book"), "It is a ");
        assert_eq!(mended("via ", "east"), "via ");
    }
}
