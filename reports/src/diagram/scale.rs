//! The positions in a drawing: hosts from left to right, events from top to bottom.
//!
//! Each event with words gets a line of its own, ends of messages a share of one. What is left of time is the order, and a gap
//! with its length where nothing happens for long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_model::ids::HostId;

use super::course::Course;

/// The line of a step, the share of an end of a message, and a gap.
const LINE: i32 = 26;
const SHARE: i32 = 11;
const GAP: i32 = 30;
/// Where nothing happens for so long there is a gap.
const LONG: Duration = Duration::from_millis(50);
/// Columns: of the times, and of a host.
const TIMES: i32 = 92;
const LANE: i32 = 196;

/// The places of everything in a diagram, in pixels at its own size.
pub(crate) struct Scale {
    columns: BTreeMap<HostId, i32>,
    lines: BTreeMap<usize, i32>,
    /// Where long nothing happens: its middle, and for how long.
    pub(crate) gaps: Vec<(i32, Duration)>,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Scale {
    pub(crate) fn of(course: &Course<'_>) -> Scale {
        let columns =
            course.hosts.iter().zip(0..).map(|(host, nth)| (*host, TIMES + 24 + nth * LANE)).collect();
        let answers = course.arrows.iter().filter(|arrow| arrow.answer.is_some()).map(|arrow| arrow.sent);
        let worded: BTreeSet<usize> = course.steps.iter().map(|step| step.position).chain(answers).collect();
        let (mut lines, mut gaps, mut y) = (BTreeMap::new(), Vec::new(), 0);
        let mut before = None;
        for at in course.positions() {
            let now = course.story.trace.events[at].at;
            let quiet = before.map(|before| now.since(before)).filter(|quiet| *quiet >= LONG);
            if let Some(quiet) = quiet {
                gaps.push((y + (GAP + SHARE) / 2 + 1, quiet));
                y += GAP;
            }
            y += if worded.contains(&at) { LINE } else { SHARE };
            lines.insert(at, y);
            before = Some(now);
        }
        let width = TIMES + 24 + LANE * course.hosts.len() as i32;
        Scale { columns, lines, gaps, width, height: y + LINE }
    }

    /// The line of a host.
    pub(crate) fn x(&self, host: HostId) -> i32 {
        self.columns.get(&host).copied().unwrap_or(TIMES)
    }

    /// The height of an event; for one that is not drawn that of the last one before it.
    pub(crate) fn y(&self, position: usize) -> i32 {
        self.lines.range(..=position).next_back().map_or(0, |(_, y)| *y)
    }
}
