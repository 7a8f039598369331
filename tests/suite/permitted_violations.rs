//! The violations that the expectations permit: each seed that is named for one shows it, and those without a seed are looked
//! for.
//!
//! `PICKLOCK_NIGHTLY=1 cargo test --release --test suite permitted_violations` replays the seeds. After a change that makes other runs,
//! `PICKLOCK_RUNS=2000 cargo test --release --test suite permitted_violations -- --ignored --nocapture` looks for new ones where they show nothing
//! any more, in so many runs of a cell, and writes them into `campaign/expect.toml`. What is not found there is to be looked for
//! among more runs, explained, or taken out. `PICKLOCK_ONLY=setnx` looks at what begins so alone, as in `setnx.pause`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use picklock_campaign::expect::{Evidence, Expectations};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;
use picklock_testing::skip;

use crate::cells::{Cell, design};

fn cell(of: &str, under: &str) -> Cell {
    let scenario = suite::builtin(&picklock_stores::params()).into_iter().find(|it| it.name() == under);
    let scenario = scenario.unwrap_or_else(|| panic!("there is no scenario `{under}`"));
    Cell::of(&design(of), scenario).unwrap_or_else(|| panic!("`{under}` does not apply to `{of}`"))
}

/// The permitted violations, with the seeds named for them, by cell.
fn seeds() -> BTreeMap<[String; 2], BTreeMap<String, u64>> {
    let mut of: BTreeMap<[String; 2], BTreeMap<String, u64>> = BTreeMap::new();
    for ([design, scenario, invariant], evidence) in Expectations::builtin().permitted() {
        if let Evidence::Seed(seed) = evidence {
            let cell = [design, scenario].map(str::to_owned);
            of.entry(cell).or_default().insert(invariant.to_owned(), *seed);
        }
    }
    of
}

#[test]
fn what_may_be_violated_is_of_cells_that_there_are() {
    for [of, under] in seeds().keys() {
        cell(of, under);
    }
}

#[test]
fn every_seed_that_is_named_for_a_violation_shows_it() {
    if std::env::var_os("PICKLOCK_NIGHTLY").is_none() {
        return skip("a test of the night, with PICKLOCK_NIGHTLY set");
    }
    let mut silent = Vec::new();
    for ([of, under], seeds) in seeds() {
        let cell = cell(&of, &under);
        for (invariant, seed) in seeds {
            if !cell.run(Engine::Event, seed).violates(&invariant) {
                silent.push(format!("{of}.{under}: seed {seed} does not violate {invariant}"));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
#[ignore = "it looks for long, and writes into the sources"]
fn looks_for_seeds_where_those_that_are_named_show_nothing() {
    let runs: u64 = std::env::var("PICKLOCK_RUNS").map_or(1_000, |runs| runs.parse().unwrap());
    let only = std::env::var("PICKLOCK_ONLY").unwrap_or_default();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("campaign/expect.toml");
    for ([of, under], mut open) in seeds() {
        if !format!("{of}.{under}").starts_with(&only) {
            continue;
        }
        let cell = cell(&of, &under);
        open.retain(|invariant, seed| !cell.run(Engine::Event, *seed).violates(invariant));
        for seed in 0..runs {
            if open.is_empty() {
                break;
            }
            let run = cell.run(Engine::Event, seed);
            open.retain(|invariant, _| {
                let found = run.violates(invariant);
                if found {
                    println!("{of}.{under}: seed {seed} violates {invariant}");
                    // Written at once: who stops it keeps what was found.
                    let text = std::fs::read_to_string(&path).unwrap();
                    std::fs::write(&path, named(&text, [&of, &under, invariant], seed)).unwrap();
                }
                !found
            });
        }
        for invariant in open.keys() {
            println!("{of}.{under}: no run of {runs} violates {invariant}");
        }
    }
}

/// The expectations with another seed for what is permitted.
fn named(text: &str, [design, scenario, invariant]: [&str; 3], seed: u64) -> String {
    let heads = [format!("[{design}.{scenario}]"), format!("[\"{design}\".{scenario}]")];
    let field = format!("may.{invariant} = ");
    let mut within = false;
    let lines = text.lines().map(|line| {
        if line.starts_with('[') {
            within = heads.iter().any(|head| head == line);
        }
        if within && line.starts_with(&field) { format!("{field}{seed}\n") } else { format!("{line}\n") }
    });
    lines.collect()
}

#[test]
fn a_seed_is_written_where_it_belongs() {
    let text = "[a.pause]\nmay.progress = 0\n\n[a.stall]\n# Rare.\nmay.progress = 0\nmay.ownership = 3\n";
    let written = named(text, ["a", "stall", "progress"], 17);
    assert_eq!(written, text.replace("# Rare.\nmay.progress = 0", "# Rare.\nmay.progress = 17"));
    assert_eq!(named(text, ["a", "calm", "progress"], 17), text);
}
