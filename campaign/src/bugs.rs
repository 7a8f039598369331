//! The finding of each bug of the collection: for each a scenario, the invariant that it violates, a seed that shows it, and
//! the design that does the same without it. Reviewed data, like the [expectations](crate::expect).
//!
//! The locks themselves are designs, and not known here.

use std::collections::BTreeMap;

use picklock_model::family;
use serde::Deserialize;

const BUILTIN: &str = include_str!("../bugs.toml");

/// How one bug is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The spelling of the design that has it.
    pub name: String,
    /// The spelling of the design that does the same without it.
    pub twin: String,
    /// The scenario that finds it: of the suite, or one of [`suite::of_bugs`](picklock_scenarios::suite::of_bugs).
    pub scenario: String,
    /// The invariant that it violates.
    pub invariant: String,
    /// A seed under which it does.
    pub seed: u64,
}

impl Bug {
    /// The command line that shows it.
    #[must_use]
    pub fn replay(&self) -> String {
        format!("picklock replay {} {} {}", self.name, self.scenario, self.seed)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    scenario: String,
    invariant: String,
    seed: u64,
    twin: Option<String>,
}

/// The whole collection, in order of names.
///
/// # Panics
/// When the built-in file is not valid; the tests read it.
#[must_use]
pub fn builtin() -> Vec<Bug> {
    let entries: BTreeMap<String, Entry> =
        toml::from_str(BUILTIN).expect("the built-in list of bugs is tested");
    let bug = |(name, entry): (String, Entry)| Bug {
        twin: entry.twin.unwrap_or_else(|| format!("{name}{{fixed=yes}}")),
        name,
        scenario: entry.scenario,
        invariant: entry.invariant,
        seed: entry.seed,
    };
    entries.into_iter().map(bug).collect()
}

/// The invariant that the bug of a design is listed for; `None` for a design without a listed bug, and for a fixed version.
#[must_use]
pub fn listed_invariant(design: &str) -> Option<String> {
    let is_it = |bug: &Bug| bug.name == family::name_of(design) && bug.twin != design;
    builtin().into_iter().find(is_it).map(|bug| bug.invariant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_judge::invariants;

    use picklock_scenarios::suite;

    #[test]
    fn every_bug_names_a_scenario_and_an_invariant_that_there_are() {
        for bug in builtin() {
            assert!(
                suite::named(&bug.scenario, picklock_scenarios::testing::STORES).is_some(),
                "{}: {}",
                bug.name,
                bug.scenario
            );
            assert!(invariants::ALL.iter().any(|invariant| *invariant.name == bug.invariant), "{}", bug.name);
        }
    }

    #[test]
    fn a_bug_has_its_invariant_and_its_twin_has_none() {
        let of = |design: &str| listed_invariant(design);
        assert_eq!(of("redisson-597").as_deref(), Some("continuity"));
        assert_eq!(of("redisson-2172{fixed=yes}"), None);
        assert_eq!(of("reentrant"), None);
    }

    #[test]
    fn the_twin_is_the_fixed_version_unless_another_is_named() {
        let twin = |name: &str| builtin().into_iter().find(|bug| bug.name == name).unwrap().twin;
        assert_eq!(twin("redisson-2172"), "redisson-2172{fixed=yes}");
        assert_eq!(twin("redisson-597"), "reentrant");
    }
}
