//! Bugs that real libraries had, as designs of the catalogue: a scenario finds each, and is silent on the design that does
//! the same without the bug.
//!
//! Left out on purpose: everything of those libraries that the bug does not need.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

#[path = "support/cells.rs"]
mod cells;

use cells::{Cell, design};

/// One bug.
struct Bug {
    /// The library, its versions, and where the bug is told.
    source: &'static str,
    /// The design that has it.
    buggy: &'static str,
    /// The same without it.
    fixed: &'static str,
    /// The scenario that finds it.
    scenario: &'static str,
    /// What it violates.
    invariant: &'static str,
}

const BUGS: [Bug; 4] = [
    Bug {
        source: "Redisson <= 2.3, https://github.com/redisson/redisson/issues/597: renewal without an owner check",
        buggy: "timer-renew",
        fixed: "watchdog",
        scenario: "pause",
        invariant: "ownership",
    },
    Bug {
        source: "redis-py 2.10, the lock's SETNX and then PEXPIRE: a crash between the two",
        buggy: "setnx-expire",
        fixed: "set-px-del",
        scenario: "client-crash",
        invariant: "progress",
    },
    Bug {
        source: "Spring RedisLockRegistry before 6.2, \
                 https://github.com/spring-projects/spring-integration/issues/8699: GET, then UNLINK",
        buggy: "get-del",
        fixed: "single",
        scenario: "late-release",
        invariant: "ownership",
    },
    Bug {
        source: "tutorials' Redlock that leaves failed attempts to their leases: votes that stay split",
        buggy: "redlock-budget",
        fixed: "redlock-budget{failure=release}",
        scenario: "calm",
        invariant: "progress",
    },
];

/// Enough for a bug that shows in one run of forty to be missed less than once in a thousand times.
const SEEDS: u64 = 280;

#[test]
fn every_bug_is_found_and_its_fix_is_not_accused() {
    for bug in BUGS {
        let scenario = suite::builtin().into_iter().find(|scenario| scenario.name() == bug.scenario).unwrap();
        let found = |spelling: &str| {
            let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
            (0..SEEDS).filter(|seed| cell.run(Engine::Event, *seed).violates(bug.invariant)).count()
        };
        assert!(found(bug.buggy) > 0, "{} was not found", bug.source);
        assert_eq!(found(bug.fixed), 0, "{}: {} is accused of it", bug.source, bug.fixed);
    }
}
