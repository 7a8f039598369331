//! Contention: a run in which nobody wanted what others held puts no exclusion to the test.
//!
//! A key is *contested* if, at some instant, as many hold it as may, and a section that one of them excludes is there as
//! well: it asks, it holds, or what it did is still at work at the resource. Two clients on two permits never contest,
//! nor do readers among themselves. A client that does not report that it asks may have asked at any time: of such a run it
//! counts that a key was granted twice.

use std::cmp::Ordering;

use picklock_model::time::TrueTime;
use picklock_model::trace::Exclusion;

use super::parts::{History, Section};

/// How a section changes the state of its key; what ends comes before what begins at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    LetsGo,
    Leaves,
    Comes,
    Gets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    key: usize,
    at: TrueTime,
    turn: Turn,
    shares: bool,
}

/// The sections that are there, and those of them that hold: those that share, and those that do not.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    here: [u32; 2],
    hold: [u32; 2],
}

impl History<'_> {
    /// True if some key was contested.
    #[must_use]
    pub fn is_contested(&self) -> bool {
        if self.sections.iter().any(|section| section.asked.is_none() && section.grant.is_some()) {
            return self.is_granted_twice();
        }
        let exclusion = self.trace.exclusion;
        let mut edges = self.edges();
        edges.sort_unstable_by(Edge::order);
        edges.chunk_by(|one, other| one.key == other.key).any(|of_key| {
            let mut presence = Presence::default();
            of_key.iter().any(|edge| {
                presence.turn(edge);
                presence.is_contest(exclusion)
            })
        })
    }

    fn is_granted_twice(&self) -> bool {
        let mut granted = vec![false; self.keys.len()];
        self.grants().any(|(section, _)| std::mem::replace(&mut granted[section.key], true))
    }

    fn edges(&self) -> Vec<Edge> {
        let mut at_work = vec![TrueTime::default(); self.sections.len()];
        for operation in &self.operations {
            if let Some(section) = operation.section {
                at_work[section] = operation.event.at;
            }
        }
        let mut edges = Vec::with_capacity(self.sections.len() * 4);
        for (section, at_work) in self.sections.iter().zip(at_work) {
            self.edges_of(section, at_work, &mut edges);
        }
        edges
    }

    fn edges_of(&self, section: &Section<'_>, at_work: TrueTime, edges: &mut Vec<Edge>) {
        let Some(asked) = section.asked else { return };
        let end = self.trace.end;
        let shares = section.grant.as_ref().map_or(section.asks_to_share, |grant| grant.shared);
        let mut edge = |at, turn| edges.push(Edge { key: section.key, at, turn, shares });
        let mut there = |from: TrueTime, until: TrueTime, [begins, ends]: [Turn; 2]| {
            if from < until {
                edge(from, begins);
                edge(until, ends);
            }
        };
        let answered = section.answered.map_or(end, |event| event.at);
        let Some(grant) = &section.grant else {
            return there(asked.at, answered.max(at_work), [Turn::Comes, Turn::Leaves]);
        };
        let let_go = grant.let_go.map_or(end, |event| event.at);
        there(asked.at, let_go.max(at_work), [Turn::Comes, Turn::Leaves]);
        there(grant.granted_at.max(asked.at), let_go, [Turn::Gets, Turn::LetsGo]);
    }
}

impl Edge {
    fn order(&self, other: &Edge) -> Ordering {
        (self.key, self.at, self.turn).cmp(&(other.key, other.at, other.turn))
    }
}

impl Presence {
    fn turn(&mut self, edge: &Edge) {
        let kind = usize::from(edge.shares);
        match edge.turn {
            Turn::Comes => self.here[kind] += 1,
            Turn::Leaves => self.here[kind] -= 1,
            Turn::Gets => self.hold[kind] += 1,
            Turn::LetsGo => self.hold[kind] -= 1,
        }
    }

    /// True if as many hold as may, and one more is there whom one of them excludes. Who holds is there, too.
    fn is_contest(self, exclusion: Exclusion) -> bool {
        let [alone, sharing] = self.hold;
        let here = self.here[0] + self.here[1];
        match exclusion {
            Exclusion::Mutual => alone + sharing >= 1 && here >= 2,
            Exclusion::Holders(most) => alone + sharing >= most && here > most,
            Exclusion::Modes => (alone >= 1 && here >= 2) || (sharing >= 1 && self.here[0] >= 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    fn contested(script: Script) -> bool {
        History::of(&script.trace()).is_contested()
    }

    #[test]
    fn who_asks_while_another_holds_contests_and_who_comes_later_does_not() {
        assert!(contested(Script::new().held(A1, 0, 50).at(49).waits(B1).at(60).gives_up(B1)));
        assert!(!contested(Script::new().held(A1, 0, 50).at(50).waits(B1).acquires(B1)));
        assert!(!contested(Script::new().held(A1, 0, 50).on("other").held(B1, 10, 60)));
    }

    #[test]
    fn two_that_ask_and_of_whom_none_gets_it_do_not_contest() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(50).gives_up(A1).gives_up(B1);
        assert!(!contested(script));
    }

    #[test]
    fn what_a_late_write_is_still_at_work_on_is_contested() {
        let script = || Script::new().held(A1, 0, 50).held(B1, 60, 90);
        assert!(!contested(script().at(55).writes(A1, 1)));
        assert!(contested(script().at(70).writes(A1, 1)));
    }

    #[test]
    fn as_many_as_may_hold_do_not_contest_and_one_more_does() {
        let two = || Script::new().excluding(Exclusion::Holders(2)).held(A1, 0, 50).held(B1, 10, 60);
        assert!(!contested(two()));
        assert!(!contested(two().at(50).waits(C1).at(70).gives_up(C1)), "one permit is free");
        assert!(contested(two().at(20).waits(C1).at(70).gives_up(C1)));
    }

    #[test]
    fn those_that_share_contest_only_with_those_that_do_not() {
        let reads = |script: Script, grant, from, until| {
            let script = script.at(from).waits_to_share(grant).shares(grant).acquires(grant);
            script.at(until).releasing(grant).released(grant)
        };
        let readers = || reads(Script::new().excluding(Exclusion::Modes), A1, 0, 50);
        assert!(!contested(reads(readers(), B1, 10, 60)));
        assert!(!contested(readers().at(10).waits_to_share(B1).at(20).gives_up(B1)));
        assert!(contested(readers().at(10).waits(B1).at(20).gives_up(B1)));
        assert!(contested(reads(readers(), B1, 70, 90).held(C1, 80, 95)));
    }

    #[test]
    fn of_clients_that_do_not_report_that_they_ask_it_counts_that_a_key_was_granted_twice() {
        let holds = |script: Script, grant| script.acquires(grant).releasing(grant).released(grant);
        assert!(!contested(holds(Script::new().at(5), A1)));
        assert!(contested(holds(holds(Script::new().at(5), A1).at(9), B1)));
    }
}
