//! A report as one HTML page, with all that it needs inside and no script.

use std::fmt::Write as _;

use plethora_core::metrics::{Estimate, ReliabilityBin};

use super::content::{ModelReport, Report, WorstDocument};
use super::plot::{GroupedPlot, GroupedSeries, LinePlot, LineSeries, Marks, legend};
use super::table::Table;
use super::tables::{frequency_name, length_name};
use crate::page::{escaped, page};

const STYLE: &str = include_str!("page.css");

/// A part of the report with tables; the page adds pictures.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) note: String,
    pub(super) tables: Vec<Table>,
}

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
            let mut body = String::new();
            for warning in self
                .published
                .warnings
                .iter()
                .filter(|_| section.id == "published")
            {
                let _ = writeln!(body, "<p class=\"warning\">{}</p>", escaped(warning));
            }
            if !section.note.is_empty() {
                let _ = writeln!(body, "<p class=\"note\">{}</p>", escaped(&section.note));
            }
            body.push_str(&self.section_pictures(section.id, &mut pictures));
            for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
                body.push_str(&table.to_html());
            }
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

    /// The parts between metrics and lists; those that say nothing about these models are left out.
    pub(super) fn table_sections(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut add = |id, heading, note: String, tables| {
            sections.push(Section {
                id,
                heading,
                note,
                tables,
            });
        };
        if let Some(dataset) = &self.published.dataset {
            let note = format!(
                "Recognised by {}. {}",
                self.published.matched_by.as_deref().unwrap_or_default(),
                dataset.note.as_deref().unwrap_or_default()
            );
            add(
                "published",
                "Published results",
                note,
                vec![self.published_table(dataset)],
            );
        } else if !self.published.warnings.is_empty() {
            let note = self.published.warnings.join(" ");
            add("published", "Published results", note, Vec::new());
        }
        if !self.comparisons.is_empty() {
            let note = "Paired bootstrap: the same draws of documents for both models. p-values are \
                        two-sided and not corrected for the number of comparisons; those below 0.05 \
                        are marked.";
            add(
                "differences",
                "Differences",
                note.into(),
                vec![self.difference_table()],
            );
            add(
                "agreement",
                "Agreement",
                String::new(),
                vec![self.overlap_table()],
            );
        }
        add(
            "frequency",
            "Frequent and rare labels",
            "Head labels carry half of the training assignments, tail labels have one to five training \
             documents, the torso is between. P@k and PSP@k are what a group's hits contribute to those \
             of all labels, to which they add up; R@k is the share of its assignments that are found. \
             AUC and AUPR are means over labels with at least five test documents, in three groups of \
             about as many assignments; labels that are not ranked for a document are tied at the bottom."
                .into(),
            vec![self.bucket_table(), self.frequency_table()],
        );
        let note = "Quarters of the documents, shortest first.";
        add(
            "length",
            "Short and long documents",
            note.into(),
            vec![self.length_table()],
        );
        let note = "Places with a score near p should be hits with probability p: on the diagonal, scores \
                    can be read as probabilities. The expected calibration error is the mean distance \
                    from it.";
        add(
            "calibration",
            "Calibration",
            note.into(),
            vec![self.calibration_table()],
        );
        if self.models.iter().any(|model| !model.training.is_empty()) {
            add("training", "Training", String::new(), Vec::new());
        }
        sections
    }

    fn section_pictures(&self, id: &str, pictures: &mut Pictures) -> String {
        let (names, plots): (Vec<String>, Vec<Plot<'_>>) = match id {
            "agreement" => (self.pair_names(), vec![self.overlap_plot()]),
            "frequency" => (self.owned_names(), self.frequency_plots()),
            "length" => (self.owned_names(), self.length_plots()),
            "calibration" => (self.owned_names(), self.calibration_plots()),
            "training" => (self.owned_names(), self.training_plots()),
            _ => return String::new(),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        legend(&names) + &pictures.grid(&plots)
    }

    fn owned_names(&self) -> Vec<String> {
        self.names().iter().map(|&name| name.to_owned()).collect()
    }

    fn pair_names(&self) -> Vec<String> {
        let pairs = self.comparisons.iter();
        pairs
            .map(|pair| format!("{} and {}", pair.first, pair.second))
            .collect()
    }

    /// Series of all models, a value for each of `groups`.
    fn series<'a>(
        &'a self,
        values: impl Fn(&'a ModelReport) -> Vec<Option<Estimate>>,
    ) -> Vec<GroupedSeries<'a>> {
        let series = |model: &'a ModelReport| GroupedSeries {
            name: &model.name,
            values: values(model),
        };
        self.models.iter().map(series).collect()
    }

    fn metric_plots(&self) -> Vec<Plot<'_>> {
        let ks = &self.settings.k;
        let mut plots = Vec::new();
        for family in ["P", "nDCG", "PSP", "R"] {
            let keys: Vec<String> = ks.iter().map(|k| format!("{family}@{k}")).collect();
            plots.push(Plot::Grouped(GroupedPlot {
                title: format!("{family}@k, percent"),
                x_name: "",
                series: self
                    .series(|model| keys.iter().map(|key| model.metrics.get(key)).collect()),
                groups: keys.clone(),
                marks: Marks::Points,
            }));
        }
        let keys = ["microF1", "macroF1", "docF1"];
        plots.push(Plot::Grouped(GroupedPlot {
            title: "F1 at the threshold, percent".into(),
            x_name: "",
            groups: keys.map(str::to_owned).to_vec(),
            series: self.series(|model| keys.iter().map(|key| model.metrics.get(key)).collect()),
            marks: Marks::Points,
        }));
        plots
    }

    fn overlap_plot(&self) -> Plot<'_> {
        let pairs = self.comparisons.iter().enumerate();
        let series = pairs.map(|(number, pair)| LineSeries {
            name: &pair.second,
            number,
            points: (1..)
                .zip(&pair.overlap)
                .map(|(k, &share)| (f64::from(k), 100.0 * share))
                .collect(),
        });
        Plot::Line(LinePlot {
            title: "Common labels, percent".into(),
            x_name: "first labels",
            series: series.collect(),
            has_diagonal: false,
            from_zero: true,
        })
    }

    fn frequency_plots(&self) -> Vec<Plot<'_>> {
        let k = self.settings.largest_k();
        let Some(first) = self.models.first() else {
            return Vec::new();
        };
        let mut plots = Vec::new();
        let buckets: Vec<String> = first
            .buckets
            .iter()
            .map(|one| one.bucket.to_owned())
            .collect();
        for family in ["P", "PSP", "R"] {
            let key = format!("{family}@{k}");
            let values = |model: &ModelReport| {
                model
                    .buckets
                    .iter()
                    .map(|bucket| bucket.metrics.get(&key))
                    .collect()
            };
            plots.push(Plot::Grouped(GroupedPlot {
                title: format!("{key} by training frequency, percent"),
                x_name: "",
                groups: buckets.clone(),
                series: self.series(values),
                marks: Marks::Bars,
            }));
        }
        if first.test_frequency.is_empty() {
            return plots;
        }
        type Part = fn(&plethora_core::metrics::FrequencyGroup) -> Estimate;
        let parts: [(&str, Part); 2] = [("AUC", |group| group.auc), ("AUPR", |group| group.aupr)];
        for (name, part) in parts {
            plots.push(Plot::Grouped(GroupedPlot {
                title: format!("{name} by test frequency, percent"),
                x_name: "test documents of a label",
                groups: first.test_frequency.iter().map(frequency_name).collect(),
                series: self.series(|model| {
                    model
                        .test_frequency
                        .iter()
                        .map(|group| Some(part(group)))
                        .collect()
                }),
                marks: Marks::Bars,
            }));
        }
        plots
    }

    fn length_plots(&self) -> Vec<Plot<'_>> {
        let k = self.settings.largest_k();
        let Some(first) = self.models.first() else {
            return Vec::new();
        };
        let plot = |key: String| {
            Plot::Grouped(GroupedPlot {
                title: format!("{key} by length, percent"),
                x_name: self.data.length_unit,
                groups: first.lengths.iter().map(length_name).collect(),
                series: self.series(|model| {
                    model
                        .lengths
                        .iter()
                        .map(|group| group.metrics.get(&key))
                        .collect()
                }),
                marks: Marks::Bars,
            })
        };
        vec![plot(format!("P@{k}")), plot(format!("PSP@{k}"))]
    }

    fn calibration_plots(&self) -> Vec<Plot<'_>> {
        let k = self.settings.largest_k();
        let plot = |title: String, bins: fn(&ModelReport) -> &[ReliabilityBin]| {
            let models = self.models.iter().enumerate();
            let series = models.map(|(number, model)| LineSeries {
                name: &model.name,
                number,
                points: (bins(model).iter())
                    .filter(|bin| bin.num_places > 0)
                    .map(|bin| (bin.mean_score, bin.hit_share))
                    .collect(),
            });
            Plot::Line(LinePlot {
                title,
                x_name: "mean score of a bin",
                series: series.collect(),
                has_diagonal: true,
                from_zero: true,
            })
        };
        vec![
            plot(format!("Share of hits, first {k} places"), |model| {
                &model.calibration.top.bins
            }),
            plot("Share of hits, all places".into(), |model| {
                &model.calibration.all.bins
            }),
        ]
    }

    fn training_plots(&self) -> Vec<Plot<'_>> {
        let mut keys: Vec<&str> = Vec::new();
        for curve in self.models.iter().flat_map(|model| &model.training) {
            if !keys.contains(&curve.key.as_str()) {
                keys.push(&curve.key);
            }
        }
        let plot = |key: &str| {
            let models = self.models.iter().enumerate();
            let series = models.filter_map(|(number, model)| {
                let curve = model.training.iter().find(|curve| curve.key == key)?;
                Some(LineSeries {
                    name: &model.name,
                    number,
                    points: curve.points.clone(),
                })
            });
            Plot::Line(LinePlot {
                title: key.to_owned(),
                x_name: "epoch",
                series: series.collect(),
                has_diagonal: false,
                from_zero: false,
            })
        };
        keys.into_iter().map(plot).collect()
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
        let truth: String = (self.true_labels.iter())
            .map(|name| format!("<span class=\"tag\">{}</span>", escaped(name)))
            .collect();
        let predicted: String = (self.predictions.iter())
            .map(|place| {
                let class = if place.is_true { "tag hit" } else { "tag" };
                let name = escaped(&place.name);
                format!("<span class=\"{class}\">{name} {:.3}</span>", place.score)
            })
            .collect();
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

/// A picture of either kind.
enum Plot<'a> {
    Grouped(GroupedPlot<'a>),
    Line(LinePlot<'a>),
}

/// Counts pictures, so that each has ids of its own.
#[derive(Default)]
struct Pictures(usize);

impl Pictures {
    fn grid(&mut self, plots: &[Plot<'_>]) -> String {
        let mut html = String::from("<div class=\"plots\">\n");
        for plot in plots {
            self.0 += 1;
            html.push_str(&match plot {
                Plot::Grouped(plot) => plot.to_svg(self.0),
                Plot::Line(plot) => plot.to_svg(self.0),
            });
        }
        html.push_str("</div>\n");
        html
    }
}
