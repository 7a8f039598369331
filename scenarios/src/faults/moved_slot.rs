//! F21, an operator moves the slots of a cluster while locks in them are held: a node is added, or one has too much to do.
//!
//! Clients are sent to the node that gets the slots, key by key. A lock is there when its key is: nothing is lost, unless the node that gets
//! the slots dies before its replica has the key, too (`importing=dies`). From Redis 8.4 on slots move at once, while the node that had them
//! lets nobody write, for ten seconds at most. A node that gets them and stands still for longer takes them later all the same, and what was
//! written meanwhile is lost (`importing=pauses`).
//!
//! Sources: "Redis cluster specification", redis.io, Live resharding; Redis 8.4, `cluster_asm.c`.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::failover::RETURN_AFTER;
use super::fault::{Fault, Hits};
use super::needs::needs_replicas;
use super::params::{AFTER, CLIENT, SECTION, TIMES, any_section, no_time};
use picklock_sim::param::{Counts, Param, Word};
use picklock_sim::params;

/// The fault action that a kind of store must have.
const ACTION: &str = "move-slot";

pub(super) const FAULT: Fault = Fault {
    name: "moved-slot",
    also: &[],
    number: "F21",
    doc: "the slots of the first keys of each shard of a cluster are moved to another shard while a section works",
    params: params![TIMES, SLOTS, IMPORTING, RETURN_AFTER, AFTER, CLIENT, SECTION],
    from_points: true,
    last_section: any_section,
    applies: needs_replicas,
    schedule,
    at_sites: &[],
    own_action: Some(ACTION),
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[],
};

const SLOTS: Param<Counts> = Param {
    name: "slots",
    domain: Counts(1, 1_000),
    default: "1",
    doc: "how many slots of each shard, at most",
};

const IMPORTING: Param<Word> = Param {
    name: "importing",
    domain: Word(&["lives", "dies", "pauses"]),
    default: "lives",
    doc: "what becomes of a primary that gets slots; unless it lives, slots of the first shard alone are moved, to the second, whose \
          primary dies before its replica has their keys, or stands still for two seconds more than others wait for it (Redis 8.4)",
};

/// So long after the beginning of the move, in which a slot with a few keys is moved, the primary dies.
const MOVED: Duration = Duration::from_millis(100);

/// So long after the beginning of the move, slots of 8.4 have their new owner.
const MIGRATED: Duration = Duration::from_millis(10);

/// For how long a node of 8.4 that hands slots over lets nobody write, at most (cluster-slot-migration-write-pause-timeout).
const WRITE_PAUSE: Duration = Duration::from_secs(10);

/// So much later the other node takes the slots.
const LATER: Duration = Duration::from_secs(2);

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let (after, count) = (draw.get(AFTER), draw.get(SLOTS) as u32);
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    let moves = Action::Own { name: ACTION.to_owned(), count };
    let when = |after| When::Point { point: point.clone(), after };
    if draw.get(IMPORTING) == "lives" {
        let shards = Target::Hosts(draw.stores());
        return vec![draw.inject(when(after), shards, moves)];
    }
    if draw.get(IMPORTING) == "pauses" {
        let begun = Duration::from_micros(draw.rng().below(MIGRATED.as_micros() as u64));
        let stands_still = Action::Pause { lasts: WRITE_PAUSE + LATER };
        return vec![
            draw.inject(when(after), Target::LeaderOf(1), moves),
            draw.inject(when(after + begun), Target::LeaderOf(2), stands_still),
        ];
    }
    let (exporting, importing, replica) = (Target::LeaderOf(1), Target::LeaderOf(2), Target::FollowerOf(2));
    let (by, restart_after) = (draw.world().ttl, draw.get(RETURN_AFTER));
    let late = Action::Delay { to: replica, by, lasts: by, messages: None };
    let dies = Action::Crash { power_loss: false, restart_after };
    vec![
        draw.inject(when(after), importing.clone(), late),
        draw.inject(when(after), exporting, moves),
        draw.inject(when(after + MOVED), importing, dies),
    ]
}
