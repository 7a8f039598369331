//! More holders than may hold at the same time, as far as the clocks of their hosts show.
//!
//! Some spans have an instant in common if each two of them have one, and it is sure of them all if it is sure of each two: each
//! began, at the latest, before the other ended, at the earliest. Those of one clock are compared by it as it is. So spans of one
//! clock are as good as the one span that they have in common.
//!
//! Where a span is longer than twice the uncertainty of its clock, it surely holds in between, and a sweep over these parts finds
//! the crowd. What the spans of one clock have in common may be shorter. It holds at an instant that nobody knows, and with it
//! hold those of other clocks that surely hold all the while that it may be. There is at most one such clock in a crowd, since
//! two such spans need not meet.

use std::collections::{BTreeMap, BTreeSet};

use super::span::Span;
use super::verdict::SHOWN;

/// The crowds that were found, of which the first are kept.
#[derive(Default)]
pub(super) struct Crowds<'a> {
    /// By the beginning and the section of the last that began.
    all: BTreeSet<(i128, usize)>,
    first: BTreeMap<(i128, usize), Vec<&'a Span>>,
}

impl<'a> Crowds<'a> {
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn into_first(self) -> impl Iterator<Item = Vec<&'a Span>> {
        self.first.into_values()
    }

    fn add(&mut self, holding: Vec<&'a Span>) {
        let Some(place) = holding.iter().map(|span| (span.from, span.section)).max() else { return };
        if self.all.insert(place) {
            self.first.insert(place, holding);
            if self.first.len() > SHOWN {
                self.first.pop_last();
            }
        }
    }
}

/// The crowds of which it is sure. `most` may hold at a time.
pub(super) fn sure<'a>(of_key: &'a [Span], most: usize) -> Crowds<'a> {
    let spans: Vec<&Span> = of_key.iter().filter(|span| span.from < span.until).collect();
    let mut found = Crowds::default();
    sweep(&spans, most, |span| (span.latest(), span.earliest()), &mut found);
    let mut of_clocks: BTreeMap<usize, Vec<&Span>> = BTreeMap::new();
    for span in &spans {
        of_clocks.entry(span.clock).or_default().push(span);
    }
    let mut moments = Vec::new();
    for of_clock in of_clocks.values() {
        sweep(of_clock, most, |span| (span.from, span.until), &mut found);
        add_moments(of_clock, most, &mut moments);
    }
    around(&spans, moments, most, &mut found);
    found
}

/// The crowds that there may be: whatever the clocks show within their uncertainty, and whenever a holder died of which nothing
/// is said.
pub(super) fn possible<'a>(of_key: &'a [Span], most: usize) -> Crowds<'a> {
    let spans: Vec<&Span> = of_key.iter().collect();
    let mut found = Crowds::default();
    let bounds = |span: &Span| (span.from - span.uncertainty, span.at_most + span.uncertainty);
    sweep(&spans, most, bounds, &mut found);
    found
}

/// The beginnings at which more hold than may.
fn sweep<'a>(
    spans: &[&'a Span],
    most: usize,
    bounds: impl Fn(&Span) -> (i128, i128),
    found: &mut Crowds<'a>,
) {
    let mut spans: Vec<(i128, i128, &Span)> = (spans.iter())
        .map(|span| (bounds(span), *span))
        .map(|((begin, end), span)| (begin, end, span))
        .filter(|(begin, end, _)| begin < end)
        .collect();
    spans.sort_by_key(|(begin, _, span)| (*begin, span.section));
    // The ends of those that hold, the first to end first.
    let mut ends: BTreeSet<(i128, usize)> = BTreeSet::new();
    for (at, (begin, end, _)) in spans.iter().enumerate() {
        while ends.first().is_some_and(|(end, _)| end <= begin) {
            ends.pop_first();
        }
        ends.insert((*end, at));
        if ends.len() > most {
            // With the one that begins, those that last longest.
            let others = ends.iter().rev().map(|(_, other)| *other).filter(|other| *other != at);
            found.add(std::iter::once(at).chain(others.take(most)).map(|at| spans[at].2).collect());
        }
    }
}

/// The spans of one clock that hold together, if no instant is known at which they surely do.
struct Moment<'a> {
    holding: Vec<&'a Span>,
    /// It holds from then on at the latest.
    latest: i128,
    /// And until then at the earliest.
    earliest: i128,
}

/// For each span of a clock, and each number of those that hold when it begins, the ones that last longest.
fn add_moments<'a>(of_clock: &[&'a Span], most: usize, moments: &mut Vec<Moment<'a>>) {
    let mut by_beginning = of_clock.to_vec();
    by_beginning.sort_by_key(|span| (span.from, span.section));
    let mut ends: BTreeSet<(i128, usize)> = BTreeSet::new();
    for (at, last) in by_beginning.iter().enumerate() {
        while ends.first().is_some_and(|(end, _)| *end <= last.from) {
            ends.pop_first();
        }
        ends.insert((last.until, at));
        let latest = last.latest();
        let mut holding = Vec::new();
        for (_, one) in ends.iter().rev().take(most) {
            let span = by_beginning[*one];
            holding.push(span);
            if span.earliest() <= latest {
                moments.push(Moment { holding: holding.clone(), latest, earliest: span.earliest() });
            }
        }
    }
}

/// Those of other clocks that surely hold all the while that a moment may be.
fn around<'a>(spans: &[&'a Span], mut moments: Vec<Moment<'a>>, most: usize, found: &mut Crowds<'a>) {
    moments.sort_by_key(|moment| moment.earliest);
    let mut by_beginning: Vec<&Span> = spans.to_vec();
    by_beginning.sort_by_key(|span| (span.latest(), span.section));
    let mut begun = by_beginning.iter().enumerate().peekable();
    let mut ends: BTreeSet<(i128, usize)> = BTreeSet::new();
    for moment in moments {
        while let Some((at, span)) = begun.next_if(|(_, span)| span.latest() < moment.earliest) {
            ends.insert((span.earliest(), at));
        }
        let clock = moment.holding[0].clock;
        let lasting = ends.iter().rev().take_while(|(end, _)| *end > moment.latest);
        // So many of the clock itself would be a crowd alone, which was found.
        let lasting = lasting.take(2 * most + 1).map(|(_, at)| by_beginning[*at]);
        let mut holding = moment.holding;
        holding.extend(lasting.filter(|span| span.clock != clock));
        if holding.len() > most {
            holding.truncate(most + 1);
            found.add(holding);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(section: usize, clock: usize, from: i128, length: i128, uncertainty: i128) -> Span {
        let until = from + length;
        Span {
            section,
            key: 0,
            clock,
            process: section,
            shared: false,
            from,
            until,
            at_most: until,
            uncertainty,
        }
    }

    /// True if there is a crowd of which each two surely held at once.
    fn by_force(spans: &[Span], most: usize) -> bool {
        let together = |one: &Span, other: &Span| {
            let off = |span: &Span| if one.clock == other.clock { 0 } else { span.uncertainty };
            let before = |one: &Span, other: &Span| one.from + off(one) < other.until - off(other);
            before(one, other) && before(other, one)
        };
        (0..1_u32 << spans.len()).filter(|set| set.count_ones() as usize == most + 1).any(|set| {
            let of_set: Vec<&Span> = spans.iter().filter(|span| set >> span.section & 1 == 1).collect();
            of_set.iter().all(|one| one.from < one.until)
                && of_set.iter().all(|one| {
                    of_set.iter().all(|other| one.section == other.section || together(one, other))
                })
        })
    }

    #[test]
    fn one_that_holds_at_an_instant_that_nobody_knows_is_one_of_a_crowd() {
        // The third held for 2 while its clock may be off by 5; the others held all the while that this may have been.
        let spans = [span(0, 0, 0, 100, 0), span(1, 1, 0, 100, 0), span(2, 2, 50, 2, 5)];
        assert_eq!(sure(&spans, 2).count(), 1);
        let ended = [span(0, 0, 0, 53, 0), span(1, 1, 0, 100, 0), span(2, 2, 50, 2, 5)];
        assert_eq!(sure(&ended, 2).count(), 0, "it may have begun when one of the others had ended");
    }

    #[test]
    fn what_two_of_one_clock_have_in_common_counts_for_both() {
        let spans = [span(0, 0, 0, 10, 4), span(1, 0, 5, 10, 4), span(2, 1, 0, 100, 0)];
        assert_eq!(sure(&spans, 2).count(), 1);
    }

    fn some_spans() -> impl Strategy<Value = Vec<Span>> {
        let one = (0..3_usize, 0..24_i128, 0..24_i128);
        let off = prop::collection::vec(prop_oneof![Just(0), 0..8_i128], 3);
        (prop::collection::vec(one, 2..9), off).prop_map(|(spans, off)| {
            let spans = spans.into_iter().enumerate();
            spans.map(|(at, (clock, from, length))| span(at, clock, from, length, off[clock])).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn a_crowd_is_found_exactly_where_each_two_of_it_surely_held_at_once(
            spans in some_spans(),
            most in 1..4_usize,
        ) {
            let found = sure(&spans, most);
            prop_assert_eq!(found.count() > 0, by_force(&spans, most));
            for holding in found.into_first() {
                let crowd: Vec<Span> = (holding.iter().enumerate())
                    .map(|(at, one)| Span { section: at, ..**one })
                    .collect();
                prop_assert_eq!(crowd.len(), most + 1);
                prop_assert!(by_force(&crowd, most), "these were found, and need not have held at once");
            }
        }

        #[test]
        fn what_is_sure_is_possible(spans in some_spans(), most in 1..4_usize) {
            prop_assert!(sure(&spans, most).count() == 0 || possible(&spans, most).count() > 0);
        }
    }
}
