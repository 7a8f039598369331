//! Leases that somebody renews: for how long a holder is alone when it pauses or stands still, or when nobody renews any more.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::{HostId, Key};
use picklock_model::plan::{
    Action, ClientPlan, ClientPolicy, Injection, Latency, Plan, ReadyOrder, SectionPlan, Settings, Target,
    When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Trace, What};
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, ErasedLock, Grant};
use picklock_sim::run::{Workload, run};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A lease of this length, so that what is small against it is.
const TTL: u64 = 9_000;

/// A run. Clients share so many keys, each by turns. Those of the first turn ask at once, the others as late as this.
struct Case<'a> {
    design: &'a str,
    clients: u64,
    keys: u64,
    late_ms: u64,
    work_ms: u64,
    injections: Vec<(u64, &'a str, Action)>,
}

impl Default for Case<'_> {
    fn default() -> Self {
        let work_ms = 3 * TTL;
        Case { design: "watchdog", clients: 2, keys: 1, late_ms: 500, work_ms, injections: Vec::new() }
    }
}

/// Works in the steps that the lock asks for.
async fn works(host: &Host, lock: &dyn ErasedLock, grant: &mut Grant, work: Duration) {
    let mut left = work;
    if let Some(step) = lock.checkpoint() {
        while left > step {
            host.sleep(step).await;
            left -= step;
            assert!(lock.renew(grant).await.unwrap(), "these locks notify nobody");
        }
    }
    host.sleep(left).await;
}

fn workload() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let recorder = context.recorder.clone();
            let Client::Lock(lock) = &context.client else { panic!("the design is a lock") };
            for section in &context.plan.sections {
                context.host.sleep(section.think).await;
                let key = section.key.clone();
                recorder.waiting(section.ordinal, &key);
                if let Ok(Some(mut grant)) = lock.acquire(&context.host, &key, context.wait).await {
                    recorder.acquired(&grant);
                    works(&context.host, lock.as_ref(), &mut grant, section.work).await;
                    recorder.releasing(section.ordinal, &key);
                    let error = lock.release(grant).await.err();
                    recorder.released(section.ordinal, &key, error.as_ref());
                }
                recorder.idle(section.ordinal);
            }
            recorder.finished();
        })
    })
}

impl Case<'_> {
    fn play(&self, seed: u64) -> Trace {
        self.play_on(Engine::Event, seed)
    }

    fn play_on(&self, engine: Engine, seed: u64) -> Trace {
        let client = |nth: u64| {
            let think = if nth <= self.keys { Duration::ZERO } else { ms(self.late_ms) };
            let key = Key::new(&format!("key-{}", 1 + (nth - 1) % self.keys));
            ClientPlan::new(format!("client-{nth}"), vec![SectionPlan::new(1, key, think, ms(self.work_ms))])
        };
        let injection = |(at, host, action): &(u64, &str, Action)| Injection {
            fault: "test".into(),
            when: When::At { at_ns: TrueTime(at * 1_000_000) },
            target: Target::host(*host),
            action: action.clone(),
        };
        let horizon = ms(self.work_ms * 3 + 2 * TTL);
        let plan = Plan {
            seed: Seed(seed),
            network_seed: Seed(seed),
            world: WorldSpec {
                ttl: ms(TTL),
                wait: horizon,
                horizon,
                decide: Duration::ZERO,
                latency: Latency { min: Duration::from_micros(200), max: ms(1) },
                tcp_timeout: ms(15_000),
                stock: 0,
                final_client: false,
                ready_order: ReadyOrder::Woken,
                policy: ClientPolicy::default(),
                store: Settings::default(),
            },
            workload: "test".into(),
            clients: (1..=self.clients).map(client).collect(),
            choices: Vec::new(),
            injections: self.injections.iter().map(injection).collect(),
        };
        let design = picklock_impls::design(self.design).unwrap();
        run(engine, &design, &plan, &workload()).unwrap().trace
    }
}

/// From when until when clients held a key, as their own code saw it.
fn held(trace: &Trace, key: &str) -> Vec<(TrueTime, TrueTime)> {
    let mut spans: Vec<(HostId, TrueTime, Option<TrueTime>)> = Vec::new();
    for event in &trace.events {
        match &event.what {
            What::Acquired { key: of, .. } if of.as_str() == key => spans.push((event.host, event.at, None)),
            What::Releasing { .. } | What::Crashed { .. } => {
                if let Some(span) = spans.iter_mut().rev().find(|(host, ..)| *host == event.host) {
                    span.2.get_or_insert(event.at);
                }
            }
            _ => {}
        }
    }
    assert!(!spans.is_empty(), "somebody holds");
    spans.into_iter().map(|(_, from, until)| (from, until.unwrap_or(trace.end))).collect()
}

/// True if two clients held a key at a time.
fn two(trace: &Trace, key: &str) -> bool {
    let spans = held(trace, key);
    let mut pairs =
        spans.iter().enumerate().flat_map(|(at, one)| spans[at + 1..].iter().map(move |two| (one, two)));
    pairs.any(|(one, two)| one.0.max(two.0) < one.1.min(two.1))
}

/// How many of so many runs have two holders, in which client-1 stops for so long at another moment between two heartbeats each.
fn paused(design: &str, lasts_ms: u64) -> (usize, usize) {
    let runs = (0..24).filter(|nth| {
        let stops = (4_000 + 131 * nth, "client-1", Action::Pause { lasts: ms(lasts_ms) });
        two(&Case { design, injections: vec![stops], ..Case::default() }.play(*nth), "key-1")
    });
    (runs.count(), 24)
}

#[test]
fn a_service_renews_for_a_paused_holder_as_long_as_its_patience_and_the_rest_of_the_lease() {
    let design = "renewal-service";
    // A third for its patience, two thirds of the lease, less a ninth between two heartbeats.
    let possible = TTL / 3 + TTL * 2 / 3 - TTL / 9;
    assert_eq!(paused(design, TTL / 3).0, 0);
    assert_eq!(paused(design, possible - 100).0, 0);
    let (two, all) = paused(design, possible + TTL / 6);
    assert!(0 < two && two < all, "{two} of {all}");
    // And the retries of the other client.
    let (two, all) = paused(design, TTL / 3 + TTL + 100);
    assert_eq!(two, all);
}

#[test]
fn a_watchdog_pauses_with_its_holder() {
    let (two, all) = paused("watchdog", TTL * 2 / 3 + TTL / 6);
    assert!(0 < two && two < all, "{two} of {all}");
    let (two, all) = paused("watchdog", TTL + 100);
    assert_eq!(two, all);
}

/// On which of two keys there were two holders, with this done to the service.
fn served(action: Action) -> [bool; 2] {
    let injections = vec![(4_000, "renewer-1", action)];
    let case = Case { design: "renewal-service", clients: 4, keys: 2, injections, ..Case::default() };
    let trace = case.play(1);
    ["key-1", "key-2"].map(|key| two(&trace, key))
}

#[test]
fn every_lease_runs_out_while_the_service_is_out_of_order() {
    let lasts = ms(2 * TTL);
    assert_eq!(served(Action::Crash { power_loss: false, restart_after: None }), [true, true]);
    assert_eq!(served(Action::Pause { lasts }), [true, true]);
    let cut = |to: &str| Action::Cut { to: Target::host(to), both: true, lasts };
    assert_eq!(served(cut("node-1")), [true, true]);
    assert_eq!(served(cut("client-1")), [true, false]);
    assert_eq!(served(cut("client-2")), [false, true]);
}

#[test]
fn a_service_that_is_back_soon_hears_of_every_lease_again() {
    assert_eq!(served(Action::Crash { power_loss: false, restart_after: Some(ms(TTL / 3)) }), [false, false]);
    assert_eq!(served(Action::Pause { lasts: ms(TTL / 3) }), [false, false]);
}

#[test]
fn a_dead_client_blocks_the_others_for_a_lease_and_the_patience_of_its_service_at_most() {
    for (design, least, most) in
        [("renewal-service", TTL * 2 / 3, TTL + TTL / 3), ("session", TTL * 2 / 3, TTL)]
    {
        let dies = (4_000, "client-1", Action::Crash { power_loss: true, restart_after: None });
        let trace = Case { design, injections: vec![dies], ..Case::default() }.play(2);
        let waited = held(&trace, "key-1")[1].0.since(TrueTime(4_000_000_000));
        assert!(waited > ms(least - 100) && waited < ms(most + 200), "{design}: {waited:?}");
    }
}

/// How often a store extended something in a run.
fn extended(design: &str) -> usize {
    let trace = Case { design, clients: 1, ..Case::default() }.play(3);
    trace.events.iter().filter(|event| matches!(event.what, What::Extended { .. })).count()
}

#[test]
fn a_session_is_renewed_once_for_all_locks_that_are_held_under_it() {
    let one = extended("session");
    assert!((7..=9).contains(&one), "{one} times in three leases");
    assert_eq!(extended("session{locks=100}"), one);
    assert!(extended("watchdog{locks=100}") >= 700);
}

#[test]
fn a_session_that_is_lost_stays_lost_unless_its_heartbeat_sets_it_anew() {
    // Nobody asks while client-1 stands still: client-2 does later, while client-1 works on.
    let stops = || vec![(4_000, "client-1", Action::Pause { lasts: ms(TTL + 3_000) })];
    let late = |design| Case { design, late_ms: 2 * TTL, injections: stops(), ..Case::default() };
    assert!(two(&late("session").play(4), "key-1"));
    assert!(!two(&late("session{heartbeat=set}").play(4), "key-1"));
    // Who has been taken over is not helped by that.
    let early = |design| Case { design, injections: stops(), ..Case::default() };
    assert!(two(&early("session{heartbeat=set}").play(4), "key-1"));
}

#[test]
fn all_locks_of_a_session_are_lost_with_it() {
    let stops = || vec![(4_000, "client-1", Action::Pause { lasts: ms(TTL + 3_000) })];
    let trace = Case { design: "session{locks=3}", injections: stops(), ..Case::default() }.play(5);
    assert!(two(&trace, "key-1"));
    let taken_over = trace.events.iter().filter(|event| {
        let other = event.grant.is_some_and(|grant| trace.host_name(grant.client) == "client-2");
        other && matches!(&event.what, What::Created { key } if key.as_str().starts_with("key-1"))
    });
    assert_eq!(taken_over.count(), 3);
}

#[test]
fn steps_of_up_to_two_thirds_of_the_lease_are_renewed_in_time() {
    for step in [10, 33, 50, 65] {
        let design = format!("activity-renewal{{step={step}}}");
        for seed in 0..10 {
            assert!(!two(&Case { design: &design, ..Case::default() }.play(seed), "key-1"), "{design}");
        }
    }
}

#[test]
fn a_first_step_that_is_longer_than_the_lease_makes_two_holders() {
    for step in [102, 150, 300] {
        let design = format!("activity-renewal{{step={step}}}");
        for seed in 0..10 {
            assert!(two(&Case { design: &design, ..Case::default() }.play(seed), "key-1"), "{design}");
        }
    }
}

#[test]
fn work_that_stands_still_blocks_others_for_one_lease_only_where_its_steps_are_looked_at() {
    let stuck = |design| {
        let stalls = (4_000, "client-1", Action::Stall { lasts: ms(100 * TTL) });
        Case { design, injections: vec![stalls], ..Case::default() }.play(6)
    };
    let next = held(&stuck("activity-renewal"), "key-1")[1].0;
    assert!(next < TrueTime((4_000 + TTL + TTL / 3 + 200) * 1_000_000), "{next}");
    for design in ["watchdog", "session", "renewal-service"] {
        assert_eq!(held(&stuck(design), "key-1").len(), 1, "{design}");
    }
}

#[test]
fn whoever_compares_renews_and_releases_alike() {
    for design in [
        "watchdog",
        "watchdog{compare=delex}",
        "watchdog{compare=delifeq}",
        "reentrant{fencing=counter}",
        "reentrant{synced=checked,store=replicated}",
        "reentrant{fencing=counter,synced=checked,store=replicated}",
    ] {
        let trace = Case { design, ..Case::default() }.play(8);
        let spans = held(&trace, "key-1");
        assert!(!two(&trace, "key-1") && spans.len() == 2, "{design}: {spans:?}");
        assert!(spans[1].0.since(spans[0].1) < ms(200), "{design}: {spans:?}");
        let count =
            |fits: &dyn Fn(&What) -> bool| trace.events.iter().filter(|event| fits(&event.what)).count();
        let extended = count(&|what| matches!(what, What::Extended { .. }));
        assert!(extended >= 14, "{design}: {extended}");
        assert_eq!(count(&|what| matches!(what, What::Released { error: None, .. })), 2, "{design}");
        let tokens: Vec<Option<u64>> = trace
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Acquired { token, .. } => Some(token.map(|token| token.0)),
                _ => None,
            })
            .collect();
        let expected = if design.contains("fencing") { [Some(1), Some(2)] } else { [None, None] };
        assert_eq!(tokens, expected, "{design}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_on_either_engine() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        for design in ["renewal-service", "session", "session{heartbeat=set}", "activity-renewal"] {
            let stops = (4_000, "client-1", Action::Pause { lasts: ms(TTL + 3_000) });
            let case = Case { design, clients: 3, injections: vec![stops], ..Case::default() };
            assert_eq!(case.play_on(engine, 7).digest, case.play_on(engine, 7).digest, "{design}");
        }
    }
}
