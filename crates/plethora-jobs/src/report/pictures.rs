//! The pictures of a report.

use plethora_core::metrics::{Estimate, FrequencyGroup, ReliabilityBin};

use super::content::{ModelReport, Report};
use super::plot::{GroupedPlot, GroupedSeries, LinePlot, LineSeries, Marks, legend};
use super::tables::{frequency_name, length_name};

/// A number of a group of labels.
type OfGroup = fn(&FrequencyGroup) -> Estimate;

/// A picture of either kind.
pub(super) enum Plot<'a> {
    Grouped(GroupedPlot<'a>),
    Line(LinePlot<'a>),
}

/// Counts pictures, so that each has ids of its own.
#[derive(Default)]
pub(super) struct Pictures(usize);

impl Pictures {
    /// Pictures beside each other.
    pub(super) fn grid(&mut self, plots: &[Plot<'_>]) -> String {
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

impl Report {
    /// The pictures of a section, with their legend.
    pub(super) fn section_pictures(&self, id: &str, pictures: &mut Pictures) -> String {
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

    /// A picture of all models, with a value for each of `groups`.
    fn grouped<'a>(
        &'a self,
        title: String,
        groups: Vec<String>,
        marks: Marks,
        values: impl Fn(&'a ModelReport) -> Vec<Option<Estimate>>,
    ) -> GroupedPlot<'a> {
        let series = |model: &'a ModelReport| GroupedSeries {
            name: &model.name,
            values: values(model),
        };
        GroupedPlot {
            title,
            x_name: "",
            groups,
            series: self.models.iter().map(series).collect(),
            marks,
        }
    }

    pub(super) fn metric_plots(&self) -> Vec<Plot<'_>> {
        let plot = |title: String, keys: Vec<String>| {
            Plot::Grouped(self.grouped(title, keys.clone(), Marks::Points, |model| {
                keys.iter().map(|key| model.metrics.get(key)).collect()
            }))
        };
        let families = ["P", "nDCG", "PSP", "R"].into_iter().map(|family| {
            let ks = self.settings.k.iter();
            let keys = ks.map(|k| format!("{family}@{k}")).collect();
            plot(format!("{family}@k, percent"), keys)
        });
        let f1 = ["microF1", "macroF1", "docF1"].map(str::to_owned).to_vec();
        let f1 = plot("F1 at the threshold, percent".into(), f1);
        families.chain([f1]).collect()
    }

    fn overlap_plot(&self) -> Plot<'_> {
        let pairs = self.comparisons.iter().enumerate();
        let series = pairs.map(|(number, pair)| LineSeries {
            name: format!("{} and {}", pair.first, pair.second),
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
        for family in ["P", "PSP", "R"] {
            let key = format!("{family}@{k}");
            let title = format!("{key} by training frequency, percent");
            let buckets = first.buckets.iter().map(|one| one.bucket.to_owned());
            let plot = self.grouped(title, buckets.collect(), Marks::Bars, |model| {
                let buckets = model.buckets.iter();
                buckets.map(|bucket| bucket.metrics.get(&key)).collect()
            });
            plots.push(Plot::Grouped(plot));
        }
        if first.test_frequency.is_empty() {
            return plots;
        }
        let parts: [(&str, OfGroup); 2] =
            [("AUC", |group| group.auc), ("AUPR", |group| group.aupr)];
        for (name, part) in parts {
            let title = format!("{name} by test frequency, percent");
            let groups = first.test_frequency.iter().map(frequency_name).collect();
            plots.push(Plot::Grouped(GroupedPlot {
                x_name: "test documents of a label",
                ..self.grouped(title, groups, Marks::Bars, |model| {
                    let groups = model.test_frequency.iter();
                    groups.map(|group| Some(part(group))).collect()
                })
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
            let title = format!("{key} by length, percent");
            let groups = first.lengths.iter().map(length_name).collect();
            Plot::Grouped(GroupedPlot {
                x_name: self.data.length_unit,
                ..self.grouped(title, groups, Marks::Bars, |model| {
                    let groups = model.lengths.iter();
                    groups.map(|group| group.metrics.get(&key)).collect()
                })
            })
        };
        vec![plot(format!("P@{k}")), plot(format!("PSP@{k}"))]
    }

    fn calibration_plots(&self) -> Vec<Plot<'_>> {
        let k = self.settings.largest_k();
        let plot = |title: String, bins: fn(&ModelReport) -> &[ReliabilityBin]| {
            let models = self.models.iter().enumerate();
            let series = models.map(|(number, model)| LineSeries {
                name: model.name.clone(),
                number,
                points: (bins(model).iter())
                    .map(|bin| (bin.mean_score, bin.share_true))
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
                    name: model.name.clone(),
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
}
