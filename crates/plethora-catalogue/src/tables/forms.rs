//! Forms of publication and intended readers.

use super::{columns, keyword, lines};

pub(super) const TEXT: &str = include_str!("forms.txt");

/// A form of publication, or a kind of readers.
#[derive(Debug)]
pub(crate) struct FormRow {
    pub(crate) group: u32,
    pub(crate) is_readers: bool,
    pub(crate) name: &'static str,
    pub(crate) alternative: &'static str,
    /// The item in the singular, or the readers, as they stand in a sentence.
    pub(crate) mention: &'static str,
    /// A sentence that implies the form without its name.
    pub(crate) implied: &'static str,
}

pub(super) fn parse() -> (Vec<&'static str>, Vec<FormRow>) {
    let (mut groups, mut forms) = (Vec::new(), Vec::new());
    for line in lines(TEXT) {
        let (kind, rest) = keyword(line);
        if kind == "group" {
            groups.push(rest);
            continue;
        }
        let [name, alternative, mention, implied] = columns(rest);
        let group = (groups.len() - 1) as u32;
        let is_readers = kind == "readers";
        forms.push(FormRow {
            group,
            is_readers,
            name,
            alternative,
            mention,
            implied,
        });
    }
    (groups, forms)
}
