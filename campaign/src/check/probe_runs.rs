//! Probe runs, each made once.
//!
//! Scenarios that differ in their faults alone have the same probe run, and most faults hit points that it reached.
//! It costs about as much as the run that it is made for. A run is a function of design and plan, so a probe that is
//! shared is the one that would have been made again, and no plan changes. The run of a scenario without faults can serve as
//! the probe run of those that come after it.

use std::sync::Arc;

use picklock_judge::conclusive::Inconclusive;
use picklock_model::plan::Plan;
use picklock_model::points::{Points, PointsToRecord};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Role, Trace};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::run::{self, Options};

use super::program::{CheckError, workload};
use super::{Checked, answered, check, judge};

/// The probes made so far. Those of one seed are of no use to another: a new collection for each keeps it small.
#[derive(Default)]
pub struct ProbeRuns<'a> {
    made: Vec<Made<'a>>,
}

/// A plan that was drawn.
pub struct Drawn {
    /// The plan.
    pub plan: Plan,
    /// The reason for which its run proves nothing, whatever it shows, if there is one.
    pub lacking: Option<&'static str>,
    /// The reason for which its run proves nothing unless it violates something, if there is one.
    pub unhit: Option<&'static str>,
}

struct Made<'a> {
    design: &'a Design,
    fault_free: Plan,
    /// It was made up to this section of each client; to the end if none.
    last_section: Option<u32>,
    probe: Points,
}

impl<'a> ProbeRuns<'a> {
    /// Draws the plan of a seed and checks it: as [`seed`](super::seed), with the same result. Probe runs that are the same for
    /// several scenarios are made once.
    ///
    /// # Errors
    /// When the design's code panics.
    pub fn check(
        &mut self,
        engine: Engine,
        design: &'a Design,
        scenario: &Scenario,
        seed: Seed,
    ) -> Result<Checked, CheckError> {
        let Drawn { plan, lacking, unhit } = self.draw(design, scenario, seed)?;
        // The probe run of other scenarios may be this very run.
        if engine == Engine::Event && scenario.faults().is_empty() {
            let trace = self.make(design, plan.clone())?;
            return answered(engine, design, judge(plan, trace));
        }
        let run = check(engine, design, plan)?;
        Ok(match lacking {
            Some(why) => run.proving_nothing(why),
            None => Checked {
                inconclusive: run.inconclusive.or(unhit.map(Inconclusive::NotAsked)),
                hit_lock: run.hit_lock && unhit.is_none(),
                ..run
            },
        })
    }

    /// As [`draw`](super::draw), with the same result.
    ///
    /// # Errors
    /// When the design's code panics in the probe run.
    pub fn draw(&mut self, design: &'a Design, scenario: &Scenario, seed: Seed) -> Result<Drawn, CheckError> {
        let probe = match scenario.needs_probe_run() {
            true => Some(self.of(design, scenario.fault_free_plan(design, seed), scenario.last_section())?),
            false => None,
        };
        let lacking = probe.and_then(|probe| scenario.lacking(design, probe));
        let plan = scenario.plan(design, seed, probe);
        let unhit = scenario.hits_nothing(design, &plan).then_some("there is nothing for the faults to hit");
        Ok(Drawn { plan, lacking, unhit })
    }

    /// The points that a fault-free plan reaches, up to this section of each client or to the end, from a run that was made
    /// before if there is one like it.
    ///
    /// # Errors
    /// When the plan names an unknown workload or the design's code panics.
    pub fn of(
        &mut self,
        design: &'a Design,
        fault_free: Plan,
        last_section: Option<u32>,
    ) -> Result<&Points, CheckError> {
        let at = match self.made.iter().position(|made| made.serves(design, &fault_free, last_section)) {
            Some(at) => at,
            None => {
                let run = run::run(
                    Options::for_points(last_section),
                    design,
                    &fault_free,
                    &workload(&fault_free)?,
                )?;
                let probe = run.probe.unwrap_or_default();
                self.made.push(Made { design, fault_free, last_section, probe });
                self.made.len() - 1
            }
        };
        Ok(&self.made[at].probe)
    }

    /// Runs a fault-free plan and keeps the points that it reaches, if a run for its points alone is the same run. Returns the
    /// trace.
    ///
    /// # Errors
    /// As [`ProbeRuns::of`].
    pub fn make(&mut self, design: &'a Design, fault_free: Plan) -> Result<Trace, CheckError> {
        let options = Options::default().recording_points(PointsToRecord::Sections);
        let run = run::run(options, design, &fault_free, &workload(&fault_free)?)?;
        let probe = run.probe.expect("a run that is made for its probe has one");
        // Where monitors would have rested, the two could differ in what falls into one instant.
        let is_whole = !design.lets_monitors_rest();
        let members = design.members(&design.settings(&fault_free.world));
        if is_whole || members.iter().all(|member| member.role != Role::Monitor) {
            self.made.push(Made { design, fault_free, last_section: None, probe });
        }
        Ok(run.trace)
    }
}

impl Made<'_> {
    fn serves(&self, design: &Design, fault_free: &Plan, last_section: Option<u32>) -> bool {
        let goes_as_far = match (self.last_section, last_section) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(here), Some(there)) => here >= there,
        };
        goes_as_far && self.has_plan(fault_free) && run_alike(self.design, design)
    }

    /// True if the other plan is this one, or would be with another horizon that makes no difference: a run only ever
    /// looks at its horizon to be cut off there, so one that ended by itself before either is the same under both.
    fn has_plan(&self, fault_free: &Plan) -> bool {
        let (here, there) = (self.fault_free.world.horizon, fault_free.world.horizon);
        if here != there && self.probe.end >= TrueTime(0) + here.min(there) {
            return false;
        }
        let mut under_this_horizon = fault_free.clone();
        under_this_horizon.world.horizon = here;
        self.fault_free == under_this_horizon
    }
}

/// True if every plan runs alike with both designs: their code is the very same object, and all that a scenario may
/// change around it is equal. Two designs that merely happen to do the same are held for different.
fn run_alike(one: &Design, other: &Design) -> bool {
    // By name, so that whoever gives a design a new field decides here whether a run depends on it.
    let Design {
        name,
        claim: _,
        belief,
        exclusion,
        fenced,
        fences_reads,
        topology,
        persistent,
        reentrant,
        nests,
        takes_up,
        in_sessions,
        sells,
        own_data,
        renewed_by: _,
        autonomous,
        alone,
        leases_to_recover,
        held_by_connection,
        answer_leases,
        survives,
        needs_replicas,
        parts: _,
        store,
        client,
    } = other;
    let same_server = match (&one.store, store) {
        (Some(one), Some(other)) => one.is(other),
        (None, None) => true,
        _ => false,
    };
    same_server
        && Arc::ptr_eq(&one.client, client)
        && one.name == *name
        && one.belief == *belief
        && one.exclusion == *exclusion
        && one.fenced == *fenced
        && one.fences_reads == *fences_reads
        && one.topology == *topology
        && one.persistent == *persistent
        && one.reentrant == *reentrant
        && one.nests == *nests
        && one.takes_up == *takes_up
        && one.in_sessions == *in_sessions
        && one.sells == *sells
        && one.own_data == *own_data
        && one.autonomous == *autonomous
        && one.alone == *alone
        && one.leases_to_recover == *leases_to_recover
        && one.held_by_connection == *held_by_connection
        && one.answer_leases == *answer_leases
        && one.survives == *survives
        && one.needs_replicas == *needs_replicas
}

#[cfg(test)]
mod tests {
    use picklock_sim::lock::{Client, Grant, LockError};
    use picklock_sim::store::Topology;

    use super::*;

    struct Generous;

    impl picklock_sim::lock::Lock for Generous {
        async fn try_acquire(&self, key: &picklock_model::ids::Key) -> Result<Option<Grant>, LockError> {
            Ok(Some(Grant::new(key, "anybody")))
        }

        async fn release(&self, _: Grant) -> Result<(), LockError> {
            Ok(())
        }
    }

    fn design() -> Design {
        Design::new("generous", |_| async { Ok(Client::lock(Generous)) })
            .on(Topology::independent(1), |_| async {})
    }

    fn fault_free(design: &Design, settings: &[&str]) -> Plan {
        let mut scenario =
            Scenario::parse("made-up.toml", "summary = 'made up'", picklock_scenarios::testing::STORES)
                .unwrap();
        scenario.set_all(settings).unwrap();
        scenario.fault_free_plan(design, Seed(3))
    }

    fn alone(design: &Design, fault_free: Plan) -> Points {
        ProbeRuns::default().of(design, fault_free, None).unwrap().clone()
    }

    /// How many runs it takes to probe all of these; each probe is the one that its plan has alone.
    fn runs(probed: &[(&Design, Plan)]) -> usize {
        let mut probes = ProbeRuns::default();
        for (design, fault_free) in probed {
            let shared = probes.of(design, fault_free.clone(), None).unwrap().clone();
            assert_eq!(shared, alone(design, fault_free.clone()));
        }
        probes.made.len()
    }

    #[test]
    fn a_fault_free_plan_is_run_once() {
        let design = design();
        let [one, other] = [fault_free(&design, &[]), fault_free(&design, &["clients=4"])];
        assert_eq!(runs(&[(&design, one.clone()), (&design, other.clone()), (&design, one)]), 2);
    }

    #[test]
    fn a_horizon_counts_only_where_it_cuts_off_a_run() {
        let design = design();
        let under = |horizon: &str| (&design, fault_free(&design, &[&format!("horizon={horizon}")]));
        let end = alone(&design, fault_free(&design, &[])).end;
        assert!(end > TrueTime(0) && end < TrueTime(5_000_000_000), "the default horizon cuts off the run");
        let (short, shorter) = (format!("{}ns", end.0 / 2), format!("{}ns", end.0 / 3));
        assert_eq!(runs(&[under("5s"), under("6s"), under("5s")]), 1);
        assert_eq!(runs(&[under("5s"), under(&short)]), 2);
        assert_eq!(runs(&[under(&short), under("5s"), under(&short)]), 2);
        assert_eq!(runs(&[under(&short), under(&shorter)]), 2);
        // At the very end, the run cannot be distinguished from one that was cut off.
        assert_eq!(runs(&[under("5s"), under(&format!("{}ns", end.0))]), 2);
    }

    #[test]
    fn a_probe_run_that_is_made_up_to_a_section_reaches_the_same_points_until_there() {
        let design = design();
        let fault_free = fault_free(&design, &["sections=4"]);
        let mut probes = ProbeRuns::default();
        let up_to = |probe: &Points, section: u32| {
            let passed = probe.reached().iter().filter(|passed| passed.section <= section);
            passed.copied().collect::<Vec<_>>()
        };
        let short = probes.of(&design, fault_free.clone(), Some(2)).unwrap().clone();
        let whole = probes.of(&design, fault_free.clone(), None).unwrap().clone();
        assert!(short.end < whole.end && short.reached().len() < whole.reached().len());
        assert_eq!(up_to(&short, 2), up_to(&whole, 2));
        // Either serves for less than it is.
        probes.of(&design, fault_free.clone(), Some(1)).unwrap();
        probes.of(&design, fault_free, Some(3)).unwrap();
        assert_eq!(probes.made.len(), 2);
    }

    #[test]
    fn a_fault_free_run_that_is_made_as_a_probe_is_the_run_itself() {
        let design = design();
        let fault_free = fault_free(&design, &[]);
        let mut probes = ProbeRuns::default();
        let trace = probes.make(&design, fault_free.clone()).unwrap();
        assert_eq!(
            *probes.of(&design, fault_free.clone(), None).unwrap(),
            alone(&design, fault_free.clone())
        );
        assert_eq!(probes.made.len(), 1);
        let run = super::super::check(picklock_sim::engine::Engine::Event, &design, fault_free).unwrap();
        assert_eq!(trace.digest, run.trace.digest);
    }

    #[test]
    fn a_design_that_a_scenario_has_changed_is_another_one() {
        let design = design();
        let fault_free = fault_free(&design, &[]);
        let copy = design.clone();
        let replicated = Design { topology: Topology { stores: 1, replicated: true }, ..design.clone() };
        let persistent = design.clone().persistent();
        assert_eq!(runs(&[(&design, fault_free.clone()), (&copy, fault_free.clone())]), 1);
        assert_eq!(
            runs(&[
                (&design, fault_free.clone()),
                (&replicated, fault_free.clone()),
                (&persistent, fault_free)
            ]),
            3
        );
    }

    #[test]
    fn designs_that_were_made_apart_are_different_ones() {
        let [one, other] = [design(), design()];
        let fault_free = fault_free(&one, &[]);
        assert_eq!(runs(&[(&one, fault_free.clone()), (&other, fault_free)]), 2);
    }
}
