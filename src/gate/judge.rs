//! The order of a gate's work: the saved runs, the scenarios, every single site; then the reports.

use std::sync::atomic::AtomicBool;

use picklock_campaign::patience::Patience;

use super::heartbeat::beating;
use super::unmade::Unmade;
use super::{Gate, GateError, Verdict, campaign, choose, explore, panics, repro, saved};

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
    let kinds = choose::kinds(gate)?;
    let allowed_violations = choose::allowed_violations(gate, &scenarios)?;
    let unmade = Unmade::default();
    let gate = &Gate { design: unmade.watching(&gate.design), ..gate.clone() };
    let expected = allowed_violations.as_ref().map(|allowed_violations| {
        allowed_violations.expectations(std::slice::from_ref(&gate.design), &scenarios)
    });
    let out = repro::out(gate);
    let campaign = campaign::of(gate, scenarios, expected.as_ref(), &out);
    let mut verdict = Verdict::new(gate.said(), !gate.asked.is_empty());
    beating(&gate.design.name, |heartbeat| {
        let failed = |error| campaign::failed(&campaign, error, heartbeat);
        heartbeat.at("saved runs");
        verdict.keeping(saved::directory(gate));
        saved::all(gate, allowed_violations.as_ref(), &mut verdict)?;
        if extent == Extent::UnlessKeptFail && !verdict.holds() {
            verdict.note("No other run was made, as a saved one still violates something.".to_owned());
            return Ok(());
        }
        let (time, never) = (Patience::of(gate.budget), AtomicBool::new(false));
        heartbeat.at("scenarios");
        let made = campaign.make(&never, heartbeat).map_err(failed)?;
        let placed = match &kinds {
            Some(kinds) => Some(explore::all(gate, kinds, heartbeat, &time)?),
            None => None,
        };
        heartbeat.at("reducing what was found under the scenarios");
        let summary = campaign.report(&made, &never, heartbeat).map_err(failed)?;
        for mut cell in summary.cells {
            cell.violations.values_mut().for_each(repro::in_code);
            verdict.add(cell);
        }
        if let Some(placed) = placed {
            heartbeat.at("reducing what was found by exploring");
            explore::report(gate, &placed, allowed_violations.as_ref(), &mut verdict)?;
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
