//! One load, a given number of times: the program whose instructions are counted, by `tests/instructions`.
//!
//! The count of three runs less that of one is the cost of two, free of what it takes to start. It prints how many
//! commands a run has. Without a load and a number, as `cargo bench` calls it, each load runs once.

mod loads;

use picklock_sim::engine::Engine;

use self::loads::{Calls, Load};

/// A load's name, and what is to be counted.
type Counted = (&'static str, fn(u32) -> usize);

const ALL: [Counted; 7] = [
    ("standard", |times| runs(&Load::standard(), times)),
    ("small", |times| runs(&Load::small(), times)),
    ("statement", |times| runs(&Load::small_of("row-lock"), times)),
    ("replicated", |times| runs(&Load::small_of("replicated"), times)),
    ("floor", |times| floors(&Load::standard(), times)),
    ("call", |times| {
        let calls = Calls::new();
        (0..times).map(|_| calls.in_world()).max().unwrap_or_default()
    }),
    ("pipe", |times| (0..times).map(|_| Calls::over_pipes()).max().unwrap_or_default()),
];

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let Some(name) = args.next() else {
        ALL.iter().for_each(|(name, count)| println!("{name} {}", count(1)));
        return;
    };
    let times = args.next().and_then(|times| times.parse().ok());
    match (ALL.iter().find(|(known, _)| *known == name), times) {
        (Some((_, count)), Some(times)) => println!("{}", count(times)),
        _ => {
            eprintln!("usage: instructions [standard|small|statement|replicated|floor|call|pipe TIMES]");
            std::process::exit(2);
        }
    }
}

/// Runs a load. Returns how many commands a run has.
fn runs(load: &Load, times: u32) -> usize {
    (0..times).for_each(|_| drop(load.run(Engine::Event)));
    load.commands
}

/// Sends the same commands with nothing around them. Returns how many there are.
fn floors(load: &Load, times: u32) -> usize {
    (0..times).for_each(|_| _ = load.run_floor());
    load.run_floor()
}
