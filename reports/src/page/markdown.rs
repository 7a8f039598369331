//! The pieces of a page in Markdown: tables, code, and text that cannot break them.

use super::layout::printable;

/// A table in the pipe syntax.
pub struct Table {
    /// The table so far.
    pub text: String,
}

impl Table {
    /// A table with these names over its columns.
    pub fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Table {
        let head: Vec<String> = head.into_iter().map(escape).collect();
        let rule = "| --- ".repeat(head.len());
        Table { text: format!("| {} |\n{rule}|\n", head.join(" | ")) }
    }

    /// Adds a row of cells that are Markdown already.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// The text with what Markdown or HTML would obey made harmless.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' => safe.extend(['\\', c]),
            _ => safe.push(c),
        }
    }
    safe
}

/// The text as code in a line, also inside a table.
#[must_use]
pub fn code(text: &str) -> String {
    let text = printable(text).replace('|', "\\|");
    let fence = fence(&text, 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// The text as a block of code.
#[must_use]
pub fn block(text: &str) -> String {
    let text = printable(text);
    let fence = fence(&text, 3);
    format!("{fence}sh\n{text}\n{fence}\n")
}

/// More backticks in a row than the text has, and at least this many.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_table_or_a_code_span() {
        assert_eq!(escape("a|b<i>*"), "a\\|b&lt;i>\\*");
        assert_eq!(code("single"), "`single`");
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
    }
}
