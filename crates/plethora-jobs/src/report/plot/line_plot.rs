//! Curves of several models.

use std::fmt::Write as _;

use super::scale::Scale;
use super::{BOTTOM, Frame, HEIGHT, LEFT, NUM_DASHES, RIGHT, TOP, WIDTH, colour, shape};
use crate::page::escaped;

/// Curves with more points than this have no marks, which would hide them.
const MAX_MARKS: usize = 12;

/// One model's curve.
#[derive(Debug)]
pub(in super::super) struct LineSeries {
    pub(in super::super) name: String,
    /// Which of the report's models or pairs it is: gives the colour.
    pub(in super::super) number: usize,
    pub(in super::super) points: Vec<(f64, f64)>,
}

/// A picture of curves.
#[derive(Debug)]
pub(in super::super) struct LinePlot<'a> {
    pub(in super::super) title: String,
    pub(in super::super) x_name: &'a str,
    pub(in super::super) series: Vec<LineSeries>,
    /// Draws where both values are equal, and both axes from 0 to 1.
    pub(in super::super) has_diagonal: bool,
    /// Starts the values at 0.
    pub(in super::super) from_zero: bool,
}

impl LinePlot<'_> {
    /// The picture as SVG.
    pub(in super::super) fn to_svg(&self, number: usize) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let unit = || [0.0, 1.0].into_iter();
        let (horizontal, vertical) = if self.has_diagonal {
            (Scale::of(unit(), true), Scale::of(unit(), true))
        } else {
            (
                Scale::of(points().map(|&(x, _)| x), false),
                Scale::of(points().map(|&(_, y)| y), self.from_zero),
            )
        };
        let frame = Frame {
            title: &self.title,
            description: &self.description(),
            x_name: self.x_name,
            vertical,
        };
        let x_of = |x: f64| horizontal.place(x, LEFT, WIDTH - RIGHT);
        let mut marks = String::new();
        for tick in horizontal.ticks() {
            let _ = writeln!(
                marks,
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x_of(tick),
                HEIGHT - BOTTOM + 16.0,
                horizontal.label(tick)
            );
        }
        if self.has_diagonal {
            let _ = writeln!(
                marks,
                "<line class=\"diagonal\" x1=\"{LEFT}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{TOP}\"/>",
                HEIGHT - BOTTOM,
                WIDTH - RIGHT
            );
        }
        for series in &self.series {
            let place = |&(x, y): &(f64, f64)| (x_of(x), frame.y(y));
            let places: Vec<(f64, f64)> = series.points.iter().map(place).collect();
            marks.push_str(&curve(series, &places));
        }
        frame.render(number, &marks)
    }

    fn description(&self) -> String {
        let ends = self.series.iter().filter_map(|series| {
            let (first, last) = (series.points.first()?, series.points.last()?);
            Some(format!(
                "{}: {:.3} at {:.2} to {:.3} at {:.2}",
                series.name, first.1, first.0, last.1, last.0
            ))
        });
        ends.collect::<Vec<_>>().join(". ")
    }
}

fn curve(series: &LineSeries, places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (x, y) in places {
        let step = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{step}{x:.1} {y:.1}");
    }
    let mut curve = format!(
        "<g class=\"{}\"><title>{}</title><path class=\"line d{}\" d=\"{path}\"/>",
        colour(series.number),
        escaped(&series.name),
        series.number % NUM_DASHES
    );
    if places.len() <= MAX_MARKS {
        for &(x, y) in places {
            curve.push_str(&shape(series.number, x, y));
        }
    }
    curve.push_str("</g>\n");
    curve
}
