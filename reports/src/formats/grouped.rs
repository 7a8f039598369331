//! The rows of a matrix on a page in Markdown: a table for each kind of store.

use crate::matrix::{Matrix, Row, groups};
use crate::page::layout::titled;
use crate::page::markdown::{Table, code, escape};

/// A table for each kind of store, under a heading with these words if there are several. A row begins with its design.
pub(super) fn tables(
    matrix: &Matrix<'_>,
    words: &str,
    head: &[&str],
    cells: impl Fn(&Row<'_>) -> Vec<String>,
) -> String {
    let groups = groups::by_store(matrix);
    let mut tables = String::new();
    for group in &groups {
        if groups.len() > 1 {
            tables.push_str(&format!("### {}{words}\n\n", escape(&group.title())));
        }
        let mut table = Table::new(head.iter().copied());
        for row in &group.rows {
            table.row(std::iter::once(code(&titled(row.design))).chain(cells(row)));
        }
        tables.push_str(&format!("{}\n", table.text));
    }
    tables
}
