//! A campaign on the command line: the runs that a selection asks for, and the reports of what they show. `run`, `merge`, `compare`
//! and `replay` share it.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use picklock_campaign::campaign::{Campaign, quoted};
use picklock_campaign::summary::Summary;
use picklock_reports::{Format, Style};
use xxhash_rust::xxh3::xxh3_64;

use super::choose::Chosen;
use super::exit::Failure;
use super::results_dir::{Live, Run};
use super::selection::Selection;
use super::unmodelled::First;
use super::{choose, format, invocation, progress, screen, unmodelled};

/// Enough to find every violation that the expectation file asks for, in about a minute on two cores.
const SEEDS: Range<u64> = 0..100;

/// The campaign that a selection asks for, without expectations.
pub(crate) fn of(selection: &Selection, chosen: Chosen) -> Campaign<'_> {
    let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    Campaign {
        engine: selection.engine,
        jobs: selection.jobs.unwrap_or(cores),
        budget: selection.budget,
        others: choose::defaults(),
        files: files(selection),
        replay_args: replay_args(selection),
        settings: selection.set.clone(),
        command: invocation::command(&invocation::deciding()),
        ..Campaign::new(chosen.designs, chosen.scenarios, seeds(selection))
    }
}

/// Puts programs on real servers that send statements which the simulated ones do not model.
pub(crate) fn settle(selection: &Selection, chosen: &mut Chosen) -> Result<(), Failure> {
    let Chosen { designs, scenarios, open, .. } = chosen;
    let (seed, engine) = (seeds(selection).start, selection.engine);
    unmodelled::put_on_real_servers(designs, open, &First { scenarios, seed, engine })
}

/// A budget alone means as many seeds as it has room for.
fn seeds(selection: &Selection) -> Range<u64> {
    let first = selection.seeds_from.as_deref().map_or(0, place);
    let seeds = match (&selection.seeds, selection.budget) {
        (Some(seeds), _) => seeds.clone(),
        (None, Some(_)) => 0..u64::MAX,
        (None, None) => SEEDS,
    };
    seeds.start.saturating_add(first)..seeds.end.saturating_add(first)
}

/// Where the seeds of a text begin: far from those of another, and with room for as many as anybody runs.
fn place(text: &str) -> u64 {
    // Numbers up to 2^53 are the same in every reader of JSON.
    (xxh3_64(text.as_bytes()) >> 11) & !0xfff
}

/// Scenarios given as files, by the names that they have.
fn files(selection: &Selection) -> BTreeMap<String, String> {
    let stem = |file: &String| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let files = selection.scenario.iter().filter(|scenario| choose::is_file(scenario));
    files.filter_map(|file| Some((stem(file)?, file.clone()))).collect()
}

fn replay_args(selection: &Selection) -> String {
    let suite = selection.suite.as_ref();
    suite.map(|suite| format!(" --suite {}", quoted(&suite.display().to_string()))).unwrap_or_default()
}

/// Makes the runs and says how they go on; Ctrl-C ends them early.
pub(crate) fn make_with<Results>(
    campaign: &Campaign<'_>,
    page: Option<Live>,
    make: impl FnOnce(&AtomicBool, &progress::Bar) -> Result<Results, Failure>,
) -> Result<Results, Failure> {
    let stop = progress::stop_on_interrupt()?;
    let bar = progress::Bar::of(campaign, page);
    let results = make(&stop, &bar);
    bar.clear();
    results
}

/// The formats asked for. Several need a directory to go to.
pub(crate) fn formats<Results>(
    selection: &Selection,
    all: &'static [Format<Results>],
) -> Result<Vec<&'static Format<Results>>, Failure> {
    let mut formats: Vec<&'static Format<Results>> = Vec::new();
    for name in &selection.format {
        let found = all.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|format| format.name).collect();
            format::unknown(name, "", &names)
        })?;
        if formats.iter().all(|format| format.name != found.name) {
            formats.push(found);
        }
    }
    if formats.len() > 1 && selection.out.is_none() {
        let message = "several formats need a directory to be written to: add --out DIR";
        return Err(Failure::Input(message.to_owned()));
    }
    Ok(formats)
}

/// The formats of these names.
pub(crate) fn named<'a, Results>(all: &'a [Format<Results>], names: &[&str]) -> Vec<&'a Format<Results>> {
    all.iter().filter(|format| names.contains(&format.name)).collect()
}

/// Prints the one format asked for, as `page` has it. Of a saved run, writes all formats and those in `always` in full into its
/// folder, and prints the text.
pub(crate) fn report<Results>(
    results: &Results,
    selection: &Selection,
    saved: Option<&Run>,
    formats: &[&Format<Results>],
    always: &[&Format<Results>],
    page: impl Fn(&Format<Results>, &Results, &Style) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let style = screen::style(selection.colours);
    let Some(saved) = saved else {
        return formats.iter().try_for_each(|format| screen::print(&page(format, results, &style)?));
    };
    for format in formats {
        write(saved, format, results)?;
        if format.name == "text" {
            screen::print(&page(format, results, &style)?)?;
        }
    }
    let unasked = always.iter().filter(|one| formats.iter().all(|format| format.name != one.name));
    unasked.into_iter().try_for_each(|format| write(saved, format, results))
}

/// The page of a format as it is.
pub(crate) fn render<Results>(
    format: &Format<Results>,
    results: &Results,
    style: &Style,
) -> Result<String, Failure> {
    (format.render)(results, style).map_err(Failure::internal)
}

fn write<Results>(saved: &Run, format: &Format<Results>, results: &Results) -> Result<(), Failure> {
    Ok(saved.report(format.file, &render(format, results, &screen::file_style())?)?)
}

/// Names repro files from the folder that the reports are in, so that it can be moved, and compared with another.
pub(crate) fn near(summary: &mut Summary, campaign: &Campaign<'_>) {
    let Some(out) = campaign.out else { return };
    let violations = summary.cells.iter_mut().flat_map(|cell| cell.violations.values_mut());
    for repro in violations.filter_map(|violation| violation.repro.as_mut()) {
        if let Ok(near) = repro.strip_prefix(out) {
            *repro = near.to_owned();
        }
    }
}

/// Which design a well-known library implements.
pub(crate) fn libraries() -> Vec<(String, String)> {
    let owned = |(library, design): &(&str, &str)| ((*library).to_owned(), (*design).to_owned());
    picklock_impls::libraries::LIBRARIES.iter().map(owned).collect()
}
