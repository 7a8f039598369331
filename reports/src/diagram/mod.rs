//! A run as a space-time diagram: time runs down, a line for each host that has a part in it, messages slanted between them.
//!
//! A diagram holds the lines of the timeline, folded alike, and the chain of causes. Everything is decided here, once: which
//! events (`course`), what they are called (`short`), what lasts (`bars`), where it stands (`scale`), what it looks like (`svg`).
//! The page in HTML holds the same drawing as the file, and its script only moves it and picks events out.
//!
//! Time is not to scale: what happens at once or shortly after takes a line each, and where long nothing happens a gap says
//! for how long. L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21 (1978), draws it so.

mod bars;
mod course;
mod scale;
mod short;
mod svg;

use picklock_campaign::story::Story;

use crate::format::{Format, ReportError};
use crate::page::paint::Style;
use crate::page::svg::{with_attributes, with_fallbacks};

pub(crate) use self::course::{Course, Step};
pub(crate) use self::svg::{draw, hatches};

/// The style of the classes of a drawing; the page has it too.
pub(crate) const STYLE: &str = concat!(include_str!("../page/colours.css"), include_str!("diagram.css"));

/// A run as a drawing.
pub const FORMAT: Format<Story> =
    Format { name: "svg", file: "run.svg", doc: "one run as a space-time diagram", render };

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    Ok(file(story))
}

/// A run as an SVG file.
#[must_use]
pub fn file(story: &Story) -> String {
    with_attributes(&svg::file(&Course::of(story), &with_fallbacks(STYLE)), STYLE)
}
