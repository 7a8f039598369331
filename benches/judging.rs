//! The cost of judging and its growth: one trace, judged again and again, beside the run that it is of.
//!
//! Each size stands beside a tenth of it: where the time of a command grows with the size, something looks at everything
//! for everything. What is counted are commands, so that divan prints how many are judged in a second.

use std::fmt;

use divan::Bencher;
use divan::counter::ItemsCount;
use picklock_campaign::check::{self, Checked, judge};
use picklock_model::plan::Plan;
use picklock_model::seed::Seed;
use picklock_model::trace::{Role, What};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::{Design, spell};
use picklock_sim::engine::Engine;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

/// How much there is in a run.
struct Size {
    clients: u32,
    sections: u32,
    keys: u32,
}

/// Many keys, many sections, many clients, each beside a tenth.
const SIZES: [Size; 6] = [
    Size { clients: 20, sections: 5, keys: 100 },
    Size { clients: 20, sections: 50, keys: 1_000 },
    Size { clients: 3, sections: 100, keys: 1 },
    Size { clients: 3, sections: 1_000, keys: 1 },
    Size { clients: 30, sections: 4, keys: 10 },
    Size { clients: 300, sections: 4, keys: 10 },
];

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { clients, sections, keys } = self;
        write!(f, "{clients} clients x {sections} sections, {keys} keys")
    }
}

/// Judging alone.
#[divan::bench(args = SIZES, max_time = 3)]
fn judged(bencher: Bencher<'_, '_>, size: &Size) {
    let (design, plan) = load(size);
    let checked = run(&design, &plan);
    let judging = || judge(checked.plan.clone(), checked.trace.clone());
    bencher.counter(ItemsCount::new(commands(&checked))).bench_local(judging);
}

/// The part of the benchmark that comes before judging: it is handed a trace of its own.
#[divan::bench(args = SIZES, max_time = 3)]
fn copied(bencher: Bencher<'_, '_>, size: &Size) {
    let (design, plan) = load(size);
    let checked = run(&design, &plan);
    let copying = || (checked.plan.clone(), checked.trace.clone());
    bencher.counter(ItemsCount::new(commands(&checked))).bench_local(copying);
}

/// The run, judged.
#[divan::bench(args = SIZES, max_time = 3)]
fn run_and_judged(bencher: Bencher<'_, '_>, size: &Size) {
    let (design, plan) = load(size);
    let commands = commands(&run(&design, &plan));
    bencher.counter(ItemsCount::new(commands)).bench_local(|| run(&design, &plan));
}

fn load(size: &Size) -> (Design, Plan) {
    let design = spell(picklock_impls::families(), "single").expect("the design comes with picklock");
    let Size { clients, sections, keys } = size;
    let text = format!(
        "summary = 'calm'\nwait = '10m'\nhorizon = '1h'\n[contend]\nclients = {clients}\nsections = {sections}\n\
         keys = {keys}\nwork = '10ms'"
    );
    let scenario = Scenario::parse("judged.toml", &text, &[]).expect("the scenario is valid");
    let plan = scenario.fault_free_plan(&design, Seed(1));
    (design, plan)
}

fn run(design: &Design, plan: &Plan) -> Checked {
    check::check(Engine::Event, design, plan.clone()).expect("the design does not panic")
}

/// How many requests clients sent to stores.
fn commands(run: &Checked) -> usize {
    let to_store =
        |what: &What| matches!(what, What::Sent { peer, .. } if run.trace.role(*peer) == Some(Role::Leader));
    let events = run.trace.events.iter();
    events
        .filter(|event| run.trace.role(event.host) == Some(Role::Client))
        .filter(|event| to_store(&event.what))
        .count()
}
