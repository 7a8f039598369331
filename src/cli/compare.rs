//! `picklock compare`: the same runs, laid out as figures side by side.

use picklock_scenarios::campaign::Campaign;

use super::args::CompareArgs;
use super::exit::{Exit, Failure};
use super::run;

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let selection = &args.selection;
    let formats = run::formats(selection, picklock_reports::compare::ALL)?;
    let summary = run::make(&Campaign { tell: selection.out.is_some(), ..run::campaign(selection)? })?;
    run::report(&summary, selection, &formats, picklock_reports::compare::ALL, |summary, format, style| {
        run::render(format, summary, style)
    })?;
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
