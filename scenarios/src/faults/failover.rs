//! F8, failover of a replicated store: its primary dies, is cut off or stands still, a replica is promoted, and the old primary comes
//! back. Sentinels demote it, and the writes that only it had are discarded; one of PostgreSQL goes on, unless it is fenced; a member of a store
//! that elects its leader finds out that another one leads.
//!
//! The cut leaves one client on the primary's side and puts all others, the replicas and the Sentinels on the other:
//! a split brain while it lasts. It begins as that client asks for the lock or as it has got it. That client still
//! reaches the other side, as over another network, and may notice; in a split it does not: it is cut off together with
//! the primary and one of the Sentinels, if there are any, in one of its first sections, so that the run sees the end of it. Planned
//! failovers are left out.

use std::time::Duration;

use picklock_model::plan::{Access, Action, Injection, Phase, Point, Target, When};
use picklock_model::points::Reached;
use picklock_model::trace::Role;

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_replicas;
use super::params::{AFTER, POWER_LOSS, TIMES_AT_MOST_ONCE};
use picklock_sim::param::{Args, HOUR, Param, Spans, SpansOr, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "failover",
    also: &[],
    number: "F8",
    doc: "the primary of a replicated store dies or is cut off, and a replica takes over",
    params: params![TIMES_AT_MOST_ONCE, HOW, FOR, AFTER, CUT_AFTER, POWER_LOSS, RETURN_AFTER],
    from_points: true,
    last_section,
    applies: needs_replicas,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts,
    served: &[],
};

const HOW: Param<Word> = Param {
    name: "how",
    domain: Word(&["crash", "cut", "split", "pause", "random"]),
    default: "random",
    doc: "whether the primary dies, is cut off from all but one client, or together with one client and a \
          Sentinel if there is one, or stands still; random: one of the first two",
};

const FOR: Param<Spans> = Param {
    name: "for",
    domain: Spans::UP_TO_HOUR,
    default: "1 x ttl..2 x ttl",
    doc: "how long a cut, a split or a pause lasts",
};

const CUT_AFTER: Param<Spans> = Param {
    name: "cut_after",
    domain: Spans::UP_TO_HOUR,
    default: "0ms",
    doc: "a cut, a split or a pause begins this long after a section asks or has got the lock",
};

pub(super) const RETURN_AFTER: Param<SpansOr> = Param {
    name: "return_after",
    domain: SpansOr { min: Duration::ZERO, max: HOUR, or: "never" },
    default: "1 x ttl..2 x ttl",
    doc: "a crashed primary is started anew after this long",
};

fn lasts(args: &Args) -> Option<Param<Spans>> {
    ["cut", "split"].contains(&args.get(HOW)).then_some(FOR)
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let coin = draw.rng().percent(50);
    match draw.get(HOW) {
        "split" => split(draw),
        "cut" => cut_off(draw),
        "pause" => stand_still(draw),
        "random" if coin => cut_off(draw),
        _ => crash(draw),
    }
}

fn cut_off(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some(point) = draw.entry(&[Phase::Acquire, Phase::Work]) else { return Vec::new() };
    let mut others = draw.servers_beside_leader();
    others.extend(draw.clients().into_iter().filter(|client| **client != *point.host));
    let action = Action::Cut { to: Target::Hosts(others), both: true, lasts };
    let when = later(draw, point);
    vec![draw.inject(when, Target::Leader, action)]
}

/// When a cut, a split or a pause begins that belongs to this point.
fn later(draw: &mut Draw<'_>, point: Point) -> When {
    When::Point { point, after: draw.get(CUT_AFTER) }
}

/// In how many of its first sections a client may be split off.
const FIRST_SECTIONS: u32 = 2;

/// A crash or a cut may come in any section.
fn last_section(args: &Args) -> Option<u32> {
    (args.get(HOW) == "split").then_some(FIRST_SECTIONS)
}

fn split(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let early = |point: &Reached| {
        point.access == Access::Enter
            && matches!(point.phase, Phase::Acquire | Phase::Work)
            && point.section <= FIRST_SECTIONS
    };
    let Some(point) = draw.point(early) else { return Vec::new() };
    let monitors = draw.servers(|role| role == Role::Monitor);
    // None where members elect one of themselves. A lone one decides: it stays with the others.
    let monitor = draw.rng().pick(&monitors).cloned().filter(|_| monitors.len() > 1);
    let mut minority = vec![point.host.to_string()];
    minority.extend(monitor);
    let mut majority = draw.servers_beside_leader();
    majority.extend(draw.clients());
    majority.retain(|host| !minority.contains(host));
    let action = Action::Cut { to: Target::Hosts(majority), both: true, lasts };
    let when = later(draw, point);
    [Target::Leader, Target::Hosts(minority)]
        .map(|side| draw.inject(when.clone(), side, action.clone()))
        .into()
}

/// The primary stands still while a section asks or works, and goes on as if it still led.
fn stand_still(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some(point) = draw.entry(&[Phase::Acquire, Phase::Work]) else { return Vec::new() };
    let when = later(draw, point);
    vec![draw.inject(when, Target::Leader, Action::Pause { lasts })]
}

/// The primary dies while a section works.
pub(super) fn crash(draw: &mut Draw<'_>) -> Vec<Injection> {
    let power_loss = draw.get(POWER_LOSS);
    let restart_after = draw.get(RETURN_AFTER);
    let after = draw.get(AFTER);
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    let action = Action::Crash { power_loss, restart_after };
    vec![draw.inject(When::Point { point, after }, Target::Leader, action)]
}
