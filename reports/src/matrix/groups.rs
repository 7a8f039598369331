//! The rows of a matrix in the order of a page: a group for each kind of store, and inside a group the designs with the fewest
//! violations first.

use super::mark::Mark;
use super::{Matrix, Row};
use crate::page::layout::{distinct, printable};

/// The designs on one kind of store.
pub(crate) struct Group<'m, 'a> {
    store: Option<&'a str>,
    pub(crate) rows: Vec<&'m Row<'a>>,
}

impl Group<'_, '_> {
    /// The name of the store kind.
    pub(crate) fn title(&self) -> String {
        printable(self.store.unwrap_or("no store")).into_owned()
    }
}

/// The groups, in the order in which their stores come in the results.
pub(crate) fn by_store<'m, 'a>(matrix: &'m Matrix<'a>) -> Vec<Group<'m, 'a>> {
    let store = |row: &&Row<'a>| matrix.summary.about.stores.get(row.design).map(String::as_str);
    let group = |wanted: Option<&'a str>| {
        let mut rows: Vec<&Row<'a>> = matrix.rows.iter().filter(|row| store(row) == wanted).collect();
        rows.sort_by_key(|row| [Mark::Harmed, Mark::Blocked, Mark::Violated].map(|mark| count(row, mark)));
        Group { store: wanted, rows }
    };
    distinct(matrix.rows.iter().map(|row| store(&row))).into_iter().map(group).collect()
}

fn count(row: &Row<'_>, mark: Mark) -> usize {
    row.squares.iter().flatten().filter(|square| square.mark == mark).count()
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{Cell, Summary, Violation};

    use super::*;

    #[test]
    fn designs_of_one_store_stand_together_and_the_least_violated_one_first() {
        let cell = |design: &str, violated: &[&str]| Cell {
            design: design.into(),
            scenario: "pause".into(),
            runs: 20,
            hit_lock: 20,
            violations: violated.iter().map(|name| ((*name).to_owned(), Violation::default())).collect(),
            ..Cell::default()
        };
        let mut summary = Summary {
            cells: vec![
                cell("single", &["no-lost-update"]),
                cell("etcd", &[]),
                cell("watchdog", &["mutual-exclusion"]),
                cell("oracle", &[]),
                cell("setnx", &["progress"]),
            ],
            ..Summary::default()
        };
        for (design, store) in
            [("single", "redis"), ("watchdog", "redis"), ("setnx", "redis"), ("etcd", "etcd")]
        {
            summary.about.stores.insert(design.into(), store.into());
        }
        let matrix = Matrix::of(&summary);
        let groups = by_store(&matrix);
        let shown: Vec<(String, Vec<&str>)> = groups
            .iter()
            .map(|group| (group.title(), group.rows.iter().map(|row| row.design).collect()))
            .collect();
        assert_eq!(
            shown,
            [
                ("redis".to_owned(), vec!["watchdog", "setnx", "single"]),
                ("etcd".to_owned(), vec!["etcd"]),
                ("no store".to_owned(), vec!["oracle"]),
            ]
        );
    }
}
