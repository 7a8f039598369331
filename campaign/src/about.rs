//! Descriptions of the designs and the scenarios of a campaign, for a reader who does not know their names.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::span::Span;
use picklock_sim::design::Design;
use picklock_sim::param::Value;

use picklock_scenarios::faults::{FaultEntry, TIMES};
use picklock_scenarios::scenario::Scenario;

/// The meaning of the names in a campaign's results.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The version of picklock that made the runs.
    pub version: String,
    /// The claim of each design, by its spelling.
    pub designs: BTreeMap<String, String>,
    /// The kind of store of each design that has one, by the design's spelling.
    pub stores: BTreeMap<String, String>,
    /// The description of each scenario, by its name.
    pub scenarios: BTreeMap<String, AboutScenario>,
    /// Well-known libraries, each with the design that it implements.
    pub libraries: Vec<(String, String)>,
}

/// The description of a scenario.
#[derive(Clone, Debug, Default)]
pub struct AboutScenario {
    /// In one line.
    pub summary: String,
    /// The lease that clients ask for.
    pub lease: Duration,
    /// Its faults.
    pub faults: Vec<AboutFault>,
}

/// The description of a fault of a scenario.
#[derive(Clone, Debug, Default)]
pub struct AboutFault {
    /// Its name.
    pub name: String,
    /// In one line.
    pub doc: String,
    /// How often it hits and how long it lasts, such as "0 to 2 times" and "for 0.5 x ttl..2 x ttl (500ms..2s)".
    pub extent: Vec<String>,
}

impl About {
    /// Describes these designs and scenarios, but no libraries.
    #[must_use]
    pub fn of(designs: &[Design], scenarios: &[Scenario]) -> About {
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            designs: (designs.iter())
                .map(|design| (design.name.to_string(), design.claim.to_string()))
                .collect(),
            stores: (designs.iter())
                .filter_map(|design| {
                    Some((design.name.to_string(), design.store.as_ref()?.spec.name().to_owned()))
                })
                .collect(),
            scenarios: (scenarios.iter())
                .map(|scenario| (scenario.name().to_owned(), AboutScenario::of(scenario)))
                .collect(),
            libraries: Vec::new(),
        }
    }
}

impl AboutScenario {
    fn of(scenario: &Scenario) -> AboutScenario {
        let lease = scenario.ttl();
        AboutScenario {
            summary: match scenario.changes() {
                [] => scenario.summary().to_owned(),
                changes => {
                    format!("by default, {}; changed here: {}", scenario.summary(), changes.join(", "))
                }
            },
            lease,
            faults: scenario.faults().iter().map(|entry| AboutFault::of(entry, lease)).collect(),
        }
    }
}

impl AboutFault {
    fn of(entry: &FaultEntry, lease: Duration) -> AboutFault {
        let extent = entry.args.iter().filter_map(|(param, value)| match value {
            Value::Counts(1, 1) if param.name == TIMES.name => None,
            Value::Counts(from, to) if param.name == TIMES.name && from < to => {
                Some(format!("{from} to {to} times"))
            }
            Value::Counts(times, _) if param.name == TIMES.name => Some(format!("{times} times")),
            Value::Spans(from, to) => Some(format!("{} {}", param.name, length(from, to, lease))),
            _ => None,
        });
        AboutFault {
            name: entry.fault.name.to_owned(),
            doc: entry.fault.doc.to_owned(),
            extent: extent.collect(),
        }
    }
}

/// A range of spans; one that is given in leases also as what it comes to.
fn length(from: Span, to: Span, lease: Duration) -> String {
    let said = Value::Spans(from, to);
    if [from, to].iter().all(|span| matches!(span, Span::Fixed(_))) {
        return said.to_string();
    }
    let [from, to] = [from, to].map(|span| Span::Fixed(span.resolve(lease)));
    format!("{said} ({})", Value::Spans(from, to))
}

#[cfg(test)]
mod tests {
    use picklock_scenarios::suite;

    use super::*;

    #[test]
    fn a_fault_says_how_often_it_hits_and_how_long_it_lasts_at_this_lease() {
        let of = |name: &str, settings: &[&str]| {
            let mut scenario = suite::named(name, &[]).expect("it is built in");
            scenario.set_all(settings).expect("these fit");
            AboutScenario::of(&scenario)
        };
        let pause = of("pause", &[]);
        assert_eq!(pause.lease, Duration::from_secs(1));
        assert_eq!(pause.faults[0].extent, ["for 0.5 x ttl..2 x ttl (500ms..2s)"]);
        assert_eq!(of("pause", &["ttl=10s"]).faults[0].extent, ["for 0.5 x ttl..2 x ttl (5s..20s)"]);
        assert_eq!(of("pause", &["pause.for=1s"]).faults[0].extent, ["for 1s"]);
        let summary = of("pause", &[]).summary;
        let changed = format!("by default, {summary}; changed here: pause.for=1s, ttl=2s");
        assert_eq!(of("pause", &["pause.for=1s", "ttl=2s"]).summary, changed);
        let storm = of("storm", &[]);
        assert_eq!(storm.faults[0].extent[0], "0 to 2 times");
    }
}
