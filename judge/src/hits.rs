//! The faults that hit the lock: what was granted, what blocks others, or who waits behind it.
//!
//! That a fault *took effect* means only that it delayed something. It hit the lock if it met
//!
//! - an attempt of a section that was granted, or one that left a record behind that outlived it;
//! - a grant, until its section had let it go;
//! - the process of a waiter, while another section held: a message of one that is refused anyhow is refused later, and
//!   that does not count;
//! - a server that kept at that time the record of a grant that was held; or any server while a grant was held, where it does not
//!   report its records, or has none whose name shows that it is the lock's.
//!
//! A change of the clock's rate lasts from then on: it hits whatever is held later. Without a lock, a
//! section is hit that goes on to make its change.

use std::collections::BTreeSet;
use std::mem::discriminant;

use picklock_model::plan::{Action, Effect, Injection, Plan};
use picklock_model::time::TrueTime;
use picklock_model::trace::Belief;
use picklock_model::trace::{Event, Hit, Role, Trace, What};

use crate::history::{Attempt, Granted, History, Section};

/// The faults that hit the lock with each kind of action that they have.
pub fn that_hit_the_lock(plan: &Plan, history: &History<'_>) -> BTreeSet<String> {
    let hits = history.trace.hits.iter();
    let met: Vec<&Injection> = hits
        .filter_map(|hit| {
            let injection = plan.injections.get(hit.injection as usize)?;
            hits_the_lock(history, hit, &injection.action).then_some(injection)
        })
        .collect();
    whole(plan, &met)
}

/// The faults that made a difference. One of several parts, such as a lag and the crash that makes it matter, did only if each kind of
/// them did.
pub fn took_effect(plan: &Plan, trace: &Trace) -> BTreeSet<String> {
    let hits = trace.hits.iter();
    let hit: Vec<&Injection> = hits.filter_map(|hit| plan.injections.get(hit.injection as usize)).collect();
    whole(plan, &hit)
}

/// The faults that hit with each kind of action that they have, by the injections that did.
fn whole(plan: &Plan, hit: &[&Injection]) -> BTreeSet<String> {
    let has = |part: &Injection| {
        hit.iter().any(|other| {
            other.fault == part.fault && discriminant(&other.action) == discriminant(&part.action)
        })
    };
    let missed: BTreeSet<&str> =
        plan.injections.iter().filter(|part| !has(part)).map(|part| part.fault.as_str()).collect();
    let whole = hit.iter().map(|part| part.fault.clone());
    whole.filter(|fault| !missed.contains(fault.as_str())).collect()
}

fn hits_the_lock(history: &History<'_>, hit: &Hit, action: &Action) -> bool {
    let lasts = action.effect() == Effect::Rate;
    let hits = |section: &Section<'_>| {
        is_at_stake(history, section, hit.at)
            || (stops_process(action) && waits_behind_a_holder(history, section, hit.at))
    };
    if let Some(section) = hit.grant.and_then(|grant| history.place_of(grant)) {
        let section = &history.sections[section];
        return hits(section) || (stops_process(action) && is_with_the_server(history, section, hit));
    }
    match history.trace.role(hit.host) {
        Some(Role::Client) => history.sections.iter().any(|section| {
            section.id.client == hit.host && (hits(section) || (lasts && changes(section, hit.at)))
        }),
        _ => history.sections.iter().any(|section| kept(history, section, hit, lasts)),
    }
}

/// True for what hits a process or its clock, and not a single message.
fn stops_process(action: &Action) -> bool {
    !matches!(action.effect(), Effect::Messages | Effect::Store)
}

/// True if at this time the section held, or was in the attempt that it was granted, or in one that left a record behind.
/// Without a lock: if it had asked before this, and has made its change after it.
fn is_at_stake(history: &History<'_>, section: &Section<'_>, at: TrueTime) -> bool {
    let attempt = history.attempt_at(section, at);
    let Some(grant) = &section.grant else {
        let asked = section.asked.is_some_and(|event| event.at <= at);
        let changed = |event: &&Event| matches!(event.what, What::WriteAcknowledged { .. });
        return asked
            && (section.answered.filter(changed).is_some_and(|event| at <= event.at)
                || left_behind(history, section, attempt));
    };
    // An autonomous client may not report that it asks.
    let attempted = match section.asked {
        Some(_) => history.attempted_at(section, grant),
        None => grant.acquired.at,
    };
    let let_go = grant.let_go.map_or(history.trace.end, |event| event.at);
    (attempted..=let_go).contains(&at) || (at < attempted && left_behind(history, section, attempt))
}

/// Without a lock: true if a server was hit while it was to make a change of the section.
fn is_with_the_server(history: &History<'_>, section: &Section<'_>, hit: &Hit) -> bool {
    history.trace.belief == Belief::None
        && history.trace.role(hit.host) != Some(Role::Client)
        && section.asked.is_some_and(|event| event.at <= hit.at)
        && section.answered.is_none_or(|event| hit.at < event.at)
}

/// True if a request that was sent in this attempt made a record that outlived it.
fn left_behind(history: &History<'_>, section: &Section<'_>, attempt: Attempt) -> bool {
    history.records_of(section).any(|record| {
        let sent = history.sent_at(record.created, section);
        let outlived = record.ended.is_none_or(|event| event.at > attempt.until);
        record.on_store && outlived && (attempt.from..attempt.until).contains(&sent)
    })
}

/// True if the section asked at this time, and another one held what it asked for.
fn waits_behind_a_holder(history: &History<'_>, section: &Section<'_>, at: TrueTime) -> bool {
    let waits = section.asked.is_some_and(|event| event.at <= at)
        && section.answered.is_none_or(|event| at <= event.at);
    let holds = |other: &Section<'_>, grant: &Granted<'_>| {
        let let_go = grant.let_go.map_or(history.trace.end, |event| event.at);
        other.key == section.key && other.id != section.id && (grant.acquired.at..=let_go).contains(&at)
    };
    waits && history.grants().any(|(other, grant)| holds(other, grant))
}

/// True if the section is granted, or has made its change, after this.
fn changes(section: &Section<'_>, at: TrueTime) -> bool {
    section.answered.is_some_and(|event| event.at >= at && !matches!(event.what, What::NotAcquired { .. }))
}

/// Until when a section that was granted had something to lose; none for one that was not.
fn until(history: &History<'_>, section: &Section<'_>) -> Option<TrueTime> {
    match (&section.grant, section.answered) {
        (Some(grant), _) => Some(grant.let_go.map_or(history.trace.end, |event| event.at)),
        (None, Some(event)) if matches!(event.what, What::WriteAcknowledged { .. }) => Some(event.at),
        _ => None,
    }
}

/// True if the host hit kept a record of the section while that had something to lose.
fn kept(history: &History<'_>, section: &Section<'_>, hit: &Hit, lasts: bool) -> bool {
    let Some(until) = until(history, section) else { return false };
    let keeps = matches!(history.trace.role(hit.host), Some(Role::Leader | Role::Follower));
    if history.is_silent(hit.host) || (keeps && !history.knows_records()) {
        let granted_at = section.grant.as_ref().map(|grant| grant.granted_at);
        return granted_at.is_some_and(|at| (lasts || at <= hit.at) && hit.at <= until);
    }
    history.records_of(section).any(|record| {
        let gone = record.ended.map_or(history.trace.end, |event| event.at);
        record.created.host == hit.host && (lasts || record.created.at <= hit.at) && hit.at <= gone.min(until)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_model::ids::{GrantId, HostId};
    use picklock_model::plan::Target;

    use super::*;
    use crate::invariants::testing::*;

    /// True if a fault that applies this action hit the lock.
    fn met(action: Action, script: Script) -> bool {
        let trace = script.trace();
        let history = History::of(&trace);
        trace.hits.iter().any(|hit| hits_the_lock(&history, hit, &action))
    }

    fn delay() -> Action {
        let (to, by) = (Target::host("node-1"), Duration::from_millis(9));
        Action::Delay { to, by, lasts: by, messages: Some(1) }
    }

    fn pause() -> Action {
        Action::Pause { lasts: Duration::from_millis(9) }
    }

    /// A1 holds from 10 to 60. B1 asks at 20, is refused, asks again at 50 and at 70, and holds from 75 to 90.
    fn refused_first() -> Script {
        let script =
            Script::new().at(0).waits(A1).attempts(A1).at(10).acquires(A1).at(60).releasing(A1).released(A1);
        let script = script.at(20).waits(B1).attempts(B1).at(50).attempts(B1).at(70).attempts(B1);
        script.at(75).acquires(B1).at(90).releasing(B1).released(B1)
    }

    fn hit(action: Action, at: u64, host: HostId, grant: GrantId) -> bool {
        met(action, refused_first().at(at).hits(host, Some(grant)))
    }

    #[test]
    fn without_a_lock_a_change_that_a_server_has_is_at_stake() {
        let asked = || Script::new().believing(Belief::None).at(0).waits(A1);
        let crash = || Action::Crash { power_loss: true, restart_after: None };
        assert!(met(crash(), asked().at(5).hits(NODE_1, Some(A1))));
        assert!(!met(crash(), asked().at(3).acknowledged(A1).at(5).hits(NODE_1, Some(A1))));
    }

    #[test]
    fn a_message_counts_in_the_attempt_that_is_granted_and_while_it_is_held() {
        assert!(hit(delay(), 5, CLIENT_1, A1));
        assert!(hit(delay(), 72, NODE_1, B1));
        assert!(hit(delay(), 89, CLIENT_2, B1));
    }

    #[test]
    fn a_refusal_that_is_late_does_not_count() {
        assert!(!hit(delay(), 30, NODE_1, B1));
        assert!(!hit(delay(), 69, CLIENT_2, B1));
        assert!(!hit(delay(), 95, CLIENT_2, B1), "it has let go");
    }

    #[test]
    fn a_waiter_that_stands_still_behind_a_holder_counts() {
        assert!(hit(pause(), 30, CLIENT_2, B1));
        assert!(!hit(pause(), 65, CLIENT_2, B1), "nobody holds");
    }

    #[test]
    fn an_attempt_that_leaves_a_record_counts_and_one_that_withdraws_it_does_not() {
        let failed = || refused_first().at(22).creates(B1, NODE_2);
        let hit = |script: Script| met(delay(), script.at(21).hits(CLIENT_2, Some(B1)));
        assert!(hit(failed()));
        assert!(hit(failed().at(55).deletes(B1, NODE_2)));
        assert!(!hit(failed().at(45).deletes(B1, NODE_2)));
        assert!(!hit(failed().at(45).expires(NODE_2)));
    }

    #[test]
    fn an_acquire_that_fails_counts_if_it_leaves_a_record() {
        let failed = |script: Script| met(delay(), script.at(30).gives_up(A1).at(5).hits(CLIENT_1, Some(A1)));
        let asks = || Script::new().at(0).waits(A1).attempts(A1);
        assert!(!failed(asks()));
        assert!(failed(asks().at(8).creates(A1, NODE_1)));
    }

    #[test]
    fn without_a_lock_a_section_counts_that_makes_its_change() {
        let asks = || Script::new().believing(Belief::None).at(0).waits(A1).at(5).hits(CLIENT_1, Some(A1));
        assert!(met(delay(), asks().at(9).acknowledged(A1)));
        assert!(!met(delay(), asks().at(9).unknown(A1)));
    }
}
