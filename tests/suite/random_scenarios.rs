//! No false alarm under random scenarios with unusual workloads: the perfect lock breaks nothing, tokens that are written back keep
//! their order, and a comparison at the resource loses no change.
//!
//! Any faults, alone or together, and any values of the parameters of the world, the workload and the faults, as far as a scenario
//! takes them. `PICKLOCK_RUNS=200000 cargo test --release --test suite random_scenarios -- --nocapture` makes so many runs; `PICKLOCK_FROM` is the first
//! scenario of them.

use picklock_model::seed::{Seed, Stream};
use picklock_scenarios::faults;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;
use picklock_sim::param::Domain;

use crate::cells::{Cell, design};

/// The invariants that a design must keep under all faults, while stores keep what they acknowledged; none named means all.
const MUST_KEEP: [(&str, &[&str]); 3] = [
    ("oracle", &[]),
    ("redlock-fenced-quorum", &["token-order", "effective-exclusion", "no-lost-update"]),
    ("optimistic", &["no-lost-update", "progress"]),
];

/// Lengths, as parts of the lease.
const LENGTHS: [&str; 12] = ["0", "0.01", "0.1", "0.3", "0.5", "0.9", "1", "1.1", "1.5", "2", "3", "5"];

/// A scenario that was drawn, as it can be written down.
struct Drawn {
    file: String,
    settings: Vec<String>,
    scenario: Scenario,
}

fn one_of<'a>(stream: &mut Stream, all: &[&'a str]) -> &'a str {
    all[stream.below(all.len() as u64) as usize]
}

fn length(stream: &mut Stream) -> String {
    format!("{} x ttl", one_of(stream, &LENGTHS))
}

/// A value of a domain, mostly; one that the parameter does not take is left out.
fn value(stream: &mut Stream, name: &str, domain: Domain) -> String {
    let count =
        |stream: &mut Stream, least: u64, most: u64| least + stream.below(most.min(least + 8) - least + 1);
    match (name, domain) {
        ("ttl", _) => one_of(stream, &["30ms", "100ms", "500ms", "1s", "5s", "30s"]).to_owned(),
        ("horizon", _) => format!("{} x ttl", 5 + stream.below(30)),
        ("latency", _) => one_of(stream, &["0us..50us", "1ms..5ms", "0ms..20ms", "5ms..5ms"]).to_owned(),
        (_, Domain::Span { .. }) => length(stream),
        (_, Domain::Spans { .. }) => format!("{}..{}", length(stream), length(stream)),
        (_, Domain::Count(least, most)) => count(stream, least, most).to_string(),
        (_, Domain::Counts(least, most)) => {
            let from = count(stream, least, most);
            format!("{from}..{}", count(stream, from, most))
        }
        (_, Domain::Word(words)) => one_of(stream, words).to_owned(),
        (_, Domain::Share) => {
            one_of(stream, &["1", "2", "3", "all", "minority", "majority", "random"]).to_owned()
        }
    }
}

fn drawn(number: u64) -> Drawn {
    let mut stream = Seed(number).stream("an unusual scenario");
    let mut file = "summary = \"drawn\"\n".to_owned();
    let workload = one_of(&mut stream, &["contend", "contend", "contend", "sell", "nested"]);
    file += &format!("workload = \"{workload}\"\n");
    for _ in 0..stream.below(4) {
        let kind = faults::ALL[stream.below(faults::ALL.len() as u64) as usize].name;
        let entry = format!("\n[[fault]]\nkind = \"{kind}\"\n");
        if !file.contains(&entry) {
            file += &entry;
        }
    }
    let mut scenario = Scenario::parse("drawn.toml", &file, &picklock_stores::params()).unwrap();
    let mut settings = Vec::new();
    let mut add = |scenario: &mut Scenario, setting: String| {
        if scenario.set(&setting).is_ok() {
            settings.push(setting);
        }
    };
    for one in scenario.clone().settable() {
        let (group, name) = (one.group, one.param.name);
        let is_of_others = ["redis", "etcd", "zookeeper"].contains(&group);
        if !is_of_others && stream.below(3) == 0 {
            let value = value(&mut stream, name, one.param.domain);
            add(&mut scenario, format!("{group}.{name}={value}"));
        }
    }
    add(&mut scenario, "redis.persistence=always".to_owned());
    Drawn { file, settings, scenario }
}

/// Makes so many runs from this scenario on, and says which broke what they must not.
fn alarms(from: u64, runs: u64) -> Vec<String> {
    let (mut made, mut found, mut number) = (0, Vec::new(), from);
    while made < runs {
        let drawn = drawn(number);
        for (spelling, must_keep) in MUST_KEEP {
            let Some(cell) = Cell::of(&design(spelling), drawn.scenario.clone()) else { continue };
            let run = cell.run(Engine::Event, number);
            made += 1;
            let broken: Vec<&str> = picklock_judge::invariants::ALL
                .iter()
                .map(|invariant| invariant.name)
                .filter(|name| (must_keep.is_empty() || must_keep.contains(name)) && run.violates(name))
                .collect();
            if !broken.is_empty() {
                let set: String = drawn.settings.iter().map(|set| format!(" --set '{set}'")).collect();
                let file = &drawn.file;
                found.push(format!(
                    "{spelling} breaks {}:\n{file}\npicklock replay {spelling} drawn.toml {number}{set}",
                    broken.join(", ")
                ));
                println!("{}\n", found[found.len() - 1]);
            }
        }
        number += 1;
    }
    println!("{made} runs of {} scenarios, {} false alarms", number - from, found.len());
    found
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn unusual_workloads_raise_no_false_alarm() {
    let nightly = std::env::var_os("PICKLOCK_NIGHTLY").is_some();
    let runs = number("PICKLOCK_RUNS").unwrap_or(if nightly { 100_000 } else { 300 });
    let found = alarms(number("PICKLOCK_FROM").unwrap_or(0), runs);
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
