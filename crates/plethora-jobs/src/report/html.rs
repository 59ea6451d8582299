//! A report as one HTML page, with all that it needs inside and no script.

use std::fmt::Write as _;

use super::content::{ModelReport, Report, WorstDocument};
use super::pictures::Pictures;
use super::plot::legend;
use super::sections::Section;
use crate::page::{escaped, page};

const STYLE: &str = include_str!("page.css");

impl Report {
    /// The report as a page.
    pub(super) fn to_html(&self) -> String {
        let mut pictures = Pictures::default();
        let mut sections = vec![(
            "metrics",
            "Metrics",
            format!(
                "<p class=\"note\">{} Axes with points do not start at 0.</p>\n{}{}{}",
                escaped(&self.interval_note()),
                legend(&self.names()),
                pictures.grid(&self.metric_plots()),
                self.model_table().to_html() + &self.metric_table().to_html()
            ),
        )];
        for section in self.table_sections() {
            let body = self.section_html(&section, &mut pictures);
            sections.push((section.id, section.heading, body));
        }
        sections.push(("missed", "Most missed labels", self.missed_html()));
        sections.push(("documents", "Worst documents", self.documents_html()));
        let mut nav = String::new();
        let mut main = String::new();
        for (id, heading, body) in &sections {
            let _ = writeln!(nav, "<a href=\"#{id}\">{heading}</a>");
            let _ = write!(
                main,
                "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>\n{body}</section>\n"
            );
        }
        let title = format!("Evaluation of {}", self.names().join(", "));
        let body = format!(
            "<header>\n<h1>{}</h1>\n<p>{}. Made by Plethora {}.</p>\n</header>\n\
             <nav aria-label=\"Sections\">\n{nav}</nav>\n<main>\n{main}</main>\n",
            escaped(&title),
            escaped(&self.data_line()),
            self.program_version
        );
        page(&title, STYLE, &body)
    }

    fn section_html(&self, section: &Section, pictures: &mut Pictures) -> String {
        let mut body = String::new();
        for warning in &section.warnings {
            let _ = writeln!(body, "<p class=\"warning\">{}</p>", escaped(warning));
        }
        if !section.note.is_empty() {
            let _ = writeln!(body, "<p class=\"note\">{}</p>", escaped(&section.note));
        }
        body.push_str(&self.section_pictures(section.id, pictures));
        for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
            body.push_str(&table.to_html());
        }
        body
    }

    fn missed_html(&self) -> String {
        let k = self.settings.largest_k();
        let mut html = String::new();
        for (number, model) in self.models.iter().enumerate() {
            html.push_str(&folded(number, model, &model.missed_table(k).to_html()));
        }
        html
    }

    fn documents_html(&self) -> String {
        let k = self.settings.largest_k();
        let mut html =
            format!("<p class=\"note\">Lowest nDCG@{k}, most missed labels first.</p>\n");
        for (number, model) in self.models.iter().enumerate() {
            let documents: String = model
                .worst_documents
                .iter()
                .map(WorstDocument::to_html)
                .collect();
            html.push_str(&folded(number, model, &documents));
        }
        html
    }
}

/// A list that can be folded; that of the first model is open.
fn folded(number: usize, model: &ModelReport, content: &str) -> String {
    let open = if number == 0 { " open" } else { "" };
    format!(
        "<details{open}>\n<summary>{}</summary>\n{content}</details>\n",
        escaped(&model.name)
    )
}

impl WorstDocument {
    fn to_html(&self) -> String {
        let mut truth = String::new();
        for name in &self.true_labels {
            let _ = write!(truth, "<span class=\"tag\">{}</span>", escaped(name));
        }
        let mut predicted = String::new();
        for place in &self.predictions {
            let class = if place.is_true { "tag hit" } else { "tag" };
            let name = escaped(&place.name);
            let _ = write!(
                predicted,
                "<span class=\"{class}\">{name} {:.3}</span>",
                place.score
            );
        }
        format!(
            "<div class=\"document\">\n<p><strong>{}</strong> <span class=\"note\">nDCG {:.2}</span></p>\n\
             <p class=\"note\" dir=\"auto\">{}</p>\n<p>True: {truth}{}</p>\n<p>Predicted: {predicted}</p>\n\
             </div>\n",
            escaped(&self.id),
            100.0 * self.ndcg,
            escaped(&self.text),
            self.more_labels()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_page_has_every_section_and_shows_names_as_they_are() {
        let page = sample::report().to_html();
        for heading in [
            "Metrics",
            "Published results",
            "Differences",
            "Agreement",
            "Frequent and rare labels",
            "Short and long documents",
            "Calibration",
            "Training",
            "Most missed labels",
            "Worst documents",
        ] {
            assert!(page.contains(&format!(">{heading}</h2>")), "{heading}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!page.contains("<script") && !page.contains("linear <b>"));
        assert!(page.contains("and 1 more"), "labels that are not named");
        assert!(page.contains("Chalkidis et al. 2019"));
    }
}
