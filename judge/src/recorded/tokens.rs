//! I3 of a history: fencing tokens grow from grant to grant, as far as the clocks of the hosts show.
//!
//! A grant was made at the instant that its store noted, or else somewhere between the beginning of its acquire and the end. So
//! of two grants it is sure which came first if one ended, at the latest, before the other began, at the earliest; the later one
//! must have the higher token. Two with one token break it in whatever order they came. What the resource noted of tokens, and
//! refusals of holders whose grant was still kept, are judged by the invariant of the same name.

use std::collections::BTreeMap;

use picklock_model::ids::HostId;

use super::recording::Recording;
use super::verdict::{Breach, SHOWN, Verdict};
use crate::history::History;
use crate::invariants::token_order::{fallen, refusals};
use crate::outcome::Finding;

/// When a grant with a token was made.
#[derive(Clone, Copy)]
struct Made {
    section: usize,
    key: usize,
    token: u64,
    /// The clock of the two instants.
    host: usize,
    earliest: i128,
    latest: i128,
    uncertainty: i128,
}

pub(super) fn judge(
    recording: &Recording,
    history: &History<'_>,
    breach: impl Fn(&Finding) -> Breach,
) -> Verdict {
    let mut made = made(recording, history);
    match made.len() {
        0 => return Verdict::NotApplicable("no grant has a token".to_owned()),
        1 => {
            let why = "fewer than two grants carried a token".to_owned();
            return Verdict::Inconclusive { why, perhaps: Vec::new() };
        }
        _ => {}
    }
    made.sort_by_key(|one| (one.key, one.latest, one.section));
    let (mut sure, mut possible) = (Vec::new(), Vec::new());
    for of_key in made.chunk_by(|one, other| one.key == other.key) {
        same(of_key, &mut sure);
        for of_clock in by_clock(of_key).values() {
            disorder(of_clock, |_| 0, |one| one.section, &mut sure);
        }
        disorder(of_key, |one| one.uncertainty, |one| one.host, &mut sure);
        disorder(of_key, |one| -one.uncertainty, |one| one.host, &mut possible);
    }
    let mut breaches: Vec<Breach> =
        sure.iter().take(SHOWN).map(|pair| disorder_of(recording, pair, true)).collect();
    let fallen = fallen(history);
    breaches.extend(fallen.iter().take(SHOWN).map(&breach));
    // Refusal and record are timed by different clocks.
    let refused = refusals(history);
    let exact = recording.hosts.iter().all(|host| host.uncertainty.unwrap_or_default() == 0);
    let mut count = sure.len() + fallen.len();
    let mut perhaps: Vec<Breach> =
        possible.iter().take(SHOWN).map(|pair| disorder_of(recording, pair, false)).collect();
    let of_refusals = if exact { &mut breaches } else { &mut perhaps };
    of_refusals.extend(refused.iter().take(SHOWN).map(&breach));
    count += if exact { refused.len() } else { 0 };
    if count > 0 {
        return Verdict::Violated { count, breaches };
    }
    if perhaps.is_empty() {
        return Verdict::Holds;
    }
    Verdict::Inconclusive {
        why: "the clocks leave open in which order some grants were made".to_owned(),
        perhaps,
    }
}

fn made(recording: &Recording, history: &History<'_>) -> Vec<Made> {
    let mut made = Vec::new();
    for (at, section) in recording.sections.iter().enumerate() {
        let (Some(token), Some(granted)) = (section.token, section.granted) else { continue };
        let clock = |host: usize| recording.hosts[host].uncertainty.unwrap_or_default().into();
        let client = recording.processes[section.process].host;
        let asked = section.asked.unwrap_or(granted);
        let mut one = Made {
            section: at,
            key: section.key,
            token,
            host: recording.hosts[client].clock,
            earliest: asked.at.into(),
            latest: granted.at.into(),
            uncertainty: clock(client),
        };
        if let Some((host, instant)) = noted_by_a_store(history, at) {
            // Which store completed a quorum is itself a matter of clocks, unless they are right.
            if history.trace.quorum <= 1 || clock(host) == 0_i128 {
                let uncertainty = clock(host);
                let host = recording.hosts[host].clock;
                one = Made { host, earliest: instant, latest: instant, uncertainty, ..one };
            }
        }
        made.push(one);
    }
    made
}

/// The store that made the grant, and when.
fn noted_by_a_store(history: &History<'_>, section: usize) -> Option<(usize, i128)> {
    let section = &history.sections[section];
    let at = section.grant.as_ref()?.granted_at;
    let record = history.records_of(section).find(|record| record.on_store && record.created.at == at)?;
    let HostId(host) = record.created.host;
    Some((host.into(), at.0.into()))
}

fn by_clock(of_key: &[Made]) -> BTreeMap<usize, Vec<Made>> {
    let mut clocks: BTreeMap<usize, Vec<Made>> = BTreeMap::new();
    for one in of_key {
        clocks.entry(one.host).or_default().push(*one);
    }
    clocks
}

/// Grants with one token.
fn same(of_key: &[Made], pairs: &mut Vec<[Made; 2]>) {
    let mut tokens: BTreeMap<u64, Made> = BTreeMap::new();
    for one in of_key {
        if let Some(other) = tokens.insert(one.token, *one) {
            pairs.push([other, *one]);
        }
    }
}

/// For each grant one that was made before it and has a higher token, of those that go by another clock.
fn disorder(
    of_key: &[Made],
    off: impl Fn(&Made) -> i128,
    clock: impl Fn(&Made) -> usize,
    pairs: &mut Vec<[Made; 2]>,
) {
    let mut before: Vec<&Made> = of_key.iter().collect();
    before.sort_by_key(|one| (one.latest + off(one), one.section));
    let mut after: Vec<&Made> = of_key.iter().collect();
    after.sort_by_key(|one| (one.earliest - off(one), one.section));
    let mut earlier = before.into_iter().peekable();
    // The highest tokens of two different clocks.
    let mut highest: [Option<&Made>; 2] = [None, None];
    for one in after {
        while let Some(next) = earlier.next_if(|next| next.latest + off(next) < one.earliest - off(one)) {
            let exceeds = |place: Option<&Made>| place.is_none_or(|known| next.token > known.token);
            let same = highest[0].is_some_and(|first| clock(first) == clock(next));
            match (exceeds(highest[0]), same) {
                (true, true) => highest[0] = Some(next),
                (true, false) => highest = [Some(next), highest[0]],
                (false, false) if exceeds(highest[1]) => highest[1] = Some(next),
                _ => {}
            }
        }
        let other = highest.into_iter().flatten().find(|other| clock(other) != clock(one));
        if let Some(other) = other.filter(|other| other.token > one.token) {
            pairs.push([*other, *one]);
        }
    }
}

fn disorder_of(recording: &Recording, [first, second]: &[Made; 2], sure: bool) -> Breach {
    let key = recording.keys[first.key].as_str().escape_debug().to_string();
    let who = |one: &Made| recording.who(recording.sections[one.section].process);
    let [one, other] = [who(first), who(second)];
    let text = match (first.token == second.token, sure) {
        (true, _) => format!("`{key}`: {one} and {other} both got token {}", first.token),
        (false, true) => {
            format!(
                "`{key}`: {one} had got token {}, and {other}, granted later, got {}",
                first.token, second.token
            )
        }
        (false, false) => {
            format!(
                "`{key}`: {one} got token {}, and {other}, perhaps later, got {}",
                first.token, second.token
            )
        }
    };
    let line = |one: &Made| recording.sections[one.section].granted.map(|granted| granted.line);
    let mut lines: Vec<u64> = [line(first), line(second)].into_iter().flatten().collect();
    lines.sort_unstable();
    Breach { text, lines, width: None }
}
