//! The ratios that speed is judged by, measured in one go: the variants take turns, so that whatever else the
//! machine does meanwhile hits them alike.
//!
//! Only with `--bench`, as `cargo bench` gives it, is anything measured; otherwise each variant runs once.

mod loads;
mod turns;

use std::time::Duration;

use picklock_sim::engine::Engine;

use self::loads::{Calls, Load};
use self::turns::{median, time};

/// How many times the variants take turns.
const ROUNDS: usize = 9;
/// How long a turn of a variant lasts, at least.
const TURN: Duration = Duration::from_millis(150);

/// Something that is timed: its name, how many commands there are in a run of it, and a run.
struct Variant<'a> {
    name: &'static str,
    commands: usize,
    run: Box<dyn Fn() + 'a>,
}

fn main() {
    let measured = std::env::args().any(|arg| arg == "--bench");
    report("standard load: redlock, 5 nodes, 3 clients, 30 s", &Load::standard(), measured);
    report("small load: single, 1 node, 2 clients, 3 s", &Load::small(), measured);
    report_calls(measured);
}

/// Reads of a key of etcd, in a world and over a pipe.
fn report_calls(measured: bool) {
    let calls = Calls::new();
    let variants = [
        Variant { name: "event", commands: calls.in_world(), run: Box::new(|| _ = calls.in_world()) },
        Variant { name: "pipe", commands: Calls::over_pipes(), run: Box::new(|| _ = Calls::over_pipes()) },
    ];
    if !measured {
        return;
    }
    let rounds: Vec<[f64; 2]> = (0..ROUNDS).map(|_| variants.each_ref().map(seconds_per_run)).collect();
    println!("calls of etcd: one member, 2 clients");
    for (nth, variant) in variants.iter().enumerate() {
        let seconds = median(rounds.iter().map(|round| round[nth]).collect());
        println!("  {:<22}{:>8.2} us a call", variant.name, seconds * 1e6 / variant.commands as f64);
    }
    println!(
        "  event : pipe = {:.2} x the time\n",
        median(rounds.iter().map(|[event, pipe]| event / pipe).collect())
    );
}

fn report(title: &str, load: &Load, measured: bool) {
    let engine = |name, engine| Variant {
        name,
        commands: load.commands,
        run: Box::new(move || drop(load.run(engine))),
    };
    let floor = Variant { name: "floor", commands: load.run_floor(), run: Box::new(|| _ = load.run_floor()) };
    let variants = [
        engine("event", Engine::Event),
        engine("turmoil", Engine::TURMOIL),
        engine("turmoil without skip", Engine::Turmoil { idle_skip: false }),
        floor,
    ];
    if !measured {
        variants.iter().for_each(|variant| (variant.run)());
        return;
    }
    let rounds: Vec<[f64; 4]> = (0..ROUNDS).map(|_| variants.each_ref().map(seconds_per_run)).collect();
    println!("{title}");
    for (nth, variant) in variants.iter().enumerate() {
        let seconds = median(rounds.iter().map(|round| round[nth]).collect());
        println!(
            "  {:<22}{:>9.1} runs/s   {:>8.2} us a command   {:>5} commands a run",
            variant.name,
            1.0 / seconds,
            seconds * 1e6 / variant.commands as f64,
            variant.commands,
        );
    }
    let ratio = |of: &dyn Fn(&[f64; 4]) -> f64| median(rounds.iter().map(of).collect());
    let skipless = ratio(&|[event, _, skipless, _]| skipless / event);
    let skipping = ratio(&|[event, turmoil, _, _]| turmoil / event);
    let per_command = load.commands as f64 / variants[3].commands as f64;
    let above_floor = ratio(&|[event, _, _, floor]| event / floor) / per_command;
    println!("  event : turmoil without skip = {skipless:.0} x as fast");
    println!("  event : turmoil = {skipping:.1} x as fast");
    println!("  event : floor per command = {above_floor:.2} x the time\n");
}

/// The mean over a turn.
fn seconds_per_run(variant: &Variant<'_>) -> f64 {
    let mut runs = 0;
    let spent = time(|elapsed| {
        while elapsed() < TURN {
            (variant.run)();
            runs += 1;
        }
    });
    spent.as_secs_f64() / f64::from(runs)
}
