//! Pictures of a report: SVG that stands in the page, with its own title and description, drawn in
//! colours that the page's style gives for light and dark.

mod grouped_plot;
mod line_plot;
mod scale;

pub(super) use grouped_plot::{GroupedPlot, GroupedSeries, Marks};
pub(super) use line_plot::{LinePlot, LineSeries};

use std::fmt::Write as _;

use crate::page::escaped;
use scale::Scale;

/// Pictures are drawn at this size, which fits a telephone, and stand side by side where there is
/// room.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;

/// Colours and shapes that series take in turn.
const NUM_COLOURS: usize = 8;

/// Class of a series' colour.
pub(super) fn colour(series: usize) -> String {
    format!("c{}", series % NUM_COLOURS)
}

/// The names of series with their marks; nothing where there is one.
pub(super) fn legend(names: &[&str]) -> String {
    if names.len() < 2 {
        return String::new();
    }
    let mut legend = String::from("<ul class=\"legend\">\n");
    for (series, name) in names.iter().enumerate() {
        let _ = writeln!(
            legend,
            "<li><svg width=\"28\" height=\"14\" viewBox=\"0 0 28 14\" aria-hidden=\"true\" class=\"{}\">\
             <line x1=\"1\" x2=\"27\" y1=\"7\" y2=\"7\" class=\"line d{}\"/>{}</svg> {}</li>",
            colour(series),
            series % NUM_DASHES,
            shape(series, 14.0, 7.0),
            escaped(name)
        );
    }
    legend.push_str("</ul>\n");
    legend
}

/// Dashes that lines take in turn, so that they are told apart without colours.
const NUM_DASHES: usize = 4;

/// A mark: circle, square, triangle or diamond, in turn.
fn shape(series: usize, x: f64, y: f64) -> String {
    match series % 4 {
        0 => format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        1 => format!(
            "<rect class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>",
            x - 3.5,
            y - 3.5
        ),
        2 => format!(
            "<path class=\"mark\" d=\"M{:.1} {:.1}l4.5 8h-9z\"/>",
            x,
            y - 5.0
        ),
        _ => format!(
            "<path class=\"mark\" d=\"M{:.1} {:.1}l5 5l-5 5l-5 -5z\"/>",
            x,
            y - 5.0
        ),
    }
}

/// What all pictures have: a frame, a title, horizontal lines with their values, and names of axes.
struct Frame<'a> {
    title: &'a str,
    description: &'a str,
    x_name: &'a str,
    vertical: Scale,
}

impl Frame<'_> {
    fn y(&self, value: f64) -> f64 {
        self.vertical.place(value, HEIGHT - BOTTOM, TOP)
    }

    /// The picture with `marks` in it; `number` makes its ids different from those of others.
    fn render(&self, number: usize, marks: &str) -> String {
        let mut svg = format!(
            "<figure>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-labelledby=\"t{number} d{number}\">\n\
             <title id=\"t{number}\">{title}</title>\n<desc id=\"d{number}\">{description}</desc>\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"16\">{title}</text>\n",
            title = escaped(self.title),
            description = escaped(self.description),
        );
        for tick in self.vertical.ticks() {
            let y = self.y(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                self.vertical.label(tick)
            );
        }
        svg.push_str(marks);
        if !self.x_name.is_empty() {
            let _ = writeln!(
                svg,
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                f64::midpoint(LEFT, WIDTH - RIGHT),
                HEIGHT - 6.0,
                escaped(self.x_name)
            );
        }
        svg.push_str("</svg>\n</figure>\n");
        svg
    }
}
