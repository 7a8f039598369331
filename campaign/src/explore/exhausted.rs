//! The results of explorations, read back to stand beside the results of random runs.
//!
//! A cell that holds in a hundred random runs is bounded by a rate. Where each place of its fault was tried in turn, it can say
//! that as well.

use std::path::Path;

use serde::Deserialize;

use crate::summary::{Cell, Exhausted};
use picklock_scenarios::faults;
use picklock_scenarios::scenario::{Problem, Scenario, ScenarioError, Spot, read_text};

/// The figures of explorations, as `explore --format figures` and `explore --format json` write them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Figures {
    explored: Vec<Page>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Page {
    design: String,
    faults: Vec<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Fault {
    fault: String,
    #[serde(alias = "placements")]
    sites: u64,
    explored: u64,
    violating: u64,
}

impl Figures {
    /// Reads figures.
    ///
    /// # Errors
    /// When the text is not what `explore` writes; the error names line and column.
    pub fn parse(file: &str, text: &str) -> Result<Figures, ScenarioError> {
        serde_json::from_str(text).map_err(|error| {
            let before: usize =
                text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = (before + error.column().saturating_sub(1)).min(text.len());
            let message = error.to_string();
            let why = message.split(" at line ").next().unwrap_or_default();
            Spot::new(at..at, Problem::NoFigures(why.to_owned())).in_file(file, text)
        })
    }

    /// Reads figures from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 1 MiB, or is not valid.
    pub fn load(path: &Path) -> Result<Figures, ScenarioError> {
        Figures::parse(&path.display().to_string(), &read_text(path)?)
    }

    /// Puts beside a cell what was tried of each of its faults, unless its scenario narrows where that one hits.
    pub fn put_beside(&self, cell: &mut Cell, scenario: &Scenario) {
        let Some(page) = self.explored.iter().find(|page| page.design == cell.design) else { return };
        let of = |fault: &String| {
            let kind = faults::find(fault).ok()?.at_sites.first()?;
            let of_kind = |tried: &&Fault| faults::present_name(&tried.fault) == kind.name;
            let tried = page.faults.iter().find(|tried| of_kind(tried) && tried.sites > 0)?;
            Some(Exhausted {
                fault: fault.clone(),
                sites: tried.sites,
                explored: tried.explored,
                violating: tried.violating,
            })
        };
        cell.exhausted =
            cell.took_effect.keys().filter(|fault| scenario.hits_anywhere(fault)).filter_map(of).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{ "schema": 1, "explored": [ { "design": "single", "faults": [
        { "fault": "crash", "sites": 142, "explored": 142, "took_effect": 142, "violating": 0 },
        { "fault": "cut", "sites": 0, "explored": 0, "took_effect": 0, "violating": 0 } ] } ] }"#;

    #[test]
    fn a_cell_gets_what_was_tried_of_its_own_faults() {
        let figures = Figures::parse("made-up.json", TEXT).unwrap();
        let bit = [("client-crash".to_owned(), 9), ("partition".to_owned(), 9), ("failover".to_owned(), 9)];
        let mut cell = Cell { design: "single".into(), took_effect: bit.into(), ..Cell::default() };
        let scenario =
            |text: &str| Scenario::parse("made-up.toml", &format!("summary = 'one'\n{text}"), &[]).unwrap();
        let anywhere = scenario("[[fault]]\nkind = 'client-crash'");
        figures.put_beside(&mut cell, &anywhere);
        let tried = Exhausted { fault: "client-crash".into(), sites: 142, explored: 142, violating: 0 };
        assert_eq!(cell.exhausted, [tried]);
        let mut other = Cell { design: "watchdog".into(), ..cell.clone() };
        other.exhausted.clear();
        figures.put_beside(&mut other, &anywhere);
        assert!(other.exhausted.is_empty());
        figures.put_beside(&mut cell, &scenario("[[fault]]\nkind = 'client-crash'\nphase = 'work'"));
        assert!(cell.exhausted.is_empty(), "all sites were tried, and the scenario hits only some of them");
    }

    #[test]
    fn what_no_exploration_writes_is_refused_with_its_place() {
        let broken = TEXT.replace("142, \"took_effect\"", "-1, \"took_effect\"");
        let error = Figures::parse("made-up.json", &broken).unwrap_err().to_string();
        assert!(error.contains("made-up.json:2:") && error.contains("--format figures"), "{error}");
        let cut = Figures::parse("made-up.json", &TEXT[..40]).unwrap_err().to_string();
        assert!(cut.contains("made-up.json:1:"), "{cut}");
    }
}
