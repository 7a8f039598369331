//! Differential conformance: the same commands to a real redis-server and to the served node, and the same replies.
//!
//! Streams of commands are made by proptest, so that a difference is reduced to the few commands that show it. Without a
//! redis-server there is nothing to compare with: then the tests pass and say so, unless `CI` is set.
//!
//! `just conformance` runs long; a run of the tests takes a small share.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a test against real servers in real time"
)]

mod compare;
mod driver;
mod golden;
mod scripts;
mod servers;
mod surface;
mod template;
mod values;
mod wire;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

use driver::{Case, Driver, Step};

/// How many connections a stream of commands is spread over.
const CONNECTIONS: usize = 3;

/// Every so many rounds the streams are of several connections.
const STATEFUL_EVERY: u64 = 8;

/// How long a difference is reduced, in milliseconds: one by a missing reply takes seconds to see each time.
const SHRINK_MS: u32 = 30_000;

/// The patterns of the commands that `CONFORMANCE_ONLY` names by how they begin, as in `Z,OBJECT`; all without it.
fn chosen(patterns: &'static [&'static str]) -> Vec<&'static str> {
    let only = std::env::var("CONFORMANCE_ONLY").unwrap_or_default();
    patterns
        .iter()
        .copied()
        .filter(|pattern| only.split(',').any(|begin| pattern.starts_with(begin)))
        .collect()
}

fn plain() -> impl Strategy<Value = Case> {
    let command = prop_oneof![
        200 => prop::sample::select(chosen(surface::PLAIN)).prop_flat_map(template::strategy),
        1 => prop::sample::select(surface::WAITING).prop_flat_map(template::strategy),
    ];
    let steps = prop::collection::vec(command.prop_map(|words| Step { conn: 0, words }), 1..60);
    (steps, any::<bool>()).prop_map(|(steps, resp3)| Case { steps, resp3, waits: false })
}

fn stateful() -> impl Strategy<Value = Case> {
    let command = prop_oneof![
        3 => prop::sample::select(surface::STATEFUL).prop_flat_map(template::strategy),
        1 => prop::sample::select(surface::PLAIN).prop_flat_map(template::strategy),
    ];
    let step = (0..CONNECTIONS, command).prop_map(|(conn, words)| Step { conn, words });
    let steps = prop::collection::vec(step, 1..40);
    (steps, any::<bool>()).prop_map(|(steps, resp3)| Case { steps, resp3, waits: true })
}

/// Compares for so many rounds, or as long, with other streams for each seed.
fn run(driver: &Driver, seed: u64, rounds: u64, lasts: Duration) {
    let began = Instant::now();
    for round in 0..rounds {
        let config = Config {
            cases: 20,
            failure_persistence: None,
            max_shrink_iters: 2_000,
            max_shrink_time: SHRINK_MS,
            rng_seed: RngSeed::Fixed(seed.wrapping_add(round)),
            ..Config::default()
        };
        // One stream in so many is of several connections, where each command is waited for.
        let outcome = if round % STATEFUL_EVERY == STATEFUL_EVERY - 1 {
            TestRunner::new(config).run(&stateful(), |case| driver.check(&case))
        } else {
            TestRunner::new(config).run(&plain(), |case| driver.check(&case))
        };
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(why, case)) => panic!("seed {}:\n{case:?}\n{why}", seed.wrapping_add(round)),
            Err(TestError::Abort(why)) => panic!("seed {}: {why}", seed.wrapping_add(round)),
        }
        if began.elapsed() >= lasts {
            return;
        }
    }
}

#[test]
fn the_node_answers_as_redis_server_does() {
    if let Some(driver) = Driver::start() {
        run(&driver, 1, 5 * STATEFUL_EVERY, Duration::from_secs(60));
        println!("{}", driver::summary([&driver]));
    }
}

#[test]
#[ignore = "runs for minutes: just conformance"]
fn the_node_answers_as_redis_server_does_for_long() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let lasts = Duration::from_secs(number("CONFORMANCE_SECONDS").unwrap_or(600));
    let seed = number("CONFORMANCE_SEED").unwrap_or(1_000_000);
    // Each pair of servers is idle while a command waits, and takes three threads otherwise.
    let jobs = number("CONFORMANCE_JOBS").unwrap_or(2);
    let drivers: Vec<Driver> = (0..jobs).map_while(|_| Driver::start()).collect();
    std::thread::scope(|scope| {
        for (job, driver) in drivers.iter().enumerate() {
            scope.spawn(move || run(driver, seed + 1_000_000 * job as u64, u64::MAX, lasts));
        }
    });
    println!("{}", driver::summary(&drivers));
}

/// Each form of a command by itself, among commands that fill the keys: names all that differ, not only the first.
#[test]
#[ignore = "a survey for work on the node: takes a minute"]
fn every_form_of_a_command_by_itself() {
    let Some(driver) = Driver::start() else { return };
    let mut different = Vec::new();
    for (patterns, waits) in [(surface::PLAIN, false), (surface::WAITING, false), (surface::STATEFUL, true)] {
        for pattern in chosen(patterns) {
            let filling = prop::sample::select(FILLING).prop_flat_map(template::strategy);
            let command = prop_oneof![filling, template::strategy(pattern)];
            let steps = prop::collection::vec(command.prop_map(|words| Step { conn: 0, words }), 1..30);
            let cases = (steps, any::<bool>()).prop_map(|(steps, resp3)| Case { steps, resp3, waits });
            let config = Config {
                cases: 25,
                failure_persistence: None,
                max_shrink_iters: 60,
                rng_seed: RngSeed::Fixed(7),
                ..Config::default()
            };
            if let Err(TestError::Fail(why, case)) =
                TestRunner::new(config).run(&cases, |case| driver.check(&case))
            {
                different.push(format!("{pattern}\n{case:?}{why}\n"));
            }
        }
    }
    assert!(different.is_empty(), "{} forms differ:\n{}", different.len(), different.join("\n"));
}

/// Commands that give keys something to hold.
const FILLING: &[&str] = &[
    "SET <str> <val>",
    "SET <num> <int>",
    "RPUSH <list> {<val>}",
    "SADD <set> {<member>}",
    "ZADD <zset> {<score> <member>}",
    "HSET <hash> {<field> <val>}",
];

#[test]
fn golden_scripts_are_answered_alike() {
    if let Some(driver) = Driver::start() {
        let [real, ours] = driver.addresses();
        golden::check("golden", Some(real), ours);
    }
}

#[test]
fn golden_scripts_of_later_versions_are_answered_alike() {
    let real = std::env::var_os("REDIS_SERVER_7_2").and_then(servers::real);
    let ours = servers::ours("7.2");
    golden::check("golden/7.2", real.as_ref().map(|real| real.address), ours.address);
}
