//! Whole runs, trace and invariants included, on each engine, and the floor under them.

mod loads;

use divan::Bencher;
use divan::counter::ItemsCount;
use picklock_sim::engine::Engine;

use self::loads::{Calls, Load};

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

/// Reads of a key of etcd, one member and two clients.
#[divan::bench_group(max_time = 3)]
mod calls {
    use super::*;

    #[divan::bench]
    fn event(bencher: Bencher<'_, '_>) {
        let calls = Calls::new();
        bencher.counter(ItemsCount::new(calls.in_world())).bench_local(|| calls.in_world());
    }

    #[divan::bench]
    fn pipe(bencher: Bencher<'_, '_>) {
        bencher.counter(ItemsCount::new(Calls::over_pipes())).bench_local(Calls::over_pipes);
    }
}

fn engine(bencher: Bencher<'_, '_>, load: &Load, engine: Engine) {
    bencher.counter(ItemsCount::new(load.commands)).bench_local(|| load.run(engine));
}

fn floor(bencher: Bencher<'_, '_>, load: &Load) {
    bencher.counter(ItemsCount::new(load.run_floor())).bench_local(|| load.run_floor());
}
