//! Scenarios that are run together: the built-in suite, or a directory of files. And those beside the suite that find one
//! bug each.
//!
//! The built-in files are part of the binary, so that an installed picklock has them. The order is that of growing
//! trouble: no fault first, then one fault in the order of the catalogue, then mixtures.

use std::path::Path;
use std::{fs, io};

use picklock_sim::store::StoreParams;

use crate::faults;
use crate::scenario::{Scenario, ScenarioError};

/// File names and texts, in order of their names.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// The same for the bugs.
const BUGS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bugs.rs"));

/// And for the experiments.
const EXPERIMENTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The built-in suite.
///
/// # Panics
/// When a built-in file is not a scenario; the tests read them all.
#[must_use]
pub fn builtin(stores: &[StoreParams]) -> Vec<Scenario> {
    parsed(FILES, stores)
}

/// The scenarios that are not of the suite, because what they are for is one bug of the collection each.
///
/// # Panics
/// When a built-in file is not a scenario; the tests read them all.
#[must_use]
pub fn of_bugs(stores: &[StoreParams]) -> Vec<Scenario> {
    parsed(BUGS, stores)
}

/// The scenarios that measure what a lock costs, or are for one question; they are run one at a time.
///
/// # Panics
/// When a built-in file is not a scenario; the tests read them all.
#[must_use]
pub fn of_experiments(stores: &[StoreParams]) -> Vec<Scenario> {
    parsed(EXPERIMENTS, stores)
}

/// The built-in scenario of this name, of the suite, the bugs or the experiments.
#[must_use]
pub fn named(name: &str, stores: &[StoreParams]) -> Option<Scenario> {
    let all = FILES.iter().chain(BUGS).chain(EXPERIMENTS);
    let named = |(file, _): &&(&str, &str)| file.strip_suffix(".toml") == Some(name);
    all.filter(named).find_map(|file| parsed(&[*file], stores).pop())
}

fn parsed(files: &[(&str, &str)], stores: &[StoreParams]) -> Vec<Scenario> {
    let read = |(name, text): &(&str, &str)| {
        Scenario::parse(name, text, stores).expect("the built-in scenarios are tested")
    };
    ordered(files.iter().map(read).collect())
}

/// All scenario files (`*.toml`) of a directory, without its subdirectories.
///
/// # Errors
/// When the directory cannot be read, has no scenario, or one of its files is not one.
pub fn load_dir(path: &Path, stores: &[StoreParams]) -> Result<Vec<Scenario>, ScenarioError> {
    let failed = |source| ScenarioError::Read { file: path.display().to_string(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "toml") {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "it has no scenario file (*.toml)")));
    }
    // Which of several bad files is reported must not depend on the directory's order.
    files.sort();
    files.iter().map(|file| Scenario::load(file, stores)).collect::<Result<_, _>>().map(ordered)
}

fn ordered(mut scenarios: Vec<Scenario>) -> Vec<Scenario> {
    scenarios.sort_by_cached_key(|scenario| {
        let number = |name: &str| faults::ALL.iter().position(|fault| fault.name == name);
        let mut kinds: Vec<_> = scenario.faults().iter().map(|entry| number(entry.fault.name)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        (kinds.len(), kinds.first().copied().flatten(), scenario.name().to_owned())
    });
    scenarios
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::STORES;

    #[test]
    fn every_builtin_scenario_is_read_and_stands_in_the_order_of_the_catalogue() {
        let names: Vec<String> = builtin(STORES).iter().map(|scenario| scenario.name().to_owned()).collect();
        let expected = [
            "calm",
            "long-work",
            "came-and-went",
            "late-release",
            "late-waiter",
            "pause",
            "seckill",
            "stall",
            "suspend",
            "client-crash",
            "delay",
            "lost-reply",
            "nested",
            "client-partition",
            "failover",
            "split",
            "replication-lag",
            "minority-down",
            "node-restart",
            "clock-step",
            "clock-drift",
            "renewal-error",
            "lost-connection",
            "impatient",
            "storm",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn no_scenario_of_a_bug_has_the_name_of_one_of_the_suite() {
        for scenario in of_bugs(STORES) {
            assert!(
                builtin(STORES).iter().all(|other| other.name() != scenario.name()),
                "{}",
                scenario.name()
            );
        }
    }

    #[test]
    fn the_experiments_are_read() {
        assert_eq!(of_experiments(STORES).len(), 22);
        let suite = builtin(STORES);
        let apart = |scenario: &Scenario| suite.iter().all(|other| other.name() != scenario.name());
        assert!(
            of_experiments(STORES).iter().chain(&of_bugs(STORES)).all(apart),
            "a name stands for one scenario"
        );
    }

    #[test]
    fn a_directory_is_read_as_a_suite_and_its_mistakes_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let error = load_dir(dir.path(), STORES).unwrap_err().to_string();
        assert!(error.contains("no scenario file"), "{error}");
        fs::write(dir.path().join("mine.toml"), "summary = 'mine'").unwrap();
        fs::write(dir.path().join("notes.txt"), "not a scenario").unwrap();
        assert_eq!(load_dir(dir.path(), STORES).unwrap()[0].name(), "mine");
        fs::write(dir.path().join("bad.toml"), "summary = 'bad'\nttl = \"-1s\"").unwrap();
        let error = load_dir(dir.path(), STORES).unwrap_err().to_string();
        assert!(error.contains("bad.toml:2:7: `ttl`: `-1s` is negative"), "{error}");
    }

    #[test]
    fn every_truncation_of_a_builtin_file_is_read_or_refused() {
        for (name, text) in FILES {
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let _ = Scenario::parse(name, &text[..end], STORES);
            }
        }
    }

    proptest! {
        #[test]
        fn no_damage_to_a_builtin_file_makes_the_reader_panic(
            file in 0..FILES.len(), at in 0..4_000_usize, cut in 0..40_usize, put in "\\PC{0,12}",
        ) {
            let (name, text) = FILES[file];
            let chars: Vec<char> = text.chars().collect();
            let from = at % chars.len();
            let to = (from + cut).min(chars.len());
            let damaged: String = chars[..from].iter().copied().chain(put.chars()).chain(chars[to..].iter().copied()).collect();
            let _ = Scenario::parse(name, &damaged, STORES);
        }
    }
}
