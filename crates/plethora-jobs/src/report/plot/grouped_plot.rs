//! Values with intervals, by group and by model.

use std::fmt::Write as _;

use plethora_core::metrics::Estimate;

use super::scale::Scale;
use super::{BOTTOM, Frame, HEIGHT, LEFT, RIGHT, WIDTH, colour, shape};
use crate::page::escaped;

/// Share of a group's width that its marks take.
const FILLED: f64 = 0.7;

/// How values are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Marks {
    /// Bars from 0, for values that differ much.
    Bars,
    /// Points on an axis that shows the range of the values alone, for values that differ little.
    Points,
}

/// One model's values, one per group.
#[derive(Debug)]
pub(in super::super) struct GroupedSeries<'a> {
    pub(in super::super) name: &'a str,
    /// As fractions; nothing where a model has no value.
    pub(in super::super) values: Vec<Option<Estimate>>,
}

/// A picture of values by group and by model, in percent.
#[derive(Debug)]
pub(in super::super) struct GroupedPlot<'a> {
    pub(in super::super) title: String,
    pub(in super::super) x_name: &'a str,
    pub(in super::super) groups: Vec<String>,
    pub(in super::super) series: Vec<GroupedSeries<'a>>,
    pub(in super::super) marks: Marks,
}

impl GroupedPlot<'_> {
    /// The picture as SVG.
    pub(in super::super) fn to_svg(&self, number: usize) -> String {
        let all = self
            .series
            .iter()
            .flat_map(|series| &series.values)
            .flatten();
        let ends = all.flat_map(|one| [one.value, one.low, one.high]);
        let from_zero = self.marks == Marks::Bars;
        let percents = ends.map(|value| 100.0 * value);
        let frame = Frame {
            title: &self.title,
            description: &self.description(),
            x_name: self.x_name,
            vertical: Scale::of(percents, from_zero),
        };
        let width = (WIDTH - LEFT - RIGHT) / self.groups.len().max(1) as f64;
        let slot = FILLED * width / self.series.len().max(1) as f64;
        let mut marks = String::new();
        for (place, group) in self.groups.iter().enumerate() {
            let start = LEFT + place as f64 * width;
            let _ = writeln!(
                marks,
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                start + width / 2.0,
                HEIGHT - BOTTOM + 16.0,
                escaped(group)
            );
            for (number, series) in self.series.iter().enumerate() {
                if let Some(Some(value)) = series.values.get(place) {
                    let left = start + width * (1.0 - FILLED) / 2.0 + number as f64 * slot;
                    let _ = write!(
                        marks,
                        "<g class=\"{}\"><title>{}, {}: {}</title>",
                        colour(number),
                        escaped(series.name),
                        escaped(group),
                        shown(*value)
                    );
                    marks.push_str(&self.mark(&frame, number, (left, slot), *value));
                    marks.push_str("</g>\n");
                }
            }
        }
        frame.render(number, &marks)
    }

    fn mark(&self, frame: &Frame<'_>, series: usize, slot: (f64, f64), value: Estimate) -> String {
        let (left, width) = slot;
        let middle = left + width / 2.0;
        let [y, low, high] =
            [value.value, value.low, value.high].map(|value| frame.y(100.0 * value));
        let whisker = format!(
            "<path class=\"whisker\" d=\"M{middle:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h6M{:.1} \
             {high:.1}h6\"/>",
            middle - 3.0,
            middle - 3.0
        );
        match self.marks {
            Marks::Points => whisker + &shape(series, middle, y),
            Marks::Bars => {
                let zero = frame.y(0.0);
                format!(
                    "<rect class=\"bar\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
                     {whisker}",
                    left + 0.5,
                    (width - 1.0).max(0.5),
                    (zero - y).max(0.0)
                )
            }
        }
    }

    fn description(&self) -> String {
        let series = self.series.iter().map(|series| {
            let values = self.groups.iter().zip(&series.values);
            let values = values.filter_map(|(group, value)| {
                value.map(|value| format!("{group} {:.2}", 100.0 * value.value))
            });
            format!("{}: {}", series.name, values.collect::<Vec<_>>().join(", "))
        });
        series.collect::<Vec<_>>().join(". ")
    }
}

fn shown(value: Estimate) -> String {
    format!(
        "{:.2} ({:.2} to {:.2})",
        100.0 * value.value,
        100.0 * value.low,
        100.0 * value.high
    )
}
