//! The legend of a matrix: the signs that stand in it, in their order, and the leases that differ from those of the scenarios.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_campaign::summary::Summary;
use picklock_model::span::Span;

use super::Matrix;
use super::mark::{Mark, UNMET};
use crate::page::layout::printable;

/// A sign and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The sign of a cell; `None` of what stands beside it where a cell is not as expected.
    pub(crate) mark: Option<Mark>,
    pub(crate) sign: &'static str,
    pub(crate) words: &'static str,
}

/// Of what stands beside the sign of a cell that is not as expected.
pub(crate) const NOT_AS_EXPECTED: Key = Key { mark: None, sign: UNMET, words: "not as expected" };

impl Key {
    pub(crate) fn of(mark: Mark) -> Key {
        Key { mark: Some(mark), sign: mark.sign(), words: mark.words() }
    }

    /// True if it says that an invariant was violated and the data were not harmed.
    fn is_harmless(&self) -> bool {
        matches!(self.mark, Some(Mark::Blocked | Mark::Violated))
    }
}

/// The signs that stand in a matrix.
pub(crate) fn keys(matrix: &Matrix<'_>) -> Vec<Key> {
    let marks = Mark::ALL.into_iter().filter(|mark| matrix.has(*mark)).map(Key::of);
    marks.chain(matrix.has_unmet().then_some(NOT_AS_EXPECTED)).collect()
}

/// The same as items of a list, each sign written so. After those of violations without harm it is said that they are.
pub(crate) fn items(keys: &[Key], written: impl Fn(&str) -> String) -> Vec<String> {
    let harmless: Vec<String> =
        keys.iter().filter(|key| key.is_harmless()).map(|key| written(key.sign)).collect();
    let last = keys.iter().rposition(Key::is_harmless);
    let mut items = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        items.push(format!("{} {}", written(key.sign), key.words));
        if last == Some(at) {
            items.push(format!("{}: data unharmed", harmless.join(" and ")));
        }
    }
    items
}

/// The designs that run with a longer lease than the scenarios ask for, in a sentence for each lease.
pub(crate) fn leases(summary: &Summary) -> Vec<String> {
    let mut designs: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for cell in &summary.cells {
        if let Some(lease) = cell.longer_lease_ns {
            let known = designs.entry(lease).or_default();
            if !known.contains(&cell.design.as_str()) {
                known.push(&cell.design);
            }
        }
    }
    let sentence = |(lease, designs): (u64, Vec<&str>)| {
        let lease = Span::Fixed(Duration::from_nanos(lease));
        format!(
            "lease of {lease}, as their store grants no shorter one, and all lengths in leases with it: {}",
            printable(&designs.join(", "))
        )
    };
    designs.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::Cell;

    use super::*;

    #[test]
    fn designs_that_run_with_a_longer_lease_are_named_once() {
        let cell = |design: &str, scenario: &str, longer_lease_ns| Cell {
            design: design.into(),
            scenario: scenario.into(),
            longer_lease_ns,
            ..Cell::default()
        };
        let two = Some(2_000_000_000);
        let cells = vec![
            cell("single", "calm", None),
            cell("etcd", "calm", two),
            cell("etcd", "pause", two),
            cell("etcd-fenced", "calm", two),
            cell("zookeeper", "calm", Some(4_000_000_000)),
        ];
        let said = leases(&Summary { cells, ..Summary::default() });
        assert_eq!(said.len(), 2);
        assert!(said[0].starts_with("lease of 2s") && said[0].ends_with(": etcd, etcd-fenced"), "{said:?}");
        assert!(said[1].ends_with(": zookeeper"));
        assert!(leases(&Summary::default()).is_empty());
    }

    fn said(marks: &[Mark]) -> String {
        let keys: Vec<Key> = marks.iter().map(|mark| Key::of(*mark)).chain([NOT_AS_EXPECTED]).collect();
        items(&keys, str::to_owned).join(", ")
    }

    #[test]
    fn a_legend_says_which_signs_are_without_harm() {
        let all = said(&Mark::ALL);
        assert!(all.contains("~ another invariant violated, ⊘ and ~: data unharmed, · none found"), "{all}");
        assert!(said(&[Mark::Blocked]).contains(", ⊘: data unharmed, !"));
        assert_eq!(said(&[Mark::Harmed]), "✗ data harmed, ! not as expected");
    }
}
