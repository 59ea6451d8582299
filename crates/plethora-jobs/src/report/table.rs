//! Tables that look alike as Markdown and as HTML.

use std::fmt::Write as _;

use plethora_core::metrics::Estimate;
use plethora_core::{grouped, one_field};

use crate::figures::percent;
use crate::page::escaped;

/// A table with a line that says what it shows.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// A row; ours stand out among those of others.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    pub(super) is_ours: bool,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Smaller, below the text; of several lines where it is long.
    pub(super) note: String,
    /// The best of its row.
    pub(super) is_best: bool,
    /// Words, which are set to the left.
    pub(super) is_text: bool,
}

impl Cell {
    /// A number or another short thing.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// So many.
    pub(super) fn count(number: impl Into<u64>) -> Self {
        Self::new(grouped(number.into()))
    }

    /// Words.
    pub(super) fn words(text: impl Into<String>) -> Self {
        Self {
            is_text: true,
            ..Self::new(text)
        }
    }

    /// A fraction in percent with its interval; a dash where there is none.
    pub(super) fn estimate(estimate: Option<Estimate>) -> Self {
        let Some(Estimate { value, low, high }) = estimate else {
            return Self::new("-");
        };
        Self {
            note: format!("{}\u{2013}{}", percent(low), percent(high)),
            ..Self::new(percent(value))
        }
    }
}

impl Table {
    pub(super) fn new<H: Into<String>>(
        caption: impl Into<String>,
        headings: impl IntoIterator<Item = H>,
    ) -> Self {
        Self {
            caption: caption.into(),
            headings: headings.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Further columns.
    pub(super) fn and<H: Into<String>>(mut self, headings: impl IntoIterator<Item = H>) -> Self {
        self.headings.extend(headings.into_iter().map(Into::into));
        self
    }

    /// Adds a row.
    pub(super) fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row {
            cells: cells.into_iter().collect(),
            is_ours: false,
        });
    }

    /// As HTML, in a box that scrolls where the page is narrow.
    pub(super) fn to_html(&self) -> String {
        let mut html = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\">\n<table>\n\
             <caption>{caption}</caption>\n<thead><tr>",
            caption = escaped(&self.caption)
        );
        let first = self.rows.first();
        for (place, heading) in self.headings.iter().enumerate() {
            let is_text = first.is_some_and(|row| row.cells.get(place).is_some_and(|c| c.is_text));
            let class = if is_text { " class=\"text\"" } else { "" };
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(heading));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str(if row.is_ours {
                "<tr class=\"ours\">"
            } else {
                "<tr>"
            });
            for cell in &row.cells {
                html.push_str(&cell.to_html());
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>\n</div>\n");
        html
    }

    /// As Markdown.
    pub(super) fn to_markdown(&self) -> String {
        let mut text = format!("{}\n\n|", in_markdown(&self.caption));
        for heading in &self.headings {
            let _ = write!(text, " {} |", in_markdown(heading));
        }
        text.push_str("\n|");
        let first = self.rows.first();
        for place in 0..self.headings.len() {
            let is_text = first.is_some_and(|row| row.cells.get(place).is_some_and(|c| c.is_text));
            text.push_str(if place == 0 || is_text {
                " --- |"
            } else {
                " ---: |"
            });
        }
        text.push('\n');
        for row in &self.rows {
            text.push('|');
            for cell in &row.cells {
                let _ = write!(text, " {} |", cell.to_markdown());
            }
            text.push('\n');
        }
        text
    }
}

impl Cell {
    fn to_html(&self) -> String {
        let class = match (self.is_best, self.is_text) {
            (true, _) => " class=\"best\"",
            (false, true) => " class=\"text\"",
            (false, false) => "",
        };
        let note = match self.note.as_str() {
            "" => String::new(),
            note => format!("<small>{}</small>", escaped(note).replace('\n', "<br>")),
        };
        format!("<td{class}>{}{note}</td>", escaped(&self.text))
    }

    fn to_markdown(&self) -> String {
        let text = in_markdown(&self.text);
        let text = if self.is_best {
            format!("**{text}**")
        } else {
            text
        };
        match self.note.as_str() {
            "" => text,
            note => format!("{text} ({})", in_markdown(&note.replace('\n', ", "))),
        }
    }
}

/// Text that Markdown shows as it is, in one line.
pub(super) fn in_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_field(text).chars() {
        if matches!(
            character,
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '&' | '#'
        ) {
            safe.push('\\');
        }
        safe.push(character);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("A <small> table", ["metric", "a|b"]);
        let best = Cell {
            is_best: true,
            ..Cell::estimate(Some(Estimate {
                value: 0.5,
                low: 0.25,
                high: 0.75,
            }))
        };
        table.push([Cell::words("P@1"), best]);
        table.push([Cell::words("x"), Cell::estimate(None)]);
        table
    }

    #[test]
    fn markdown_shows_intervals_and_cannot_be_broken() {
        let expected = "A \\<small\\> table\n\n| metric | a\\|b |\n| --- | ---: |\n\
                        | P@1 | **50.00** (25.00\u{2013}75.00) |\n| x | - |\n";
        assert_eq!(table().to_markdown(), expected);
    }

    #[test]
    fn html_has_headings_and_a_caption() {
        let html = table().to_html();
        assert!(html.contains("<caption>A &lt;small&gt; table</caption>"));
        assert!(html.contains("<th scope=\"col\" class=\"text\">metric</th>"));
        assert!(html.contains("<td class=\"best\">50.00<small>25.00\u{2013}75.00</small></td>"));
    }
}
