//! `picklock compare`: the same runs, laid out as figures side by side.

use picklock_reports::compare::{ALL, Comparison, screen};
use picklock_scenarios::campaign::Campaign;

use super::args::CompareArgs;
use super::exit::{Exit, Failure};
use super::pairing::Pairing;
use super::run;

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let selection = &args.selection;
    let formats = run::formats(selection, ALL)?;
    let campaign = Campaign { tell: selection.out.is_some(), ..run::campaign(selection)? };
    let (summary, pairs) = run::make_with(&campaign, |stop, bar| {
        let pairing = Pairing::new(&campaign, bar);
        let summary = campaign.run(stop, &pairing)?;
        Ok((summary, pairing.pairs()))
    })?;
    let comparison = Comparison { summary, pairs };
    run::report(&comparison, selection, &formats, ALL, |format, comparison, style| {
        if format.name == "text" && !args.verbose {
            Ok(screen(comparison, style, selection.out.as_deref()))
        } else {
            run::render(format, comparison, style)
        }
    })?;
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
