//! `picklock compare`: the same runs, laid out as figures side by side.

use picklock_reports::compare::Comparison;
use picklock_scenarios::campaign::Campaign;

use super::args::CompareArgs;
use super::exit::{Exit, Failure};
use super::pairing::Pairing;
use super::run;

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let selection = &args.selection;
    let formats = run::formats(selection, picklock_reports::compare::ALL)?;
    let campaign = Campaign { tell: selection.out.is_some(), ..run::campaign(selection)? };
    let (summary, pairs) = run::make_with(&campaign, |stop, bar| {
        let pairing = Pairing::new(&campaign, bar);
        let summary = campaign.run(stop, &pairing)?;
        Ok((summary, pairing.pairs()))
    })?;
    let comparison = Comparison { summary, pairs };
    run::report(&comparison, selection, &formats, picklock_reports::compare::ALL, run::render)?;
    let summary = comparison.summary;
    let runs: u64 = summary.cells.iter().map(|cell| cell.runs).sum();
    let unknown: u64 = summary.cells.iter().map(|cell| cell.unknown).sum();
    Ok(if summary.partial {
        Exit::Interrupted
    } else if runs == unknown {
        Exit::Idle
    } else {
        Exit::Expected
    })
}
