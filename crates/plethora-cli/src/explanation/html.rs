//! Explanations as one HTML page, with all that it needs inside.

use std::fmt::Write as _;

use plethora_predict::{BIAS, Method};

use super::ExplanationReport;
use super::report::{CharacterOffsets, ExplainedLabel};
use super::segments::{segments, strongest};
use crate::page::{escaped, page};

/// Rows of a table.
const SHOWN: usize = 20;

const STYLE: &str = include_str!("page.css");
/// Shows one label at a time. Without scripts, all are shown below each other.
const SCRIPT: &str = include_str!("page.js");

impl ExplanationReport<'_> {
    /// The report as a page.
    pub(crate) fn to_html(&self) -> String {
        let mut chips = String::new();
        let mut panels = String::new();
        for (number, label) in self.labels.iter().enumerate() {
            let _ = writeln!(
                chips,
                "<button class=\"chip\" type=\"button\" data-panel=\"label-{number}\" \
                 aria-pressed=\"false\">{} {:.3}</button>",
                escaped(&label.label.name),
                label.explanation.score
            );
            let _ = write!(
                panels,
                "<section id=\"label-{number}\">\n{}</section>\n",
                label.panel(self.text)
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

impl ExplainedLabel<'_> {
    fn panel(&self, text: &str) -> String {
        let explanation = &self.explanation;
        let meaning = match explanation.method {
            Method::Contributions => {
                "Blue words speak for the label, orange ones against it: what they add to the \
                 margin of its classifier."
            }
            Method::Neighbours => {
                "The bluer a word, the more it made training documents with the label alike."
            }
            _ => "The bluer a place, the more the label attends to it.",
        };
        let own = match explanation.network_score {
            Some(score) => format!(", the network's own {score:.4}"),
            None => String::new(),
        };
        let member = match self.member() {
            Some(member) => format!(" Explained by {}.", escaped(&member)),
            None => String::new(),
        };
        format!(
            "<h2>{}</h2>\n<p class=\"note\">Score {:.4}{own}.{member} {meaning}</p>\n\
             <div class=\"text\" dir=\"auto\">{}</div>\n<table>\n{}</table>\n{}",
            escaped(&self.title()),
            explanation.score,
            self.marked_html(text),
            self.html_rows(text),
            self.html_neighbours()
        )
    }

    /// The training documents that voted, where there are some.
    fn html_neighbours(&self) -> String {
        if self.explanation.neighbours.is_empty() {
            return String::new();
        }
        let mut rows = String::new();
        for (neighbour, labels) in self.neighbours().take(SHOWN) {
            let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
            let mark = if self.is_voted_by(neighbour) {
                "yes"
            } else {
                "no"
            };
            let _ = writeln!(
                rows,
                "<tr><td>{:.4}</td><td>{:.4}</td><td>{mark}</td><td>{} {}</td><td>{}</td></tr>",
                neighbour.similarity,
                neighbour.share,
                escaped(&neighbour.id),
                escaped(&neighbour.title),
                escaped(&names.join("; "))
            );
        }
        format!(
            "<table>\n<tr><th>similarity</th><th>share</th><th>has it</th><th>neighbour</th>\
             <th>its labels</th></tr>\n{rows}</table>\n"
        )
    }

    fn marked_html(&self, text: &str) -> String {
        let segments = segments(text.len(), &self.explanation.spans);
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

    fn html_rows(&self, text: &str) -> String {
        let mut rows = String::new();
        if self.explanation.method != Method::Attention {
            rows.push_str(
                "<tr><th>contribution</th><th>value</th><th>weight</th><th>term</th></tr>\n",
            );
            let terms = self.explanation.terms.iter().enumerate();
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
        let offsets = CharacterOffsets::of(text);
        rows.push_str("<tr><th>weight</th><th>characters</th><th>text</th></tr>\n");
        for span in self.strongest_spans(SHOWN) {
            let _ = writeln!(
                rows,
                "<tr><td>{:.4}</td><td>{}-{}</td><td>{}</td></tr>",
                span.weight,
                offsets.character(span.start),
                offsets.character(span.end),
                escaped(&text[span.start..span.end])
            );
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    fn page() -> String {
        sample::parts().report().to_html()
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
<p class=\"note\">Score 0.1250, the network's own 0.2500. Explained by member-1 (attentionxml). The bluer a place, the more the \
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
