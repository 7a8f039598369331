//! What a violation depends on, found out by runs: its plan without each of its parts, and with other designs.
//!
//! A part without which nothing is violated was needed. That it was needed does not make it the fault's fault alone: of a
//! pause and a second client, both are. A plan carries over to another design because its points have meaning there; where
//! its faults make no difference to that design, the run says nothing of it.

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::lock::Belief;
use picklock_sim::plan::Plan;

use crate::check::{self, Checked};
use crate::story::{Elsewhere, Part, Trials, Without};
use crate::workloads;

/// Parts that are left out at most: a plan that was not reduced may have many.
const PARTS: usize = 32;
/// Other designs that are tried at most.
const DESIGNS: usize = 12;

/// Tries what the violations of a run depend on. `others` are designs to compare with; those that do not stand on the
/// same servers are passed over.
#[must_use]
pub fn of(engine: Engine, design: &Design, run: &Checked, others: &[Design]) -> Trials {
    Trials { without: without(engine, design, run), elsewhere: elsewhere(engine, design, &run.plan, others) }
}

fn without(engine: Engine, design: &Design, run: &Checked) -> Vec<Without> {
    let tried = |(part, plan)| {
        let rest = check::check(engine, design, plan).ok()?;
        let violated = run.violated().into_iter().filter(|name| rest.violates(name)).collect();
        Some(Without { part, violated })
    };
    parts(&run.plan).into_iter().take(PARTS).filter_map(tried).collect()
}

/// Each part with the plan that lacks it.
fn parts(plan: &Plan) -> Vec<(Part, Plan)> {
    let mut parts = Vec::new();
    for (at, index) in (0..plan.injections.len()).zip(0..) {
        let mut rest = plan.clone();
        rest.injections.remove(at);
        parts.push((Part::Injection(index), rest));
    }
    for (at, client) in plan.clients.iter().enumerate() {
        for (nth, section) in client.sections.iter().enumerate() {
            let mut rest = plan.clone();
            rest.clients[at].sections.remove(nth);
            let part = Part::Section { client: client.name.clone(), ordinal: section.ordinal };
            parts.push((part, rest));
        }
    }
    parts
}

fn elsewhere(engine: Engine, design: &Design, plan: &Plan, others: &[Design]) -> Vec<Elsewhere> {
    let tried = |other: Design| {
        let run = check::check(engine, &other, plan.clone()).ok()?;
        Some(Elsewhere { design: other.name.to_string(), violated: run.violated(), idle: run.idle.is_some() })
    };
    let comparable = others.iter().filter_map(|other| standing_alike(design, other, plan));
    comparable.take(DESIGNS).filter_map(tried).collect()
}

/// The other design on servers such as the first one has; `None` if it stands on others, or cannot do what the plan asks
/// for.
fn standing_alike(design: &Design, other: &Design, plan: &Plan) -> Option<Design> {
    let kind = |of: &Design| of.kind.as_ref().map(|kind| kind.name());
    let replicated = design.topology.replicated;
    let fits = other.name != design.name
        && kind(other) == kind(design)
        && other.topology.stores == design.topology.stores
        && other.alone == design.alone
        && (other.belief == Belief::None) == (design.belief == Belief::None)
        && (replicated || !(other.topology.replicated || other.needs_replicas));
    let mut other = fits.then(|| other.clone())?;
    other.topology.replicated = replicated;
    let can = workloads::named(&plan.workload).is_some_and(|workload| (workload.applies)(&other).is_ok());
    (can && other.admits(plan).is_ok()).then_some(other)
}
