//! The stories of programs on each kind of store are true of their traces: each "no answer" is a request without an answer, and each cause
//! of an ended lease is the event that ended it.
//!
//! Skipped, with a message, where `examples/adapters/build` has not installed the libraries. By night there are a hundred stories.

use std::path::{Path, PathBuf};

use picklock_campaign::{check, counterexamples};
use picklock_model::seed::Seed;
use picklock_programs::Program;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::can_run::can_run;
use crate::nightly::by_day_or_night;
use crate::story_causes;

/// What stands in braces, the adapter, and its lease.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("topology=single", "redis_py.py", "ttl=1s"),
    ("topology=postgres", "psycopg2_lock.py", "ttl=1s"),
    ("topology=simulated-etcd:1", "etcd3_lock.py", "ttl=2s"),
    ("topology=simulated-zookeeper:3", "kazoo_lock.py", "ttl=4s"),
];

/// Scenarios in which requests, replies, holders and members are lost.
const SCENARIOS: [&str; 5] = ["calm", "client-crash", "lost-reply", "delay", "pause"];

/// The Python that has the libraries of the adapters.
fn python() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/adapters");
    std::env::var_os("PICKLOCK_ADAPTERS").map_or_else(usual, PathBuf::from).join("python/bin/python")
}

#[test]
fn stories_of_programs_are_true_of_their_traces() {
    let python = python();
    if !can_run(&[&python.display().to_string()]) {
        return;
    }
    let (mut stories, mut wrong) = (0, Vec::new());
    for (params, adapter, ttl) in PROGRAMS {
        let adapter = format!("{}/examples/adapters/{adapter}", env!("CARGO_MANIFEST_DIR"));
        let spelling = format!("program{{{params}}}:{} {adapter}", python.display());
        let design = spelling.parse::<Program>().unwrap().design().unwrap();
        let scenarios = by_day_or_night(&SCENARIOS[1..3], &SCENARIOS[..]);
        for (scenario, seed) in
            scenarios.iter().flat_map(|name| (0..by_day_or_night(1, 5)).map(move |seed| (name, seed)))
        {
            let mut set_up = suite::named(scenario, &picklock_stores::params()).unwrap();
            set_up.set(ttl).unwrap();
            let design = set_up.adapt(&design).unwrap();
            let plan = check::draw(&design, &set_up, Seed(seed)).unwrap().plan;
            let run = check::check(check::Options::from(Engine::Event).with_wire(), &design, plan).unwrap();
            let story = counterexamples::story(&design, scenario, &run, String::new());
            let faults = story_causes::faults(&story).into_iter();
            wrong.extend(faults.map(|fault| format!("{spelling} under {scenario}, seed {seed}: {fault}")));
            stories += 1;
        }
    }
    println!("{stories} stories");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
