//! F19, somebody ends a session that has something locked: an administrator who looks for what is in the way, or a watchdog of the database.
//!
//! Its client is notified, if it looks: a section at work does not. The server gives to others what the session held.
//!
//! Source: PostgreSQL 15 documentation, 9.27.2 Server Signaling Functions (`pg_terminate_backend`).

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{AFTER, TIMES, any_section, no_time};
use picklock_sim::param::{Counts, Param};
use picklock_sim::params;

/// The fault action that a kind of store must have.
const ACTION: &str = "end-session";

pub(super) const FAULT: Fault = Fault {
    name: "ended-session",
    also: &[],
    number: "F19",
    doc: "a session that has something locked is ended by an administrator while a section works",
    params: params![TIMES, SESSIONS, AFTER],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[],
    own_action: Some(ACTION),
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[],
};

const SESSIONS: Param<Counts> = Param {
    name: "sessions",
    domain: Counts(1, 1_000),
    default: "1",
    doc: "how many sessions that have something locked are ended, the oldest sessions first",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let count = draw.get(SESSIONS) as u32;
    let Some(point) = draw.entry(&[Phase::Work]) else { return Vec::new() };
    let store = Target::Hosts(draw.stores());
    let when = When::Point { point, after: draw.get(AFTER) };
    vec![draw.inject(when, store, Action::Own { name: ACTION.to_owned(), count })]
}
