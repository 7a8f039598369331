//! Features of a plan beyond one fault at a time: several tasks of a client, faults tied to others, how many stores forget,
//! grants that exclude each other by number or mode, and the questions asked at the end.

use std::ops::Range;

use picklock::campaign::check::{self, Checked};
use picklock::judge::outcome::Outcome;
use picklock::model::seed::Seed;
use picklock::model::trace::What;
use picklock::scenarios::scenario::Scenario;
use picklock::scenarios::suite;
use picklock::sim::design::{Design, spell};
use picklock::sim::engine::Engine;

/// So many runs of a design under a scenario of the suite, with settings.
fn runs(design: &str, scenario: &str, settings: &[&str], seeds: u64) -> Vec<Checked> {
    let scenario = suite::named(scenario, &picklock_stores::params()).unwrap();
    of(design, scenario, settings, seeds)
}

fn of(design: &str, mut scenario: Scenario, settings: &[&str], seeds: u64) -> Vec<Checked> {
    scenario.set_all(settings).unwrap();
    let design = scenario.adapt(&spell(picklock::impls::families(), design).unwrap()).unwrap();
    (0..seeds).map(|seed| check::seed(Engine::Event, &design, &scenario, Seed(seed)).unwrap()).collect()
}

fn violating(runs: &[Checked], invariant: &str) -> usize {
    runs.iter().filter(|run| run.violates(invariant)).count()
}

fn clean(runs: &[Checked]) -> bool {
    runs.iter().all(|run| run.violated().is_empty())
}

#[test]
fn what_impatient_clients_leave_behind_is_found_by_the_one_who_comes_last() {
    let runs = runs("setnx", "lost-reply", &["wait=0.1 x ttl"], 60);
    let blocked = runs.iter().find(|run| run.violates("progress")).unwrap();
    let (_, findings) = blocked.violations().find(|(invariant, _)| invariant.name == "progress").unwrap();
    let text = &findings[0].text;
    assert!(text.contains("final-client") && text.contains("in the way: the record on node-1"), "{text}");
    for run in &runs {
        let final_client = run.trace.final_client.unwrap();
        assert!(final_client.came.is_some(), "seed {}: nobody was asked", run.plan.seed.0);
    }
}

#[test]
fn two_tasks_under_one_owner_are_both_let_in_and_two_owners_are_not() {
    let settings = ["clients=1", "tasks=2"];
    assert_eq!(violating(&runs("reentrant", "calm", &settings, 20), "mutual-exclusion"), 20);
    assert!(clean(&runs("single", "calm", &settings, 60)));
    assert!(clean(&runs("watchdog", "calm", &["clients=2", "tasks=3"], 20)));
}

#[test]
fn a_pause_that_must_fall_into_a_partition_does() {
    let text = "summary = 'tied'\n[[fault]]\nkind = 'partition'\nfor = '1 x ttl'\n\
                [[fault]]\nkind = 'pause'\nfor = '0.2 x ttl'\nduring = 'partition'";
    let scenario = Scenario::parse("tied.toml", text, &picklock_stores::params()).unwrap();
    for run in of("single", scenario, &[], 60) {
        let at = |wanted: &dyn Fn(&What) -> bool| {
            run.trace.events.iter().find(|event| wanted(&event.what)).map(|event| event.at)
        };
        let cut = at(&|what| matches!(what, What::Injected { injection: 0, .. })).unwrap();
        let healed = at(&|what| matches!(what, What::Healed { injection: 0 })).unwrap();
        let paused = at(&|what| matches!(what, What::Paused { .. })).unwrap();
        assert!(cut <= paused && paused < healed, "seed {}", run.plan.seed.0);
    }
}

#[test]
fn forgetting_stores_break_redlock_exactly_where_the_rest_is_no_majority() {
    for nodes in [3, 5, 7] {
        let quorum = nodes / 2 + 1;
        for held in quorum..=nodes {
            for forgetting in 1..=held {
                let settings = [
                    &*format!("held={held}"),
                    &*format!("forgetting={forgetting}"),
                    "head_start=0.55 x ttl",
                    "first_work=0.85 x ttl",
                    "node-restart.after=0.34 x ttl..0.38 x ttl",
                ];
                let runs = runs(&format!("redlock{{nodes={nodes}}}"), "node-restart", &settings, 2);
                let breaks = forgetting >= held - (nodes - quorum);
                let expected = if breaks { 2 } else { 0 };
                assert_eq!(
                    violating(&runs, "mutual-exclusion"),
                    expected,
                    "{forgetting} of {held} held of {nodes}"
                );
            }
        }
    }
}

#[test]
fn a_semaphore_that_counts_wrongly_is_caught_and_readers_share() {
    assert_eq!(violating(&runs("permits{extra=1}", "calm", &[], 20), "mutual-exclusion"), 20);
    assert!(clean(&runs("permits", "calm", &[], 60)));
    assert!(clean(&runs("permits{permits=3}", "calm", &["clients=6"], 20)));
    let shared = runs("read-write", "calm", &["shared=60", "clients=5"], 40);
    assert!(clean(&shared));
    let readers =
        |run: &&Checked| run.trace.events.iter().any(|event| matches!(event.what, What::Shares { .. }));
    assert!(shared.iter().filter(readers).count() > 30);
}

#[test]
fn fencing_the_writes_alone_is_not_enough() {
    let stale = |design| violating(&runs(design, "pause", &[], 60), "effective-exclusion");
    assert_eq!(stale("single-fenced"), 0);
    assert!(stale("single-fenced{fence=writes}") > 0);
}

#[test]
fn lost_requests_and_errors_leave_what_has_no_lease() {
    let under = |kind: &str| {
        let text = format!("summary = 'one fault'\n[[fault]]\nkind = '{kind}'");
        Scenario::parse("one.toml", &text, &picklock_stores::params()).unwrap()
    };
    for kind in ["lost-request", "error-reply", "cancel"] {
        assert!(violating(&of("setnx", under(kind), &[], 40), "progress") > 0, "{kind}");
        assert_eq!(violating(&of("single", under(kind), &[], 40), "progress"), 0, "{kind}");
    }
    assert!(
        violating(&of("single", under("eviction"), &["work=0.2 x ttl..0.5 x ttl"], 20), "mutual-exclusion")
            > 0
    );
}

#[test]
fn two_tasks_that_are_owners_of_their_own_exclude_each_other() {
    let settings = ["clients=1", "tasks=2"];
    assert!(clean(&runs("reentrant{owner=task}", "calm", &settings, 60)));
    assert!(clean(&runs("reentrant{owner=task,wait=pubsub}", "calm", &settings, 20)));
}

/// The prompt replica acknowledges and dies with the primary, so that the late one takes over. It comes back soon, but learns
/// whom to follow only after a while: the lease must outlast that.
#[test]
fn waiting_for_one_of_two_replicas_is_not_enough_and_waiting_for_both_is() {
    let settings = [
        "ttl=60s",
        "redis.replicas=2",
        "redis.down_after=500ms",
        "replication-lag.replicas=2",
        "replication-lag.dies=prompt",
        "replication-lag.by=0.1 x ttl..0.5 x ttl",
        "replication-lag.return_after=0.05 x ttl",
    ];
    let one = runs("replicated-wait{wait=1}", "replication-lag", &settings, 10);
    assert!(violating(&one, "mutual-exclusion") >= 5, "{}", violating(&one, "mutual-exclusion"));
    let both = runs("replicated-wait{wait=2}", "replication-lag", &settings, 10);
    assert_eq!(violating(&both, "mutual-exclusion"), 0);
}

#[test]
fn a_timer_that_stops_at_the_first_error_loses_the_lock() {
    let text = "summary = 'a renewal fails'\n[contend]\nwork = '1.5 x ttl..2 x ttl'\n\
                [[fault]]\nkind = 'error-reply'\nphase = 'work'\ntimes = 1";
    let scenario = || Scenario::parse("renewals.toml", text, &picklock_stores::params()).unwrap();
    assert_eq!(violating(&of("watchdog", scenario(), &[], 40), "mutual-exclusion"), 0);
    assert!(violating(&of("watchdog{renewal=stopping}", scenario(), &[], 40), "mutual-exclusion") > 0);
}

#[test]
fn several_locks_on_one_server_are_gone_with_it() {
    let settings = ["held=all", "forgetting=1", "head_start=0.55 x ttl", "first_work=0.85 x ttl"];
    let broken = |design| violating(&runs(design, "node-restart", &settings, 20), "mutual-exclusion");
    assert_eq!(broken("redlock-multi"), 0, "one of five");
    assert!(broken("redlock-multi{servers=one}") > 0, "the one that has them all");
}

/// One of five nodes is dead from some section on, to the end and beyond.
const ONE_DEAD: [&str; 4] = ["forgetting=1", "restart_after=1h", "power_loss=yes", "horizon=12 x ttl"];

fn progress(run: &Checked) -> &Outcome {
    &run.outcomes.iter().find(|(invariant, _)| invariant.name == "progress").unwrap().1
}

#[test]
fn whoever_waits_for_a_dead_node_is_blocked_and_whoever_goes_on_is_not() {
    let patient = runs("redlock{timeout=1000}", "node-restart", &ONE_DEAD, 5);
    assert!(violating(&patient, "progress") > 0);
    let hurried = runs("redlock", "node-restart", &ONE_DEAD, 5);
    for run in &hurried {
        assert_eq!(progress(run), &Outcome::Holds, "seed {}", run.plan.seed.0);
        assert!(run.is_conclusive() && run.violated().is_empty(), "seed {}", run.plan.seed.0);
    }
}

#[test]
fn the_only_store_dead_to_the_end_leaves_the_run_open() {
    for run in runs("single", "node-restart", &ONE_DEAD, 5) {
        assert!(matches!(progress(&run), Outcome::Undecided(_)), "seed {}", run.plan.seed.0);
        assert!(!run.is_conclusive(), "seed {}", run.plan.seed.0);
    }
}

#[test]
fn a_queue_can_die_and_what_it_had_in_memory_is_waited_for_in_vain() {
    let killed = runs("queue", "node-restart", &["power_loss=no"], 20);
    assert!(clean(&killed) && killed.iter().any(Checked::is_conclusive));
    let dark = runs("queue", "node-restart", &["power_loss=yes"], 20);
    assert!(violating(&dark, "progress") > 0);
    assert!(dark.iter().all(|run| run.violated().iter().all(|name| name == "progress")));
}

/// The lock by hand that comes with the package of a lock of one's own.
#[allow(unreachable_pub, reason = "it is public in a package of its own")]
#[path = "../../examples/own-lock/src/majority.rs"]
mod majority;

/// Runs of a lock of one's own under every scenario of the suite that says something of it, so many of each: how many there
/// were, and those that violate progress.
fn under_the_suite(design: &Design, seeds: Range<u64>) -> (u64, Vec<String>) {
    let (mut made, mut blocked) = (0, Vec::new());
    for scenario in suite::builtin(&picklock_stores::params()) {
        let Ok(design) = scenario.adapt(design) else { continue };
        for seed in seeds.clone() {
            let run = check::seed(Engine::Event, &design, &scenario, Seed(seed)).unwrap();
            made += 1;
            if run.violates("progress") {
                blocked.push(format!("{} {seed}", scenario.name()));
            }
        }
    }
    (made, blocked)
}

#[test]
fn a_lock_by_hand_that_waits_for_every_node_is_found_by_the_suite_and_its_twin_is_not() {
    let (_, patient) = under_the_suite(&majority::patient(), 0..8);
    assert!(patient.iter().any(|run| run.starts_with("minority-down")), "{patient:?}");
    let (made, hurried) = under_the_suite(&majority::hurried(), 0..8);
    assert!(made > 100 && hurried.is_empty(), "{made} runs: {hurried:?}");
}

/// As many runs as `PICKLOCK_SEEDS` says, of each scenario.
#[test]
#[ignore = "20,000 runs take minutes"]
fn a_lock_by_hand_that_goes_on_to_the_next_node_is_never_blocked() {
    let seeds = std::env::var("PICKLOCK_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1_500);
    let (made, blocked) = under_the_suite(&majority::hurried(), 0..seeds);
    println!("{made} runs, {} blocked: {blocked:?}", blocked.len());
    assert!(blocked.is_empty());
}
