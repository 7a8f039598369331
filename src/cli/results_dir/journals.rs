//! The journals of a results directory: the run that is resumed, and the runs that are the parts of a campaign.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::Campaign;
use picklock_campaign::campaign::journal::{FILE, Journal, JournalError, Part};
use picklock_reports::manifest::State;

use super::error::{ResultsDirError, writing};
use super::found::{Found, has_journal, is_alive, note, runs};
use super::links;
use super::run::{Asked, Run};
use crate::cli::exit::Failure;

/// Begins a run with a journal, or resumes one: the newest of the same campaign that is not finished, in its folder; or else a
/// copy of the newest one, in a folder of its own.
pub(crate) fn journalled(
    asked: Asked<'_>,
    campaign: &Campaign<'_>,
    args: Vec<String>,
    resume: bool,
) -> Result<(Run, Journal), Failure> {
    let before = if resume { Some(newest(asked.out, campaign)?) } else { None };
    if !resume {
        point_out(asked)?;
    }
    let (run, copied) = match before {
        Some(found) if found.manifest.state != State::Ended => {
            // Whoever is at work on it is found before anything is touched.
            drop(Journal::resume(&found.folder.join(FILE), campaign).map_err(Failure::input)?);
            (Run::again(asked.out, found)?, true)
        }
        Some(found) => {
            let run = Run::begin(asked)?;
            match copy(&found.folder, &run) {
                Ok(()) => (run, true),
                Err(error) => {
                    run.give_up();
                    return Err(error.into());
                }
            }
        }
        None => (Run::begin(asked)?, false),
    };
    let path = run.folder.join(FILE);
    let journal =
        if copied { Journal::resume(&path, campaign) } else { Journal::begin(&path, campaign, args) };
    match journal {
        Ok(journal) => {
            if let Err(error) = links::journal(asked.out, &run.name.to_string()) {
                note(&error.to_string());
            }
            Ok((run, journal))
        }
        Err(error) => {
            run.give_up();
            Err(Failure::input(error))
        }
    }
}

fn copy(from: &Path, run: &Run) -> Result<(), ResultsDirError> {
    let to = run.folder.join(FILE);
    fs::copy(from.join(FILE), &to).map(drop).map_err(writing(&to))
}

/// The newest run of a campaign, one that is not finished first.
fn newest(dir: &Path, campaign: &Campaign<'_>) -> Result<Found, Failure> {
    let all = if dir.is_dir() { runs(dir)? } else { Vec::new() };
    let (open, ended): (Vec<Found>, Vec<Found>) =
        all.into_iter().filter(has_journal).partition(|found| found.manifest.state != State::Ended);
    let mut other: Option<JournalError> = None;
    for found in open.into_iter().chain(ended) {
        match Part::read(&found.folder.join(FILE)).and_then(|part| part.must_be_what(campaign)) {
            Ok(()) => return Ok(found),
            Err(error @ JournalError::Other { .. }) => drop(other.get_or_insert(error)),
            Err(error) => return Err(Failure::input(error)),
        }
    }
    Err(other.map_or(ResultsDirError::Nothing { dir: dir.to_owned() }.into(), Failure::input))
}

/// Says that there is a run of the same command that is not finished, and that nobody is at work on.
fn point_out(asked: Asked<'_>) -> Result<(), ResultsDirError> {
    if !asked.out.is_dir() {
        return Ok(());
    }
    let shard = asked.shard.map(|shard| shard.to_string());
    let is_same = |found: &Found| found.manifest.command == asked.command && found.manifest.shard == shard;
    let open =
        runs(asked.out)?.into_iter().filter(|found| found.manifest.state != State::Ended && is_same(found));
    for found in open.filter(|found| has_journal(found) && !is_alive(&found.folder)) {
        // An error in it is reported when it is resumed.
        let Ok(part) = Part::read(&found.folder.join(FILE)) else { continue };
        if let (done @ 1.., of) = part.progress() {
            note(&format!(
                "{} is of the same command and not finished, {done} of {of} blocks: --resume continues it; \
                 this begins anew",
                found.folder.display()
            ));
            break;
        }
    }
    Ok(())
}

/// The journals that a directory stands for: that of a run's folder, or those of the newest finished campaign of a results
/// directory, or, if `partial`, of the newest. Of a campaign in shards that is one for each shard that the directory has.
pub(crate) fn parts(named: &Path, partial: bool) -> Result<Vec<Part>, Failure> {
    let read = |path: &Path| Part::read(path).map_err(Failure::input);
    if !named.is_dir() {
        return Ok(vec![read(named)?]);
    }
    let all: Vec<Found> = runs(named)?.into_iter().filter(has_journal).collect();
    let ended = |found: &&Found| partial || found.manifest.state == State::Ended;
    let Some(lead) = all.iter().find(ended).or(all.first()) else {
        if !named.join(FILE).exists() {
            return Err(ResultsDirError::NoShard { dir: named.to_owned() }.into());
        }
        return Ok(vec![read(&named.join(FILE))?]);
    };
    let of_how_many = |found: &Found| Some(found.manifest.shard.as_ref()?.split_once('/')?.1.to_owned());
    let siblings = all.iter().filter(|other| {
        other.manifest.command == lead.manifest.command
            && of_how_many(other).is_some()
            && of_how_many(other) == of_how_many(lead)
    });
    // The newest of each shard, and a finished one before others.
    let mut of: BTreeMap<Option<&str>, &Found> = BTreeMap::new();
    for found in siblings.clone().filter(ended).chain(siblings) {
        of.entry(found.manifest.shard.as_deref()).or_insert(found);
    }
    of.insert(lead.manifest.shard.as_deref(), lead);
    let paths: Vec<PathBuf> = of.into_values().map(|found| found.folder.join(FILE)).collect();
    paths.iter().map(|path| read(path).map(|part| part.in_results_dir(named))).collect()
}
