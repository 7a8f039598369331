//! The order in which a gate goes about it: what was kept, the scenarios, every single site; then what is told of it.

use picklock_campaign::allow::AllowedViolations;
use picklock_campaign::summary::Cell;
use picklock_campaign::tally::Tally;
use picklock_scenarios::scenario::Scenario;

use super::budget::Budget;
use super::heart::beating;
use super::unmade::Unmade;
use super::{Gate, GateError, Verdict, choose, explore, kept, panics, runs, tell};

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that was asked for.
    Everything,
    /// Only what was kept, as long as some of that still violates something.
    UnlessKeptFail,
}

/// Makes the runs and judges them.
pub(super) fn judge(gate: &Gate, extent: Extent) -> Result<Verdict, GateError> {
    let seeds = gate.range();
    if seeds.is_empty() {
        return Err(GateError::NoSeeds { from: seeds.start, until: seeds.end });
    }
    panics::install();
    let scenarios = choose::scenarios(&gate.design, &gate.asked, &gate.settings)?;
    let hits = choose::hits(gate)?;
    let allowed_violations = choose::allowed_violations(gate, &scenarios)?;
    let unmade = Unmade::default();
    let gate = &Gate { design: unmade.watching(&gate.design), ..gate.clone() };
    let mut verdict = Verdict::new(gate.said(), !gate.asked.is_empty());
    beating(&gate.design.name, |heart| {
        heart.at("kept runs");
        verdict.keeping(kept::directory(gate));
        kept::all(gate, allowed_violations.as_ref(), &mut verdict)?;
        if extent == Extent::UnlessKeptFail && !verdict.holds() {
            verdict.note("No other run was made, as a kept one still violates something.".to_owned());
            return Ok(());
        }
        let explored = usize::from(hits.is_some());
        let mut budget = Budget::new(gate.budget, scenarios.len() + explored);
        let mut tallies = Vec::new();
        for scenario in &scenarios {
            heart.at(format!("scenario `{}`", scenario.name()));
            let made = scenario
                .applies(&gate.design)
                .map(|design| runs::all(gate, &design, scenario, heart, budget.share()));
            tallies.push(made);
        }
        let placed = match &hits {
            Some(hits) => Some(explore::all(gate, hits, heart, budget.share())?),
            None => None,
        };
        for (scenario, tally) in scenarios.iter().zip(tallies) {
            heart.at(format!("telling what was found under `{}`", scenario.name()));
            let tally = tally.map_or_else(|why| Ok(Err(why)), |made| made.map(Ok))?;
            verdict.add(cell(gate, scenario, allowed_violations.as_ref(), tally)?);
        }
        if let Some(placed) = placed {
            heart.at("telling what was found by exploring");
            explore::tell(gate, &placed, allowed_violations.as_ref(), &mut verdict)?;
        }
        Ok::<(), GateError>(())
    })?;
    if let Some(allowed_violations) = &allowed_violations {
        let cells = verdict.summary().cells.iter();
        let notes =
            allowed_violations.not_needed(cells.map(|cell| (explore::scenario_of(&cell.scenario), cell)));
        notes.into_iter().for_each(|note| verdict.note(note));
    }
    if let Some(why) = unmade.why() {
        verdict.note(why);
    }
    Ok(verdict)
}

fn cell(
    gate: &Gate,
    scenario: &Scenario,
    allowed_violations: Option<&AllowedViolations>,
    tally: Result<Tally, String>,
) -> Result<Cell, GateError> {
    let expected = allowed_violations.map(|allowed_violations| allowed_violations.under(scenario.name()));
    match tally {
        Ok(tally) => tell::cell(gate, scenario, &tally, expected),
        Err(why) => {
            let nothing = tell::cell(gate, scenario, &Tally::default(), None)?;
            Ok(Cell { skipped: Some(why), ..nothing })
        }
    }
}
