//! The catalogue as entries for people.

use picklock_campaign::bugs::Bug;
use picklock_impls::{bugs, families, libraries};
use picklock_judge::invariants;
use picklock_reports::run;
use picklock_scenarios::faults::Fault;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::{faults, suite};
use picklock_sim::design::Family;

use super::listing::Listing;

/// One entry: its name, what it is, and all that is known of it.
pub(super) struct Entry {
    pub(super) name: String,
    /// The number of an invariant or a fault.
    pub(super) number: Option<&'static str>,
    pub(super) claim: String,
    pub(super) lines: Vec<String>,
}

/// A line with the other names of a fault, if it has any.
fn other_names(fault: &Fault) -> Option<String> {
    (!fault.also.is_empty()).then(|| format!("also called {}", fault.also.join(", ")))
}

/// The entries of a kind.
pub(super) fn entries(listing: Listing) -> Vec<Entry> {
    match listing {
        Listing::Designs => families().iter().map(|family| design(family)).collect(),
        Listing::Bugs => collected().map(|(family, bug)| of_bug(family, &bug)).collect(),
        Listing::Scenarios => suite::builtin(&picklock_stores::params()).iter().map(scenario).collect(),
        Listing::Faults => faults::ALL
            .iter()
            .map(|fault| Entry {
                name: fault.name.to_owned(),
                number: Some(fault.number),
                claim: fault.doc.to_owned(),
                lines: (other_names(fault).into_iter())
                    .chain(fault.params.iter().map(|param| {
                        format!("{}={}: {} ({})", param.name, param.default, param.doc, param.domain)
                    }))
                    .collect(),
            })
            .collect(),
        Listing::Invariants => invariants::ALL
            .iter()
            .map(|invariant| Entry {
                name: invariant.name.to_owned(),
                number: Some(invariant.number),
                claim: invariant.property.to_owned(),
                lines: Vec::new(),
            })
            .collect(),
        Listing::Formats => formats()
            .into_iter()
            .map(|format| Entry {
                name: format.name.to_owned(),
                number: None,
                claim: format.doc,
                lines: format.places,
            })
            .collect(),
    }
}

/// A report format, of results, of single runs, or of both.
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The file that it is written to.
    pub(super) file: &'static str,
    pub(super) doc: String,
    /// Where it is had.
    pub(super) places: Vec<String>,
}

/// All report formats, those of results first.
pub(super) fn formats() -> Vec<Known> {
    let known =
        |name, file, doc: &str, place: String| Known { name, file, doc: doc.to_owned(), places: vec![place] };
    let of_results = picklock_reports::ALL
        .iter()
        .map(|it| known(it.name, it.file, it.doc, format!("{} under --out of `picklock run`", it.file)));
    let mut all: Vec<Known> = of_results.collect();
    for it in run::ALL {
        let place = "of one run, by `picklock replay`".to_owned();
        match all.iter_mut().find(|known| known.name == it.name) {
            None => all.push(known(it.name, it.file, it.doc, place)),
            Some(both) => {
                both.doc = format!("{}; {}", both.doc, it.doc);
                both.places.push(place);
            }
        }
    }
    all
}

/// Entries that are not listed and can be run all the same: the scenarios of bugs and of experiments.
pub(super) fn unlisted(listing: Listing) -> Vec<Entry> {
    if listing != Listing::Scenarios {
        return Vec::new();
    }
    let stores = picklock_stores::params();
    suite::of_bugs(&stores).iter().chain(&suite::of_experiments(&stores)).map(scenario).collect()
}

fn design(family: &Family) -> Entry {
    let mut lines = vec![format!("weakness: {}", family.weakness), format!("source: {}", family.source)];
    lines.push(format!("survives: {}", family.design().survives));
    let libraries: Vec<&str> = libraries::of(family.name).collect();
    if !libraries.is_empty() {
        lines.push(format!("libraries: {}", libraries.join(", ")));
    }
    lines.extend(params(family));
    Entry { name: family.name.to_owned(), number: None, claim: family.claim.to_owned(), lines }
}

fn of_bug(family: &Family, bug: &Bug) -> Entry {
    let mut lines = vec![
        format!("source: {}", family.source),
        format!("twin: {}", bug.twin),
        format!("violates: {} under {}", bug.invariant, bug.scenario),
        bug.replay(),
    ];
    lines.extend(params(family));
    let claim = format!("{}: {}", family.claim, family.weakness);
    Entry { name: bug.name.clone(), number: None, claim, lines }
}

/// A scenario, with the parameters of its faults and of its workload before those that all scenarios have.
fn scenario(scenario: &Scenario) -> Entry {
    let faults: Vec<&str> = scenario.faults().iter().map(|entry| entry.fault.name).collect();
    let mut settable = scenario.settable();
    settable.sort_by_key(|set| match set.group {
        group if faults.contains(&group) => 0,
        group if group == scenario.workload().name => 1,
        "world" => 2,
        _ => 3,
    });
    let lines = settable
        .iter()
        .map(|set| format!("{}.{}={}: {}", set.group, set.param.name, set.value, set.param.doc));
    Entry {
        name: scenario.name().to_owned(),
        number: None,
        claim: scenario.summary().to_owned(),
        lines: lines.collect(),
    }
}

/// The bugs of the collection, with the locks that have them.
pub(super) fn collected() -> impl Iterator<Item = (&'static Family, Bug)> {
    picklock_campaign::bugs::builtin().into_iter().filter_map(|bug| {
        let family = bugs().iter().find(|family| family.name == bug.name)?;
        Some((*family, bug))
    })
}

/// The parameters of a design.
fn params(family: &Family) -> impl Iterator<Item = String> {
    family
        .params
        .iter()
        .map(|param| format!("{}={}: {} ({})", param.name, param.default, param.doc, param.domain))
}
