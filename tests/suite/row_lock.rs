//! Data in the lock's own store: what a row lock guards is judged as what lies at the resource is.

use std::path::Path;

use picklock_judge::outcome::Outcome;
use picklock_model::trace::{Role, What};
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

const BROKEN: &str = "row-lock{read=plain}";

fn scenario(name: &str, settings: &[&str]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/suite/{name}.toml"));
    let mut scenario = Scenario::load(&file, &picklock_stores::params()).unwrap();
    scenario.set_all(settings).unwrap();
    scenario
}

fn cell(spelling: &str, name: &str) -> Cell {
    Cell::of(&design(spelling), scenario(name, &[])).unwrap()
}

#[test]
fn reading_without_for_update_loses_updates_where_nothing_goes_wrong() {
    let cell = cell(BROKEN, "calm");
    let lost = (0..20).filter(|seed| cell.run(Engine::Event, *seed).violates("no-lost-update")).count();
    let stale = (0..20).filter(|seed| cell.run(Engine::Event, *seed).violates("effective-exclusion")).count();
    assert!(lost >= 15 && stale >= 15, "lost under {lost} of 20 seeds, interleaved under {stale}");
}

#[test]
fn the_sound_lock_is_silent_and_both_invariants_have_looked() {
    for name in ["calm", "pause"] {
        let cell = cell("row-lock", name);
        let mut judged = 0;
        for seed in 0..30 {
            let run = cell.run(Engine::Event, seed);
            assert_eq!(run.violated(), Vec::<String>::new(), "{name}, seed {seed}");
            let holds = |name: &str| {
                run.outcomes.iter().any(|(it, outcome)| it.name == name && *outcome == Outcome::Holds)
            };
            judged += usize::from(holds("effective-exclusion") && holds("no-lost-update"));
        }
        assert!(judged >= 25, "{name}: {judged} of 30 runs say something of both");
    }
}

#[test]
fn every_fault_of_the_suite_leaves_the_sound_lock_its_updates() {
    for name in
        ["client-crash", "suspend", "stall", "lost-reply", "client-partition", "delay", "node-restart"]
    {
        let cell = cell("row-lock", name);
        for seed in 0..15 {
            let run = cell.run(Engine::Event, seed);
            for invariant in ["effective-exclusion", "no-lost-update"] {
                assert!(!run.violates(invariant), "{name}, seed {seed}: {invariant}");
            }
        }
    }
}

#[test]
fn nobody_asks_the_resource_for_what_lies_in_the_store() {
    let run = cell("row-lock", "calm").run(Engine::Event, 1);
    let host = |event: &picklock_model::trace::Event| run.trace.role(event.host);
    let changes = |what: &What| matches!(what, What::ResourceRead { .. } | What::ResourceWritten { .. });
    let mut operations = run.trace.events.iter().filter(|event| changes(&event.what)).peekable();
    assert!(operations.peek().is_some());
    assert!(operations.all(|event| host(event) == Some(Role::Leader)));
    assert!(!run.trace.events.iter().any(|event| host(event) == Some(Role::Resource)));
}

#[test]
fn a_fault_at_the_links_to_the_resource_does_not_apply_to_it() {
    for name in ["client-partition", "delay"] {
        let scenario = scenario(name, &["links=resource"]);
        let why = scenario.adapt(&design("row-lock")).unwrap_err();
        assert_eq!(why, "it hits the links to the resource, and the design's data lie in its own store");
        assert!(scenario.adapt(&design("row-lock-outside")).is_ok());
    }
    assert!(scenario("seckill", &[]).adapt(&design("row-lock")).is_err());
}

#[test]
fn a_holder_that_lost_its_power_is_a_stall_that_the_store_announces() {
    let scenario = scenario("client-crash", &["power_loss=yes"]);
    for spelling in ["row-lock", "row-lock-outside"] {
        let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
        let runs: Vec<_> = (0..40).map(|seed| cell.run(Engine::Event, seed)).collect();
        for run in &runs {
            assert!(
                !run.violates("progress") && !run.violates("clean-failure"),
                "{spelling}: {:?}",
                run.violated()
            );
        }
        let named = runs.iter().filter(|run| {
            run.outcomes
                .iter()
                .any(|(_, outcome)| matches!(outcome, Outcome::Undecided(why) if why.contains("7875 s")))
        });
        assert!(named.count() >= 10, "{spelling}: the bound is named");
    }
}

#[test]
fn a_server_without_power_leaves_a_run_open_no_longer_than_its_clients_wait_for_it() {
    for (spelling, seed) in [("row-lock", 0), ("row-lock", 1), ("advisory", 1)] {
        let run = cell(spelling, "failover").run(Engine::Event, seed);
        let progress = run.outcomes.iter().find(|(invariant, _)| invariant.name == "progress");
        let is_open = matches!(progress, Some((_, Outcome::Undecided(_))));
        assert!(!is_open, "{spelling} {seed}: {progress:?}");
    }
}

#[test]
fn the_row_of_a_dead_client_is_a_deadlock() {
    let cell = cell("unique-row", "client-crash");
    let blocked = (0..20).filter(|seed| cell.run(Engine::Event, *seed).violates("progress")).count();
    assert!(blocked >= 5, "{blocked} of 20");
}

#[test]
fn a_client_without_a_time_out_hangs_on_a_server_that_lost_its_power() {
    let scenario = scenario("node-restart", &["power_loss=yes", "horizon=20 x ttl"]);
    let blocked = |spelling: &str| {
        let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
        (0..20).filter(|seed| cell.run(Engine::Event, *seed).violates("progress")).count()
    };
    assert_eq!(blocked("row-lock"), 0);
    assert!(blocked("row-lock{client_timeout=none}") >= 10);
}

#[test]
fn a_token_of_a_sequence_keeps_late_writes_out() {
    for (plain, scenario) in
        [("row-lock-outside", "node-restart"), ("advisory", "node-restart"), ("lease-row{time=now}", "pause")]
    {
        let harmed = |spelling: &str| {
            let cell = cell(spelling, scenario);
            (0..40).filter(|seed| cell.run(Engine::Event, *seed).violates("no-lost-update")).count()
        };
        let fenced = match plain.strip_suffix('}') {
            Some(open) => format!("{open},fencing=sequence}}"),
            None => format!("{plain}{{fencing=sequence}}"),
        };
        assert!(harmed(plain) >= 5, "{plain}");
        assert_eq!(harmed(&fenced), 0, "{fenced}");
    }
}

#[test]
fn a_server_that_looks_for_silent_clients_gives_a_lock_away_under_a_cut() {
    let scenario =
        scenario("client-partition", &["links=lock", "for=6s..8s", "horizon=20s", "work=3 x ttl..5 x ttl"]);
    let overlaps = |spelling: &str| {
        let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
        (0..60).filter(|seed| cell.run(Engine::Event, *seed).violates("effective-exclusion")).count()
    };
    assert_eq!(overlaps("row-lock-outside"), 0);
    assert!(overlaps("row-lock-outside{keepalive=short}") >= 10);
    // What is in the database is not harmed.
    assert_eq!(overlaps("row-lock{keepalive=short}"), 0);
}

#[test]
fn each_design_on_postgres_repeats_itself_on_both_engines() {
    let spellings = [
        "row-lock{give_up=cancel}",
        "row-lock-outside{keepalive=short,fencing=sequence}",
        "skip-locked",
        "advisory{scope=transaction}",
        "advisory-pooled",
        "lease-row{time=now,fencing=sequence}",
        "unique-row",
        "optimistic-row",
    ];
    for spelling in spellings {
        for name in ["pause", "client-crash", "node-restart", "lost-connection", "failover"] {
            // No pooler knows two servers.
            if (spelling, name) == ("advisory-pooled", "failover") {
                continue;
            }
            let cell = cell(spelling, name);
            for engine in [Engine::Event, Engine::TURMOIL] {
                let digest = || cell.run(engine, 3).trace.digest;
                assert_eq!(digest(), digest(), "{spelling} under {name}");
            }
        }
    }
}

/// How many of 30 runs of a failover harm, with these settings.
fn harmed_by_a_failover(spelling: &str, settings: &[&str], invariant: &str) -> usize {
    let cell = Cell::of(&design(spelling), scenario("failover", settings)).unwrap();
    (0..30).filter(|seed| cell.run(Engine::Event, *seed).violates(invariant)).count()
}

#[test]
fn a_failover_takes_lock_and_change_together_and_nothing_that_a_synchronous_standby_has() {
    const SYNCHRONOUS: &[&str] = &["synchronous_commit=on"];
    const FENCED: &[&str] = &["synchronous_commit=on", "fenced=yes"];
    for spelling in ["row-lock", "skip-locked", "optimistic-row"] {
        for settings in [&[][..], SYNCHRONOUS, FENCED] {
            assert_eq!(harmed_by_a_failover(spelling, settings, "effective-exclusion"), 0, "{spelling}");
        }
        assert!(harmed_by_a_failover(spelling, &[], "no-lost-update") >= 20, "{spelling}");
        for settings in [SYNCHRONOUS, FENCED] {
            assert_eq!(harmed_by_a_failover(spelling, settings, "no-lost-update"), 0, "{spelling}");
        }
    }
}

#[test]
fn a_commit_is_lost_with_the_power_if_the_disk_is_late_and_only_then() {
    let lost = |spelling: &str, settings: &[&str]| {
        let mut scenario = suite::named("late-disk", &picklock_stores::params()).unwrap();
        scenario.set_all(settings).unwrap();
        let cell = Cell::of(&design(spelling), scenario).unwrap();
        (0..40).filter(|seed| cell.run(Engine::Event, *seed).violates("no-lost-update")).count()
    };
    for spelling in ["row-lock", "skip-locked", "optimistic-row"] {
        assert_eq!(lost(spelling, &["disk_delay=0s"]), 0, "{spelling}");
        // The processes alone are gone.
        assert_eq!(lost(spelling, &["power_loss=no"]), 0, "{spelling}");
        for settings in [&[][..], &["disk_delay=0s", "synchronous_commit=off"], &["fsync=off"]] {
            let lost = lost(spelling, settings);
            assert!(lost >= 10, "{spelling}, {settings:?}: {lost} of 40");
        }
    }
}

#[test]
fn a_lock_without_a_commit_is_lost_in_any_failover() {
    for spelling in ["advisory", "row-lock-outside"] {
        for settings in [&[][..], &["synchronous_commit=on", "fenced=yes"]] {
            let harmed = harmed_by_a_failover(spelling, settings, "effective-exclusion");
            assert!(harmed >= 10, "{spelling}: {harmed} of 30");
        }
    }
}

#[test]
fn a_lost_connection_ends_the_locks_of_sessions_and_no_lease() {
    for (spelling, harmed) in
        [("row-lock-outside", true), ("row-lock", false), ("lease-row", false), ("single", false)]
    {
        let cell = cell(spelling, "lost-connection");
        let found = (0..20).filter(|seed| cell.run(Engine::Event, *seed).violates("no-lost-update")).count();
        let expected = if harmed { 16..=20 } else { 0..=0 };
        assert!(expected.contains(&found), "{spelling}: {found} of 20");
    }
}

#[test]
fn a_forgotten_connection_blocks_the_others_until_keepalives_end_it() {
    let stuck = |spelling: &str| {
        let scenario = scenario("lost-connection", &["how=forgotten", "horizon=20 x ttl"]);
        let cell = Cell::of(&design(spelling), scenario).unwrap();
        let runs: Vec<_> = (0..20).map(|seed| cell.run(Engine::Event, seed)).collect();
        assert!(
            !runs.iter().any(|run| run.violates("progress")),
            "{spelling}: a stall that is announced is none"
        );
        runs.iter()
            .filter(|run| {
                run.outcomes.iter().any(|(invariant, outcome)| {
                    invariant.name == "progress"
                        && matches!(outcome, Outcome::Undecided(why) if why.contains("forgotten"))
                })
            })
            .count()
    };
    let (defaults, short) = (stuck("row-lock"), stuck("row-lock{keepalive=short}"));
    assert!(defaults > 10 && short == 0, "{defaults} and {short} of 20");
}

#[test]
fn without_leases_a_block_is_a_deadlock_after_a_second() {
    let run = cell("row-lock", "calm").run(Engine::Event, 1);
    assert_eq!(run.trace.progress_bound.as_millis(), 1_000);
}
