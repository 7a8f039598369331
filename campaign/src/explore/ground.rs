//! One workload made ready: the run without a fault, every site on it, and what a run with hits says.

use picklock_model::plan::{Action, Injection, Plan, Point, Target, When};
use picklock_model::points::PointsToRecord;
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::Role;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::request::Request;
use crate::check::{self, CheckError, Checked, Options};
use picklock_judge::outcome::Outcome;
use picklock_scenarios::faults::Stage;

/// One site: its kind, and its number among those of its kind, by which it is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The workload.
    pub seed: Seed,
    /// The kind of fault.
    pub fault: &'static str,
    /// Its number among the sites of this kind and seed.
    pub number: usize,
    /// Where.
    pub point: Point,
}

/// One workload, made ready: the plan without a fault, and every site on it.
pub(super) struct Ground<'a> {
    request: &'a Request<'a>,
    base: Plan,
    pub(super) without_fault: Vec<String>,
    pub(super) stage: Stage,
    pub(super) sites: Vec<(Site, Injection)>,
}

/// The verdict of one run with hits.
pub(super) struct Verdict {
    pub(super) violated: Vec<String>,
    /// The invariants that were judged and hold.
    pub(super) holds: Vec<&'static str>,
    /// Those that it put to the test and did not decide.
    pub(super) undecided: Vec<&'static str>,
    pub(super) took_effect: bool,
}

impl<'a> Ground<'a> {
    pub(super) fn new(request: &'a Request<'a>, seed: Seed) -> Result<Ground<'a>, CheckError> {
        let mut base = request.scenario.fault_free_plan(request.design, seed);
        base.injections.extend(request.held.and_then(|held| hold(request.design, &base, held)));
        let kept = request.kept.map(|kept| kept.plan(request.design, seed, None).injections);
        base.injections.extend(kept.unwrap_or_default());
        let options = Options::default().recording_points(PointsToRecord::Everything);
        let run = check::check(options, request.design, base.clone())?;
        let probe = run.probe.as_ref();
        let points: Vec<Point> =
            probe.iter().flat_map(|probe| probe.reached().iter().map(|passed| probe.point(passed))).collect();
        let stage = Stage::new(request.design, &base, request.lasts, &run.trace.hosts);
        let sites = sites(request, seed, &stage, &points);
        Ok(Ground { request, base, without_fault: run.violated(), stage, sites })
    }

    /// The plan with hits, and with background clients that want what they hit.
    pub(super) fn with(&self, injections: impl IntoIterator<Item = Injection>) -> Plan {
        let mut plan = self.base.clone();
        plan.injections.splice(0..0, injections);
        self.request.scenario.add_background(&mut plan);
        plan
    }

    /// The run with hits, with what its segments said and where its programs were.
    pub(super) fn shown(
        &self,
        injections: impl IntoIterator<Item = Injection>,
    ) -> Result<Checked, CheckError> {
        let options = Options::from(Engine::Event).with_wire();
        check::check(options, self.request.design, self.with(injections))
    }

    pub(super) fn judge(
        &self,
        injections: impl IntoIterator<Item = Injection>,
    ) -> Result<Verdict, CheckError> {
        let run = check::check(Engine::Event, self.request.design, self.with(injections))?;
        let mut violated = run.violated();
        violated.retain(|name| !self.without_fault.contains(name));
        let of = |is: fn(&Outcome) -> bool| {
            let outcomes = run.outcomes.iter().filter(|(_, outcome)| is(outcome));
            outcomes.map(|(invariant, _)| invariant.name).collect()
        };
        let holds = of(|outcome| matches!(outcome, Outcome::Holds));
        let undecided = of(|outcome| matches!(outcome, Outcome::Undecided(_)));
        // A fault that breaks something that holds otherwise has taken effect, whatever the world recorded of it.
        let took_effect = !run.took_effect.is_empty() || !violated.is_empty();
        Ok(Verdict { violated, holds, undecided, took_effect })
    }
}

/// Every site of every kind on one workload.
fn sites(request: &Request<'_>, seed: Seed, stage: &Stage, points: &[Point]) -> Vec<(Site, Injection)> {
    let mut sites = Vec::new();
    for kind in &request.kinds {
        for (number, injection) in kind.sites(stage, points).into_iter().enumerate() {
            if let When::Point { point, .. } = &injection.when {
                let place = Site { seed, fault: kind.name, number, point: point.clone() };
                sites.push((place, injection));
            }
        }
    }
    sites
}

/// Lets client-1 hold on so many stores only: it is cut off from the others for a lease, from the start.
fn hold(design: &Design, base: &Plan, held: u32) -> Option<Injection> {
    let members = design.members(&design.settings(&base.world));
    let stores = members.iter().filter(|member| member.role == Role::Leader);
    let others: Vec<String> = stores.skip(held as usize).map(|member| member.name.clone()).collect();
    let action = Action::Cut { to: Target::Hosts(others.clone()), both: true, lasts: base.world.ttl };
    let when = When::At { at_ns: TrueTime(0) };
    (!others.is_empty()).then(|| Injection {
        fault: "held".to_owned(),
        when,
        target: Target::host("client-1"),
        action,
    })
}
