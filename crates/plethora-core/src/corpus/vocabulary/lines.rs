//! Vocabularies with one label per line.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::super::lines::Lines;
use super::super::source::Source;
use super::PlacedLabel;
use crate::Result;
use crate::corpus::Label;

/// Reads one label per line with `parse`. Blank lines are accepted at the end only: elsewhere they
/// would shift the numbers of labels.
pub(super) fn read(
    source: Source,
    parse: fn(&str) -> Result<Label, String>,
) -> Result<Vec<PlacedLabel>> {
    let mut lines = Lines::new(source);
    let mut labels = Vec::new();
    let mut blank = None;
    while let Some(line) = lines.next_line()? {
        if line.trim().is_empty() {
            blank = Some(lines.number());
            continue;
        }
        let label = parse(line).map_err(|message| lines.error(message))?;
        if let Some(line) = blank {
            return Err(lines.origin().error(line, "a blank line between labels"));
        }
        labels.push((label, Some(lines.number())));
    }
    Ok(labels)
}

/// Reads one name per line. The name is the key; a name that came before, or none, gets its line
/// number, since label numbers may count on each line.
pub(super) fn read_names(source: Source) -> Result<Vec<PlacedLabel>> {
    let mut lines = Lines::new(source);
    let mut labels = Vec::new();
    let mut seen = HashSet::<String, FxBuildHasher>::default();
    while let Some(line) = lines.next_line()? {
        let name = line.trim().to_owned();
        let number = lines.number();
        let is_new = !name.is_empty() && seen.insert(name.clone());
        let key = match name.as_str() {
            "" => format!("[line {number}]"),
            _ if is_new => name.clone(),
            _ => format!("{name} [line {number}]"),
        };
        let name = if name.is_empty() { key.clone() } else { name };
        labels.push((
            Label {
                key,
                name,
                ..Label::default()
            },
            Some(number),
        ));
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn blank_lines_are_accepted_at_the_end_only() {
        assert_eq!(read("a\tsea\nb\tair\n\n\n").unwrap().len(), 2);
        let message = read("a\tsea\n\nb\tair\n").unwrap_err().to_string();
        assert!(
            message.ends_with(":2: a blank line between labels"),
            "{message}"
        );
    }
}
