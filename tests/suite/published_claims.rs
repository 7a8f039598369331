//! Statements that articles and the project's own table of verdicts make of these locks, each confirmed or refuted by runs
//! that are written for it.

use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_campaign::counterexamples;
use picklock_model::plan::{Access, Action, Edge, Injection, Latency, Phase, Plan, Point, Target, When};
use picklock_model::trace::{Event, What};
use picklock_reports::Style;
use picklock_reports::story::timeline::{self, Detail};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};
use crate::stage::*;

/// Before the request of this number (from 0) that client-1 sends to the only store in a phase.
fn before_request(phase: Phase, nth: u32) -> When {
    let (host, peer) = ("client-1".into(), "node-1".into());
    let point = Point { host, section: 1, phase, access: Access::Write, peer, nth, edge: Edge::Before };
    When::Point { point, after: Duration::ZERO }
}

/// The widest overlap of two beliefs; zero if there is none.
fn overlap(run: &Checked) -> Duration {
    let found = run.violations().filter(|(invariant, _)| invariant.name == "mutual-exclusion");
    let widths = found.flat_map(|(_, findings)| findings).filter_map(|finding| finding.width);
    widths.max().unwrap_or_default()
}

/// A release of two commands, `GET` and then `DEL`.
mod get_del {
    use super::*;

    const GET: u32 = 0;
    const DEL: u32 = 1;

    /// client-1 stops before a request of its release; client-2 works for so long once it has the lock.
    fn stopped_before(request: u32, lasts: Duration, other_works: Duration) -> Checked {
        let pause = injection(before_request(Phase::Release, request), first(), Action::Pause { lasts });
        let mut plan = stage([pause]);
        plan.clients[1] = client("client-2", ms(100), other_works, 1);
        run("get-del", plan)
    }

    #[test]
    fn it_releases_anothers_lock_only_if_expiry_and_reacquire_fall_between_the_two() {
        let found = stopped_before(DEL, LEASE, ms(600));
        assert!(found.violates("ownership"), "{:?}", found.violated());
        for (why, run) in [
            ("the GET finds the value of the other", stopped_before(GET, LEASE, ms(600))),
            ("the lease has not run out", stopped_before(DEL, LEASE / 2, ms(600))),
            ("the other has released already", stopped_before(DEL, LEASE, ms(50))),
        ] {
            assert!(took_effect(&run) && !run.violates("ownership"), "{why}: {:?}", run.violated());
        }
    }

    #[test]
    fn the_timeline_shows_how() {
        let design = design("get-del");
        let found = stopped_before(DEL, LEASE, ms(600));
        let story = counterexamples::story(&design, "a stop between GET and DEL", &found, String::new());
        let text = timeline::render(&story, &Style { colour: false, width: 120 }, Detail::Relevant);
        let mut rest = text.as_str();
        for line in [
            "begins to release `stock`",
            "pauses until",
            "drops `stock`: expired at",
            "creates the record of `stock` for client-2 ◀",
            "runs again",
            "deletes the record of `stock` for client-1, which is that of client-2 ◀",
        ] {
            let at = rest.find(line).unwrap_or_else(|| panic!("`{line}` is not in the story:\n{text}"));
            rest = &rest[at..];
        }
    }
}

/// A lock taken by `SETNX` and given its lease by a second command.
mod setnx_expire {
    use super::*;

    fn crashed(when: When) -> Checked {
        let crash = Action::Crash { power_loss: false, restart_after: None };
        run("setnx-expire", stage([injection(when, first(), crash)]))
    }

    #[test]
    fn a_crash_between_its_two_commands_is_a_deadlock_and_one_after_them_a_stall() {
        let between = crashed(before_request(Phase::Acquire, 1));
        let (_, findings) =
            between.violations().find(|(invariant, _)| invariant.name == "progress").expect("a deadlock");
        // Nobody gets it until the end of the run, however long that is.
        assert!(findings[0].width > Some(ms(7_000)), "{:?}", findings[0]);
        assert_eq!(granted(&between, "client-2"), None);

        let before = crashed(before_request(Phase::Acquire, 0));
        assert!(!before.violates("progress") && granted(&before, "client-2") < Some(at_ms(200)));

        let holding = crashed(at(150));
        assert!(!holding.violates("progress"), "a stall is measured, not accused");
        let had = granted(&holding, "client-2").unwrap();
        assert!((at_ms(1_000)..at_ms(1_070)).contains(&had), "{had}: when the lease has run out");
        assert!(holding.metrics.blocked_ns > 800_000_000, "{}", holding.metrics.blocked_ns);
    }
}

/// A timer that extends whatever lock there is.
mod timer_renew {
    use super::*;

    /// How many of 100 runs without any fault end with a breach of ownership: sections longer than the lease, several
    /// waiters, and a network in which a message may overtake one that was sent much earlier on another connection.
    fn foreign(spelling: &str) -> usize {
        let mut scenario = suite::named("long-work", &picklock_stores::params()).unwrap();
        let settings = ["clients=6", "latency=200us..60ms", "horizon=14 x ttl", "wait=14 x ttl"];
        scenario.set_all(&settings).unwrap();
        let cell = Cell::of(&design(spelling), scenario).unwrap();
        (0..100).filter(|seed| cell.run(Engine::Event, *seed).violates("ownership")).count()
    }

    #[test]
    fn without_a_fault_it_extends_anothers_lock_only_over_a_connection_of_its_own() {
        assert_eq!(foreign("timer-renew"), 0);
        assert!(foreign("timer-renew{connection=own}") > 0);
        assert_eq!(foreign("watchdog"), 0);
    }
}

/// Redlock on five stores, of which one was locked before the others.
mod redlock {
    use super::*;

    /// A network so fast that only what is injected takes time.
    const LATENCY: Latency = Latency { min: Duration::from_micros(10), max: Duration::from_micros(10) };

    /// client-1 asks at 50 ms and works for long; client-2 asks once, after `think`.
    fn plan(injections: Vec<Injection>, think: Duration) -> Plan {
        let mut plan = stage(injections);
        plan.world.latency = LATENCY;
        plan.clients = vec![client("client-1", ms(50), ms(3_000), 1), client("client-2", think, ms(600), 1)];
        plan
    }

    /// Runs in which client-2 asks about when the first store drops the lease of client-1. Redis counts in milliseconds, so
    /// that it may do so a little earlier or later.
    fn contested(spelling: &str, injections: &[Injection]) -> Vec<Checked> {
        let alone = run(spelling, plan(injections.to_vec(), ms(5_000)));
        let locked = when(&alone, "node-1", |what| matches!(what, What::Created { .. })).unwrap();
        let first_ask = Duration::from_nanos(locked.0) + LEASE - ms(1);
        let asks = (0..20).map(|nth| first_ask + nth * Duration::from_micros(100));
        asks.map(|think| run(spelling, plan(injections.to_vec(), think))).collect()
    }

    fn widest_overlap(spelling: &str, injections: &[Injection]) -> Duration {
        contested(spelling, injections).iter().map(overlap).max().unwrap()
    }

    #[test]
    fn renewal_lets_work_outlast_the_lease_for_who_relies_on_it_and_not_for_an_honest_holder() {
        let mut scenario = suite::named("long-work", &picklock_stores::params()).unwrap();
        scenario.set_all(&["clients=3", "horizon=8 x ttl"]).unwrap();
        let runs = |spelling: &str| -> Vec<Checked> {
            let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
            (0..20).map(|seed| cell.run(Engine::Event, seed)).collect()
        };
        let writes = |runs: &[Checked]| -> usize {
            let clients = ["client-1", "client-2", "client-3"];
            runs.iter()
                .map(|run| clients.iter().map(|client| written(run, client).len()).sum::<usize>())
                .sum()
        };
        for renewal in ["on", "jittered", "shared"] {
            let renewed = runs(&format!("redlock-naive{{renewal={renewal}}}"));
            assert!(renewed.iter().all(|run| run.violated().is_empty()), "{renewal}");
            assert_eq!(writes(&renewed), 60, "{renewal}: every section gets done");
        }
        assert!(runs("redlock-naive").iter().all(|run| run.violates("mutual-exclusion")));
        let honest = runs("redlock{renewal=on}");
        assert!(honest.iter().all(|run| run.violated().is_empty()));
        assert_eq!(writes(&honest), 0, "its deadline is that of the first lease");
    }

    /// The example of article 3: one store is locked 100 ms before two others, and that is the majority.
    fn one_store_earlier() -> Vec<Injection> {
        let late =
            Action::Delay { to: Target::host("node-2"), by: ms(100), lasts: ms(20), messages: Some(1) };
        // Two stores do not vote for it, and it learns that at once: the process is gone.
        let others = Target::Hosts(vec!["node-4".to_owned(), "node-5".to_owned()]);
        let down = Action::Crash { power_loss: false, restart_after: Some(LEASE / 2) };
        vec![injection(at(45), first(), late), injection(at(45), others, down)]
    }

    #[test]
    fn an_honest_holder_has_no_overlap_when_one_store_was_locked_earlier() {
        for run in contested("redlock{timeout=50}", &one_store_earlier()) {
            assert!(!run.violates("mutual-exclusion") && !run.violates("honest-validity"));
            let first = granted(&run, "client-1").unwrap();
            assert!((at_ms(150)..at_ms(152)).contains(&first), "{first}: 100 ms after the first store");
            assert!(granted(&run, "client-2").is_some());
        }
    }

    #[test]
    fn a_deadline_counted_from_the_last_reply_overlaps_by_as_much_as_the_store_was_earlier() {
        let overlap = widest_overlap("redlock{timeout=50,belief=trusting}", &one_store_earlier());
        assert!(overlap.abs_diff(ms(100)) <= ms(1), "{overlap:?}");
    }

    /// With the whole time that one store may take to answer, three answer as late as this and two do not answer at all.
    fn slow(delays: [u64; 3]) -> Vec<Injection> {
        let silent = Target::Hosts(vec!["node-4".to_owned(), "node-5".to_owned()]);
        let cut = Action::Cut { to: silent, both: true, lasts: ms(6_000) };
        let mut injections = vec![injection(at(45), first(), cut)];
        for (node, by) in (1..).zip(delays) {
            let late = Action::Delay { to: first(), by: ms(by), lasts: LEASE, messages: Some(1) };
            injections.push(injection(at(45), Target::host(format!("node-{node}")), late));
        }
        injections
    }

    #[test]
    fn half_a_lease_as_a_budget_overlaps_by_up_to_half_a_lease_and_not_by_more() {
        let found = |delays| widest_overlap("redlock-budget{belief=trusting}", &slow(delays));
        // Ascends one delay after the other, in smaller and smaller steps, as long as the overlap grows.
        let (mut best, mut widest) = ([0; 3], found([0; 3]));
        for step in [64, 32, 16, 8, 4, 2, 1] {
            for node in 0..3 {
                let mut tried = best;
                tried[node] += step;
                let overlap = found(tried);
                assert!(overlap < LEASE / 2, "{tried:?}: {overlap:?}");
                if overlap > widest {
                    (best, widest) = (tried, overlap);
                }
            }
        }
        assert!(widest > LEASE / 2 - ms(10), "{best:?}: {widest:?}");
    }
}

/// No lock: a change is made only if the resource still is what was read.
mod optimistic {
    use super::*;

    fn runs(scenario: &str, settings: &[&str]) -> Vec<Checked> {
        let mut scenario = suite::named(scenario, &picklock_stores::params()).unwrap();
        scenario.set_all(settings).unwrap();
        let cell = Cell::of(&design("optimistic"), scenario).unwrap();
        (0..60).map(|seed| cell.run(Engine::Event, seed)).collect()
    }

    fn retries(runs: &[Checked]) -> u64 {
        runs.iter().map(|run| run.metrics.retries).sum()
    }

    #[test]
    fn it_never_oversells_and_its_retries_under_contention_are_counted() {
        let sold = |run: &Checked| {
            let taken = |event: &&Event| matches!(event.what, What::ResourceTaken { taken: true, .. });
            of(run, "resource").filter(taken).count()
        };
        let contended = runs("seckill", &[]);
        assert!(contended.iter().all(|run| run.violated().is_empty() && sold(run) <= 4));
        assert!(contended.iter().any(|run| sold(run) == 4));
        assert!(retries(&contended) > 60, "{}", retries(&contended));
        assert_eq!(retries(&runs("seckill", &["clients=1"])), 0, "nobody else is ever faster");
    }

    #[test]
    fn somebody_gets_on_however_long_the_work_takes() {
        let runs = runs("long-work", &["clients=4", "work=6 x ttl..9 x ttl", "horizon=60 x ttl"]);
        assert!(runs.iter().all(|run| run.violated().is_empty()));
        let changes = |run: &Checked| {
            of(run, "resource").filter(|event| matches!(event.what, What::ResourceWritten { .. })).count()
        };
        // And the one who comes last.
        assert!(runs.iter().all(|run| changes(run) == 5));
        assert!(retries(&runs) > 60, "{}", retries(&runs));
    }
}

/// Redisson's RedLock sets its lease at last by a command that does not look at the owner.
mod redlock_multi {
    use super::*;

    /// client-1 stops before a request to the second store, for longer than what it has taken lasts.
    fn stopped_before(request: u32) -> Checked {
        let When::Point { mut point, after } = before_request(Phase::Acquire, request) else {
            unreachable!()
        };
        point.peer = "node-2".into();
        let action = Action::Pause { lasts: LEASE + LEASE / 4 };
        let mut plan = stage([injection(When::Point { point, after }, first(), action)]);
        plan.clients[1] = client("client-2", ms(100), LEASE / 2, 1);
        run("redlock-multi{nodes=3}", plan)
    }

    #[test]
    fn a_holder_that_stopped_before_it_extends_what_is_by_then_anothers() {
        let extends = |run: &Checked| {
            let found = run.violations().filter(|(invariant, _)| invariant.name == "ownership");
            found.flat_map(|(_, findings)| findings).any(|finding| finding.text.contains("extended"))
        };
        let found: Vec<u32> = (0..6).filter(|request| extends(&stopped_before(*request))).collect();
        assert_eq!(found.len(), 1, "one of its requests to a store is the one that extends: {found:?}");
    }
}
