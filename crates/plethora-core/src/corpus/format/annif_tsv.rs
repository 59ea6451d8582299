//! Annif's short texts: the text, then `<uri>`s in the last column or spread over several.

use super::super::lines::Lines;
use super::label_text::split_uris;
use super::{Row, RowReader};
use crate::Result;

/// Reads [`Format::AnnifTsv`](super::Format::AnnifTsv).
pub(super) struct AnnifTsv {
    lines: Lines,
}

impl AnnifTsv {
    pub(super) fn new(lines: Lines) -> Self {
        Self { lines }
    }
}

impl RowReader for AnnifTsv {
    fn next_row(&mut self) -> Result<Option<Row>> {
        self.lines.next_row(|line| {
            let (text, labels) =
                parse(line).ok_or("expected text, a tab, and subjects such as <http://..>")?;
            let labels = labels.iter().flat_map(|cell| split_uris(cell)).collect();
            Ok::<_, &str>(Row::text(None, text, labels))
        })
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }
}

/// The text and the cells of URIs, which may be empty; `None` for anything else.
fn parse(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut cells = line.split('\t');
    let text = cells.next()?;
    let subjects: Vec<&str> = cells.collect();
    let are_uris = subjects.iter().all(|cell| is_uris(cell));
    (!subjects.is_empty() && are_uris).then_some((text, subjects))
}

fn is_uris(cell: &str) -> bool {
    cell.split_whitespace()
        .all(|word| word.starts_with('<') && word.ends_with('>'))
}

/// True for a line with a text and at least one `<uri>`.
pub(super) fn is_typical(line: &str) -> bool {
    parse(line).is_some_and(|(_, cells)| cells.iter().any(|cell| !cell.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_may_spread_over_columns() {
        let (text, cells) = parse("The sea\t<http://a/1> <http://a/2>\t<http://a/3>").unwrap();
        assert_eq!(text, "The sea");
        assert_eq!(cells, ["<http://a/1> <http://a/2>", "<http://a/3>"]);
        assert!(parse("The sea\t").is_some());
        assert!(parse("sea air\tThe sea").is_none());
        assert!(parse("The sea").is_none());
    }
}
