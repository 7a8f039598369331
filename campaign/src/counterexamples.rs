//! The counterexamples of a campaign: each distinct violation is drawn again, reduced, confirmed on the second engine and saved
//! as a repro file.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::family;
use picklock_model::plan::Plan;
use picklock_model::repro::{FORMAT, ReproFile};
use picklock_model::seed::Seed;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::ablation;
use crate::bugs;
use crate::check::{self, CheckError, Checked};
use crate::confirmation::{Confirmation, FEW, NETWORKS};
use crate::files::{remedy, write_whole};
use crate::parallel::in_parallel;
use crate::patience::Patience;
use crate::request::observer::{Observer, RanOut};
use crate::request::{Campaign, Pairing, Reported};
use crate::shrink::{self, Limit};
use crate::story::{Breach, Story};
use crate::summary::{Cell, Confirmed, SeenWith};
use picklock_judge::invariants::{self, Evidence, Invariant, severity};
use picklock_judge::outcome::Finding;

/// The reason for which a violation could not be reported.
#[derive(Debug, thiserror::Error)]
pub enum CounterexampleError {
    /// Its run could not be made again.
    #[error("scenario `{scenario}`, when the run was made again: {source}")]
    Check {
        /// The design's spelling.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// The cause.
        source: CheckError,
    },
    /// Its repro file could not be written.
    #[error("failed to write {}: {source}; {}", path.display(), remedy(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Reduces, confirms and saves violations, on as many threads as the campaign has. When `stop` becomes true or the time is
/// over, the rest is reported as it was found.
pub(crate) fn all(
    campaign: &Campaign<'_>,
    pairings: &[Pairing<'_>],
    cells: &mut [Cell],
    stop: &AtomicBool,
    observer: &dyn Observer,
) -> Result<(), CounterexampleError> {
    let groups = groups(cells, campaign.reported);
    let all = groups.iter().map(Group::size).sum();
    observer.reporting(all);
    let patience = Patience::of(campaign.shrink_budget);
    let early = confirmed_early(campaign, pairings, &groups, stop, &patience);
    let (reported, in_part) = (AtomicU64::new(0), AtomicU64::new(0));
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), None));
    in_parallel(campaign.jobs, || {
        while !stop.load(Ordering::Relaxed)
            && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
            && !patience.is_over()
        {
            let outcome = report_group(campaign, &pairings[group.cell], group, &patience, observer);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(stories) => {
                    let parts = stories.iter().filter(|story| story.in_part).count() as u64;
                    in_part.fetch_add(parts, Ordering::Relaxed);
                    reported.fetch_add(stories.len() as u64, Ordering::Relaxed);
                    found.0.extend(stories.into_iter().map(|story| (group.cell, story)));
                }
                Err(error) => drop(found.1.get_or_insert(error)),
            }
        }
    });
    let in_part = in_part.into_inner();
    if patience.was_lost() || in_part > 0 {
        let unreduced = all.saturating_sub(reported.into_inner());
        observer.ran_out(&RanOut { all, unreduced, in_part });
    }
    let (found, error) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (cell, one) in found {
        if let Some(violation) = cells[cell].violations.get_mut(&one.invariant) {
            violation.repro = one.repro;
            violation.confirmed = one.confirmed;
            violation.real = one.real;
            violation.story = Some(one.story);
        }
    }
    for (cell, invariant, confirmed) in early {
        if let Some(violation) = cells[cell].violations.get_mut(&invariant) {
            violation.confirmed.get_or_insert(confirmed);
        }
    }
    error.map_or(Ok(()), Err)
}

/// Tries the violations of slow programs on a few networks of the second engine, before reducing takes the time: a violation that is
/// then reported as it was found has been seen there or not. Returns cell, invariant and count of each.
fn confirmed_early(
    campaign: &Campaign<'_>,
    pairings: &[Pairing<'_>],
    groups: &[Group],
    stop: &AtomicBool,
    patience: &Patience,
) -> Vec<(usize, String, Confirmed)> {
    let of_program =
        |group: &&Group| pairings[group.cell].design.as_ref().is_ok_and(|design| !design.parts.is_empty());
    let groups: Vec<&Group> = groups.iter().filter(of_program).filter(|_| campaign.confirm).collect();
    let (next, counted) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    in_parallel(campaign.jobs, || {
        while !stop.load(Ordering::Relaxed)
            && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let pairing = &pairings[group.cell];
            let Ok(design) = &pairing.design else { continue };
            // An error is reported when the run is made again.
            let Some(Ok(drawn)) = patience.run(|| check::draw(design, pairing.scenario, Seed(group.seed)))
            else {
                continue;
            };
            let (plan, names) = (&drawn.plan, &group.invariants);
            let counts = Confirmation::count_of_slow(plan, Engine::TURMOIL, design, names, patience);
            let of = |(name, count): (&String, Confirmed)| (group.cell, name.clone(), count);
            let mut all = counted.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(names.iter().zip(counts.into_iter().flatten()).map(of));
        }
    });
    counted.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Violations of one cell that were first seen under the same seed: most often one mishap with several consequences,
/// so that one reduced run shows them all.
struct Group {
    cell: usize,
    seed: u64,
    /// The most serious one first: what loses an update has also let two holders in.
    invariants: Vec<String>,
}

impl Group {
    /// How many violations it has.
    fn size(&self) -> u64 {
        self.invariants.len() as u64
    }
}

/// The violations to report, in order: those that nobody expects first, and then the first failure of each family, its second
/// one, and so on, so that every family has its turn if time is short.
fn groups(cells: &[Cell], which: Reported) -> Vec<Group> {
    let mut groups: Vec<((bool, usize), Group)> = Vec::new();
    let mut ways: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for (cell, results) in cells.iter().enumerate() {
        let mut seeds: Vec<u64> = results.violations.values().map(|violation| violation.first_seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        for seed in seeds {
            let of_seed = results.violations.iter().filter(|(_, violation)| violation.first_seed == seed);
            let mut invariants: Vec<String> = of_seed.map(|(name, _)| name.clone()).collect();
            in_order(&results.design, &mut invariants);
            let expected = invariants.iter().all(|name| results.allows(name));
            let family = family::name_of(&results.design);
            let known = ways.entry(family).or_default();
            let is_new = !known.contains(&invariants);
            if match which {
                Reported::Nothing => false,
                Reported::Unexpected => !expected,
                Reported::Representative => !expected || is_new,
                Reported::All => true,
            } {
                let nth = known.len();
                known.push(invariants.clone());
                groups.push(((expected, nth), Group { cell, seed, invariants }));
            }
        }
    }
    groups.sort_by_key(|(order, _)| *order);
    groups.into_iter().map(|(_, group)| group).collect()
}

struct Counterexample {
    invariant: String,
    repro: Option<PathBuf>,
    confirmed: Option<Confirmed>,
    real: Option<SeenWith>,
    story: Arc<Story>,
    /// The time was over before all of it was done.
    in_part: bool,
}

fn report_group(
    campaign: &Campaign<'_>,
    pairing: &Pairing<'_>,
    group: &Group,
    patience: &Patience,
    observer: &dyn Observer,
) -> Result<Vec<Counterexample>, CounterexampleError> {
    let Ok(design) = &pairing.design else { return Ok(Vec::new()) };
    let scenario = pairing.scenario.name();
    let failed = |source| CounterexampleError::Check {
        design: pairing.name.clone(),
        scenario: scenario.to_owned(),
        source,
    };
    let plan = check::draw(design, pairing.scenario, Seed(group.seed)).map_err(failed)?.plan;
    // What is reported as it was found is not compared with the whole run: a run of a program may take long.
    let whole = || patience.run(|| check::check(campaign.engine, design, plan.clone()));
    let whole = campaign.shrink.then(whole).flatten().transpose().map_err(failed)?;
    if campaign.shrink && whole.is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut rest = group.invariants.clone();
    while let Some(worst) = rest.first().cloned().filter(|_| found.is_empty() || !patience.is_over()) {
        let line = campaign.replay_line(pairing, group.seed);
        let (small, replay, cut_short) = if let Some(whole) = &whole {
            // Once it is reduced, the run is made again and tried on a few networks.
            let before = patience.without(1 + FEW);
            let limit = Limit::of(&before);
            let reduced = shrink::shrink_within(campaign.engine, design, &plan, &worst, &limit);
            let shrinking = shrinking(design, whole, Some(&worst), reduced.cut_short);
            (reduced.plan, format!("{line}{shrinking}"), reduced.cut_short.is_some())
        } else {
            (plan.clone(), line, false)
        };
        let run =
            check::check(check::Options::from(campaign.engine).with_wire(), design, small).map_err(failed)?;
        let (shown, others): (Vec<String>, Vec<String>) =
            rest.into_iter().partition(|invariant| run.violates(invariant) || *invariant == worst);
        let confirmed = campaign
            .confirm
            .then(|| confirm_within(Engine::TURMOIL, design, &run.plan, &shown, patience))
            .flatten();
        let real = campaign
            .confirm
            .then(|| with_real_servers(campaign, design, &run.plan, &shown, patience))
            .flatten();
        // Of a run that was not reduced, most parts are of no account.
        let ablation = (campaign.shrink && !patience.is_over())
            .then(|| ablation::of(campaign.engine, design, &run, &campaign.others, patience));
        let few = |counts: &[Confirmed]| counts.iter().any(|count| count.of < NETWORKS);
        let in_part = cut_short
            || campaign.confirm && confirmed.as_deref().is_none_or(few)
            || real.as_ref().is_some_and(|(_, counts)| few(counts))
            || campaign.shrink && ablation.as_ref().is_none_or(|ablation| ablation.cut_short);
        let mut story_of_run = Story { ablation, ..story(design, scenario, &run, replay) };
        if let Some(whole) = &whole {
            story_of_run.lead_with(leading(design, whole, &worst));
        }
        let story = Arc::new(story_of_run);
        for (at, invariant) in shown.into_iter().enumerate() {
            let repro = keep(campaign, pairing, design, &invariant, &run)?;
            let confirmed = confirmed.as_ref().map(|counts| counts[at]);
            let real = real
                .as_ref()
                .filter(|_| !is_open_on_real_servers(design, &invariant))
                .map(|(servers, counts)| SeenWith { servers: Arc::clone(servers), counts: counts[at] });
            found.push(Counterexample {
                invariant,
                repro,
                confirmed,
                real,
                story: Arc::clone(&story),
                in_part,
            });
            observer.reported();
        }
        rest = others;
    }
    Ok(found)
}

/// The invariant that a run is reduced to if none is named: that of a rebuilt bug if the run violates it, otherwise the most
/// serious one. `None` if it violates none.
#[must_use]
pub fn reduced_to(design: &Design, run: &Checked) -> Option<String> {
    let mut violated = run.violated();
    in_order(&design.name, &mut violated);
    violated.into_iter().next()
}

/// Puts the invariant of a rebuilt bug first, and the others in the [order of severity](severity).
fn in_order(design: &str, names: &mut [String]) {
    names.sort_by_key(|name| severity(name));
    if let Some(own) = bugs::listed_invariant(design) {
        names.sort_by_key(|name| *name != own);
    }
}

/// The further options of a line that replays a run, so that it shows the run reduced to this invariant, and as far as it was
/// when the time was over.
#[must_use]
pub fn shrinking(
    design: &Design,
    whole: &Checked,
    invariant: Option<&str>,
    cut_short: Option<u32>,
) -> String {
    let how_far = cut_short.map(|tries| format!(" --shrink-tries {tries}")).unwrap_or_default();
    let default = reduced_to(design, whole);
    match invariant.filter(|named| default.as_deref() != Some(*named)) {
        Some(named) => format!(" --shrink={named}{how_far}"),
        None => format!(" --shrink{how_far}"),
    }
}

/// The leading invariant of the story of a run reduced to `invariant`, if that is another than the first by number: that of a
/// rebuilt bug, and one that the run is not reduced to unless it is named. Empty if there is none.
#[must_use]
pub fn leading<'a>(design: &Design, whole: &Checked, invariant: &'a str) -> &'a str {
    let own = bugs::listed_invariant(&design.name);
    let is_default = reduced_to(design, whole).as_deref() == Some(invariant);
    if is_default && own.as_deref() != Some(invariant) { "" } else { invariant }
}

fn keep(
    campaign: &Campaign<'_>,
    pairing: &Pairing<'_>,
    design: &Design,
    invariant: &str,
    run: &Checked,
) -> Result<Option<PathBuf>, CounterexampleError> {
    let Some(path) = campaign.repro_path(pairing, invariant) else { return Ok(None) };
    let text = repro(design, pairing.scenario.name(), campaign.engine, run).to_text();
    write_whole(&path, &text).map_err(|source| CounterexampleError::Write { path: path.clone(), source })?;
    Ok(Some(path))
}

/// True if runs of this design on real servers leave this invariant open: they report no records, and no data that lie in them.
#[must_use]
pub fn is_open_on_real_servers(design: &Design, invariant: &str) -> bool {
    invariants::find(invariant).is_some_and(|invariant| match invariant.evidence {
        Evidence::Clients => false,
        Evidence::Records => true,
        Evidence::Resource => design.own_data,
    })
}

/// How often a plan shows each of the violations with real servers; `None` if there are none for it.
fn with_real_servers(
    campaign: &Campaign<'_>,
    design: &Design,
    plan: &Plan,
    invariants: &[String],
    patience: &Patience,
) -> Option<(Arc<str>, Vec<Confirmed>)> {
    let servers = campaign.real.as_ref()?;
    let (name, real) = (servers.on)(design.clone())?;
    real.admits(plan).ok()?;
    let counts =
        Confirmation::after_start(&real, plan, NETWORKS).count(Engine::Event, &real, invariants, patience)?;
    Some((name, counts))
}

/// How often a plan shows each of the violations on an engine, under networks other than its own.
#[must_use]
pub fn confirm(engine: Engine, design: &Design, plan: &Plan, invariants: &[String]) -> Vec<Confirmed> {
    confirm_within(engine, design, plan, invariants, &Patience::default()).unwrap_or_default()
}

/// The same, under as many networks as there is time for; `None` if there is none for the first.
fn confirm_within(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    invariants: &[String],
    patience: &Patience,
) -> Option<Vec<Confirmed>> {
    Confirmation::on_networks(plan, NETWORKS).count(engine, design, invariants, patience)
}

/// A run as a repro file.
#[must_use]
pub fn repro(design: &Design, scenario: &str, engine: Engine, run: &Checked) -> ReproFile {
    ReproFile {
        repro: FORMAT,
        picklock: env!("CARGO_PKG_VERSION").to_owned(),
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        replicated: design.topology.replicated,
        engine: engine.to_string(),
        violations: run.violated(),
        digest: run.trace.digest,
        parts: design.parts.to_vec(),
        plan: run.plan.clone(),
    }
}

/// Puts the findings that are about the same grants as the most serious clash first, so that a story is about one clash.
fn about_one_clash(breaches: &mut [Breach]) {
    let clashes =
        breaches.iter().filter_map(|breach| Some((severity(&breach.invariant), breach.findings.first()?)));
    let worst = clashes.filter(|(_, finding)| finding.grants.len() > 1).min_by_key(|(severity, _)| *severity);
    let Some(grants) = worst.map(|(_, finding)| finding.grants.clone()) else { return };
    let is_another = |finding: &Finding| !grants.iter().all(|grant| finding.grants.contains(grant));
    breaches.iter_mut().for_each(|breach| breach.findings.sort_by_key(is_another));
}

/// A run as a story about all that it violates; `replay` makes it again.
#[must_use]
pub fn story(design: &Design, scenario: &str, run: &Checked, replay: String) -> Story {
    let breach = |(invariant, findings): (&'static Invariant, &[Finding])| Breach {
        invariant: invariant.name.to_owned(),
        findings: findings.to_vec(),
    };
    let mut breaches: Vec<Breach> = run.violations().map(breach).collect();
    about_one_clash(&mut breaches);
    Story {
        design: design.name.to_string(),
        scenario: scenario.to_owned(),
        breaches,
        plan: run.plan.clone(),
        trace: run.trace.clone(),
        wire: run.wire.clone(),
        code: run.code.clone(),
        replay,
        ablation: None,
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::{GrantId, HostId};

    use super::*;
    use crate::summary::{Expected, Violation};

    /// A cell that violates these, each first under this seed, all of it expected if said so.
    fn cell(design: &str, violated: &[(&str, u64)], expected: bool) -> Cell {
        let violation = |first_seed| Violation { runs: 1, first_seed, ..Violation::default() };
        let names = violated.iter().map(|(name, _)| (*name).to_owned()).collect();
        Cell {
            design: design.to_owned(),
            violations: violated.iter().map(|(name, seed)| ((*name).to_owned(), violation(*seed))).collect(),
            expected: expected.then(|| Expected { violated: names, ..Expected::default() }),
            ..Cell::default()
        }
    }

    fn chosen(cells: &[Cell], which: Reported) -> Vec<(usize, u64)> {
        groups(cells, which).iter().map(|group| (group.cell, group.seed)).collect()
    }

    #[test]
    fn a_story_is_about_the_clash_that_did_the_harm() {
        let grant = |client, section| GrantId::new(HostId(client), section);
        let finding = |grants: &[GrantId]| Finding {
            text: String::new(),
            grants: grants.to_vec(),
            events: Vec::new(),
            width: None,
        };
        let (early, late) = ([grant(0, 1), grant(1, 1)], [grant(0, 2), grant(1, 1)]);
        let breach = |invariant: &str, findings: &[&[GrantId]]| Breach {
            invariant: invariant.to_owned(),
            findings: findings.iter().map(|grants| finding(grants)).collect(),
        };
        let mut breaches = [breach("mutual-exclusion", &[&early, &late]), breach("no-lost-update", &[&late])];
        about_one_clash(&mut breaches);
        assert_eq!(breaches[0].findings[0].grants, late);
        assert_eq!(breaches[0].findings[1].grants, early);
    }

    #[test]
    fn one_violation_stands_for_its_family_and_its_failure_and_the_unexpected_comes_first() {
        let (two, lost) = ("mutual-exclusion", "no-lost-update");
        let cells = [
            cell("single", &[(two, 3), (lost, 3)], true),
            cell("single", &[(two, 5), (lost, 5)], true),
            cell("single", &[(two, 7)], true),
            cell("redlock", &[(two, 1)], true),
            cell("redlock{nodes=7}", &[(two, 2)], true),
            cell("redlock{nodes=7}", &[(two, 2), ("ownership", 9)], false),
        ];
        assert_eq!(chosen(&cells, Reported::Unexpected), [(5, 2), (5, 9)]);
        // The second cell of `single` breaks as its first one does, and so do both of `redlock`.
        assert_eq!(chosen(&cells, Reported::Representative), [(5, 2), (5, 9), (0, 3), (3, 1), (2, 7)]);
        // Both seeds of the last cell are reported, and each family has its turn.
        let all = chosen(&cells, Reported::All);
        assert_eq!(all.len(), 7);
        assert_eq!(&all[..4], [(5, 2), (5, 9), (0, 3), (3, 1)]);
    }
}
