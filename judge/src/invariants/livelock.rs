//! Requests whose records come and go while nobody gets the lock: for the finding of a block that is a livelock.

use std::time::Duration;

use picklock_model::ids::{GrantId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::Event;

use super::in_the_way::{Blocked, Obstacle};
use crate::history::{Record, Section};

/// A record that was there for some time of the block.
struct Stay<'h, 't> {
    record: &'h Record<'t>,
    section: &'h Section<'t>,
    begin: TrueTime,
    end: TrueTime,
}

impl<'h, 't> Blocked<'h, 't> {
    /// The records that requests left on the stores again and again, if those of sections that still wait in the end are there most of
    /// the time.
    pub(super) fn livelock(&self) -> Option<Obstacle<'t>> {
        let stays = self.stays();
        let (mut covered, mut reached) = (Duration::ZERO, self.from);
        for stay in stays.iter().filter(|stay| self.still_tries(stay.section)) {
            covered += stay.end.since(reached.max(stay.begin));
            reached = reached.max(stay.end);
        }
        if covered * 2 <= self.until.since(self.from) {
            return None;
        }
        let mut clients: Vec<HostId> = stays.iter().map(|stay| stay.section.id.client).collect();
        clients.sort_unstable();
        clients.dedup();
        let text = if stays.iter().all(|stay| stay.section.id == self.waiter.id) {
            "in the way: what its own earlier tries left".to_owned()
        } else {
            let names: Vec<&str> =
                clients.iter().map(|client| self.history.trace.host_name(*client)).collect();
            let (last, others) = names.split_last()?;
            let and = if others.is_empty() { String::new() } else { format!("{} and ", others.join(", ")) };
            format!("in the way: what requests of {and}{last} left")
        };
        Some(Obstacle { text: Some(text), events: self.firsts(&stays) })
    }

    /// The records that stores kept for some time of the block, in the order in which they came.
    fn stays(&self) -> Vec<Stay<'h, 't>> {
        let here = |record: &&Record<'_>| record.on_store && record.key == self.key;
        let records = self.history.records.iter().filter(here);
        let stay = |record: &'h Record<'t>| {
            let section = self.history.place_of(record.created.grant?)?;
            let begin = record.created.at.max(self.from);
            let end = record.ended.map_or(self.until, |event| event.at).min(self.until);
            Some(Stay { record, section: &self.history.sections[section], begin, end })
        };
        let mut stays: Vec<Stay<'h, 't>> =
            records.filter_map(stay).filter(|stay| stay.begin < stay.end).collect();
        stays.sort_by_key(|stay| (stay.begin, stay.end, stay.section.id));
        stays
    }

    /// True if a section goes on asking within the block.
    fn still_tries(&self, section: &Section<'_>) -> bool {
        let waits = section.asked.is_some_and(|event| event.at < self.until)
            && section.answered.is_none_or(|event| event.at > self.from);
        waits && section.grant.as_ref().is_none_or(|grant| grant.acquired.at >= self.until)
    }

    /// The first record of each other section on each store.
    fn firsts(&self, stays: &[Stay<'h, 't>]) -> Vec<&'t Event> {
        let mut seen: Vec<(GrantId, HostId)> = Vec::new();
        let first = |stay: &&Stay<'h, 't>| {
            let of = (stay.section.id, stay.record.created.host);
            let new = stay.section.id != self.waiter.id && !seen.contains(&of);
            if new {
                seen.push(of);
            }
            new
        };
        stays.iter().filter(first).map(|stay| stay.record.created).collect()
    }
}
