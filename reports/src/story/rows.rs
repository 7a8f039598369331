//! The lines of a timeline: an event each, a request with its answer, or something that was repeated, once.
//!
//! A holder renews many times and a waiter asks many times; that is said in one line at the first of them, with how often,
//! how fast and until when. An event that interrupts, such as a fault, a grant or a lease that runs out, begins a new line, so
//! that no line spans it; and an event that proves a finding is never folded away.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::Story;
use picklock_model::ids::EventId;

use super::exchanges::Exchange;
use super::lines::{Fold, interrupts};
use super::spans;
use super::writer::{Row, Writer};

/// The lines for the events and the exchanges shown, folded, and how many events they stand for.
pub(crate) fn relevant(
    story: &Story,
    shown: &[usize],
    exchanges: &[&Exchange],
    cited: &BTreeSet<EventId>,
) -> (Vec<Row>, usize) {
    let writer = Writer::of(story);
    let events = story.trace.events.as_slice();
    let of_exchanges = exchanges.iter().flat_map(|one| one.positions.iter().copied());
    let covered: BTreeSet<usize> = shown.iter().copied().chain(of_exchanges).collect();
    let by_sending: BTreeMap<usize, &Exchange> = exchanges.iter().map(|one| (one.sent, *one)).collect();
    let lines: BTreeSet<usize> = shown.iter().copied().chain(by_sending.keys().copied()).collect();
    let mut fold = Fold::new(writer);
    for position in in_order(story, lines) {
        let event = &events[position];
        match by_sending.get(&position) {
            Some(exchange) => fold.exchange(exchange, event.at),
            None => fold.event(position, event, cited.contains(&event.id)),
        }
    }
    (fold.finish(), covered.len())
}

/// A line for every event.
pub(crate) fn full(story: &Story) -> Vec<Row> {
    let writer = Writer::of(story);
    let row = |position: usize| writer.event(position, &story.trace.events[position]);
    in_order(story, 0..story.trace.events.len()).into_iter().map(row).collect()
}

/// The positions in the order in which they are shown: the acts of a process when it runs again come after that.
fn in_order(story: &Story, positions: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let deferred = spans::deferred(&story.trace, &spans::of(&story.trace));
    let mut positions: Vec<usize> = positions.into_iter().collect();
    positions.sort_by_key(|at| spans::place(&deferred, *at));
    positions
}

/// At most `most` of the lines, in their order, and how many are left out: first those that prove a finding, then those of what
/// interrupts, then from the beginning on.
pub(crate) fn shortened_to(
    most: usize,
    rows: Vec<Row>,
    story: &Story,
    cited: &BTreeSet<EventId>,
) -> (Vec<Row>, usize) {
    let rank = |row: &Row| {
        let event = &story.trace.events[row.position];
        (!cited.contains(&event.id), !interrupts(&event.what))
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| rank(&rows[*at]));
    let kept: BTreeSet<usize> = order.into_iter().take(most).collect();
    let left_out = rows.len() - kept.len();
    let rows = rows.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, row)| row).collect();
    (rows, left_out)
}
