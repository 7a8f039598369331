//! Redis Cluster, Sentinel and Redlock where servers are lost or split.

use std::time::Duration;

use picklock_model::plan::{Action, Plan, Target};
use picklock_model::time::TrueTime;

use super::lab::{Lab, LabError, grants, injected, violating};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cluster-or-sentinel",
    claim: "a lock on Redis Cluster is safer than one behind Sentinels, and Redlock is safer than both",
    source: "articles 0, 2 and 3; Redis documentation, Distributed Locks with Redis",
    measure,
};

const RUNS: u64 = 100;
const STAGED: u64 = 20;

/// A design and the servers that it has.
struct Case {
    design: &'static str,
    servers: &'static str,
    /// A replica takes the place of a server that is lost.
    fails_over: bool,
    /// What is split off together with a client, and what is left.
    minority: &'static [&'static str],
    majority: &'static [&'static str],
}

const SENTINEL: [&str; 4] = ["replica-1-1", "sentinel-1-1", "sentinel-1-2", "sentinel-1-3"];

const CASES: [Case; 4] = [
    Case {
        design: "replicated",
        servers: "a primary, a replica, three Sentinels",
        fails_over: true,
        minority: &["node-1"],
        majority: &SENTINEL,
    },
    Case {
        design: "replicated-wait",
        servers: "the same, and the client waits for the replica",
        fails_over: true,
        minority: &["node-1"],
        majority: &SENTINEL,
    },
    Case {
        design: "cluster",
        servers: "three shards with a replica each",
        fails_over: true,
        minority: &["node-1"],
        majority: &["node-2", "node-3", "replica-1-1", "replica-2-1", "replica-3-1"],
    },
    Case {
        design: "redlock",
        servers: "five nodes",
        fails_over: false,
        minority: &["node-1", "node-2"],
        majority: &["node-3", "node-4", "node-5"],
    },
];

/// A client that takes the lock and gives it back again and again, and how long a server may be silent.
const SETTINGS: [&str; 9] = [
    "clients=1",
    "background=0",
    "sections=1000",
    "think=0ms..60ms",
    "work=1ms",
    "ttl=2s",
    "horizon=40s",
    "down_after=1s",
    "node_timeout=1s",
];

/// A server dies for good, or a split begins, within a second from then on; and how long that lasts.
const AT: TrueTime = TrueTime(5_000_000_000);
const SPLIT: Duration = Duration::from_secs(20);

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let (mut windows, mut lost, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for case in &CASES {
        let with_two = |scenario| -> Result<(u64, String), LabError> {
            let cell = lab.cell(case.design, scenario, &[], RUNS)?;
            let runs = violating(&cell, "mutual-exclusion");
            Ok((runs, format!("{runs} of {}", cell.runs)))
        };
        let window = spans(lab, case, with_split, |grants, at| {
            grants
                .iter()
                .rev()
                .find(|grant| **grant < at + SPLIT)
                .map_or(Duration::ZERO, |last| last.since(at))
        })?;
        let gap = spans(lab, case, with_loss, |grants, at| {
            grants.iter().find(|grant| **grant > at).map_or(Duration::MAX, |next| next.since(at))
        })?;
        let none = || (0, "-".to_owned());
        let (failover, split, lag) = if case.fails_over {
            (with_two("failover")?, with_two("split")?, with_two("replication-lag")?)
        } else {
            (with_two("minority-down")?, none(), none())
        };
        lost.push(failover.0 + split.0 + lag.0);
        rows.push(vec![
            case.design.to_owned(),
            case.servers.to_owned(),
            seconds(window.1),
            failover.1,
            split.1,
            lag.1,
            format!("{} ({})", seconds(gap.0), seconds(gap.1)),
        ]);
        windows.push(window.1);
        gaps.push(gap.1);
    }
    let as_expected = windows[2] < windows[0] / 4
        && windows[3] < Duration::from_millis(300)
        && lost[0] > lost[2]
        && lost[2] > 0
        && lost[3] == 0
        && gaps[3] < gaps[0].min(gaps[2]);
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "a primary of a cluster notices by itself that it is in the minority and stops (cluster-minority), so that its holder meets the next one only while the last lease lasts; that of Sentinels goes on for as long as the split lasts. \
                  Both lose a grant that was not replicated when they fail over. Who waits for the only replica loses none and has no lock without it. \
                  Redlock has nobody to fail over to, so that the loss of a minority costs neither a lock nor time; it pays with the clocks and the memory of \
                  its nodes (redlock-restart, redlock-jump)."
            .to_owned(),
        figures: vec![Figures {
            title: format!(
                "a split of 20 s with one client in the minority, the longest of {STAGED} runs; runs with two holders under `failover` (`minority-down` for Redlock), `split` and `replication-lag`; \
                 and the time without a grant after a server has died for good, median (longest) of {STAGED} runs; servers may be silent for 1 s"
            ),
            head: vec!["design", "servers", "the minority grants for", "failover", "split", "replication-lag", "no grant for"],
            rows,
        }],
        plot: None,
        replays: vec![
            "picklock compare --design replicated,replicated-wait,cluster --scenario failover,split,replication-lag --seeds 100".to_owned(),
        ],
    })
}

fn seconds(span: Duration) -> String {
    if span == Duration::MAX { "more than 30 s".to_owned() } else { format!("{:.2} s", span.as_secs_f64()) }
}

/// The median and the longest of a span that runs of a plan are measured by: by their grants.
fn spans(
    lab: &Lab,
    case: &Case,
    staged: fn(&Case, Plan, TrueTime) -> Plan,
    span: impl Fn(&[TrueTime], TrueTime) -> Duration,
) -> Result<(Duration, Duration), LabError> {
    let mut all = Vec::new();
    for seed in 0..STAGED {
        let plan = lab.plan(case.design, "calm", &SETTINGS, seed)?;
        // Members look at each other once a second.
        let at = AT + Duration::from_millis(plan.seed.stream("fault").below(1_000));
        let run = lab.staged(case.design, staged(case, plan, at))?;
        all.push(span(&grants(&run), at));
    }
    all.sort();
    Ok((all[all.len() / 2], all[all.len() - 1]))
}

fn with_split(case: &Case, mut plan: Plan, at: TrueTime) -> Plan {
    let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut side = hosts(case.minority);
    side.push("client-1".to_owned());
    let to = Target::Hosts(hosts(case.majority));
    let cut = Action::Cut { to, both: true, lasts: SPLIT };
    plan.injections.push(injected(at, Target::Hosts(side), cut));
    plan
}

fn with_loss(_: &Case, mut plan: Plan, at: TrueTime) -> Plan {
    let dies = Action::Crash { power_loss: false, restart_after: None };
    plan.injections.push(injected(at, Target::host("node-1"), dies));
    plan
}
