//! Figures as a picture: lines over a scale, each named at its end, as SVG.
//!
//! A picture brings its own ground and two sets of colours, so that it can be read on a light and on a dark page. Places are
//! written with one decimal: the last bits of a float are not the same everywhere.

use std::fmt::Write as _;

use picklock_reports::page::axis::{Axis, Tick, ticks};
use picklock_reports::page::svg::with_attributes;

/// Lines over a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Its title, in a line.
    pub title: String,
    /// The quantity to the right, with its unit.
    pub across: &'static str,
    /// The quantity upwards, with its unit.
    pub up: &'static str,
    /// The lines, at most four.
    pub lines: Vec<Line>,
}

/// A line of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points, from left to right, none of them below zero.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
/// Where the scales begin and end.
const ACROSS: (f64, f64) = (64.0, 690.0);
const UP: (f64, f64) = (318.0, 86.0);

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:14px}.e{text-anchor:end}.m{text-anchor:middle}\
.g{stroke:#ddd}.p{fill:#fff}polyline{fill:none;stroke-width:2.5}.a{stroke:#0b62b5;fill:#0b62b5}.b{stroke:#b35900;fill:#b35900}\
.c{stroke:#2e7d32;fill:#2e7d32}.d{stroke:#8e24aa;fill:#8e24aa}polyline.a,polyline.b,polyline.c,polyline.d{fill:none}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}.p{fill:#1c1f24}.a{stroke:#6db3f2;fill:#6db3f2}\
.b{stroke:#f0a050;fill:#f0a050}.c{stroke:#7bc67e;fill:#7bc67e}.d{stroke:#d592e6;fill:#d592e6}}";

impl Plot {
    /// The picture, a file of its own.
    #[must_use]
    pub fn svg(&self) -> String {
        let most = |of: fn(&(f64, f64)) -> f64| {
            self.lines.iter().flat_map(|line| &line.points).map(of).fold(0.0, f64::max)
        };
        let (right, top) = (ticks(most(|point| point.0)), ticks(most(|point| point.1)));
        let (x, y) = (Axis::under(&right, ACROSS), Axis::under(&top, UP));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<rect class=\"p\" width=\"100%\" height=\"100%\"/>\n\
             <text class=\"t\" x=\"16\" y=\"24\">{title}</text>\n<text x=\"16\" y=\"72\">↑ {up}</text>\n\
             <text class=\"e\" x=\"{}\" y=\"366\">{across} →</text>\n",
            ACROSS.1,
            title = escaped(&self.title),
            up = escaped(self.up),
            across = escaped(self.across),
        );
        for Tick { value, name } in &top {
            let y = y.at(*value);
            let _ = writeln!(
                svg,
                "<path class=\"g\" d=\"M{:.1} {y:.1}H{:.1}\"/><text class=\"e\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                ACROSS.0,
                ACROSS.1,
                ACROSS.0 - 8.0,
                y + 4.0
            );
        }
        for Tick { value, name } in &right {
            let x = x.at(*value);
            let _ = writeln!(svg, "<text class=\"m\" x=\"{x:.1}\" y=\"{:.1}\">{name}</text>", UP.0 + 20.0);
        }
        let mut at = 16.0;
        for (line, class) in self.lines.iter().zip(["a", "b", "c", "d"]) {
            let point = |(across, up): &(f64, f64)| format!("{:.1},{:.1}", x.at(*across), y.at(*up));
            let points: Vec<String> = line.points.iter().map(point).collect();
            let _ = writeln!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
            for (across, up) in &line.points {
                let _ = write!(
                    svg,
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                    x.at(*across),
                    y.at(*up)
                );
            }
            let _ = writeln!(
                svg,
                "\n<circle class=\"{class}\" cx=\"{:.1}\" cy=\"45\" r=\"5\"/><text x=\"{:.1}\" y=\"49\">{}</text>",
                at + 5.0,
                at + 16.0,
                escaped(&line.name)
            );
            at += 16.0 + 7.2 * line.name.chars().count() as f64 + 20.0;
        }
        with_attributes(&(svg + "</svg>\n"), STYLE)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_holds_its_lines_and_what_they_are_called() {
        let line =
            |name: &str, points: &[(f64, f64)]| Line { name: name.to_owned(), points: points.to_vec() };
        let lines = vec![line("one", &[(0.0, 0.0), (1.2, 640.0)]), line("a < b", &[(0.0, 10.0)])];
        let plot = Plot { title: "so".to_owned(), across: "leases", up: "ms", lines };
        let svg = plot.svg();
        assert!(svg.contains("<polyline class=\"a\" points=\"64.0,318.0 "), "{svg}");
        assert!(svg.contains(">a &lt; b</text>") && svg.contains("ms") && svg.contains("leases"), "{svg}");
        assert_eq!(svg, plot.svg());
        // Its colours are its elements' own, for programs that drop style sheets.
        let line = svg.lines().find(|line| line.starts_with("<polyline")).expect("there is one");
        assert!(line.contains("fill=\"none\"") && line.contains("stroke=\"#0b62b5\""), "{line}");
    }
}
