//! The obstacle that keeps everybody from a lock that none holds: for the finding of a block that lasted too long.
//!
//! It is a record that too many of the stores in charge keep: a record that its client left behind, or the copy that a replica
//! had made before it became the primary. Or it is that too few stores are in charge: they are down or stand still, and nobody
//! takes their place. Or it is nothing that a store keeps, and then that is said. A host is in charge while it runs and takes
//! writes; what it keeps or lacks counts if that was so for more than half of the block.

use std::collections::BTreeSet;

use picklock_model::ids::{EventId, GrantId, HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Role, What};

use super::findings::who;
use crate::history::{History, Record, Section};

/// The most records of other names that are listed.
const STRANGERS: usize = 3;

/// An obstacle.
pub(super) struct Obstacle<'t> {
    /// In words, to be appended to a finding; nothing if the stores do not report their records.
    pub(super) text: Option<String>,
    /// The events that show it; none if nothing is in the way.
    pub(super) events: Vec<&'t Event>,
}

/// A block of a key: nobody held it from the one instant to the other, and this section waited.
pub(super) struct Blocked<'h, 't> {
    pub(super) history: &'h History<'t>,
    pub(super) key: usize,
    pub(super) from: TrueTime,
    pub(super) until: TrueTime,
    pub(super) waiter: &'h Section<'t>,
}

impl<'h, 't> Blocked<'h, 't> {
    /// The obstacle of the block.
    pub(super) fn obstacle(&self) -> Obstacle<'t> {
        if self.stores() == 0 {
            return Obstacle { text: None, events: Vec::new() };
        }
        let needed = self.needed();
        let (idle, idle_words) = self.out_of_charge();
        let records = self.records();
        let mut hosts: Vec<HostId> = records.iter().map(|record| record.created.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        if !hosts.is_empty() && hosts.len() + idle.len() >= needed {
            let mut text = self.kept(&records, "; and ");
            let mut events: Vec<&Event> = records.iter().flat_map(|record| self.proof(record)).collect();
            if hosts.len() < needed {
                text = format!("{text}; and {idle_words}");
                events.extend(idle);
            }
            return Obstacle { text: Some(format!("in the way: {text}")), events };
        }
        if idle.len() >= needed {
            let given_up = self.given_up();
            let mut text = format!("no record is in the way: {idle_words}");
            let events = idle.into_iter().chain(given_up.first().copied()).collect();
            if let Some(first) = given_up.first()
                && let What::Noticed { text: words } = &first.what
            {
                let (how, times) = (words.split(' ').next().unwrap_or_default(), given_up.len());
                let times = if times == 1 {
                    String::new()
                } else {
                    format!(", the first of {times} that were given up")
                };
                let monitor = self.history.trace.host_name(first.host);
                text.push_str(&format!("; {monitor} gave up a failover at {} ({how}){times}", first.at));
            }
            return Obstacle { text: Some(text), events };
        }
        let strangers = self.strangers();
        let (known, granted) = (self.history.knows_records(), !self.history.granted.is_empty());
        let silent = self.history.trace.hosts.iter().any(|host| host.silent);
        let text = match strangers.as_slice() {
            _ if silent => None,
            [] if granted && !known => None,
            [] => Some("no record that a store keeps is in the way".to_owned()),
            _ if known => Some("no record of the lock is in the way".to_owned()),
            strangers => Some(format!(
                "no record that is known to be the lock's is in the way, but others were there all that time: {}",
                strangers.join("; ")
            )),
        };
        Obstacle { text, events: Vec::new() }
    }

    /// Records that came one after another and together are in the way, if no single one is.
    pub(super) fn in_turn(&self) -> Option<Obstacle<'t>> {
        let of_key = self.history.records.iter().filter(|record| self.is_ours(record));
        // A record that was there for a moment alone kept nobody from the lock.
        let mut turns: Vec<&Record<'_>> =
            of_key.filter(|record| self.kept_for(record) * 10 > self.width()).collect();
        let sum = |host: HostId| -> u64 {
            let here = turns.iter().filter(|record| record.created.host == host);
            here.map(|record| self.kept_for(record)).sum()
        };
        let mut hosts: Vec<HostId> = turns.iter().map(|record| record.created.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.retain(|host| sum(*host) * 2 > self.width());
        if hosts.is_empty() || hosts.len() < self.needed() {
            return None;
        }
        turns.retain(|record| hosts.contains(&record.created.host));
        let text = format!("in the way, one after another: {}", self.kept(&turns, "; then "));
        let events = turns.iter().flat_map(|record| self.proof(record)).collect();
        Some(Obstacle { text: Some(text), events })
    }

    /// True if one store and its replicas are all that there is: they take each other's place.
    fn one_leads(&self) -> bool {
        self.history.trace.quorum <= 1
    }

    fn stores(&self) -> usize {
        self.history.trace.hosts.iter().filter(|host| host.role == Role::Leader).count()
    }

    /// How many stores that refuse, or are gone, keep everybody from the lock.
    fn needed(&self) -> usize {
        match self.history.trace.quorum as usize {
            0 | 1 => 1,
            quorum => (self.stores() + 1).saturating_sub(quorum),
        }
    }

    /// The records of the key that hosts in charge kept for most of the block: those of the grant that has most of them, or, if
    /// they are of several, of all.
    fn records(&self) -> Vec<&'h Record<'t>> {
        let kept = |record: &&Record<'_>| self.is_ours(record) && self.kept_for(record) * 2 > self.width();
        self.history.records.iter().filter(kept).collect()
    }

    /// The records of other names than those of known locks that clients made and that were there for the whole block, in words.
    fn strangers(&self) -> Vec<String> {
        let events = &self.history.trace.events;
        let known: BTreeSet<EventId> = self.history.records.iter().map(|record| record.created.id).collect();
        let ends = |event: &Event, key: &Key| match &event.what {
            What::Created { key: name }
            | What::Deleted { key: name }
            | What::Expired { key: name, .. }
            | What::Lost { key: name } => name == key,
            _ => false,
        };
        let mut strangers = Vec::new();
        for (at, event) in events.iter().enumerate().filter(|(_, event)| event.at <= self.from) {
            let What::Created { key } = &event.what else { continue };
            let Some(section) = event.grant.filter(|_| !known.contains(&event.id)) else { continue };
            let later = events[at + 1..].iter().find(|later| later.host == event.host && ends(later, key));
            let here = later.is_none_or(|later| later.at >= self.until);
            if here && self.charge(event.host, self.from, self.until) * 2 > self.width() {
                let (host, by) = (self.history.trace.host_name(event.host), who(self.history, section));
                strangers.push(format!("`{key}` on {host}, created at {} for {by}", event.at));
            }
        }
        let more = strangers.len().saturating_sub(STRANGERS);
        if more > 0 {
            strangers.truncate(STRANGERS);
            strangers.push(format!("{more} more"));
        }
        strangers
    }

    /// True if a record is the lock's, or that of a lock that shares it.
    fn is_ours(&self, record: &Record<'_>) -> bool {
        record.key == self.key || self.history.shared_by(record.key, self.key).is_some()
    }

    /// For how many nanoseconds of the block a host in charge kept a record.
    fn kept_for(&self, record: &Record<'_>) -> u64 {
        let until = record.ended.map_or(self.until, |event| event.at.min(self.until));
        self.charge(record.created.host, record.created.at.max(self.from), until)
    }

    /// For how many nanoseconds a host was in charge within a span.
    fn charge(&self, host: HostId, from: TrueTime, until: TrueTime) -> u64 {
        let mut writes = self.history.trace.role(host) == Some(Role::Leader);
        let (mut runs, mut moves) = (true, true);
        let mut since = TrueTime::default();
        let mut sum = 0;
        let mut count = |since: TrueTime, to: TrueTime, charged: bool| {
            let (begin, end) = (since.max(from), to.min(until));
            sum += if charged { end.as_nanos().saturating_sub(begin.as_nanos()) } else { 0 };
        };
        // Clients follow the replica that was promoted, even while the old primary still takes writes.
        let one_leads = self.one_leads();
        for event in &self.history.trace.events {
            let (w, r, m) = match event.what {
                What::BecameLeader if one_leads && event.host != host => (false, runs, moves),
                _ if event.host != host => continue,
                What::BecameLeader => (true, runs, moves),
                What::StoppedLeading => (false, runs, moves),
                What::Crashed { .. } => (writes, false, true),
                What::Restarted => (writes, true, true),
                What::Paused { .. } => (writes, runs, false),
                What::Resumed => (writes, runs, true),
                _ => continue,
            };
            count(since, event.at, writes && runs && moves);
            (since, writes, runs, moves) = (event.at, w, r, m);
        }
        count(since, until, writes && runs && moves);
        sum
    }

    fn width(&self) -> u64 {
        self.until.as_nanos().saturating_sub(self.from.as_nanos())
    }

    /// The places of stores that nobody filled for most of the block, each by the event that emptied it, and how that is said.
    fn out_of_charge(&self) -> (Vec<&'t Event>, String) {
        let trace = self.history.trace;
        let leads = |host: &HostId| self.charge(*host, self.from, self.until) * 2 > self.width();
        let hosts = || (0..trace.hosts.len()).map(|host| HostId(host as u16));
        let of_role = |role: Role| hosts().filter(move |host| trace.role(*host) == Some(role));
        let substitutes = of_role(Role::Follower).filter(leads).count();
        let missing: Vec<HostId> = of_role(Role::Leader).filter(|host| !leads(host)).collect();
        let stores = of_role(Role::Leader).count();
        let filled = if self.one_leads() {
            substitutes > 0 || missing.len() < stores
        } else {
            substitutes >= missing.len()
        };
        let missing = if filled { Vec::new() } else { missing };
        let emptied = |host: &HostId| {
            let stops = |event: &&&Event| {
                event.host == *host
                    && event.at <= self.until
                    && matches!(event.what, What::Crashed { .. } | What::Paused { .. } | What::StoppedLeading)
            };
            let last = trace.events.iter().rev().find(|event| stops(&event));
            last.map(|event| (event, self.stopped(event)))
        };
        let (events, words): (Vec<&Event>, Vec<String>) = missing.iter().filter_map(emptied).unzip();
        (events, words.join(", "))
    }

    /// Since when a host is not in charge, and whether that ended.
    fn stopped(&self, event: &Event) -> String {
        let trace = self.history.trace;
        let host = trace.host_name(event.host);
        let since = event.at;
        let ends = |later: &&Event| {
            later.host == event.host
                && later.id > event.id
                && matches!(later.what, What::Restarted | What::Resumed | What::BecameLeader)
        };
        let until = match trace.events.iter().find(ends) {
            Some(end) => format!("until {}", end.at),
            None => "to the end".to_owned(),
        };
        match event.what {
            What::Crashed { .. } => format!("{host} is down from {since} {until}"),
            What::Paused { .. } => format!("{host} stands still from {since} {until}"),
            _ => {
                let follower = trace.vocabulary(event.host).follower;
                format!("{host} is a {follower} from {since} {until}")
            }
        }
    }

    /// The failovers that were given up before the block was over.
    fn given_up(&self) -> Vec<&'t Event> {
        let given_up = |event: &&Event| {
            event.at <= self.until
                && matches!(&event.what, What::Noticed { text } if text.starts_with("-failover-abort"))
        };
        self.history.trace.events.iter().filter(given_up).collect()
    }

    /// The records in words, those of one grant together.
    fn kept(&self, records: &[&Record<'t>], between: &str) -> String {
        let mut creators: Vec<Option<GrantId>> = Vec::new();
        for record in records {
            if !creators.contains(&record.created.grant) {
                creators.push(record.created.grant);
            }
        }
        let of = |creator: &Option<GrantId>| -> Vec<&Record<'t>> {
            records.iter().copied().filter(|record| record.created.grant == *creator).collect()
        };
        let words: Vec<String> = creators.iter().map(|creator| self.record(&of(creator))).collect();
        words.join(between)
    }

    /// The records of one grant: where they are, whose request created them, and what had become of that section.
    fn record(&self, alike: &[&Record<'t>]) -> String {
        let Some(first) = alike.first() else { return String::new() };
        let trace = self.history.trace;
        let mut hosts: Vec<&str> = alike.iter().map(|record| trace.host_name(record.created.host)).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let created = first.created;
        let made = match first.on_store {
            true if trace.is_next_in_queue(created) => "first in its queue since",
            true => "created at",
            false => "copied there at",
        };
        let name = match &created.what {
            What::Created { key } if key.as_str() != self.history.key_name(self.key) => format!(" `{key}`"),
            _ => String::new(),
        };
        let mut what = format!("the record{name} on {}, {made} {}", hosts.join(", "), created.at);
        if let Some(section) = created.grant.and_then(|id| self.history.place_of(id)) {
            let section = &self.history.sections[section];
            if section.id == self.waiter.id {
                what.push_str(" by an earlier request of its own");
            } else {
                what.push_str(&format!(" for {}, {}", who(self.history, section.id), fate(section)));
            }
        }
        if first.key != self.key {
            let (here, other) = (self.history.key_name(self.key), self.history.key_name(first.key));
            what.push_str(&format!("; `{here}` and `{other}` are the same record"));
        }
        if let Some(lost) = self.lease_lost(first) {
            what.push_str(&format!("; its lease was lost at {}", lost.at));
        }
        if let Some(promoted) = self.promoted(first) {
            let host = trace.host_name(promoted.host);
            let leader = trace.vocabulary(promoted.host).leader;
            what.push_str(&format!("; {host} became the {leader} at {}", promoted.at));
        }
        if let Some(elsewhere) = self.extended_elsewhere(first) {
            let host = trace.host_name(elsewhere.host);
            what.push_str(&format!(", and the lease set on {host} at {} never reached it", elsewhere.at));
        }
        if let Some(elsewhere) = self.deleted_elsewhere(first) {
            let host = trace.host_name(elsewhere.host);
            what.push_str(&format!(", and the deletion on {host} at {} never reached it", elsewhere.at));
        }
        what
    }

    /// When the host lost the lease of a record and not the record.
    fn lease_lost(&self, record: &Record<'_>) -> Option<&'t Event> {
        let key = self.history.key_name(self.key);
        let lost = |event: &&Event| {
            event.host == record.created.host
                && event.at >= record.created.at
                && matches!(&event.what, What::LeaseLost { key: name } if name.as_str() == key)
        };
        self.history.trace.events.iter().find(lost)
    }

    /// When the host of a copy took over.
    fn promoted(&self, record: &Record<'_>) -> Option<&'t Event> {
        let took_over =
            |event: &&&Event| event.host == record.created.host && matches!(event.what, What::BecameLeader);
        (!record.on_store)
            .then(|| self.history.host_changes.iter().copied().find(|event| took_over(&event)))?
    }

    /// The extension of the same grant's lease on another host, if this one has none at all.
    fn extended_elsewhere(&self, record: &Record<'t>) -> Option<&'t Event> {
        let touched = |event: &&Event| {
            record.created.grant.is_some()
                && event.grant == record.created.grant
                && matches!(&event.what, What::Extended { key } if key.as_str() == self.history.key_name(self.key))
        };
        let mut touches = self.history.trace.events.iter().filter(touched);
        let here = touches.clone().any(|event| event.host == record.created.host);
        touches.find(|event| !record.on_store && !here && event.host != record.created.host)
    }

    /// The deletion of the same grant's record on another host, whose data this one no longer takes over.
    fn deleted_elsewhere(&self, record: &Record<'t>) -> Option<&'t Event> {
        let same = |other: &&Record<'_>| {
            other.key == record.key
                && other.created.grant.is_some()
                && other.created.grant == record.created.grant
                && other.created.host != record.created.host
        };
        let ended = self.history.records.iter().filter(same).filter_map(|other| other.ended);
        let mut deleted = ended.filter(|event| matches!(event.what, What::Deleted { .. }));
        deleted.find(|_| !record.on_store)
    }

    /// The events that show a record in the way: its creation, how its client ended, that its host took over, and that it was
    /// deleted elsewhere.
    fn proof(&self, record: &Record<'t>) -> Vec<&'t Event> {
        let section = record.created.grant.and_then(|id| self.history.place_of(id));
        let section = section.map(|at| &self.history.sections[at]).filter(|one| one.id != self.waiter.id);
        let end = section.and_then(end);
        let (lease_lost, promoted) = (self.lease_lost(record), self.promoted(record));
        let elsewhere = [self.extended_elsewhere(record), self.deleted_elsewhere(record)];
        let parts = [Some(record.created), end, lease_lost, promoted].into_iter().chain(elsewhere);
        parts.flatten().filter(|event| event.at <= self.until).collect()
    }
}

/// The event that ended a section.
fn end<'t>(section: &Section<'t>) -> Option<&'t Event> {
    section.grant.as_ref().map_or(section.answered, |grant| grant.let_go)
}

/// How a section ended whose record is still there.
fn fate(section: &Section<'_>) -> String {
    let Some(end) = end(section) else {
        let still =
            if section.grant.is_some() { "which has not let go" } else { "which still waits for the lock" };
        return still.to_owned();
    };
    let how = match &end.what {
        What::Crashed { .. } if section.grant.is_some() => "which died holding it".to_owned(),
        What::Crashed { .. } => "which died asking for it".to_owned(),
        What::NotAcquired { why, .. } => format!("whose acquire failed ({why})"),
        What::Released { error: Some(error), .. } => format!("whose release failed ({error})"),
        What::Released { error: None, .. } => "which had released it".to_owned(),
        What::Aborted { .. } => "which gave it up".to_owned(),
        _ => "which ended".to_owned(),
    };
    format!("{how} at {}", end.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::progress::INVARIANT;
    use crate::invariants::testing::*;

    /// The obstacle, by the finding of a script in which B1 waits from 300 on.
    fn in_the_way(script: Script) -> String {
        let trace = script.at(300).waits(B1).at(800).gives_up(B1).trace();
        let text = finding(&INVARIANT, &trace).text;
        text.split("bound is 100 ms; ").nth(1).expect("it says what is in the way").to_owned()
    }

    /// A1 holds, and its record is copied to the replica.
    fn copied() -> Script {
        Script::new().at(0).waits(A1).at(5).creates(A1, NODE_1).at(6).acquires(A1).at(7).creates(A1, REPLICA)
    }

    #[test]
    fn a_copy_on_a_replica_that_took_over_is_in_the_way_and_its_original_is_not() {
        let script = copied().at(20).event(REPLICA, None, What::BecameLeader).at(30).releasing(A1);
        let script = script.deletes(A1, NODE_1).at(31).released(A1);
        assert_eq!(
            in_the_way(script),
            "in the way: the record on replica-1-1, copied there at 0.007000s for client-1 (section 1), which had \
             released it at 0.031000s; replica-1-1 became the primary at 0.020000s, and the deletion on node-1 at \
             0.030000s never reached it"
        );
    }

    #[test]
    fn a_record_of_a_client_that_still_waits_says_so() {
        let trace = Script::new().at(5).waits(C1).at(10).creates(C1, NODE_1).at(20).waits(B1).trace();
        let history = History::of(&trace);
        let section = history.place_of(C1).map(|at| &history.sections[at]).expect("it waits");
        assert_eq!(fate(section), "which still waits for the lock");
    }

    #[test]
    fn a_record_on_a_dead_host_is_not_in_the_way() {
        let down = |host: HostId| copied().at(20).crashes(CLIENT_1).at(21).crashes(host);
        let script = || down(NODE_1).crashes(NODE_2).crashes(NODE_3);
        let abort = || What::Noticed { text: "-failover-abort-no-good-slave master mymaster".to_owned() };
        let once = in_the_way(script().at(50).event(REPLICA, None, abort()));
        assert!(
            once.starts_with("no record is in the way: node-1 is down from 0.021000s to the end, "),
            "{once}"
        );
        let gave_up = "; replica-1-1 gave up a failover at 0.050000s (-failover-abort-no-good-slave)";
        assert!(once.ends_with(gave_up), "{once}");
        let twice = script().at(50).event(REPLICA, None, abort()).at(60).event(REPLICA, None, abort());
        assert!(in_the_way(twice).ends_with(&format!("{gave_up}, the first of 2 that were given up")));
    }

    #[test]
    fn a_quorum_is_blocked_by_as_many_stores_as_it_cannot_do_without() {
        let left = |hosts: &[HostId]| {
            let script = Script::new().quorum(2).at(0).waits(A1).at(5);
            let script = hosts.iter().fold(script, |script, host| script.creates(A1, *host));
            in_the_way(script.at(20).crashes(CLIENT_1))
        };
        assert_eq!(left(&[NODE_1]), "no record that a store keeps is in the way");
        assert!(left(&[NODE_1, NODE_3]).starts_with("in the way: the record on node-1, node-3, created"));
    }

    #[test]
    fn records_that_came_one_after_another_are_named_in_turn() {
        let script = Script::new().at(305).waits(A1).at(310).creates(A1, NODE_1).at(320).crashes(CLIENT_1);
        let script =
            script.at(350).waits(C1).at(550).expires(NODE_1).at(570).creates(C1, NODE_1).at(580).gives_up(C1);
        assert_eq!(
            in_the_way(script),
            "in the way, one after another: the record on node-1, created at 0.310000s for client-1 (section 1), which died \
             asking for it at 0.320000s; then the record on node-1, created at 0.570000s for client-3 (section 1), whose \
             acquire failed (tired) at 0.580000s"
        );
    }

    #[test]
    fn records_of_other_names_are_listed_where_none_is_known_to_be_the_lock_s() {
        let script = Script::new().on("ticket").at(5).creates(A1, NODE_1).on("stock");
        assert_eq!(
            in_the_way(script),
            "no record that is known to be the lock's is in the way, but others were there all that time: `ticket` on node-1, created at \
             0.005000s for client-1 (section 1)"
        );
        let script = Script::new().on("ticket").at(5).creates(A1, NODE_1).deletes(A1, NODE_1).on("stock");
        assert_eq!(in_the_way(script), "no record that a store keeps is in the way");
    }

    #[test]
    fn a_record_of_another_name_that_the_grant_made_is_in_the_way_by_that_name() {
        let script =
            Script::new().at(0).waits(A1).on("advisory 7").at(5).creates(A1, NODE_1).on("stock").at(6);
        let script = script.acquires(A1).at(30).releasing(A1).at(31).released(A1);
        assert_eq!(
            in_the_way(script),
            "in the way: the record `advisory 7` on node-1, created at 0.005000s for client-1 (section 1), which had released it at \
             0.031000s"
        );
    }

    #[test]
    fn a_lease_that_was_lost_is_named_with_the_record_that_stays() {
        let lost = What::LeaseLost { key: picklock_model::ids::Key::new("stock") };
        let text = in_the_way(copied().at(20).crashes(CLIENT_1).at(40).event(NODE_1, None, lost));
        assert!(
            text.ends_with("which died holding it at 0.020000s; its lease was lost at 0.040000s"),
            "{text}"
        );
    }
}
