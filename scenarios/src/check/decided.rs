//! Whether a fault decided something: whether it struck the attempt that was granted, or the grant that was held.
//!
//! That a fault *bit* says only that it delayed something. It decided something if the section in whose service the host
//! or the message was that it struck got the lock and had not let it go; or, at a server, if that server kept at that time the
//! record of a grant that was held; or if a grant was held at all, where the server says nothing of its records, or has none whose name
//! tells that it is the lock's. A change of the clock's rate lasts from then on: it strikes whatever is held later. Without a lock, a
//! section is struck that goes on to make its change.

use std::collections::BTreeSet;
use std::mem::discriminant;

use picklock_sim::plan::{Injection, Lever, Plan};
use picklock_sim::time::TrueTime;
use picklock_sim::trace::{Role, Strike, What};

use crate::history::{History, Section};

/// The faults that decided something, with each kind of lever that they have.
pub(super) fn decisive(plan: &Plan, history: &History<'_>) -> BTreeSet<String> {
    let strikes = history.trace.strikes.iter();
    let decisive: Vec<&Injection> = strikes
        .filter_map(|strike| {
            let injection = plan.injections.get(strike.injection as usize)?;
            decides(history, strike, &injection.lever).then_some(injection)
        })
        .collect();
    whole(plan, &decisive)
}

/// The faults that struck with each kind of lever that they have, by the injections that did.
pub(super) fn whole(plan: &Plan, struck: &[&Injection]) -> BTreeSet<String> {
    let has = |part: &Injection| {
        struck
            .iter()
            .any(|other| other.fault == part.fault && discriminant(&other.lever) == discriminant(&part.lever))
    };
    let missed: BTreeSet<&str> =
        plan.injections.iter().filter(|part| !has(part)).map(|part| part.fault.as_str()).collect();
    let whole = struck.iter().map(|part| part.fault.clone());
    whole.filter(|fault| !missed.contains(fault.as_str())).collect()
}

fn decides(history: &History<'_>, strike: &Strike, lever: &Lever) -> bool {
    let lasts = matches!(lever, Lever::SetDrift { .. });
    if let Some(section) = strike.grant.and_then(|grant| history.place_of(grant)) {
        return at_stake(history, &history.sections[section], strike.at);
    }
    match history.trace.role(strike.host) {
        Some(Role::Client) => history.sections.iter().any(|section| {
            section.id.client == strike.host
                && (at_stake(history, section, strike.at) || (lasts && changes(section, strike.at)))
        }),
        _ => history.sections.iter().any(|section| kept(history, section, strike, lasts)),
    }
}

/// True if the section asked before this, and lets go, or has made its change, after it.
fn at_stake(history: &History<'_>, section: &Section<'_>, at: TrueTime) -> bool {
    // A worker may not say that it asks.
    let begun = section.asked.or(section.grant.as_ref().map(|grant| grant.acquired));
    let asked = begun.is_some_and(|event| event.at <= at);
    asked && until(history, section).is_some_and(|until| at <= until)
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

/// True if the host struck kept a record of the section while that had something to lose.
fn kept(history: &History<'_>, section: &Section<'_>, strike: &Strike, lasts: bool) -> bool {
    let Some(until) = until(history, section) else { return false };
    let keeps = matches!(history.trace.role(strike.host), Some(Role::Store | Role::Replica));
    if history.is_silent(strike.host) || (keeps && !history.knows_records()) {
        let granted_at = section.grant.as_ref().map(|grant| grant.granted_at);
        return granted_at.is_some_and(|at| (lasts || at <= strike.at) && strike.at <= until);
    }
    history.records_of(section).any(|record| {
        let gone = record.ended.map_or(history.trace.end, |event| event.at);
        record.created.host == strike.host
            && (lasts || record.created.at <= strike.at)
            && strike.at <= gone.min(until)
    })
}
