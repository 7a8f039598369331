//! Five stores, of which the third was locked 100 ms before the first and the second.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{Action, ClientPlan, Latency, Plan, SectionPlan, Settings, Target, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;

use super::lab::{Lab, LabError, injected, ms, overlap};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "redlock-example",
    claim: "of five nodes R3 was locked 100 ms before R1 and R2, so its lease ends 100 ms earlier, and then another \
            client gets R3, R4 and R5: two holders for 100 ms",
    source: "article 3",
    measure,
};

/// The lease of the example.
pub(super) const LEASE: Duration = Duration::from_secs(10);
/// How much earlier one store was locked than the two others.
const EARLIER: Duration = Duration::from_millis(100);

const HOLDERS: [(&str, &str); 3] = [
    ("redlock", "from before the first request, less the drift"),
    ("redlock{belief=trusting}", "from the last reply"),
    ("redlock-naive", "by no deadline, until the release"),
];

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut widths = Vec::new();
    for (design, counted) in HOLDERS {
        let mut width = Duration::ZERO;
        for nth in 0..12 {
            width = width.max(overlap(&lab.staged(design, example(EARLIER, nth * FREED / 12))?));
        }
        widths.push(width);
        rows.push(vec![design.to_owned(), counted.to_owned(), format!("{} ms", ms(width))]);
    }
    let trusting = widths[1].abs_diff(EARLIER) < Duration::from_millis(1);
    let as_expected = widths[0].is_zero() && trusting && widths[2] > EARLIER;
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "only for a holder that counts its lease from the last reply, as some libraries did. The published \
                  algorithm counts from before the first request: its holder has stopped before the first of its \
                  leases ends. A holder that never looks overlaps for as long as it works."
            .to_owned(),
        figures: vec![Figures {
            title: format!(
                "lease {} s, latency 0.02 ms; the second client asks within 1.2 ms of the moment when R3 is free, and the widest is shown",
                LEASE.as_secs()
            ),
            head: vec!["design", "the holder counts its lease", "two holders for"],
            rows,
        }],
        plot: None,
        replays: Vec::new(),
    })
}

/// The first client locks `node-1`, and so much later `node-2` and `node-3`; the other two are down just then.
/// The second asks so much after the lease on `node-1` could have run out: that, `node-4` and `node-5` are its majority. (Stores are
/// asked in their order, so the one that is locked early is the first here and not the third.)
pub(super) fn example(earlier: Duration, after: Duration) -> Plan {
    let late = Action::Delay { to: Target::host("node-2"), by: earlier, lasts: LEASE, messages: Some(1) };
    let down = Action::Crash { power_loss: false, restart_after: Some(LEASE / 2) };
    staged(LEASE + after, [(0, others(), down), (START - 1, Target::host("client-1"), late)])
}

/// By then a lease has run out for sure: a store counts in whole milliseconds, and drops a record when one has passed.
pub(super) const FREED: Duration = Duration::from_micros(1_200);

/// When the first client asks, in milliseconds: its connections are open by then.
pub(super) const START: u64 = 100;

/// The two stores that the first client does not lock.
pub(super) fn others() -> Target {
    Target::Hosts(vec!["node-4".to_owned(), "node-5".to_owned()])
}

/// Two clients that want the same key: the first at [`START`] and for two leases, the second so much later. Actions
/// come with the millisecond at which they are applied.
pub(super) fn staged(later: Duration, actions: impl IntoIterator<Item = (u64, Target, Action)>) -> Plan {
    let client = |name: &str, think, work| {
        ClientPlan::new(name, vec![SectionPlan::new(1, Key::new("stock"), think, work)])
    };
    let injection =
        |(at_ms, target, action)| injected(TrueTime(0) + Duration::from_millis(at_ms), target, action);
    Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: LEASE,
            wait: LEASE,
            horizon: 4 * LEASE,
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(20), max: Duration::from_micros(20) },
            tcp_timeout: 2 * LEASE,
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "contend".to_owned(),
        clients: vec![
            client("client-1", Duration::from_millis(START), 2 * LEASE),
            client("client-2", Duration::from_millis(START) + later, LEASE * 6 / 10),
        ],
        choices: Vec::new(),
        injections: actions.into_iter().map(injection).collect(),
    }
}
