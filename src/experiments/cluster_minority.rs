//! The time for which a primary of a Redis Cluster goes on granting after a split has put it into the minority.

use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_model::plan::{Action, Plan, Target};
use picklock_model::time::TrueTime;
use picklock_model::trace::What;

use super::lab::{Lab, LabError, injected, ms};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cluster-minority",
    claim: "in a split the primary of a Redis Cluster that is in the minority goes on for one to one and a half cluster-node-timeouts, and no longer",
    source: "Redis cluster specification, Availability; cluster.c of Redis 7.0.15, clusterUpdateState",
    measure,
};

const RUNS: u64 = 1_000;

/// `cluster-node-timeout`.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The beat at which a node looks at its state comes up to so much later.
const BEAT: Duration = Duration::from_millis(100);

/// The primary that has the lock's key: slot 3430 is of the first shard.
const PRIMARY: &str = "node-1";

/// One client that takes the lock and gives it back again and again.
const SETTINGS: [&str; 9] = [
    "node_timeout=2s",
    "clients=1",
    "background=0",
    "sections=1000",
    "think=0ms..15ms",
    "work=1ms",
    "ttl=1s",
    "horizon=7s",
    "latency=200us..1ms",
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut windows = Vec::new();
    for seed in 0..RUNS {
        let (plan, split) = with_split(lab.plan("cluster", "calm", &SETTINGS, seed)?);
        windows.push(last_grant(&lab.staged("cluster", plan)?).since(split));
    }
    windows.sort();
    let (least, most) = (windows[0], windows[windows.len() - 1]);
    // Between two attempts of the client lie up to 20 ms.
    let within = least + Duration::from_millis(20) >= TIMEOUT && most <= TIMEOUT * 3 / 2 + BEAT;
    let at = |share: usize| ms(windows[(windows.len() - 1) * share / 100]);
    Ok(Measured {
        verdict: if within { Verdict::Confirmed } else { Verdict::Refuted },
        because: "a primary pings each node at the latest when it has heard nothing of it for half a node timeout, and suspects it a node timeout after a \
                  ping without an answer. As soon as it suspects the majority it refuses. Where a ping was on its way as the split began, that is after one node \
                  timeout; where the last answer had just come, after one and a half, and a beat of 0.1 s. Real nodes of 7.0.15 went on \
                  for 2.027 to 3.061 s in 100 runs (tests/external/cluster-minority.py)."
            .to_owned(),
        figures: vec![Figures {
            title: format!("from the split to the last grant of the primary in the minority, in ms; a node timeout of 2 s, {RUNS} runs"),
            head: vec!["least", "a tenth below", "median", "nine tenths below", "most"],
            rows: vec![vec![ms(least), at(10), at(50), at(90), ms(most)]],
        }],
        plot: None,
        replays: vec!["picklock experiment cluster-minority".to_owned()],
    })
}

/// The plan in which the primary and the client are split off from all others, and when.
fn with_split(mut plan: Plan) -> (Plan, TrueTime) {
    let drawn = plan.seed.stream("split").below(2_000);
    let split = TrueTime(0) + Duration::from_millis(1_500 + drawn);
    let majority = ["node-2", "node-3", "replica-1-1", "replica-2-1", "replica-3-1"];
    let to = Target::Hosts(majority.map(str::to_owned).into());
    let lasts = plan.world.horizon;
    let cut = |host| injected(split, Target::host(host), Action::Cut { to: to.clone(), both: true, lasts });
    plan.injections.extend([PRIMARY, "client-1"].map(cut));
    (plan, split)
}

/// When the primary granted for the last time.
fn last_grant(run: &Checked) -> TrueTime {
    let of_primary = run.trace.events.iter().filter(|event| run.trace.host_name(event.host) == PRIMARY);
    let grants = of_primary.filter(|event| matches!(event.what, What::Created { .. }));
    grants.map(|event| event.at).max().unwrap_or_default()
}
