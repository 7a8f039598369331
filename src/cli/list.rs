//! `picklock list`: what there is, for people and for scripts.

use std::fmt::Write as _;

use picklock_impls::{bugs, families};
use picklock_scenarios::bugs::Bug;
use picklock_scenarios::{faults, invariants, suite};
use picklock_sim::design::Family;
use picklock_sim::param::Param;
use serde_json::{Map, Value, json};

use super::args::{ListArgs, Listing};
use super::exit::{Exit, Failure};
use super::screen;

const ALL: [Listing; 6] = [
    Listing::Designs,
    Listing::Bugs,
    Listing::Scenarios,
    Listing::Faults,
    Listing::Invariants,
    Listing::Formats,
];

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let wanted: Vec<Listing> = args.what.map_or(ALL.to_vec(), |what| vec![what]);
    let text = if args.json {
        let parts: Map<String, Value> =
            wanted.iter().map(|listing| (name(*listing).to_owned(), as_json(*listing))).collect();
        format!("{:#}\n", Value::Object(parts))
    } else {
        wanted.iter().map(|listing| as_text(*listing)).collect::<Vec<_>>().join("\n")
    };
    screen::print(&text)?;
    Ok(Exit::Expected)
}

fn name(listing: Listing) -> &'static str {
    match listing {
        Listing::Designs => "designs",
        Listing::Bugs => "bugs",
        Listing::Scenarios => "scenarios",
        Listing::Faults => "faults",
        Listing::Invariants => "invariants",
        Listing::Formats => "formats",
    }
}

/// One entry: its name, what it is, and lines about it.
struct Entry {
    name: String,
    claim: String,
    lines: Vec<String>,
}

fn as_text(listing: Listing) -> String {
    let entries = entries(listing);
    let column = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = format!("{}:\n", name(listing));
    for entry in entries {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:column$}  {}", entry.name, entry.claim);
        for line in entry.lines {
            let _ = writeln!(text, "  {:column$}    {line}", "");
        }
    }
    text
}

fn entries(listing: Listing) -> Vec<Entry> {
    match listing {
        Listing::Designs => families()
            .iter()
            .map(|family| {
                let mut lines = vec![format!("weakness: {}", family.weakness)];
                lines.extend(family.params.iter().map(|param| {
                    format!("{}={}: {} ({})", param.name, param.default, param.doc, param.domain)
                }));
                Entry { name: family.name.to_owned(), claim: family.claim.to_owned(), lines }
            })
            .collect(),
        Listing::Bugs => collected()
            .map(|(family, bug)| Entry {
                name: bug.name.clone(),
                claim: format!("{}: {}", family.claim, family.weakness),
                lines: vec![
                    format!("source: {}", family.source),
                    format!("twin: {}", bug.twin),
                    format!("violates: {} under {}", bug.invariant, bug.scenario),
                    bug.replay(),
                ],
            })
            .collect(),
        Listing::Scenarios => suite::builtin(&picklock_impls::stores())
            .iter()
            .map(|scenario| {
                let settable = scenario.settable();
                let lines = settable
                    .iter()
                    .map(|set| format!("{}.{}={}: {}", set.group, set.param.name, set.value, set.param.doc));
                Entry {
                    name: scenario.name().to_owned(),
                    claim: scenario.summary().to_owned(),
                    lines: lines.collect(),
                }
            })
            .collect(),
        Listing::Faults => faults::ALL
            .iter()
            .map(|fault| Entry {
                name: fault.name.to_owned(),
                claim: format!("{}: {}", fault.number, fault.doc),
                lines: fault.params.iter().map(param_line).collect(),
            })
            .collect(),
        Listing::Invariants => invariants::ALL
            .iter()
            .map(|invariant| Entry {
                name: invariant.name.to_owned(),
                claim: format!("{}: {}", invariant.number, invariant.claim),
                lines: Vec::new(),
            })
            .collect(),
        Listing::Formats => picklock_reports::ALL
            .iter()
            .map(|format| Entry {
                name: format.name.to_owned(),
                claim: format!("{} ({} under --out)", format.doc, format.file),
                lines: Vec::new(),
            })
            .collect(),
    }
}

/// The bugs of the collection, with the locks that have them.
fn collected() -> impl Iterator<Item = (&'static Family, Bug)> {
    picklock_scenarios::bugs::builtin().into_iter().filter_map(|bug| {
        let family = bugs().iter().find(|family| family.name == bug.name)?;
        Some((*family, bug))
    })
}

fn param_line(param: &Param) -> String {
    format!("{}={}: {} ({})", param.name, param.default, param.doc, param.domain)
}

fn as_json(listing: Listing) -> Value {
    match listing {
        Listing::Designs => families()
            .iter()
            .map(|family| {
                let params = family.params.iter().map(|param| {
                    json!({ "name": param.name, "default": param.default, "doc": param.doc,
                            "domain": param.domain.to_string() })
                });
                json!({ "name": family.name, "claim": family.claim, "weakness": family.weakness,
                        "source": family.source, "params": params.collect::<Vec<_>>() })
            })
            .collect(),
        Listing::Bugs => collected()
            .map(|(family, bug)| {
                json!({ "name": bug.name, "claim": family.claim, "weakness": family.weakness,
                        "source": family.source, "twin": bug.twin, "scenario": bug.scenario,
                        "invariant": bug.invariant, "replay": bug.replay() })
            })
            .collect(),
        Listing::Scenarios => suite::builtin(&picklock_impls::stores())
            .iter()
            .map(|scenario| {
                let settable = scenario.settable();
                let params = settable.iter().map(|set| {
                    json!({ "group": set.group, "name": set.param.name, "value": set.value.to_string(),
                            "doc": set.param.doc, "domain": set.param.domain.to_string() })
                });
                let faults: Vec<&str> = scenario.faults().iter().map(|entry| entry.fault.name).collect();
                json!({ "name": scenario.name(), "summary": scenario.summary(), "faults": faults,
                        "params": params.collect::<Vec<_>>() })
            })
            .collect(),
        Listing::Faults => faults::ALL
            .iter()
            .map(|fault| {
                let params = fault.params.iter().map(|param| {
                    json!({ "name": param.name, "default": param.default, "doc": param.doc,
                            "domain": param.domain.to_string() })
                });
                json!({ "name": fault.name, "number": fault.number, "doc": fault.doc,
                        "params": params.collect::<Vec<_>>() })
            })
            .collect(),
        Listing::Invariants => invariants::ALL
            .iter()
            .map(|invariant| {
                json!({ "name": invariant.name, "number": invariant.number, "claim": invariant.claim })
            })
            .collect(),
        Listing::Formats => picklock_reports::ALL
            .iter()
            .map(|format| json!({ "name": format.name, "file": format.file, "doc": format.doc }))
            .collect(),
    }
}
