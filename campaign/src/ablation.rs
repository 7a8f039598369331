//! The ablation of a violation: runs of its plan without each of its parts, and with other designs.
//!
//! A part without which nothing is violated was needed. That it was needed does not make it the fault's fault alone: of a
//! pause and a second client, both are. A plan carries over to another design because its points have meaning there; where
//! its faults make no difference to that design, the run proves nothing about it.

use picklock_model::plan::Plan;
use picklock_sim::design::{Condition, Design};
use picklock_sim::engine::Engine;
use picklock_sim::lock::Belief;

use crate::check::{self, Checked};
use crate::expect::Expectations;
use crate::patience::Patience;
use crate::story::{Ablation, Elsewhere, Part, Without};
use picklock_scenarios::workloads;

/// Parts that are left out at most: a plan that was not reduced may have many.
const PARTS: usize = 32;
/// Other designs that are tried at most.
const DESIGNS: usize = 15;

/// Tries what the violations of a run depend on, as far as the time goes. `others` are designs to compare with. Skips controls,
/// designs on other servers, designs that break without a fault, and designs that a dead holder blocks permanently: none of them is
/// advice.
#[must_use]
pub fn of(
    engine: Engine,
    design: &Design,
    run: &Checked,
    others: &[Design],
    patience: &Patience,
) -> Ablation {
    let without = without(engine, design, run, patience);
    let elsewhere = elsewhere(engine, design, run, others, patience);
    Ablation { without, elsewhere, cut_short: patience.was_lost() }
}

fn without(engine: Engine, design: &Design, run: &Checked, patience: &Patience) -> Vec<Without> {
    let tried = |(part, plan)| {
        let rest = check::check(engine, design, plan).ok()?;
        let violated = run.violated().into_iter().filter(|name| rest.violates(name)).collect();
        Some(Without { part, violated })
    };
    let parts = parts(&run.plan).into_iter().take(PARTS).take_while(|_| !patience.is_over());
    parts.filter_map(tried).collect()
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
        for (nth, section) in client.background.iter().enumerate() {
            let mut rest = plan.clone();
            rest.clients[at].background.remove(nth);
            let part = Part::Section { client: client.name.clone(), ordinal: section.ordinal };
            parts.push((part, rest));
        }
    }
    parts
}

fn elsewhere(
    engine: Engine,
    design: &Design,
    run: &Checked,
    others: &[Design],
    patience: &Patience,
) -> Vec<Elsewhere> {
    let violated = run.violated();
    let expectations = Expectations::builtin();
    let tried = |other: Design| {
        if breaks_without_faults(engine, &expectations, &other, &run.plan) {
            return None;
        }
        let run = check::check(engine, &other, run.plan.clone()).ok()?;
        let judged = violated.iter().all(|name| run.judges(name));
        let inconclusive = run.inconclusive.is_some() || !judged;
        Some(Elsewhere { design: other.name.to_string(), violated: run.violated(), inconclusive })
    };
    let comparable = others.iter().filter(|other| is_advisable(other));
    let comparable = comparable.filter_map(|other| standing_alike(design, other, &run.plan));
    comparable.take(DESIGNS).take_while(|_| !patience.is_over()).filter_map(tried).collect()
}

/// True for a design that a reader may choose instead: a control stands on no store, and a dead holder of a design without
/// leases blocks the others permanently.
fn is_advisable(design: &Design) -> bool {
    design.store.is_some() && design.survives.has(Condition::HolderDead)
}

/// True if a design violates something although no fault hits: in this plan without its injections, or in a longer run, as
/// reviewed. A plan without injections is itself the trouble, such as long work.
fn breaks_without_faults(engine: Engine, expectations: &Expectations, design: &Design, plan: &Plan) -> bool {
    let expected = expectations.cell(&design.name, "calm");
    if expected.is_some_and(|expected| !expected.violated.is_empty()) {
        return true;
    }
    let fault_free = Plan { injections: Vec::new(), ..plan.clone() };
    !plan.injections.is_empty()
        && check::check(engine, design, fault_free).is_ok_and(|run| run.violations().next().is_some())
}

/// The other design on servers such as the first one has; `None` if it stands on others, or cannot do what the plan asks
/// for.
fn standing_alike(design: &Design, other: &Design, plan: &Plan) -> Option<Design> {
    let kind = |of: &Design| of.store.as_ref().map(|store| store.spec.name());
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

#[cfg(test)]
mod tests {
    use picklock_model::seed::Seed;
    use picklock_sim::lock::{Client, Grant, LockError};
    use picklock_sim::store::Topology;

    use super::*;
    use picklock_scenarios::scenario::Scenario;

    struct Generous;

    impl picklock_sim::lock::Lock for Generous {
        async fn try_acquire(&self, key: &picklock_model::ids::Key) -> Result<Option<Grant>, LockError> {
            Ok(Some(Grant::new(key, "anybody")))
        }

        async fn release(&self, _: Grant) -> Result<(), LockError> {
            Ok(())
        }
    }

    fn generous(name: &str, stores: u32) -> Design {
        Design::new(name, |_| async { Ok(Client::lock(Generous)) })
            .on(Topology::independent(stores), |_| async {})
            .surviving([Condition::HolderDead])
    }

    #[test]
    fn each_part_is_left_out_and_only_designs_on_the_same_servers_are_compared() {
        let design = generous("generous", 1);
        let mut scenario =
            Scenario::parse("made-up.toml", "summary = 'made up'", picklock_scenarios::testing::STORES)
                .unwrap();
        scenario.set("clients=2").unwrap();
        scenario.set("sections=1").unwrap();
        let run = check::seed(Engine::Event, &design, &scenario, Seed(7)).unwrap();
        assert!(run.violates("mutual-exclusion"));
        let control = Design::new("control", |_| async { Ok(Client::lock(Generous)) });
        let others = [
            generous("alike", 1),
            generous("three-stores", 3),
            generous("advisory-pooled", 1),
            generous("blocking", 1).surviving([]),
            control.surviving([Condition::HolderDead]),
            design.clone(),
        ];
        let ablation = of(Engine::Event, &design, &run, &others, &Patience::default());
        assert!(!ablation.cut_short);
        let late = of(Engine::Event, &design, &run, &others, &Patience::of(Some(std::time::Duration::ZERO)));
        assert!(late.cut_short && late.without.is_empty() && late.elsewhere.is_empty(), "the time was over");
        let parts: Vec<_> =
            ablation.without.iter().map(|without| (&without.part, &without.violated)).collect();
        let section = |client: &str| Part::Section { client: client.to_owned(), ordinal: 1 };
        // It takes two.
        assert_eq!(parts, [(&section("client-1"), &Vec::new()), (&section("client-2"), &Vec::new())]);
        let names: Vec<&str> = ablation.elsewhere.iter().map(|one| one.design.as_str()).collect();
        assert_eq!(names, ["alike"]);
        assert_eq!(ablation.elsewhere[0].violated, run.violated());
    }
}
