//! Whole runs, trace and invariants included, on each engine, and the floor under them.

mod loads;

use divan::Bencher;
use divan::counter::ItemsCount;
use picklock_sim::engine::Engine;

use self::loads::Load;

fn main() {
    divan::main();
}

/// Redlock on five nodes, three clients, 30 simulated seconds.
#[divan::bench_group(max_time = 3)]
mod standard {
    use super::*;

    #[divan::bench]
    fn event(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::standard(), Engine::Event);
    }

    #[divan::bench]
    fn turmoil(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::standard(), Engine::TURMOIL);
    }

    #[divan::bench(sample_count = 5)]
    fn turmoil_without_skip(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::standard(), Engine::Turmoil { idle_skip: false });
    }

    #[divan::bench]
    fn floor(bencher: Bencher<'_, '_>) {
        super::floor(bencher, &Load::standard());
    }
}

/// One store, two clients, three simulated seconds.
#[divan::bench_group(max_time = 3)]
mod small {
    use super::*;

    #[divan::bench]
    fn event(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::small(), Engine::Event);
    }

    #[divan::bench]
    fn turmoil(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::small(), Engine::TURMOIL);
    }

    #[divan::bench]
    fn turmoil_without_skip(bencher: Bencher<'_, '_>) {
        engine(bencher, &Load::small(), Engine::Turmoil { idle_skip: false });
    }

    #[divan::bench]
    fn floor(bencher: Bencher<'_, '_>) {
        super::floor(bencher, &Load::small());
    }
}

fn engine(bencher: Bencher<'_, '_>, load: &Load, engine: Engine) {
    bencher.counter(ItemsCount::new(load.commands)).bench_local(|| load.run(engine));
}

fn floor(bencher: Bencher<'_, '_>, load: &Load) {
    bencher.counter(ItemsCount::new(load.run_floor())).bench_local(|| load.run_floor());
}
