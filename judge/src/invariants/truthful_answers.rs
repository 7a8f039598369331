//! I13: what a release or a renewal says is so.
//!
//! Four lies. A release that returns without an error although as many stores still keep the record as hold a grant; one that
//! says that nothing was released although it was its own request that did it, as when it is tried again after its reply was
//! lost. And a renewal that says that it renewed although too few stores extended the record since the last word on it, or that
//! the grant is lost although it has just extended it and the record is kept.
//!
//! No answer is about a record that an attempt before the one that was granted left behind:
//! [`clean_failure`](super::clean_failure) judges that.
//!
//! A release may put another record in the place of its own, which says that the lock is free: such a mark is not judged.
//!
//! An error that leaves open what became of the call is no lie: see `LockError::in_doubt`. Where a store died or another member
//! came to lead meanwhile, nobody is there to compare with. Where an owner may acquire more than
//! once, a record that outlives a release is a matter of its count, which [`reentrancy`](super::reentrancy) judges. What a
//! background task of the lock learns is not heard by anybody, and not judged.

use picklock_model::ids::HostId;
use picklock_model::time::TrueTime;
use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, Role, What};

use super::findings::{cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Record, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "truthful-answers",
    number: "I13",
    property: "a release or a renewal that says that it took effect did, and one that says that it did not, did not",
    promise: Promise::Conduct,
    severity: 10,
    evidence: Evidence::Records,
    recorded: Recorded::Never,
    check,
};

fn check(history: &History<'_>) -> Outcome {
    let stores = history.trace.hosts.iter().any(|host| host.role == Role::Leader);
    if !stores
        || history.trace.quorum == 0
        || history.trace.exclusion != Exclusion::Mutual
        || !history.knows_origins()
    {
        return Outcome::NotApplicable;
    }
    let mut findings = Vec::new();
    let mut answered = false;
    for (section, grant) in history.grants() {
        let records: Vec<&Record<'_>> =
            history.records_of_grant(section, grant).filter(|record| record.on_store).collect();
        if records.is_empty() || turned_over(history, &records) {
            continue;
        }
        let answers = Answers { history, section, records };
        answered |= answers.of_release(grant, &mut findings) | answers.of_renewals(grant, &mut findings);
    }
    if !answered {
        return Outcome::NotAsked("no release and no renewal returned".to_owned());
    }
    judged(history, findings)
}

/// True if another member came to lead in this run, or a store died after the section had its record there: what one store keeps
/// is then not what the answers are about.
fn turned_over(history: &History<'_>, records: &[&Record<'_>]) -> bool {
    let first = records.iter().map(|record| record.created.at).min();
    let upsets = |event: &&Event| match event.what {
        What::BecameLeader | What::StoppedLeading => true,
        What::Crashed { .. } => {
            records.iter().any(|record| record.created.host == event.host) && Some(event.at) >= first
        }
        _ => false,
    };
    history.host_changes.iter().copied().any(|event| upsets(&event))
}

/// The answers that one section got about its grant.
struct Answers<'h, 't> {
    history: &'h History<'t>,
    section: &'h Section<'t>,
    records: Vec<&'h Record<'t>>,
}

impl<'t> Answers<'_, 't> {
    /// True if a release returned.
    fn of_release(&self, grant: &Granted<'t>, findings: &mut Vec<Finding>) -> bool {
        let mut releasing = None;
        for event in self.section.steps_since(grant.acquired.at) {
            match &event.what {
                What::Releasing { .. } => releasing = Some(event),
                What::Released { error: None, .. } => {
                    let marked = releasing.is_some_and(|releasing| self.is_marked_free(releasing));
                    if !self.history.trace.reentrant && !marked && self.is_kept(event.at) {
                        let words = "got the answer that it had released, and the record was still there";
                        findings.push(self.lie(words, [releasing, Some(event)]));
                    }
                    return true;
                }
                What::Released { denied: true, .. } => {
                    let since = releasing.map_or(event.at, |event| event.at);
                    let deleted = self.deleted_by_itself(since, event.at);
                    if deleted.is_some() && self.was_kept(since) && !self.is_kept(event.at) {
                        let words = "got the answer that it had nothing to release, and its own request had released it";
                        findings.push(self.lie(words, [deleted, Some(event)]));
                    }
                    return true;
                }
                What::Released { .. } => return true,
                _ => {}
            }
        }
        false
    }

    /// True if a renewal returned.
    fn of_renewals(&self, grant: &Granted<'t>, findings: &mut Vec<Finding>) -> bool {
        let mut since = grant.acquired;
        let mut answered = false;
        for event in self.section.steps_since(grant.acquired.at) {
            let renewed = match event.what {
                What::Renewed { .. } => true,
                What::RenewalDenied { .. } => false,
                _ => continue,
            };
            let enough = self.extended_between(since.at, event.at) >= self.quorum();
            if renewed && !enough {
                let words = "got the answer that its grant was renewed, and too few stores had extended it";
                findings.push(self.lie(words, [Some(since), Some(event)]));
            } else if !renewed && enough && self.is_kept(event.at) {
                let words = "got the answer that its grant was lost, and it had just been extended";
                findings.push(self.lie(words, [Some(since), Some(event)]));
            }
            since = event;
            answered = true;
        }
        answered
    }

    fn quorum(&self) -> usize {
        self.history.trace.quorum as usize
    }

    /// True if enough stores keep the record just after this.
    fn is_kept(&self, at: TrueTime) -> bool {
        let live =
            |record: &&&Record<'_>| record.created.at <= at && record.ended.is_none_or(|event| event.at > at);
        self.records.iter().filter(live).count() >= self.quorum()
    }

    /// True if enough stores kept the record just before this.
    fn was_kept(&self, at: TrueTime) -> bool {
        let live =
            |record: &&&Record<'_>| record.created.at < at && record.ended.is_none_or(|event| event.at >= at);
        self.records.iter().filter(live).count() >= self.quorum()
    }

    /// True if the release put another record in the place of one of the grant.
    fn is_marked_free(&self, releasing: &Event) -> bool {
        let replaced = |record: &&Record<'_>| {
            record.ended.is_some_and(|by| {
                matches!(by.what, What::Created { .. })
                    && by.grant == Some(self.section.id)
                    && self.history.sent_at(by, self.section) >= releasing.at
            })
        };
        self.records.iter().any(replaced)
    }

    /// The last deletion in the service of the grant itself.
    fn deleted_by_itself(&self, from: TrueTime, until: TrueTime) -> Option<&'t Event> {
        let own = |event: &&Event| {
            matches!(event.what, What::Deleted { .. })
                && event.grant == Some(self.section.id)
                && (from..=until).contains(&event.at)
        };
        self.records.iter().rev().filter_map(|record| record.ended).find(own)
    }

    /// How many stores extended the record, or created it anew, in the service of the grant.
    fn extended_between(&self, from: TrueTime, until: TrueTime) -> usize {
        let mut stores: Vec<HostId> = (self.history.touches.iter().map(|touch| touch.event))
            .chain(self.records.iter().map(|record| record.created))
            .filter(|event| {
                event.grant == Some(self.section.id)
                    && !matches!(event.what, What::Deleted { .. })
                    && (from..=until).contains(&event.at)
            })
            .map(|event| event.host)
            .collect();
        stores.sort_unstable();
        stores.dedup();
        stores.len()
    }

    /// ", which is the record `advisory 7`": the name of the record, where it is not that of the lock.
    fn other_name(&self, key: &str) -> String {
        let name = self.records.first().and_then(|record| match &record.created.what {
            What::Created { key: name } if name.as_str() != key => Some(name),
            _ => None,
        });
        name.map(|name| format!(", which is the record `{name}`")).unwrap_or_default()
    }

    fn lie(&self, words: &str, events: [Option<&'t Event>; 2]) -> Finding {
        let key = self.history.key_name(self.section.key);
        Finding {
            text: format!("{} {words}: `{key}`{}", who(self.history, self.section.id), self.other_name(key)),
            grants: vec![self.section.id],
            events: cite(events.into_iter().flatten()),
            width: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    fn held() -> Script {
        Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1).at(10)
    }

    #[test]
    fn a_release_that_says_what_it_did_holds() {
        let trace = held().releasing(A1).at(11).deletes(A1, NODE_1).at(12).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let trace = held().expires(NODE_1).releasing(A1).at(12).release_denied(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds, "there was nothing to release");
        let trace = held().releasing(A1).at(11).deletes(A1, NODE_1).at(12).release_in_doubt(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds, "doubt is no lie");
    }

    #[test]
    fn a_release_that_released_nothing_and_says_that_it_did_is_found() {
        let trace = held().releasing(A1).at(12).released(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1]);
        assert_eq!(cited(&trace, &found), ["10 client-1 releasing", "12 client-1 released"]);
    }

    #[test]
    fn a_release_that_marks_its_record_as_free_is_no_lie_and_a_renewal_that_made_it_anew_before_is_no_mark() {
        let trace = held().releasing(A1).at(11).creates(A1, NODE_1).at(12).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let trace = held().creates(A1, NODE_1).at(11).releasing(A1).at(12).released(A1).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [A1]);
        let deleted = held().releasing(A1).at(11).deletes(A1, NODE_1).creates(A1, NODE_1).at(12);
        assert_eq!(finding(&INVARIANT, &deleted.released(A1).trace()).grants, [A1]);
    }

    #[test]
    fn a_minority_of_stores_and_a_later_acquire_may_have_a_record_after_a_release() {
        let taken = |script: Script| script.creates(A1, NODE_1).creates(A1, NODE_2).creates(A1, NODE_3);
        let held = || taken(Script::new().quorum(2).at(0).waits(A1)).at(1).acquires(A1).at(10).releasing(A1);
        let trace = held().at(11).deletes(A1, NODE_1).deletes(A1, NODE_2).at(12).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let trace = held().at(11).deletes(A1, NODE_1).at(12).released(A1).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [A1]);
        let script =
            Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1).at(10).releasing(A1);
        let script = script.at(11).deletes(A1, NODE_1).creates(A2, NODE_1).at(12).released(A1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
    }

    #[test]
    fn what_an_earlier_attempt_left_behind_is_not_what_a_release_speaks_of() {
        let attempted = |again: u64| {
            let script =
                Script::new().at(0).waits(A1).attempts(A1).at(2).creates(A1, NODE_2).at(again).attempts(A1);
            let script = script.at(30).creates(A1, NODE_1).at(31).acquires(A1).at(40).releasing(A1);
            script.at(41).deletes(A1, NODE_1).at(42).released(A1).trace()
        };
        assert_eq!(judge(&INVARIANT, &attempted(20)), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &attempted(1)).grants, [A1]);
    }

    #[test]
    fn a_release_that_is_refused_by_what_it_did_itself_is_found() {
        let trace = held().releasing(A1).at(11).deletes(A1, NODE_1).at(12).release_denied(A1).trace();
        assert!(finding(&INVARIANT, &trace).text.contains("its own request had released it"));
    }

    #[test]
    fn a_renewal_must_have_renewed_and_a_refused_one_must_not() {
        let trace = held().extends(A1, NODE_1).at(11).renews(A1).at(20).releasing(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let trace = held().at(11).renews(A1).at(20).releasing(A1).trace();
        assert!(finding(&INVARIANT, &trace).text.contains("too few stores"));
        let trace = held().extends(A1, NODE_1).at(11).renewal_denied(A1).trace();
        assert!(finding(&INVARIANT, &trace).text.contains("just been extended"));
        let trace = held().expires(NODE_1).at(11).renewal_denied(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_store_that_died_or_was_replaced_proves_nothing() {
        let trace = held().crashes(NODE_1).at(11).releasing(A1).at(12).released(A1).trace();
        assert!(is_unknown(&INVARIANT, &trace));
        let trace =
            held().event(REPLICA, None, What::BecameLeader).at(11).releasing(A1).at(12).released(A1).trace();
        assert!(is_unknown(&INVARIANT, &trace));
    }

    #[test]
    fn without_stores_it_does_not_apply() {
        assert_eq!(judge(&INVARIANT, &held().without_stores().trace()), Outcome::NotApplicable);
    }
}
