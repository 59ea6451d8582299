//! Explanations as text: words marked by colours, or by numbers where there are none.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use plethora_core::one_field;
use plethora_jobs::explanation::{Segment, printable, segments, strongest};
use plethora_system::{BIAS, Method, ShownExplanation, ShownNeighbour, TermContribution};

use super::ExplanationReport;

/// Rows of a table, and words marked by numbers.
const SHOWN: usize = 10;

/// Weaker marks than this share of the strongest would only be noise.
const MIN_SHARE: f32 = 0.05;

/// Weights that two decimals show as 0 are not worth a number in the text.
const MIN_NUMBER: f32 = 0.005;

/// Backgrounds from weak to strong, of the 256 colours that terminals agree on: blue for the label,
/// orange against it, which the colour-blind tell apart too. Black reads on all of them.
const FOR: [u8; 5] = [195, 153, 117, 75, 33];
const AGAINST: [u8; 5] = [230, 223, 216, 209, 202];
const BLACK: u8 = 16;
const RESET: &str = "\x1b[0m";

/// How words are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    /// By the colour behind them.
    Coloured,
    /// By their weight in brackets, the strongest alone.
    Plain,
}

impl TextStyle {
    /// Colours only where somebody sees them and has not asked for none.
    pub(crate) fn of_stdout() -> Self {
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb");
        if io::stdout().is_terminal() && !is_unwanted {
            Self::Coloured
        } else {
            Self::Plain
        }
    }
}

/// The text alone, marked for the first label.
pub(crate) fn marked_text(report: &ExplanationReport<'_>, style: TextStyle) -> String {
    match report.explanations.first() {
        Some(explanation) => marked(explanation, report.text, style),
        None => printable(report.text).into_owned(),
    }
}

/// For each label the marked text, then the strongest terms or places.
pub(crate) fn to_text(report: &ExplanationReport<'_>, style: TextStyle) -> String {
    let explanations = report.explanations.iter();
    let parts: Vec<String> = explanations
        .map(|explanation| {
            let marked = marked(explanation, report.text, style);
            let table = table(explanation);
            format!(
                "{}\n\n{}\n\n{table}",
                heading(explanation),
                marked.trim_end()
            )
        })
        .collect();
    parts.join("\n")
}

fn heading(explanation: &ShownExplanation) -> String {
    let title = one_field(&printable(&explanation.title()));
    let mut heading = format!("{title}  score {:.4}", explanation.score);
    if let Some(score) = explanation.network_score {
        let _ = write!(heading, ", the network's own {score:.4}");
    }
    if let Some(member) = &explanation.member {
        let _ = write!(heading, ", explained by {member}");
    }
    heading
}

fn marked(explanation: &ShownExplanation, text: &str, style: TextStyle) -> String {
    let segments = segments(text.len(), &explanation.spans);
    match style {
        TextStyle::Coloured => coloured(text, &segments),
        TextStyle::Plain => numbered(text, &segments),
    }
}

fn table(explanation: &ShownExplanation) -> String {
    let terms = |sum_name| term_table(&explanation.terms, sum_name);
    match explanation.method {
        Method::Contributions => terms("(margin)"),
        Method::Matches => terms("(score)"),
        Method::Neighbours => {
            let neighbours = neighbour_table(&explanation.neighbours);
            format!("{}\n{neighbours}", terms("(votes)"))
        }
        _ => span_table(explanation),
    }
}

/// The nearest training documents; a plus stands before those that have the label.
fn neighbour_table(neighbours: &[ShownNeighbour]) -> String {
    let mut table = format!("{:>13} {:>9}    neighbour\n", "similarity", "share");
    for neighbour in neighbours.iter().take(SHOWN) {
        let mark = if neighbour.has_label { '+' } else { ' ' };
        let shown = format!(
            "{} {} [{}]",
            neighbour.id,
            neighbour.title,
            neighbour.labels.join("; ")
        );
        let _ = writeln!(
            table,
            "{:>13.4} {:>9.4}  {mark} {}",
            neighbour.similarity,
            neighbour.share,
            one_field(&printable(&shown))
        );
    }
    table
}

/// The strongest terms, what the others add, and the bias, with what they sum to.
fn term_table(all: &[TermContribution], sum_name: &str) -> String {
    let (bias, terms): (Vec<_>, Vec<_>) = all.iter().partition(|term| term.term == BIAS);
    let (shown, rest) = terms.split_at(terms.len().min(SHOWN));
    let sum =
        |terms: &[&TermContribution]| -> f32 { terms.iter().map(|term| term.contribution).sum() };
    let mut table = format!(
        "{:>13} {:>9} {:>9}  term\n",
        "contribution", "value", "weight"
    );
    table.extend(shown.iter().map(|term| term_row(term)));
    if !rest.is_empty() {
        table.push_str(&sum_row(sum(rest), &format!("({} others)", rest.len())));
    }
    table.extend(bias.iter().map(|term| term_row(term)));
    table.push_str(&sum_row(sum(&terms) + sum(&bias), sum_name));
    table
}

fn span_table(explanation: &ShownExplanation) -> String {
    let mut table = format!("{:>13} {:>19}  text\n", "weight", "characters");
    for span in explanation.strongest_spans(SHOWN) {
        let place = format!("{}-{}", span.start, span.end);
        let words = one_field(&printable(&span.text));
        let _ = writeln!(table, "{:>13.4} {place:>19}  {words}", span.weight);
    }
    table
}

fn term_row(term: &TermContribution) -> String {
    let TermContribution {
        term,
        value,
        weight,
        contribution,
    } = term;
    format!("{contribution:>13.4} {value:>9.4} {weight:>9.4}  {term}\n")
}

fn sum_row(sum: f32, of: &str) -> String {
    format!("{sum:>13.4} {:>9} {:>9}  {of}\n", "", "")
}

fn coloured(text: &str, segments: &[Segment]) -> String {
    let strongest = strongest(segments);
    let mut marked = String::new();
    for segment in segments {
        let part = printable(&text[segment.bytes.clone()]);
        match background(segment.weight, strongest) {
            Some(colour) => {
                let start = format!("\x1b[38;5;{BLACK};48;5;{colour}m");
                // A background that runs over the line end would fill the line.
                let lines = part.replace('\n', &format!("{RESET}\n{start}"));
                let _ = write!(marked, "{start}{lines}{RESET}");
            }
            None => marked.push_str(&part),
        }
    }
    marked
}

fn background(weight: f32, strongest: f32) -> Option<u8> {
    let share = weight.abs() / strongest;
    if weight == 0.0 || share < MIN_SHARE {
        return None;
    }
    let ramp = if weight > 0.0 { FOR } else { AGAINST };
    let step = (share * ramp.len() as f32).ceil() as usize;
    Some(ramp[step.clamp(1, ramp.len()) - 1])
}

fn numbered(text: &str, segments: &[Segment]) -> String {
    let has_words = |segment: &Segment| text[segment.bytes.clone()].contains(char::is_alphanumeric);
    let mut by_strength: Vec<usize> = (0..segments.len())
        .filter(|&index| segments[index].weight.abs() >= MIN_NUMBER && has_words(&segments[index]))
        .collect();
    let strength = |index: usize| segments[index].weight.abs();
    by_strength.sort_by(|&left, &right| strength(right).total_cmp(&strength(left)));
    by_strength.truncate(SHOWN);
    let mut marked = String::new();
    for (index, segment) in segments.iter().enumerate() {
        marked.push_str(&printable(&text[segment.bytes.clone()]));
        if by_strength.contains(&index) {
            let _ = write!(marked, "({:.2})", segment.weight);
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn plain_text_has_numbers_behind_the_strongest_words() {
        let expected = "\
Tides & <coasts> [C1]  score 0.8750

Tide(0.50) <script(0.01)>alert('é')</script>
honey(-0.25) & tide(0.50)

 contribution     value    weight  term
       1.0000    0.5000    2.0000  tide
      -0.2500    0.2500   -1.0000  honey
       0.0100    0.0100    1.0000  script
      -0.5000    1.0000   -0.5000  (bias)
       0.2600                      (margin)

Bees  score 0.1250, the network's own 0.2500, explained by member-1 (network)

Tide <script>alert('é')(0.25)</script>
honey(0.75) & tide

       weight          characters  text
       0.7500               33-38  honey
       0.2500               13-23  alert('é')
";
        assert_eq!(to_text(&sample::report(), TextStyle::Plain), expected);
    }

    #[test]
    fn colours_follow_weight_and_sign() {
        let text = to_text(&sample::report(), TextStyle::Coloured);
        let first = text.split("\n\n").nth(1).unwrap();
        assert_eq!(
            first,
            "\x1b[38;5;16;48;5;33mTide\x1b[0m <script>alert('é')</script>\n\
             \x1b[38;5;16;48;5;216mhoney\x1b[0m & \x1b[38;5;16;48;5;33mtide\x1b[0m"
        );
    }

    #[test]
    fn colours_end_with_their_line() {
        let whole = Segment {
            bytes: 0..3,
            weight: 1.0,
        };
        assert_eq!(
            coloured("a\nb", &[whole]),
            "\x1b[38;5;16;48;5;33ma\x1b[0m\n\x1b[38;5;16;48;5;33mb\x1b[0m"
        );
    }

    #[test]
    fn backgrounds_deepen_with_the_share() {
        let shades = [0.04, 0.1, 0.3, 0.5, 0.7, 1.0].map(|weight| background(weight, 1.0));
        let expected = [None, Some(195), Some(153), Some(117), Some(75), Some(33)];
        assert_eq!(shades, expected);
        assert_eq!(background(-1.0, 1.0), Some(202));
        assert_eq!(background(0.0, 0.0), None);
    }
}
