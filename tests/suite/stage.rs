//! The stage of runs written by hand: `client-1` takes the lock at once and works, `client-2` asks for it meanwhile. The
//! lease lasts a second.

use std::time::Duration;

use picklock_campaign::check::{self, Checked};
use picklock_model::ids::Key;
use picklock_model::plan::{
    Access, Action, ClientPlan, Edge, Injection, Latency, Phase, Plan, Point, SectionPlan, Settings, Target,
    When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};
use picklock_sim::engine::Engine;

use crate::cells::design;

pub(crate) const LEASE: Duration = Duration::from_secs(1);

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The instant so many milliseconds after the beginning.
pub(crate) fn at_ms(count: u64) -> TrueTime {
    TrueTime(0) + ms(count)
}

/// A client that waits, then holds the lock for its work, so many times.
pub(crate) fn client(name: &str, think: Duration, work: Duration, sections: u32) -> ClientPlan {
    let section = |ordinal| SectionPlan::new(ordinal, Key::new("stock"), think, work);
    ClientPlan::new(name, (1..=sections).map(section).collect())
}

/// The stage, with this going wrong.
pub(crate) fn stage(injections: impl IntoIterator<Item = Injection>) -> Plan {
    Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: LEASE,
            wait: ms(10_000),
            horizon: ms(8_000),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: ms(1) },
            tcp_timeout: ms(15_000),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "contend".to_owned(),
        clients: vec![client("client-1", ms(0), ms(300), 1), client("client-2", ms(100), ms(50), 1)],
        choices: Vec::new(),
        injections: injections.into_iter().collect(),
    }
}

pub(crate) fn injection(when: When, target: Target, action: Action) -> Injection {
    Injection { fault: "test".to_owned(), when, target, action }
}

pub(crate) fn at(millis: u64) -> When {
    When::At { at_ns: at_ms(millis) }
}

/// When client-1 comes to the first such access of its section.
pub(crate) fn point(phase: Phase, access: Access, peer: &str, edge: Edge) -> When {
    let host = "client-1".into();
    let point = Point { host, section: 1, phase, access, peer: peer.into(), nth: 0, edge };
    When::Point { point, after: Duration::ZERO }
}

/// Right before client-1 writes to the resource: it has looked at its deadline for the last time.
pub(crate) fn before_the_write() -> When {
    point(Phase::Write, Access::Write, "resource", Edge::Before)
}

pub(crate) fn first() -> Target {
    Target::host("client-1")
}

pub(crate) fn run_on(engine: Engine, spelling: &str, plan: Plan) -> Checked {
    plan.validate().expect("the test's plan can be run");
    check::check(engine, &design(spelling), plan).expect("built-in designs do not panic")
}

pub(crate) fn run(spelling: &str, plan: Plan) -> Checked {
    run_on(Engine::Event, spelling, plan)
}

/// The events of a host, with their times.
pub(crate) fn of<'a>(run: &'a Checked, host: &'a str) -> impl Iterator<Item = &'a Event> {
    run.trace.events.iter().filter(move |event| run.trace.host_name(event.host) == host)
}

/// When such a thing first happened on a host.
pub(crate) fn when(run: &Checked, host: &str, what: impl Fn(&What) -> bool) -> Option<TrueTime> {
    of(run, host).find(|event| what(&event.what)).map(|event| event.at)
}

pub(crate) fn granted(run: &Checked, client: &str) -> Option<TrueTime> {
    when(run, client, |what| matches!(what, What::Acquired { .. }))
}

pub(crate) fn expired(run: &Checked, store: &str) -> Option<TrueTime> {
    when(run, store, |what| matches!(what, What::Expired { .. }))
}

/// Writes of a client that the resource applied.
pub(crate) fn written(run: &Checked, client: &str) -> Vec<TrueTime> {
    let by = |event: &&Event| event.grant.is_some_and(|grant| run.trace.host_name(grant.client) == client);
    // At the resource, or in the store whose data a lock guards.
    let applied = run.trace.events.iter().filter(by);
    let applied = applied.filter(|event| matches!(event.what, What::ResourceWritten { .. }));
    applied.map(|event| event.at).collect()
}

pub(crate) fn took_effect(run: &Checked) -> bool {
    run.took_effect.contains("test")
}
