//! I1 of a history: two holders at the same time, as far as the clocks of their hosts show.
//!
//! A reading of a clock may be off by its host's uncertainty, either way. So of two holders on different hosts it is sure that
//! both held at once only if each began, at the latest, before the other ended, at the earliest; it is possible if each may have
//! begun before the other ended. Two that go by one clock are compared by it as it is. Spans are half-open, and one that is
//! empty overlaps none, as in the invariant of the same name, with which this agrees where all clocks are right.
//!
//! A holder of which no line says that it let go, lost, or died, may have died: it held for sure until the last line that says
//! so, and perhaps until the end.
//!
//! Where several may hold at the same time, [`crowds`] are looked for. Else, for each span the overlap with one earlier one is
//! looked for, the one that lasts longest: by a sort and a running maximum, so that a history of which everything overlaps takes
//! no longer.

use std::time::Duration;

use super::crowds::{self, Crowds};
use super::recording::{Point, Recording};
use super::span::Span;
use super::verdict::{Breach, SHOWN, Verdict};

/// Later than any reading of a clock.
const NEVER: i128 = i128::MAX / 4;

pub(super) fn judge(recording: &Recording) -> Verdict {
    let spans = spans(recording);
    if spans.is_empty() {
        return Verdict::NotApplicable("no lock was granted".to_owned());
    }
    if !spans.chunk_by(|one, other| one.key == other.key).any(|of_key| of_key.len() > 1) {
        return Verdict::Inconclusive { why: "no key was granted twice".to_owned(), perhaps: Vec::new() };
    }
    let most = recording.settings.holders.unwrap_or(1) as usize;
    let sure = |span: &Span, u: i128| (span.from + u, span.until - u);
    let possible = |span: &Span, u: i128| (span.from - u, span.at_most + u);
    let mut found = Found::default();
    let mut perhaps = Found::default();
    for of_key in spans.chunk_by(|one, other| one.key == other.key) {
        if most > 1 {
            found.add_crowds(crowds::sure(of_key, most));
            perhaps.add_crowds(crowds::possible(of_key, most));
        } else {
            overlaps(of_key, |span| span.from < span.until, sure, &mut found);
            let may_last = |span: &Span| span.from < span.at_most || span.uncertainty > 0;
            overlaps(of_key, may_last, possible, &mut perhaps);
        }
    }
    if found.count > 0 {
        let breaches = found.first.iter().map(|pair| breach(recording, pair, most, true)).collect();
        return Verdict::Violated { count: found.count, breaches };
    }
    if perhaps.count > 0 {
        let why = "the clocks, or lines that are missing, leave open whether two held at once".to_owned();
        let perhaps = perhaps.first.iter().map(|pair| breach(recording, pair, most, false)).collect();
        return Verdict::Inconclusive { why, perhaps };
    }
    Verdict::Holds
}

/// The spans by key, and by beginning within it.
fn spans(recording: &Recording) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (at, section) in recording.sections.iter().enumerate() {
        let Some(granted) = section.granted else { continue };
        let from = i128::from(granted.at);
        let end = section.ended.map(|end| i128::from(end.at));
        let seen = section.seen.map_or(from, |seen| i128::from(seen.at));
        let host = recording.processes[section.process].host;
        spans.push(Span {
            section: at,
            key: section.key,
            clock: recording.hosts[host].clock,
            process: section.process,
            shared: section.shared,
            from,
            until: end.unwrap_or(seen),
            at_most: end.unwrap_or(NEVER),
            uncertainty: recording.hosts[host].uncertainty.unwrap_or_default().into(),
        });
    }
    spans.sort_by_key(|span| (span.key, span.from, span.section));
    spans
}

/// The overlaps that were found, of which the first are shown.
#[derive(Default)]
struct Found<'a> {
    count: usize,
    first: Vec<Vec<&'a Span>>,
}

impl<'a> Found<'a> {
    fn add(&mut self, holding: Vec<&'a Span>) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(holding);
        }
    }

    fn add_crowds(&mut self, crowds: Crowds<'a>) {
        self.count += crowds.count();
        let room = SHOWN.saturating_sub(self.first.len());
        self.first.extend(crowds.into_first().take(room));
    }
}

/// Where a span lies, if clocks are off by so much.
trait Bounds: Fn(&Span, i128) -> (i128, i128) + Copy {}
impl<F: Fn(&Span, i128) -> (i128, i128) + Copy> Bounds for F {}

fn overlaps<'a>(
    of_key: &'a [Span],
    counts: impl Fn(&Span) -> bool,
    bounds: impl Bounds,
    found: &mut Found<'a>,
) {
    let mut spans: Vec<&Span> = of_key.iter().filter(|span| counts(span)).collect();
    let mut pairs: Vec<[&Span; 2]> = Vec::new();
    clashes(&mut spans, |span| bounds(span, span.uncertainty), |span| span.clock, &mut pairs);
    spans.sort_by_key(|span| (span.clock, span.section));
    for of_clock in spans.chunk_by_mut(|one, other| one.clock == other.clock) {
        clashes(of_clock, |span| bounds(span, 0), |span| span.process, &mut pairs);
    }
    pairs.sort_by_key(|[_, later]| (later.from, later.section));
    for pair in pairs {
        found.add(pair.to_vec());
    }
}

/// The end of the latest spans of two different holders, so that one of them is another's.
#[derive(Clone, Copy, Default)]
struct Latest {
    first: Option<(i128, usize)>,
    second: Option<(i128, usize)>,
}

impl Latest {
    fn add(&mut self, end: i128, at: usize, holder: impl Fn(usize) -> usize) {
        let exceeds = |place: Option<(i128, usize)>| place.is_none_or(|(known, _)| end > known);
        let same = self.first.is_some_and(|(_, first)| holder(first) == holder(at));
        match (exceeds(self.first), same) {
            (true, true) => self.first = Some((end, at)),
            (true, false) => (self.first, self.second) = (Some((end, at)), self.first),
            (false, false) if exceeds(self.second) => self.second = Some((end, at)),
            _ => {}
        }
    }
}

/// For each span one that comes before it in the order of beginnings, of another holder, so that each begins before the other
/// ends.
fn clashes<'a>(
    spans: &mut [&'a Span],
    bounds: impl Fn(&Span) -> (i128, i128),
    holder: impl Fn(&Span) -> usize,
    pairs: &mut Vec<[&'a Span; 2]>,
) {
    if spans.len() < 2 {
        return;
    }
    spans.sort_by_key(|span| (bounds(span).0, span.section));
    let of = |at: usize| holder(spans[at]);
    // By how many of the spans it looks at: all, and those that share with nobody.
    let mut latest = Vec::with_capacity(spans.len());
    let mut so_far = [Latest::default(); 2];
    for (at, span) in spans.iter().enumerate() {
        latest.push(so_far);
        let (begin, end) = bounds(span);
        // Beginnings before this span's end: a clock may be off by more than the span is long.
        let among = spans[..at].partition_point(|earlier| bounds(earlier).0 < end);
        let candidates: Latest = latest[among][usize::from(span.shared)];
        let others = [candidates.first, candidates.second].into_iter().flatten();
        let other = others.into_iter().find(|(_, other)| of(*other) != holder(span));
        if let Some((_, other)) = other.filter(|(until, _)| *until > begin) {
            pairs.push([spans[other], span]);
        }
        so_far[0].add(end, at, of);
        if !span.shared {
            so_far[1].add(end, at, of);
        }
    }
}

/// An overlap in words.
fn breach(recording: &Recording, holding: &[&Span], most: usize, sure: bool) -> Breach {
    let mut spans = holding.to_vec();
    spans.sort_by_key(|span| (span.from, span.section));
    let mut lines: Vec<u64> = Vec::new();
    let mut sentences: Vec<String> = Vec::new();
    for span in spans.iter().take(4) {
        let section = &recording.sections[span.section];
        let points = [section.granted, section.ended.or(section.seen)];
        lines.extend(points.into_iter().flatten().map(|point| point.line));
        sentences.push(format!("{} {}", recording.who(section.process), held(recording, span)));
    }
    lines.sort_unstable();
    lines.dedup();
    let key = recording.keys[spans[0].key].as_str().escape_debug().to_string();
    let width = if sure { surely(&spans) } else { 0 };
    let width = Duration::from_nanos(u64::try_from(width).unwrap_or(0));
    let together = if most > 1 {
        format!("{} at once, which {most} may", spans.len())
    } else {
        "both at once".to_owned()
    };
    let conclusion = match (sure, width.is_zero()) {
        (false, _) => format!("perhaps {together}"),
        (true, true) => format!("{together} for some time, for sure"),
        (true, false) => format!("{together} for at least {}", spelled(width)),
    };
    let text = format!("`{key}`: {}: {conclusion}", sentences.join("; "));
    Breach { text, lines, width: sure.then_some(width) }
}

fn held(recording: &Recording, span: &Span) -> String {
    let section = &recording.sections[span.section];
    let clock = match span.uncertainty {
        0 => String::new(),
        off => format!(" (its clock off by up to {})", spelled(Duration::from_nanos(off as u64))),
    };
    let at = |point: Point| instant(point.at);
    let from = section.granted.map(at).unwrap_or_default();
    match (section.ended, section.seen) {
        (Some(end), _) => format!("held it from {from} to {}{clock}", at(end)),
        (None, Some(seen)) => format!("held it from {from} to {} at least{clock}", at(seen)),
        (None, None) => format!("held it from {from} on, and no line says until when{clock}"),
    }
}

/// How long these held at the same time at least.
fn surely(spans: &[&Span]) -> i128 {
    let one_clock = spans.iter().all(|span| span.clock == spans[0].clock);
    let off = |span: &Span| if one_clock { 0 } else { span.uncertainty };
    let from = spans.iter().map(|span| span.from + off(span)).max().unwrap_or(0);
    let until = spans.iter().map(|span| span.until - off(span)).min().unwrap_or(0);
    (until - from).max(0)
}

/// A span, in the unit that suits it.
fn spelled(span: Duration) -> String {
    let ns = span.as_nanos();
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000),
        _ => format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1_000),
    }
}

/// A reading of a clock: since the epoch, as a date; of another clock, in seconds.
fn instant(ns: u64) -> String {
    let (seconds, micros) = (ns / 1_000_000_000, ns / 1_000 % 1_000_000);
    // A clock that shows less than thirty years counts from something else.
    if seconds < 30 * 365 * 86_400 {
        return format!("{seconds}.{micros:06}s");
    }
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The date of a day counted from 1970-01-01. Years are taken to begin in March, so that a leap day is a year's last.
fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / FOUR_CENTURIES, shifted % FOUR_CENTURIES);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

impl Recording {
    /// A process as stories name it.
    pub(super) fn who(&self, process: usize) -> String {
        let process = &self.processes[process];
        let host = self.hosts[process.host].name.escape_debug();
        if process.name.is_empty() {
            host.to_string()
        } else {
            format!("{host} (process {})", process.name.escape_debug())
        }
    }
}
