//! Jepsen's test of the locks of etcd 3.4.3: members stand still again and again, and updates under the lock are lost.

use std::time::Duration;

use picklock_judge::outcome::Outcome;
use picklock_model::plan::{Action, Plan, Target};
use picklock_model::time::TrueTime;
use picklock_model::trace::What;

use super::lab::{Lab, LabError, injected, share};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "jepsen-etcd",
    claim: "under etcd 3.4.3's lock about 18% of the acknowledged updates of a set were lost while members were stopped",
    source: "Jepsen, etcd 3.4.3 (2020), 3.3 Locks; etcd issue 11456",
    measure,
};

const RUNS: u64 = 40;

/// Five members of 3.4, a lease for each acquire, and a client that stays at the member that it has connected to.
const DESIGNS: [(&str, &str); 5] = [
    (
        "etcd-no-recheck{members=5,version=3.4,session=acquire,grpc_keepalive=off}",
        "the lock of 3.4.3, and a set elsewhere",
    ),
    (
        "etcd-no-recheck{members=5,version=3.4,session=acquire,grpc_keepalive=off,data=etcd}",
        "the same, and the set is in etcd",
    ),
    (
        "etcd-no-recheck{members=5,version=3.4,session=acquire,grpc_keepalive=off,data=guarded}",
        "the set is in etcd, and written in a transaction that compares the lock's key",
    ),
    (
        "etcd{members=5,version=3.4,session=acquire,grpc_keepalive=off}",
        "the lock, which looks at its own key again, and a set elsewhere",
    ),
    (
        "etcd-fenced{members=5,version=3.4,session=acquire,grpc_keepalive=off}",
        "the set refuses an older revision than it has seen",
    ),
];

/// Five processes that add to a set for up to two seconds, under a lease of two.
const SETTINGS: [&str; 10] = [
    "clients=5",
    "sections=60",
    "background=0",
    "think=0ms..100ms",
    "work=0ms..2s",
    "ttl=2s",
    "wait=60s",
    "horizon=60s",
    "ignores_loss=yes",
    "latency=200us..1ms",
];

/// A member is stopped for so long, and all run for as long before the next is.
const STOPPED: Duration = Duration::from_secs(5);

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut shares = Vec::new();
    for (design, what) in DESIGNS {
        let (mut updates, mut lost, mut harmed) = (0, 0, 0);
        for seed in 0..RUNS {
            let plan = with_stops(lab.plan(design, "calm", &SETTINGS, seed)?);
            let run = lab.staged(design, plan)?;
            let written = |what: &What| {
                if let What::ResourceWritten { value, .. } = what { Some(*value) } else { None }
            };
            let values: Vec<i64> = run.trace.events.iter().filter_map(|event| written(&event.what)).collect();
            let kept = values.last().copied().unwrap_or_default();
            updates += values.len() as u64;
            lost += (values.len() as i64 - kept).max(0) as u64;
            let of_data = |name: &str| matches!(name, "effective-exclusion" | "no-lost-update");
            harmed += u64::from(run.outcomes.iter().any(|(invariant, outcome)| {
                of_data(invariant.name) && matches!(outcome, Outcome::Violated(_))
            }));
        }
        shares.push(lost as f64 / updates.max(1) as f64);
        rows.push(vec![
            what.to_owned(),
            updates.to_string(),
            format!("{lost} ({})", share(lost, updates)),
            format!("{harmed} of {RUNS}"),
        ]);
    }
    let [outside, within, guarded, again, fenced] = shares[..] else {
        unreachable!("there is one for each design")
    };
    let as_expected =
        outside > 0.05 && within > 0.05 && again < outside / 4.0 && guarded == 0.0 && fenced == 0.0;
    Ok(Measured {
        verdict: if as_expected { Verdict::Confirmed } else { Verdict::Refuted },
        because: "a waiter whose lease ended while it waited is granted the lock of 3.4.3 all the same, and its lease ends while it waits whenever the \
                  member that it has connected to stands still. With the second look, which 3.5 has, what is left is the lease that ends during the \
                  work; and only a set that compares the revision of the lock, or is written only while the lock's key is there, loses nothing. How many updates are lost depends on which members are stopped, how many at \
                  a time, and for how long; that they are does not."
            .to_owned(),
        figures: vec![Figures {
            title: "five members, of which one stands still in five of each ten seconds; five processes, work of 0 to 2 s, a lease of 2 s".to_owned(),
            head: vec!["the lock", "updates", "lost", "runs that harmed the set"],
            rows,
        }],
        plot: None,
        replays: Vec::new(),
    })
}

/// The plan in which one member after the other, each drawn, stands still.
fn with_stops(mut plan: Plan) -> Plan {
    let mut drawn = plan.seed.stream("stopped members");
    let mut at = STOPPED;
    while at < plan.world.horizon {
        let member = 1 + drawn.below(5);
        let member = Target::host(format!("node-{member}"));
        plan.injections.push(injected(TrueTime(0) + at, member, Action::Pause { lasts: STOPPED }));
        at += 2 * STOPPED;
    }
    plan
}
