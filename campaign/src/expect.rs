//! The expectations: the reviewed verdicts of the built-in designs under the built-in scenarios, against which a run is held.
//!
//! ```toml
//! [redlock]                       # a design, spelled as everywhere
//! holds = ["calm", "stall"]       # scenarios under which nothing may be violated
//!
//! [redlock.pause]                 # a scenario under which something must be
//! violated = ["effective-exclusion"]
//! may.no-lost-update = 17         # found or not, for it is rare: this seed shows it
//! may.progress = "a second pause" # or why it is possible, where no seed was found
//! within = 2000                   # found within so many runs
//! ```
//!
//! A permission to violate needs a proof: one that nothing stands behind hides what breaks later. So each has its
//! [`Evidence`], and one without is refused. `tests/suite/permitted_violations.rs` replays the seeds and finds new ones.
//!
//! A cell that the file does not name has no expectation. A design with parameters has those of its own spelling
//! only (`["redlock{nodes=7}".pause]`): a parameter is there to change the outcome.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use crate::summary::Expected;
use picklock_judge::invariants;
use picklock_scenarios::scenario::{Problem, ScenarioError, Spot, read_text};
use picklock_scenarios::toml_view::{Entry, entries, table};

const BUILTIN: &str = include_str!("../expect.toml");

/// More runs than a reviewed expectation asks for.
const MAX_RUNS: u64 = 1_000_000_000;

/// Expectations by design and scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    cells: BTreeMap<String, BTreeMap<String, Expected>>,
    /// The evidence for invariants that may be violated, by design, scenario and invariant.
    evidence: BTreeMap<[String; 3], Evidence>,
}

/// The evidence for an invariant that may be violated in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The run of this seed violates it.
    Seed(u64),
    /// No run was seen to, and it is possible for this reason.
    Reason(String),
}

impl Expectations {
    /// The expectations of the built-in designs.
    ///
    /// # Panics
    /// When the built-in file is not valid; the tests read it.
    #[must_use]
    pub fn builtin() -> Expectations {
        Expectations::parse("expect.toml", BUILTIN).expect("the built-in expectations are tested")
    }

    /// Reads expectations.
    ///
    /// # Errors
    /// When the text is not TOML or not of the form above; the error names line, column and remedy.
    pub fn parse(file: &str, text: &str) -> Result<Expectations, ScenarioError> {
        read(text).map_err(|spot| spot.in_file(file, text))
    }

    /// Reads expectations from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 1 MiB, or is not valid.
    pub fn load(path: &Path) -> Result<Expectations, ScenarioError> {
        Expectations::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// The expectation of a design under a scenario; `None` if there is none.
    #[must_use]
    pub fn cell(&self, design: &str, scenario: &str) -> Option<Expected> {
        self.cells.get(design)?.get(scenario).cloned()
    }

    /// The invariants that may be violated: design, scenario, invariant, evidence, in order of the names.
    pub fn permitted(&self) -> impl Iterator<Item = ([&str; 3], &Evidence)> {
        self.evidence.iter().map(|(of, evidence)| (of.each_ref().map(String::as_str), evidence))
    }

    /// Designs and scenarios that have an expectation, in order of their names.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cells.iter().flat_map(|(design, cells)| {
            cells.keys().map(move |scenario| (design.as_str(), scenario.as_str()))
        })
    }
}

impl FromIterator<(String, String, Expected)> for Expectations {
    /// The expectation of each design under each scenario.
    fn from_iter<I: IntoIterator<Item = (String, String, Expected)>>(cells: I) -> Expectations {
        let mut all = Expectations::default();
        for (design, scenario, expected) in cells {
            all.cells.entry(design).or_default().insert(scenario, expected);
        }
        all
    }
}

fn read(text: &str) -> Result<Expectations, Spot> {
    let root = table(text)?;
    let mut all = Expectations::default();
    for entry in entries(root.get_ref()) {
        let cells = design(entry.table()?)?.into_iter().map(|(scenario, cell)| {
            let of = |invariant: &str| [entry.key, &scenario, invariant].map(str::to_owned);
            all.evidence.extend(cell.evidence.iter().map(|(name, why)| (of(name), why.clone())));
            (scenario, cell.expected)
        });
        let cells = cells.collect();
        all.cells.insert(entry.key.to_owned(), cells);
    }
    Ok(all)
}

/// A cell as it is read.
#[derive(Default)]
struct Cell {
    expected: Expected,
    /// By invariant.
    evidence: Vec<(String, Evidence)>,
}

fn design(table: &DeTable<'_>) -> Result<BTreeMap<String, Cell>, Spot> {
    let mut cells = BTreeMap::new();
    for entry in entries(table) {
        if entry.key == "holds" {
            for (span, scenario) in entry.texts()? {
                let twice = cells.insert(scenario.to_owned(), Cell::default()).is_some();
                refuse(twice || table.contains_key(scenario), span, || Problem::Twice(scenario.to_owned()))?;
            }
        } else {
            cells.insert(entry.key.to_owned(), cell(&entry)?);
        }
    }
    Ok(cells)
}

fn cell(of: &Entry<'_, '_>) -> Result<Cell, Spot> {
    let mut cell = Cell::default();
    let expected = &mut cell.expected;
    for entry in entries(of.table()?) {
        match entry.key {
            "violated" => expected.violated = invariants(&entry)?,
            "may" => cell.evidence = permitted(&entry)?,
            "within" => expected.within = runs(&entry)?,
            key => {
                let problem = Problem::unknown("key", key, &["violated", "may", "within"]);
                return Err(Spot::new(entry.key_span.clone(), problem));
            }
        }
    }
    expected.may = cell.evidence.iter().map(|(name, _)| name.clone()).collect();
    expected.may.sort_unstable();
    let open = !expected.violated.is_empty() && expected.within == 0;
    refuse(open, of.key_span.clone(), || Problem::Missing("within"))?;
    Ok(cell)
}

/// The invariants that may be violated, each with its evidence.
fn permitted(entry: &Entry<'_, '_>) -> Result<Vec<(String, Evidence)>, Spot> {
    let DeValue::Table(table) = entry.value.get_ref() else {
        let wanted =
            "for each invariant a seed that violates it, `may.progress = 17`, or why it can be, in quotes";
        return Err(entry.wrong_type(wanted));
    };
    let mut permitted = Vec::new();
    for one in entries(table) {
        known(one.key, one.key_span.clone())?;
        permitted.push((one.key.to_owned(), evidence(&one)?));
    }
    Ok(permitted)
}

fn evidence(entry: &Entry<'_, '_>) -> Result<Evidence, Spot> {
    let wanted =
        || entry.wrong_type("a seed that violates it, from 0 on, or in quotes why it can be violated");
    match entry.value.get_ref() {
        DeValue::Integer(seed) => {
            seed.as_str().replace('_', "").parse().map(Evidence::Seed).map_err(|_| wanted())
        }
        DeValue::String(reason) if !reason.trim().is_empty() => Ok(Evidence::Reason(reason.to_string())),
        _ => Err(wanted()),
    }
}

/// Refuses a name that is no invariant's.
fn known(name: &str, span: std::ops::Range<usize>) -> Result<(), Spot> {
    let all: Vec<&str> = invariants::ALL.iter().map(|invariant| invariant.name).collect();
    refuse(!all.contains(&name), span, || Problem::unknown("invariant", name, &all))
}

fn invariants(entry: &Entry<'_, '_>) -> Result<Vec<String>, Spot> {
    let mut names: Vec<String> = Vec::new();
    for (span, name) in entry.texts()? {
        known(name, span.clone())?;
        refuse(names.iter().any(|earlier| earlier == name), span, || Problem::Twice(name.to_owned()))?;
        names.push(name.to_owned());
    }
    names.sort_unstable();
    Ok(names)
}

fn runs(entry: &Entry<'_, '_>) -> Result<u64, Spot> {
    let wanted = || entry.wrong_type(format!("a whole number from 1 to {MAX_RUNS}"));
    let DeValue::Integer(number) = entry.value.get_ref() else { return Err(wanted()) };
    let number = number.as_str().replace('_', "").parse().ok();
    number.filter(|runs| (1..=MAX_RUNS).contains(runs)).ok_or_else(wanted)
}

fn refuse(bad: bool, span: std::ops::Range<usize>, problem: impl FnOnce() -> Problem) -> Result<(), Spot> {
    if bad { Err(Spot::new(span, problem())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = r#"
[redlock]
holds = ["calm", "stall"]

[redlock.pause]
violated = ["effective-exclusion"]
may.no-lost-update = 1_700
may.mutual-exclusion = "if the clock jumps twice"
within = 2000

["redlock{nodes=7}"]
holds = ["calm"]
"#;

    fn error(text: &str) -> String {
        Expectations::parse("e.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_cell_says_what_must_and_may_be_found() {
        let expectations = Expectations::parse("e.toml", GOOD).unwrap();
        let pause = expectations.cell("redlock", "pause").unwrap();
        assert_eq!(pause.violated, ["effective-exclusion"]);
        assert_eq!(pause.may, ["mutual-exclusion", "no-lost-update"]);
        let permitted: Vec<_> = expectations.permitted().collect();
        let reason = Evidence::Reason("if the clock jumps twice".to_owned());
        let of = |invariant| ["redlock", "pause", invariant];
        assert_eq!(
            permitted,
            [(of("mutual-exclusion"), &reason), (of("no-lost-update"), &Evidence::Seed(1_700))]
        );
        assert_eq!(pause.within, 2000);
        assert_eq!(expectations.cell("redlock", "calm"), Some(Expected::default()));
        assert!(expectations.cell("redlock{nodes=7}", "calm").is_some());
        assert_eq!(expectations.cell("redlock{nodes=7}", "pause"), None);
        assert_eq!(expectations.cell("redlock{nodes=5}", "calm"), None);
    }

    #[test]
    fn the_builtin_expectations_are_valid() {
        let _ = Expectations::builtin();
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        assert!(error("[a.pause]\nviolated = ['progress']").contains("e.toml:1:4: `within` is missing"));
        assert!(
            error("[a.pause]\nvoilated = ['x']")
                .contains("e.toml:2:1: there is no key `voilated` (did you mean `violated`?)")
        );
        assert!(error("[a.pause]\nmay.progres = 3").contains("e.toml:2:5: there is no invariant `progres`"));
        for nothing in ["''", "' '", "-1", "1.5", "true", "[]", "18446744073709551616"] {
            let error = error(&format!("[a.pause]\nmay.progress = {nothing}"));
            assert!(error.contains("e.toml:2:16: `progress` is "), "{error}");
            assert!(error.contains("write a seed that violates it, from 0 on, or in quotes why"), "{error}");
        }
        assert!(
            error("[a.pause]\nmay = ['progress']")
                .contains("e.toml:2:7: `may` is a list; write for each invariant a seed")
        );
        assert!(error("[a.pause]\nwithin = -3").contains("a whole number from 1"));
        assert!(error("[a]\nholds = ['calm', 3]").contains("a list of texts"));
        assert!(error("[a]\nholds = ['calm']\n[a.calm]\nwithin = 1").contains("`calm` is named twice"));
        assert!(error("[a").contains("not valid TOML"));
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(at in 0..GOOD.len(), cut in 0..40_usize, put in "\\PC{0,12}") {
            let end = (at + cut).min(GOOD.len());
            let _ = Expectations::parse("e.toml", &[&GOOD[..at], &put, &GOOD[end..]].concat());
        }
    }
}
