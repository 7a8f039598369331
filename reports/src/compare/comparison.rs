//! A comparison as data: the results of several designs, each alone and each two under the same seeds.

use picklock_campaign::summary::{Cell, Summary};

use super::pairs::Pairs;
use super::since::Since;
use crate::page::layout::distinct;

/// The results of several designs, and what they did under the same seeds.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The results of each alone.
    pub summary: Summary,
    /// Those of each two under the same seeds.
    pub pairs: Pairs,
    /// The changes since an older one.
    pub since: Option<Since>,
}

impl Comparison {
    /// The scenarios, in their order.
    pub(crate) fn scenarios(&self) -> Vec<&str> {
        distinct(self.summary.cells.iter().map(|cell| cell.scenario.as_str()))
    }

    /// The designs under a scenario.
    pub(crate) fn cells(&self, scenario: &str) -> Vec<&Cell> {
        self.summary.cells.iter().filter(|cell| cell.scenario == scenario).collect()
    }

    /// True if all designs made the same number of runs under each scenario, and so the same seeds.
    pub(crate) fn is_paired(&self) -> bool {
        let made = || self.summary.cells.iter().filter(|cell| cell.skipped.is_none());
        made().all(|cell| made().all(|other| other.scenario != cell.scenario || other.runs == cell.runs))
    }

    /// The same in words.
    pub(crate) fn pairing(&self) -> String {
        let partial = if self.summary.partial { "(partial: interrupted) " } else { "" };
        let words = if self.is_paired() {
            "Paired seeds: under each scenario every design ran the same ones, so the same workload and faults."
        } else {
            "Not fully paired: under some scenario one design ran more seeds than another."
        };
        format!("{partial}{words}")
    }
}
