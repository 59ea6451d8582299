//! Explanations as one HTML page, with all that it needs inside.

use std::fmt::Write as _;

use plethora_system::{BIAS, Method, ShownExplanation};

use super::ExplanationReport;
use super::segments::{segments, strongest};
use crate::page::{escaped, page};

/// Rows of a table.
const SHOWN: usize = 20;

const STYLE: &str = include_str!("page.css");
/// Shows one label at a time. Without scripts, all are shown below each other.
const SCRIPT: &str = include_str!("page.js");

impl ExplanationReport<'_> {
    /// The report as a page.
    pub fn to_html(&self) -> String {
        let mut chips = String::new();
        let mut panels = String::new();
        for (number, explanation) in self.explanations.iter().enumerate() {
            let _ = writeln!(
                chips,
                "<button class=\"chip\" type=\"button\" data-panel=\"label-{number}\" \
                 aria-pressed=\"false\">{} {:.3}</button>",
                escaped(&explanation.name),
                explanation.score
            );
            let _ = write!(
                panels,
                "<section id=\"label-{number}\">\n{}</section>\n",
                panel(explanation, self.text)
            );
        }
        let model = escaped(&self.model);
        let system = escaped(self.system);
        let body = format!(
            "<header>\n<h1>Why these labels?</h1>\n<p>Model {model}, {system}</p>\n</header>\n\
             <nav>\n{chips}</nav>\n<main>\n{panels}</main>\n\
             <script>\n{SCRIPT}</script>\n"
        );
        page(&format!("Labels explained by {}", self.model), STYLE, &body)
    }
}

fn panel(explanation: &ShownExplanation, text: &str) -> String {
    let meaning = match explanation.method {
        Method::Contributions => {
            "Blue words speak for the label, orange ones against it: what they add to the \
             margin of its classifier."
        }
        Method::Neighbours => {
            "The bluer a word, the more it makes the text resemble training documents with the label."
        }
        Method::Matches => {
            "The bluer a place, the more it speaks for the label, as a name of it or as a phrase that \
             documents with the label have."
        }
        Method::Gradient => {
            "Blue words speak for the label, orange ones against it: what they add to its log-odds, by \
             the gradient of the network."
        }
        _ => "The bluer a place, the more the label attends to it.",
    };
    let own = match explanation.network_score {
        Some(score) => format!(", the network's own {score:.4}"),
        None => String::new(),
    };
    let member = match &explanation.member {
        Some(member) => format!(" Explained by {}.", escaped(&member.to_string())),
        None => String::new(),
    };
    format!(
        "<h2>{}</h2>\n<p class=\"note\">Score {:.4}{own}.{member} {meaning}</p>\n\
         <div class=\"text\" dir=\"auto\">{}</div>\n<table>\n{}</table>\n{}",
        escaped(&explanation.title()),
        explanation.score,
        marked_html(explanation, text),
        html_rows(explanation),
        html_neighbours(explanation)
    )
}

/// The training documents that voted, where there are some.
fn html_neighbours(explanation: &ShownExplanation) -> String {
    if explanation.neighbours.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for neighbour in explanation.neighbours.iter().take(SHOWN) {
        let mark = if neighbour.has_label { "yes" } else { "no" };
        let _ = writeln!(
            rows,
            "<tr><td>{:.4}</td><td>{:.4}</td><td>{mark}</td><td>{} {}</td><td>{}</td></tr>",
            neighbour.similarity,
            neighbour.share,
            escaped(&neighbour.id),
            escaped(&neighbour.title),
            escaped(&neighbour.labels.join("; "))
        );
    }
    format!(
        "<table>\n<tr><th>similarity</th><th>share</th><th>has it</th><th>neighbour</th>\
         <th>its labels</th></tr>\n{rows}</table>\n"
    )
}

fn marked_html(explanation: &ShownExplanation, text: &str) -> String {
    let segments = segments(text.len(), &explanation.spans);
    let strongest = strongest(&segments);
    let mut marked = String::new();
    for segment in &segments {
        let part = escaped(&text[segment.bytes.clone()]);
        let weight = segment.weight;
        if weight == 0.0 {
            marked.push_str(&part);
            continue;
        }
        let side = if weight > 0.0 { "for" } else { "against" };
        let share = weight.abs() / strongest;
        let _ = write!(
            marked,
            "<mark class=\"{side}\" style=\"--share:{share:.3}\" title=\"{weight:.4}\">{part}</mark>"
        );
    }
    marked
}

fn html_rows(explanation: &ShownExplanation) -> String {
    let mut rows = String::new();
    if !explanation.terms.is_empty() {
        rows.push_str("<tr><th>contribution</th><th>value</th><th>weight</th><th>term</th></tr>\n");
        let terms = explanation.terms.iter().enumerate();
        for (_, term) in terms.filter(|(rank, term)| *rank < SHOWN || term.term == BIAS) {
            let _ = writeln!(
                rows,
                "<tr><td>{:.4}</td><td>{:.4}</td><td>{:.4}</td><td>{}</td></tr>",
                term.contribution,
                term.value,
                term.weight,
                escaped(&term.term)
            );
        }
        return rows;
    }
    rows.push_str("<tr><th>weight</th><th>characters</th><th>text</th></tr>\n");
    for span in explanation.strongest_spans(SHOWN) {
        let _ = writeln!(
            rows,
            "<tr><td>{:.4}</td><td>{}-{}</td><td>{}</td></tr>",
            span.weight,
            span.start,
            span.end,
            escaped(&span.text)
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    fn page() -> String {
        sample::report().to_html()
    }

    #[test]
    fn panels_mark_the_text_and_list_terms_or_spans() {
        let page = page();
        let (_, main) = page.split_once("<main>\n").unwrap();
        let (main, _) = main.split_once("</main>").unwrap();
        let expected = "\
<section id=\"label-0\">
<h2>Tides &amp; &lt;coasts&gt; [C1]</h2>
<p class=\"note\">Score 0.8750. Blue words speak for the label, orange ones against it: what they add \
to the margin of its classifier.</p>
<div class=\"text\" dir=\"auto\"><mark class=\"for\" style=\"--share:1.000\" title=\"0.5000\">Tide</mark> \
&lt;<mark class=\"for\" style=\"--share:0.020\" title=\"0.0100\">script</mark>&gt;alert(&#39;é&#39;)\
&lt;/script&gt;
<mark class=\"against\" style=\"--share:0.500\" title=\"-0.2500\">honey</mark> &amp; \
<mark class=\"for\" style=\"--share:1.000\" title=\"0.5000\">tide</mark></div>
<table>
<tr><th>contribution</th><th>value</th><th>weight</th><th>term</th></tr>
<tr><td>1.0000</td><td>0.5000</td><td>2.0000</td><td>tide</td></tr>
<tr><td>-0.2500</td><td>0.2500</td><td>-1.0000</td><td>honey</td></tr>
<tr><td>0.0100</td><td>0.0100</td><td>1.0000</td><td>script</td></tr>
<tr><td>-0.5000</td><td>1.0000</td><td>-0.5000</td><td>(bias)</td></tr>
</table>
</section>
<section id=\"label-1\">
<h2>Bees</h2>
<p class=\"note\">Score 0.1250, the network's own 0.2500. Explained by member-1 (network). The bluer a place, the more the \
label attends to it.</p>
<div class=\"text\" dir=\"auto\">Tide &lt;script&gt;<mark class=\"for\" style=\"--share:0.333\" \
title=\"0.2500\">alert(&#39;é&#39;)</mark>&lt;/script&gt;
<mark class=\"for\" style=\"--share:1.000\" title=\"0.7500\">honey</mark> &amp; tide</div>
<table>
<tr><th>weight</th><th>characters</th><th>text</th></tr>
<tr><td>0.7500</td><td>33-38</td><td>honey</td></tr>
<tr><td>0.2500</td><td>13-23</td><td>alert(&#39;é&#39;)</td></tr>
</table>
</section>
";
        assert_eq!(main, expected);
    }

    #[test]
    fn the_page_needs_nothing_else_and_runs_only_its_own_script() {
        let page = page();
        assert_eq!(page.matches("<script").count(), 1);
        for outside in ["http:", "https:", "//", "src=", "<link", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("Model models/&lt;sea&gt;, wide-tree"));
        assert_eq!(page.matches("class=\"chip\"").count(), 2);
    }
}
