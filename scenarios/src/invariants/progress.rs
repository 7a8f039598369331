//! I5: after the last fault has healed, some waiter gets the lock in good time.
//!
//! A *block* of a key is a stretch in which some section waits for it, none holds it, and none gets it. Only the part
//! after the last fault event counts, and only one longer than the design's own bound is a deadlock: leases must be
//! allowed to run out. A holder that is slow to let go is no block, and neither is a wait that the run's end cut
//! short. Without a lock, a section waits for its change, and making it is the turn. How long a single waiter waits while others are served is a matter of fairness and is left out on purpose.

use std::time::Duration;

use picklock_sim::time::TrueTime;
use picklock_sim::trace::{Event, What};

use super::findings::{cite, judged, ms, who};
use super::invariant::Invariant;
use crate::history::{History, Record, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "progress",
    number: "I5",
    claim: "after the last fault has healed some waiter gets the lock within the design's bound",
    check,
};

/// How a section changes the state of its key.
#[derive(Clone, Copy)]
enum Turn {
    Waits,
    GivesUp,
    Gets { waited: bool },
    LetsGo,
}

struct Edge<'t> {
    key: usize,
    event: &'t Event,
    turn: Turn,
}

fn check(history: &History<'_>) -> Outcome {
    let counted = history.last_fault.map_or(TrueTime::default(), |event| event.at);
    let waits = |section: &Section<'_>| {
        section.asked.is_some() && section.answered.is_none_or(|event| event.at > counted)
    };
    if !history.sections.iter().any(waits) {
        return Outcome::Unknown("nobody waited after the last fault".to_owned());
    }
    let mut edges = edges(history);
    edges.sort_by_key(|edge| (edge.key, edge.event.at, edge.event.id));
    let mut findings = Vec::new();
    for edges in edges.chunk_by(|one, other| one.key == other.key) {
        let mut sweep = Sweep::new(history, edges[0].key);
        for edge in edges {
            sweep.turn(edge);
        }
        sweep.finish(&mut findings);
    }
    if findings.is_empty() && history.trace.latecomer.is_some_and(|latecomer| latecomer.came.is_none()) {
        return Outcome::Unknown("the run was over before a fresh client could ask".to_owned());
    }
    judged(history, findings)
}

fn edges<'t>(history: &History<'t>) -> Vec<Edge<'t>> {
    let mut edges = Vec::with_capacity(history.sections.len() * 3);
    for section in &history.sections {
        let mut edge = |event, turn| edges.push(Edge { key: section.key, event, turn });
        if let Some(asked) = section.asked {
            edge(asked, Turn::Waits);
        }
        if let Some(grant) = &section.grant {
            edge(grant.acquired, Turn::Gets { waited: section.asked.is_some() });
            if let Some(event) = grant.let_go {
                edge(event, Turn::LetsGo);
            }
        } else if let (Some(_), Some(event)) = (section.asked, section.answered) {
            // Without a lock, a change made is a turn had.
            if matches!(event.what, What::WriteAcknowledged { .. }) {
                edge(event, Turn::Gets { waited: true });
                edge(event, Turn::LetsGo);
            } else {
                edge(event, Turn::GivesUp);
            }
        }
    }
    edges
}

/// A stretch in which some section waits for a key and none holds it.
struct Block<'t> {
    from: TrueTime,
    /// When the last waiter left or the lock was granted; the beginning while that has not happened.
    until: TrueTime,
    /// What ended it, if something did.
    end: Option<&'t Event>,
}

/// The state of one key, swept through true time.
struct Sweep<'h, 't> {
    history: &'h History<'t>,
    key: usize,
    /// Waits of different sections that are closer than this are one.
    gap: Duration,
    waiting: u32,
    holding: u32,
    block: Option<Block<'t>>,
    closed: Vec<Block<'t>>,
}

impl<'h, 't> Sweep<'h, 't> {
    fn new(history: &'h History<'t>, key: usize) -> Sweep<'h, 't> {
        let gap = history.trace.progress_bound / 10;
        Sweep { history, key, gap, waiting: 0, holding: 0, block: None, closed: Vec::new() }
    }

    fn turn(&mut self, edge: &Edge<'t>) {
        let at = edge.event.at;
        match edge.turn {
            Turn::Waits => {
                let gap = self.gap;
                if self.waiting == 0 && self.block.as_ref().is_some_and(|block| at.since(block.until) >= gap)
                {
                    self.closed.extend(self.block.take());
                }
                self.waiting += 1;
                self.begin_block(at);
            }
            Turn::GivesUp => {
                self.waiting = self.waiting.saturating_sub(1);
                if self.waiting == 0 {
                    self.end_block_at(edge.event);
                }
            }
            Turn::Gets { waited } => {
                self.end_block_at(edge.event);
                self.closed.extend(self.block.take());
                self.waiting = self.waiting.saturating_sub(u32::from(waited));
                self.holding += 1;
            }
            Turn::LetsGo => {
                self.holding = self.holding.saturating_sub(1);
                self.begin_block(at);
            }
        }
    }

    /// Begins a block, if somebody waits, nobody holds, and none has begun.
    fn begin_block(&mut self, at: TrueTime) {
        if self.waiting > 0 && self.holding == 0 && self.block.is_none() {
            self.block = Some(Block { from: at, until: at, end: None });
        }
    }

    /// Ends the block for the time being: a new waiter that comes soon goes on with it.
    fn end_block_at(&mut self, event: &'t Event) {
        if let Some(block) = &mut self.block {
            block.until = event.at;
            block.end = Some(event);
        }
    }

    fn finish(mut self, findings: &mut Vec<Finding>) {
        if let Some(block) = self.block.as_mut().filter(|_| self.waiting > 0) {
            block.until = self.history.trace.end;
            block.end = None;
        }
        self.closed.extend(self.block.take());
        findings.extend(self.closed.iter().filter_map(|block| self.deadlock(block)));
    }

    fn deadlock(&self, block: &Block<'t>) -> Option<Finding> {
        let healed = self.history.last_fault.filter(|event| event.at > block.from);
        let from = healed.map_or(block.from, |event| event.at);
        let width = block.until.since(from);
        let bound = self.history.trace.progress_bound;
        if width <= bound {
            return None;
        }
        let waited = |section: &&Section<'_>| section.waited_within(from, block.until);
        let of_key = self.history.sections.iter().filter(|section| section.key == self.key);
        // The first of those that waited longest speaks for all.
        let waiter = of_key.rev().max_by_key(waited)?;
        let orphans = self.orphans(from, block.until);
        let mut text = format!(
            "deadlock: for {} nobody got `{}` although none held it; {} waited {}; the design's bound is {}",
            ms(width),
            self.history.key_name(self.key),
            who(self.history, waiter.id),
            if waited(&waiter) >= width {
                "all that time".to_owned()
            } else {
                format!("{} of that", ms(waited(&waiter)))
            },
            ms(bound),
        );
        if let Some(first) = orphans.first() {
            text.push_str(&format!("; in the way: {}", self.orphan(first, &orphans, waiter)));
        }
        let left = orphans.iter().map(|record| record.created);
        let proof = [healed, waiter.asked, block.end].into_iter().flatten();
        Some(Finding { text, grants: vec![waiter.id], events: cite(proof.chain(left)), width: Some(width) })
    }

    /// What stores kept of the key for most of a block, the longest first, as far as it is of one grant: nobody held it,
    /// so nobody is left who would release it.
    fn orphans(&self, from: TrueTime, until: TrueTime) -> Vec<&'h Record<'t>> {
        let kept = |record: &Record<'_>| {
            let end = record.ended.map_or(until, |event| event.at.min(until));
            end.since(record.created.at.max(from))
        };
        let here = |record: &&Record<'_>| record.on_store && record.key == self.key;
        let records = self.history.records.iter().filter(here);
        let mut most: Vec<&Record<'_>> =
            records.filter(|record| kept(record) * 2 > until.since(from)).collect();
        most.sort_by_key(|record| std::cmp::Reverse(kept(record)));
        let creator = most.first().and_then(|record| record.created.grant);
        most.retain(|record| record.created.grant == creator);
        most
    }

    /// An orphaned record in words: where it is, whose request created it, and what had become of that section.
    fn orphan(&self, record: &Record<'_>, alike: &[&Record<'_>], waiter: &Section<'_>) -> String {
        let mut hosts: Vec<&str> =
            alike.iter().map(|record| self.history.trace.host_name(record.created.host)).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let created = record.created;
        let what = format!("the record on {}, created at {}", hosts.join(", "), created.at);
        let Some(section) = created.grant.and_then(|id| self.history.place_of(id)) else { return what };
        let section = &self.history.sections[section];
        if section.id == waiter.id {
            return format!("{what} by an earlier request of its own");
        }
        format!("{what} for {}, {}", who(self.history, section.id), fate(section))
    }
}

/// How a section ended whose record is still there.
fn fate(section: &Section<'_>) -> String {
    let end = section.grant.as_ref().map_or(section.answered, |grant| grant.let_go);
    let Some(end) = end else { return "which has not let go".to_owned() };
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
    use picklock_sim::trace::Latecomer;
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn a_waiter_served_within_the_bound_holds() {
        let trace = Script::new().at(0).waits(A1).at(100).acquires(A1).at(500).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_free_lock_that_nobody_gets_for_longer_than_the_bound_is_a_deadlock() {
        let trace = Script::new().at(0).waits(A1).at(101).acquires(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(101));
        assert_eq!(found.grants, [A1]);
        assert_eq!(cited(&trace, &found), ["0 client-1 waiting", "101 client-1 acquired"]);
        let text = "deadlock: for 101 ms nobody got `stock` although none held it; client-1 (section 1) waited \
                    all that time; the design's bound is 100 ms";
        assert_eq!(found.text, text);
    }

    #[test]
    fn what_stands_in_the_way_is_cited_with_whoever_left_it() {
        let script = Script::new().at(0).waits(A1).at(5).creates(A1, NODE_1).at(20).crashes(CLIENT_1);
        let trace = script.at(30).waits(B1).at(400).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [B1]);
        assert!(
            cited(&trace, &found).contains(&"5 node-1 created".to_owned()),
            "{:?}",
            cited(&trace, &found)
        );
        let left = "in the way: the record on node-1, created at 0.005000s for client-1 (section 1), \
                    which died asking for it at 0.020000s";
        assert!(found.text.ends_with(left), "{}", found.text);
    }

    #[test]
    fn a_wait_behind_a_holder_is_no_block() {
        let trace = Script::new().held(A1, 0, 800).at(10).waits(B1).at(850).acquires(B1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_block_begins_when_the_release_returns() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(100).releasing(A1).at(300).released(A1);
        let trace = script.at(10).waits(B1).at(450).acquires(B1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(150));
    }

    #[test]
    fn a_block_begins_with_the_holders_crash() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(300).crashes(CLIENT_1).at(10).waits(B1);
        let trace = script.at(450).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!((found.width, found.grants.as_slice()), (wide(150), [B1].as_slice()));
    }

    #[test]
    fn somebody_elses_grant_ends_the_block() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(90).acquires(B1).at(95).released(B1);
        assert_eq!(judge(&INVARIANT, &script.at(190).acquires(A1).trace()), Outcome::Holds);
    }

    #[test]
    fn only_the_part_after_the_last_fault_counts() {
        let script = || Script::new().at(0).waits(A1).at(400).heals();
        assert_eq!(judge(&INVARIANT, &script().at(500).acquires(A1).trace()), Outcome::Holds);
        let trace = script().at(501).acquires(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(101));
        assert_eq!(cited(&trace, &found)[1], "400 resource healed");
    }

    #[test]
    fn the_end_of_the_run_cuts_a_wait_short_but_does_not_excuse_a_long_one() {
        assert_eq!(judge(&INVARIANT, &Script::new().at(900).waits(A1).trace()), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &Script::new().at(899).waits(A1).trace()).width, wide(101));
    }

    #[test]
    fn waiters_that_take_turns_do_not_hide_a_deadlock() {
        let turns = |gap: u64| {
            let script = Script::new().at(0).waits(A1).at(60).gives_up(A1).at(60 + gap).waits(B1);
            script.at(120).gives_up(B1).trace()
        };
        assert_eq!(finding(&INVARIANT, &turns(9)).width, wide(120));
        assert_eq!(judge(&INVARIANT, &turns(10)), Outcome::Holds);
    }

    #[test]
    fn the_silence_after_the_last_waiter_does_not_count() {
        let script = Script::new().at(0).waits(A1).at(60).gives_up(A1).at(700).waits(B1).at(760).acquires(B1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
        assert_eq!(
            judge(&INVARIANT, &Script::new().at(0).waits(A1).at(60).gives_up(A1).trace()),
            Outcome::Holds
        );
    }

    #[test]
    fn the_one_that_waited_longest_speaks_for_all() {
        let script = Script::new().at(0).waits(A1).at(1).waits(B1).at(50).gives_up(A1).at(200).gives_up(B1);
        assert_eq!(finding(&INVARIANT, &script.trace()).grants, [B1]);
    }

    #[test]
    fn a_run_that_was_over_before_a_fresh_client_could_ask_is_unknown() {
        let mut trace = Script::new().held(A1, 5, 50).trace();
        trace.latecomer = Some(Latecomer { host: CLIENT_2, came: None });
        assert!(is_unknown(&INVARIANT, &trace));
        trace.latecomer = Some(Latecomer { host: CLIENT_2, came: Some(at(60)) });
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn keys_are_judged_apart() {
        let script = Script::new().at(0).waits(A1).at(60).acquires(A1).at(70).released(A1);
        let trace = script.on("other").at(0).waits(B1).at(130).gives_up(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!((found.width, found.grants.as_slice()), (wide(130), [B1].as_slice()));
    }

    #[test]
    fn nobody_waiting_after_the_last_fault_says_nothing() {
        assert!(is_unknown(&INVARIANT, &Script::new().at(5).reads(A1, 0).trace()));
        assert!(is_unknown(&INVARIANT, &Script::new().held(A1, 0, 50).at(60).heals().trace()));
        let trace = Script::new().at(0).waits(A1).at(70).crashes(CLIENT_1).trace();
        assert!(is_unknown(&INVARIANT, &trace));
    }

    proptest! {
        #[test]
        fn a_deadlock_is_a_stretch_of_waiting_without_a_holder_longer_than_the_bound(
            sections in prop::collection::vec((0..500_u64, 0..200_u64, any::<bool>(), 0..200_u64), 1..6),
            healed in 0..400_u64,
        ) {
            let mut script = Script::new().at(healed).heals();
            for ((asked, wait, granted, hold), client) in sections.iter().zip(0..) {
                let grant = section(client, 1);
                script = script.at(*asked).waits(grant).at(asked + wait);
                script = match granted {
                    true => script.acquires(grant).at(asked + wait + hold).released(grant),
                    false => script.gives_up(grant),
                };
            }
            // Millisecond by millisecond: how long it has been blocked, forgiving pauses of less than 10 ms.
            let (mut since, mut idle, mut longest) = (None, 0, 0);
            for now in 0..=1_000_u64 {
                let gets = sections.iter().any(|(asked, wait, granted, _)| *granted && asked + wait == now);
                let waits = sections.iter().any(|(asked, wait, _, _)| (*asked..asked + wait).contains(&now));
                let holds = sections
                    .iter()
                    .any(|(asked, wait, granted, hold)| *granted && (asked + wait..asked + wait + hold).contains(&now));
                if gets || holds || idle >= 10 {
                    (since, idle) = (None, 0);
                }
                if waits && !holds {
                    let start = *since.get_or_insert(now);
                    idle = 0;
                    longest = longest.max(now + 1 - start.max(healed).min(now + 1));
                } else {
                    idle += u64::from(since.is_some());
                }
            }
            let waits = sections.iter().any(|(asked, wait, _, _)| asked + wait > healed);
            prop_assume!(waits);
            prop_assert_eq!(!findings(&INVARIANT, &script.trace()).is_empty(), longest > 100);
        }
    }
}
