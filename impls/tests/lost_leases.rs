//! Consul's lock and Kubernetes' leader election, with holders that stand still or are cut off: for how long before there are two.

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

/// A run: client-1 asks at once and works for so long, the others ask later, and the second of them works for as long as it likes.
struct Case<'a> {
    design: &'a str,
    ttl: Duration,
    clients: u64,
    work: Duration,
    horizon: Duration,
    injections: Vec<(u64, &'a str, Action)>,
}

/// Works, looking at the checkpoints of the lock whether it is lost. False if it is.
async fn works(host: &Host, lock: &dyn ErasedLock, grant: &mut Grant, work: Duration) -> bool {
    let step = lock.checkpoint().unwrap();
    let end = host.monotonic() + work;
    while host.monotonic() < end {
        host.sleep(step.min(end.since(host.monotonic()))).await;
        if !lock.renew(grant).await.unwrap() {
            return false;
        }
    }
    true
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
                match lock.acquire(&context.host, &key, context.wait).await {
                    Ok(Some(mut grant)) => {
                        recorder.acquired(&grant);
                        if !works(&context.host, lock.as_ref(), &mut grant, section.work).await {
                            recorder.aborted(&key);
                        }
                        recorder.releasing(section.ordinal, &key);
                        let error = lock.release(grant).await.err();
                        recorder.released(section.ordinal, &key, error.as_ref());
                    }
                    Ok(None) => recorder.not_acquired(&key, "the wait was over"),
                    Err(error) => recorder.not_acquired(&key, &error.to_string()),
                }
                recorder.idle(section.ordinal);
            }
            recorder.finished();
        })
    })
}

impl Case<'_> {
    fn play(&self, engine: Engine, seed: u64) -> Trace {
        let client = |nth: u64| {
            let (think, work) = if nth == 1 { (ms(0), self.work) } else { (ms(500 + 100 * nth), self.work) };
            let section = SectionPlan::new(1, Key::new("k"), think, work);
            ClientPlan::new(format!("client-{nth}"), vec![section])
        };
        let injection = |(at, host, action): &(u64, &str, Action)| Injection {
            fault: "test".into(),
            when: When::At { at_ns: TrueTime(at * 1_000_000) },
            target: Target::host(*host),
            action: action.clone(),
        };
        let plan = Plan {
            seed: Seed(seed),
            network_seed: Seed(seed),
            world: WorldSpec {
                ttl: self.ttl,
                wait: self.horizon,
                horizon: self.horizon,
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

/// The widest span for which two clients held at a time, as their own code saw it.
fn overlap(trace: &Trace) -> Duration {
    let mut spans: Vec<(HostId, TrueTime, Option<TrueTime>)> = Vec::new();
    for event in &trace.events {
        match event.what {
            What::Acquired { .. } => spans.push((event.host, event.at, None)),
            What::Aborted { .. } | What::Releasing { .. } => {
                let span = spans.iter_mut().rev().find(|(host, ..)| *host == event.host).unwrap();
                span.2.get_or_insert(event.at);
            }
            _ => {}
        }
    }
    assert!(!spans.is_empty(), "somebody holds");
    let end = |end: Option<TrueTime>| end.unwrap_or(trace.end);
    let pairs =
        spans.iter().enumerate().flat_map(|(at, one)| spans[at + 1..].iter().map(move |two| (one, two)));
    pairs.map(|(one, two)| end(one.2).min(end(two.2)).since(one.1.max(two.1))).max().unwrap_or_default()
}

/// How many runs there are on each side of a bound: so many, or what `PICKLOCK_RUNS` says.
fn runs(usual: u64) -> u64 {
    std::env::var("PICKLOCK_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// How many of the holders who stop at some time after a renewal are not alone when they resume, and how many there are.
fn paused(design: &str, ttl_s: u64, lasts_ms: u64) -> (usize, usize) {
    let ttl = Duration::from_secs(ttl_s);
    // A session is renewed every half of its TTL: it has been twice by now.
    let many = runs(ttl_s * 2);
    let after_renewal = (0..many).map(|nth| 50 + nth * (ttl_s * 490) / many);
    let runs: Vec<bool> = after_renewal
        .map(|after| {
            let stops = (ttl_s * 1_000 + 20 + after, "client-1", Action::Pause { lasts: ms(lasts_ms) });
            let (work, horizon) = (2 * ttl, 9 * ttl);
            let case = Case { design, ttl, clients: 2, work, horizon, injections: vec![stops] };
            overlap(&case.play(Engine::Event, after)) > Duration::ZERO
        })
        .collect();
    (runs.iter().filter(|two| **two).count(), runs.len())
}

#[test]
fn a_holder_of_consuls_lock_is_alone_for_one_and_a_half_leases_and_the_lock_delay() {
    assert_eq!(paused("delayed", 10, 24_900).0, 0);
    let (two, all) = paused("delayed", 10, 27_500);
    assert!(0 < two && two < all, "{two} of {all}");
    let (two, all) = paused("delayed", 10, 30_100);
    assert_eq!(two, all);
}

#[test]
fn who_meets_the_lock_delay_asks_again_five_seconds_later() {
    // The delay of 11 s is over between the third try and the fourth.
    let (two, all) = paused("delayed", 11, 33_000);
    assert!(two < all, "{two} of {all}");
    let (two, all) = paused("delayed", 11, 38_000);
    assert_eq!(two, all);
}

#[test]
fn by_consuls_contract_alone_a_holder_would_be_alone_for_half_a_lease_and_the_lock_delay() {
    let design = "delayed{multiplier=1}";
    assert_eq!(paused(design, 10, 14_900).0, 0);
    let (two, all) = paused(design, 10, 17_500);
    assert!(0 < two && two < all, "{two} of {all}");
    let (two, all) = paused(design, 10, 20_100);
    assert_eq!(two, all);
}

#[test]
fn without_a_lock_delay_only_the_session_is_left() {
    let design = "delayed{lock_delay=0}";
    assert_eq!(paused(design, 10, 14_900).0, 0);
    let (two, all) = paused(design, 10, 20_100);
    assert_eq!(two, all);
}

/// How many of the leaders that are cut off from the API servers are not alone, if the clocks of the others run faster by this ratio.
fn cut_off(design: &str, ttl: Duration, ratio: f64, seeds: u64) -> usize {
    // (1 + x) / (1 - x) is the ratio.
    let ppm = ((ratio - 1.0) / (ratio + 1.0) * 1e6).round() as i64;
    let two = (0..runs(seeds)).filter(|seed| {
        let mut injections = vec![(0, "client-1", Action::SetDrift { ppm: -ppm })];
        for other in ["client-2", "client-3", "client-4", "client-5"] {
            injections.push((0, other, Action::SetDrift { ppm }));
        }
        let lasts = 4 * ttl;
        let cut = Action::Cut { to: Target::host("node-1"), both: true, lasts };
        injections.push((2_000 + 97 * (seed % 50), "client-1", cut));
        let (work, horizon) = (3 * ttl, 4 * ttl);
        let case = Case { design, ttl, clients: 5, work, horizon, injections };
        overlap(&case.play(Engine::Event, *seed)) > Duration::ZERO
    });
    two.count()
}

/// client-go's times: 15 s, 10 s and 2 s. A leader leads on for 12 s.
const CLIENT_GO: (&str, Duration, f64) = ("lease-object{members=1,release=none}", ms(15_000), 15.0 / 12.0);

/// OpenShift's: 137 s, 107 s and 26 s, so that a leader outlasts an API server that is away for a minute.
const OPENSHIFT: (&str, Duration, f64) = (
    "lease-object{members=1,renew_deadline=781,retry_period=190,release=none}",
    ms(137_000),
    137_000.0 / 133_027.0,
);

/// Those for clocks that are worse: 60 s, 30 s and 2 s.
const PATIENT: (&str, Duration, f64) =
    ("lease-object{members=1,renew_deadline=500,retry_period=33,release=none}", ms(60_000), 60.0 / 31.98);

#[test]
fn a_leader_that_is_cut_off_is_alone_below_the_ratio_of_the_lease_to_the_time_for_which_it_leads_on() {
    for (design, ttl, ratio) in [CLIENT_GO, PATIENT, OPENSHIFT] {
        assert_eq!(cut_off(design, ttl, 0.99 * ratio, 200), 0, "{design}");
        assert!(cut_off(design, ttl, 1.05 * ratio, 200) > 0, "{design}");
    }
}

#[test]
fn a_leader_that_tries_to_release_leads_on_meanwhile_and_clocks_need_not_differ() {
    let (_, ttl, _) = CLIENT_GO;
    // A request takes half of the deadline: 2 + 10 + 5 s are more than a lease of 15 s.
    for release in ["read-first", "known"] {
        let two = cut_off(&format!("lease-object{{members=1,release={release}}}"), ttl, 1.0, 60);
        assert!(two > 0, "{release}");
    }
    assert_eq!(cut_off(CLIENT_GO.0, ttl, 1.0, 60), 0);
}

/// The releases that end what another client has created: a leader stands still until others lead, and is done when it resumes.
fn foreign_releases(release: &str) -> usize {
    let design = format!("lease-object{{release={release}}}");
    let foreign = |seed: u64| {
        let stops = (8_100 + 50 * seed, "client-1", Action::Pause { lasts: ms(30_000) });
        let (ttl, work, horizon) = (ms(15_000), ms(20_000), ms(80_000));
        let case = Case { design: &design, ttl, clients: 2, work, horizon, injections: vec![stops] };
        let trace = case.play(Engine::Event, seed);
        let mut creator = None;
        trace.events.iter().any(|event| match event.what {
            What::Created { .. } => {
                creator = event.grant;
                false
            }
            What::Deleted { .. } => {
                event.grant.zip(creator).is_some_and(|(by, creator)| by.client != creator.client)
            }
            _ => false,
        })
    };
    (0..20).filter(|seed| foreign(*seed)).count()
}

#[test]
fn a_late_release_that_reads_first_clears_the_object_of_the_next_leader() {
    assert!(foreign_releases("read-first") > 0);
    assert_eq!(foreign_releases("known"), 0);
    assert_eq!(foreign_releases("none"), 0);
}

#[test]
fn the_same_seed_gives_the_same_run_on_either_engine() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        for design in
            ["delayed", "delayed{fencing=lock-index}", "lease-object", "lease-object{fencing=transitions}"]
        {
            let stops = (4_100, "client-1", Action::Pause { lasts: ms(9_000) });
            let (ttl, work, horizon) = (ms(10_000), ms(8_000), ms(60_000));
            let case = Case { design, ttl, clients: 3, work, horizon, injections: vec![stops] };
            let first = case.play(engine, 3);
            assert_eq!(first.digest, case.play(engine, 3).digest, "{design}");
            assert!(first.events.iter().any(|event| matches!(event.what, What::Extended { .. })), "{design}");
        }
    }
}
