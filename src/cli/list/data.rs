//! The catalogue as data for scripts.

use picklock_impls::families;
use picklock_judge::invariants;
use picklock_scenarios::{faults, suite};
use serde_json::{Value, json};

use super::entries::{collected, formats};
use super::listing::Listing;

/// All entries of a kind.
pub(super) fn as_json(listing: Listing) -> Value {
    match listing {
        Listing::Designs => families()
            .iter()
            .map(|family| {
                let params = family.params.iter().map(|param| {
                    json!({ "name": param.name, "default": param.default, "doc": param.doc,
                            "domain": param.domain.to_string() })
                });
                json!({ "name": family.name, "claim": family.claim, "weakness": family.weakness,
                        "source": family.source, "in_suite": true, "survives": family.design().survives,
                        "params": params.collect::<Vec<_>>() })
            })
            .collect(),
        Listing::Bugs => collected()
            .map(|(family, bug)| {
                json!({ "name": bug.name, "claim": family.claim, "weakness": family.weakness,
                        "source": family.source, "twin": bug.twin, "scenario": bug.scenario,
                        "invariant": bug.invariant, "replay": bug.replay() })
            })
            .collect(),
        Listing::Scenarios => suite::builtin(&picklock_stores::params())
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
                json!({ "name": fault.name, "also": fault.also, "number": fault.number, "doc": fault.doc,
                        "params": params.collect::<Vec<_>>() })
            })
            .collect(),
        Listing::Invariants => invariants::ALL
            .iter()
            .map(|invariant| {
                json!({ "name": invariant.name, "number": invariant.number, "claim": invariant.property })
            })
            .collect(),
        Listing::Formats => formats()
            .into_iter()
            .map(|format| json!({ "name": format.name, "file": format.file, "doc": format.doc }))
            .collect(),
    }
}
