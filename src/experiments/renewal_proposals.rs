//! The alternatives to the watchdog that article 2 proposes, under the faults that they are proposed for.

use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_model::plan::{Action, Plan, Target};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Role, What};

use super::lab::{Lab, LabError, grants, injected, overlap};
use super::{Experiment, Figures, Measured, Verdict};

/// See the [module](self).
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "renewal-proposals",
    claim: "a renewal service, leases of sessions and renewal by progress are better than a watchdog in the client",
    source: "article 2",
    measure,
};

const RUNS: u64 = 40;

const LEASE: Duration = Duration::from_secs(10);

/// What happens to the holder, to the service, or in the work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Stuck,
    SlowStep,
    Pause,
    Crash,
    Service,
}

const FAULTS: [(Fault, &str); 5] = [
    (Fault::Stuck, "the work of the holder is stuck, its process runs"),
    (Fault::SlowStep, "one step of the work takes two leases"),
    (Fault::Pause, "the holder stands still for 0.8 leases"),
    (Fault::Crash, "the holder dies"),
    (Fault::Service, "the service dies for two leases"),
];

const DESIGNS: [&str; 4] = ["watchdog", "renewal-service", "session", "activity-renewal"];

/// Two clients that want one lock for two leases each.
const SETTINGS: [&str; 8] = [
    "clients=2",
    "sections=1",
    "background=0",
    "think=0ms..100ms",
    "work=20s",
    "ttl=10s",
    "wait=200s",
    "horizon=200s",
];

/// When it happens: the first holder is at work.
const AT: TrueTime = TrueTime(5_000_000_000);

/// The designs of a thousand locks, and how many of these each client holds.
const THOUSAND: [(&str, usize, &[&str]); 6] = [
    ("watchdog", 1, &[]),
    ("watchdog{locks=100}", 100, &["clients=10"]),
    ("renewal-service", 1, &[]),
    ("session", 1, &[]),
    ("session{locks=100}", 100, &["clients=10"]),
    ("activity-renewal", 1, &[]),
];

/// From after the acquires until before the releases.
const WINDOW: (TrueTime, TrueTime) = (TrueTime(5_000_000_000), TrueTime(55_000_000_000));

fn measure(lab: &Lab) -> Result<Measured, LabError> {
    let mut rows = Vec::new();
    let mut gains = Vec::new();
    for (fault, what) in FAULTS {
        let mut row = vec![what.to_owned()];
        for design in DESIGNS {
            if fault == Fault::Service && design != "renewal-service" {
                row.push("-".to_owned());
                continue;
            }
            let found = under(lab, design, fault)?;
            gains.push((fault, design, found));
            row.push(found.words(fault));
        }
        rows.push(row);
    }
    let of = |fault, design| gains.iter().find(|one| (one.0, one.1) == (fault, design)).map(|one| one.2);
    let is_safe = |fault, design| of(fault, design).is_some_and(|found| found.two == 0);
    let median = |fault, design| of(fault, design).map_or(Duration::ZERO, |found| found.waited.0);
    let as_expected = median(Fault::Stuck, "watchdog") == Duration::MAX
        && median(Fault::Stuck, "activity-renewal") < 2 * LEASE
        && median(Fault::Crash, "renewal-service") > median(Fault::Crash, "watchdog")
        && !is_safe(Fault::SlowStep, "activity-renewal")
        && is_safe(Fault::Pause, "renewal-service")
        && !is_safe(Fault::Pause, "watchdog")
        && !is_safe(Fault::Service, "renewal-service");
    Ok(Measured {
        verdict: if as_expected { Verdict::Conditional } else { Verdict::Refuted },
        because: "each is better at what it is proposed for and pays for it elsewhere. Renewal by progress frees a lock whose holder is stuck after a \
                  lease (the stuck one believes that it holds it on), and makes a second holder of every step that is merely slow. A service renews through pauses that a watchdog does not survive, keeps \
                  the lock of a dead client for a third of a lease longer, and is one process on which all locks depend. A session is one renewal for all locks of a \
                  process, which are lost together. None of them knows stuck work from work that takes long but the one that looks at its steps, and none keeps the \
                  late write of a holder out that goes on without its lock."
            .to_owned(),
        figures: vec![
            Figures {
                title: format!("runs with two holders of {RUNS}, and how long after the fault the next client got the lock, median (longest); a lease of 10 s, work of 20 s"),
                head: [&["what happens"], &DESIGNS[..]].concat(),
                rows,
            },
            thousand(lab)?,
        ],
        plot: None,
        replays: vec![
            "picklock compare --design watchdog,activity-renewal,renewal-service,session --scenario pause,stall,client-crash,long-work --seeds 100".to_owned(),
        ],
    })
}

/// What came of the runs of a design under a fault.
#[derive(Clone, Copy)]
struct Found {
    /// Runs with two holders.
    two: u64,
    /// How long after the fault the next client was granted the lock, in the median and at most; the longest span if nobody was.
    waited: (Duration, Duration),
}

impl Found {
    fn words(self, fault: Fault) -> String {
        let two = format!("{} of {RUNS}", self.two);
        let seconds = |span: Duration| format!("{:.1} s", span.as_secs_f64());
        match self.waited {
            _ if fault == Fault::SlowStep => two,
            (Duration::MAX, _) => format!("{two}; nobody"),
            (median, longest) => format!("{two}; after {} ({})", seconds(median), seconds(longest)),
        }
    }
}

fn under(lab: &Lab, design: &str, fault: Fault) -> Result<Found, LabError> {
    // The work is one step, and for the design that looks at steps it is four of them otherwise.
    let spelling = match (design, fault) {
        ("activity-renewal", Fault::SlowStep) => "activity-renewal{step=200}",
        (other, _) => other,
    };
    let mut two = 0;
    let mut waits = Vec::new();
    for seed in 0..RUNS {
        let plan = lab.plan(spelling, "calm", &SETTINGS, seed)?;
        // The holder's last renewal lies anywhere between none and a third of a lease back.
        let at = AT + Duration::from_millis(plan.seed.stream("fault").below(3_333));
        let run = lab.staged(spelling, with_fault(plan, fault, at))?;
        two += u64::from(overlap(&run) > Duration::ZERO);
        let next = grants(&run).into_iter().find(|granted| *granted > at);
        waits.push(next.map_or(Duration::MAX, |granted| granted.since(at)));
    }
    waits.sort();
    Ok(Found { two, waited: (waits[waits.len() / 2], waits[waits.len() - 1]) })
}

fn with_fault(mut plan: Plan, fault: Fault, at: TrueTime) -> Plan {
    let (target, action) = match fault {
        Fault::SlowStep => return plan,
        Fault::Stuck => (Target::Holder, Action::Stall { lasts: 100 * LEASE }),
        Fault::Pause => (Target::Holder, Action::Pause { lasts: LEASE * 4 / 5 }),
        Fault::Crash => (Target::Holder, Action::Crash { power_loss: true, restart_after: None }),
        Fault::Service => {
            let action = Action::Crash { power_loss: false, restart_after: Some(2 * LEASE) };
            (Target::host("renewer-1"), action)
        }
    };
    plan.injections.push(injected(at, target, action));
    plan
}

/// The load of a thousand locks, and the locks that are lost when a process that renews stands still for one and a half leases.
fn thousand(lab: &Lab) -> Result<Figures, LabError> {
    let mut rows = Vec::new();
    for (design, of_client, settings) in THOUSAND {
        let calm = lab.run(design, "batch", settings, 0)?;
        let mut plan = lab.plan(design, "batch", settings, 0)?;
        let who = if design == "renewal-service" { "renewer-1" } else { "client-1" };
        let lasts = plan.world.ttl * 3 / 2;
        plan.injections.push(injected(WINDOW.0, Target::host(who), Action::Pause { lasts }));
        let paused = lab.staged(design, plan)?;
        rows.push(vec![
            design.to_owned(),
            format!("{} clients, {of_client} each", 1_000 / of_client),
            format!("{:.1}", per_second(&calm, |what| matches!(what, What::Extended { .. }))),
            format!("{:.1}", per_second(&calm, |what| sent_to(&calm, what, Role::Leader))),
            format!("{:.1}", per_second(&calm, |what| sent_to(&calm, what, Role::Renewer))),
            who.to_owned(),
            ran_out(&paused, of_client).to_string(),
        ]);
    }
    Ok(Figures {
        title: "a thousand locks with a lease of 30 s, held for 60 s; and locks that ran out as the process that renews them stood still for 45 s".to_owned(),
        head: vec![
            "design",
            "holders",
            "renewals/s",
            "requests/s at the store",
            "heartbeats/s at the service",
            "stands still",
            "locks that ran out",
        ],
        rows,
    })
}

fn sent_to(run: &Checked, what: &What, role: Role) -> bool {
    matches!(what, What::Sent { peer, .. } if run.trace.role(*peer) == Some(role))
}

fn per_second(run: &Checked, counts: impl Fn(&What) -> bool) -> f64 {
    let within = run.trace.events.iter().filter(|event| (WINDOW.0..WINDOW.1).contains(&event.at));
    within.filter(|event| counts(&event.what)).count() as f64 / WINDOW.1.since(WINDOW.0).as_secs_f64()
}

/// How many locks ran out; with the key of a session, those that a client holds under it.
fn ran_out(run: &Checked, of_session: usize) -> usize {
    let count = |what: &What| match what {
        What::Expired { key, .. } if key.as_str().starts_with("session:") => of_session,
        What::Expired { .. } => 1,
        _ => 0,
    };
    run.trace.events.iter().map(|event| count(&event.what)).sum()
}
