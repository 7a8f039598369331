//! `picklock compare`: the same runs, laid out as figures side by side.

use std::path::{Path, PathBuf};

use clap::Args;
use picklock_campaign::campaign::{Campaign, Reported};
use picklock_reports::compare::{Baseline, Comparison, Since, screen};
use picklock_reports::manifest::Results;
use picklock_reports::{COMPARISONS, Format};

use super::args::REPORT;
use super::campaign;
use super::exit::{Exit, Failure};
use super::pairing::Pairing;
use super::results_dir::{Asked, Kind, Run};
use super::selection::Selection;

#[derive(Args)]
#[command(after_help = "\
All designs run on the same seeds, so the figures are paired. A violation is a figure here, not a failure: the exit code \
is 0, or 1 if something is worse than in the baseline.

With --out there is also a page, report.html, with a diagram of each failure.

Examples:
  picklock compare --design single,watchdog,redlock --scenario pause,client-partition --seeds 2000
  picklock compare --design single,redlock --out results")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print the tables of every scenario, with differences and measures (default: a one-screen summary)
    #[arg(long, help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// An older comparison, as `--format json` wrote it: say what is better and what is worse, and exit with 1 if anything is worse
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    pub(crate) baseline: Option<PathBuf>,
}

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let selection = &args.selection;
    let formats = campaign::formats(selection, COMPARISONS)?;
    let baseline = args.baseline.as_deref().map(read).transpose()?;
    // A page shows each failure; the other formats show none.
    let has_page = selection.out.is_some() || formats.iter().any(|format| format.name == "html");
    let reported = if has_page { Reported::All } else { Reported::Nothing };
    let mut chosen = selection.chosen()?;
    campaign::settle(selection, &mut chosen)?;
    let campaign = Campaign { reported, ..campaign::of(selection, chosen) };
    let Some(out) = selection.out.as_deref() else {
        return make(args, &campaign, &formats, baseline, None).map(|(exit, _)| exit);
    };
    let command = campaign.command.clone();
    let run = Run::begin(Asked { out, kind: Kind::Compare, command: &command, shard: None })?;
    run.keep(|run| {
        let campaign = Campaign { out: Some(run.folder()), ..campaign };
        make(args, &campaign, &formats, baseline, Some(run))
    })
}

/// Makes the runs and reports them.
fn make(
    args: &CompareArgs,
    campaign: &Campaign<'_>,
    formats: &[&Format<Comparison>],
    baseline: Option<Baseline>,
    saved: Option<&Run>,
) -> Result<(Exit, Results), Failure> {
    let selection = &args.selection;
    let (mut summary, pairs) = campaign::make_with(campaign, saved.map(Run::live), |stop, bar| {
        let pairing = Pairing::new(campaign, bar);
        let summary = campaign.run(stop, &pairing)?;
        Ok((summary, pairing.pairs()))
    })?;
    campaign::near(&mut summary, campaign);
    summary.about.libraries = campaign::libraries();
    let since = baseline.map(|baseline| Since::of(&baseline, &summary));
    let comparison = Comparison { summary, pairs, since };
    let always = campaign::named(COMPARISONS, &["json", "html"]);
    campaign::report(&comparison, selection, saved, formats, &always, |format, comparison, style| {
        if format.name == "text" && !args.verbose {
            Ok(screen(comparison, style, selection.out.as_deref()))
        } else {
            campaign::render(format, comparison, style)
        }
    })?;
    Ok((exit(&comparison), Results::of_comparison(&comparison)))
}

/// The exit code for the results.
fn exit(comparison: &Comparison) -> Exit {
    let Comparison { summary, since, .. } = comparison;
    let runs: u64 = summary.cells.iter().map(|cell| cell.runs).sum();
    let unknown: u64 = summary.cells.iter().map(|cell| cell.unknown).sum();
    if summary.partial {
        Exit::Interrupted
    } else if since.as_ref().is_some_and(Since::is_worse) {
        Exit::Violation
    } else if runs == unknown {
        Exit::Inconclusive
    } else {
        Exit::Expected
    }
}

fn read(file: &Path) -> Result<Baseline, Failure> {
    let failed = |error: String| Failure::Input(format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    Baseline::parse(&text).map_err(failed)
}
