//! F9, replication lag: the primary acknowledges what its replicas do not have yet, and dies.
//!
//! Once the replicas have their first copy, everything that the primary sends to them is late, for as long as the sections take
//! when nothing goes wrong; meanwhile it crashes while a section works. Whether the lock survives depends on whether its record was on the way (Redis documentation,
//! "Distributed locks": why failover-based implementations are not enough).

use picklock_model::plan::{Action, Injection, Target, When};
use picklock_model::time::TrueTime;
use picklock_model::trace::Role;

use super::draw::Draw;
use super::failover::{RETURN_AFTER, crash};
use super::fault::{Fault, Hits};
use super::needs::needs_replicas;
use super::params::{AFTER, POWER_LOSS, TIMES_AT_MOST_ONCE, any_section};
use picklock_sim::param::{Counts, Param, Spans, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "replication-lag",
    also: &[],
    number: "F9",
    doc: "the primary is ahead of its replicas and dies while a section works",
    params: params![TIMES_AT_MOST_ONCE, BY, REPLICAS, DIES, AFTER, POWER_LOSS, RETURN_AFTER],
    from_points: true,
    last_section: any_section,
    applies: needs_replicas,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts: |_| Some(BY),
    served: &[],
};

const BY: Param<Spans> = Param {
    name: "by",
    domain: Spans::UP_TO_HOUR,
    default: "0.5 x ttl..2 x ttl",
    doc: "how late the replicas are",
};

const REPLICAS: Param<Counts> = Param {
    name: "replicas",
    domain: Counts(1, 1_000),
    default: "1..1000",
    doc: "which of the store's replicas are late, by number; the others have everything at once",
};

const DIES: Param<Word> = Param {
    name: "dies",
    domain: Word(&["primary", "prompt"]),
    default: "primary",
    doc: "who dies: the primary alone, or with it the replicas that are not late, so that a late one takes over",
};

/// A first copy takes a dozen messages one after another; after so many of the slowest it is there.
const COPYING: u32 = 20;

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let by = draw.get(BY);
    let mut injections = crash(draw);
    if injections.is_empty() {
        return injections;
    }
    let (first, last) = draw.args().get(REPLICAS);
    let (mut late, mut prompt) = (Vec::new(), Vec::new());
    for (number, replica) in (1..).zip(draw.servers(|role| role == Role::Follower)) {
        if (first..=last).contains(&number) { late.push(replica) } else { prompt.push(replica) }
    }
    if draw.get(DIES) == "prompt" && !prompt.is_empty() {
        let with = injections[0].clone();
        injections.push(Injection { target: Target::Hosts(prompt), ..with });
    }
    let copied = TrueTime(0) + draw.world().latency.max * COPYING;
    let lasts = draw.fault_free_end().since(copied);
    let lag = Action::Delay { to: Target::Hosts(late), by, lasts, messages: None };
    injections.insert(0, draw.inject(When::At { at_ns: copied }, Target::Leader, lag));
    injections
}
