//! Fitting text into columns: measuring, padding, wrapping, and the head of a matrix.

use std::borrow::Cow;

use picklock_model::text::title;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The text with everything escaped that would not print as one visible character: control characters, and the two
/// code points that XML cannot hold. Names and messages come from users and pass through here.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}');
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// What tables call a design, printable.
#[must_use]
pub(crate) fn titled(design: &str) -> Cow<'_, str> {
    match title(design) {
        Cow::Borrowed(title) => printable(title),
        Cow::Owned(title) => Cow::Owned(printable(&title).into_owned()),
    }
}

/// The columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text, filled up with spaces on the right.
#[must_use]
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", spaces(columns.saturating_sub(width(text))))
}

/// The text, filled up with spaces on the left.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", spaces(columns.saturating_sub(width(text))))
}

pub(crate) fn spaces(columns: usize) -> String {
    " ".repeat(columns)
}

/// As much of the beginning of the text as fits.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// The text in lines of at most so many columns, broken at spaces; a longer word is broken where the line ends.
/// There is always at least one line.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= columns {
            line.push_str(&" "[..gap]);
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut used = 0;
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > columns && used > 0 {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The items in the order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// The items with commas between them, in lines that break between items where they can.
#[must_use]
pub fn enumerated(items: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let comma = if at + 1 < items.len() { "," } else { "" };
        let item = format!("{item}{comma}");
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&item) <= columns => line.push_str(&format!(" {item}")),
            _ => lines.extend(wrap(&item, columns)),
        }
    }
    lines
}

/// The text in wrapped lines, each with this many spaces before it and a line end after it.
#[must_use]
pub fn paragraph(text: &str, indent: usize, columns: usize) -> String {
    wrap(text, columns.saturating_sub(indent))
        .iter()
        .map(|line| format!("{}{line}\n", spaces(indent)))
        .collect()
}

/// The head of narrow columns that bear long names: one line a name, its stroke running down to its column.
///
/// ```text
/// ┌ calm
/// │  ┌ client-crash
/// │  │  ┌ pause
/// ```
pub(crate) fn staircase(names: &[Cow<'_, str>], indent: usize, step: usize) -> Vec<String> {
    let gap = spaces(step.saturating_sub(1));
    let strokes = |count: usize| format!("│{gap}").repeat(count);
    names.iter().enumerate().map(|(at, name)| format!("{}{}┌ {name}", spaces(indent), strokes(at))).collect()
}

/// The same head in half the lines: the names of the left half stand to the left of their strokes. `None` where a name would stand
/// outside of the page.
///
/// ```text
///  pause ┐ ┌ stall
/// calm ┐ │ │ ┌ storm
/// ```
pub(crate) fn tent(
    names: &[Cow<'_, str>],
    indent: usize,
    step: usize,
    columns: usize,
) -> Option<Vec<String>> {
    let (to_left, to_right) = names.split_at(names.len() / 2);
    let at = |nth: usize| indent + nth * step;
    let line = |depth: usize| {
        let first = to_left.len().checked_sub(depth + 1);
        let (start, name) = match first {
            Some(nth) => (at(nth).checked_sub(width(&to_left[nth]) + 1)?, format!("{} ┐", to_left[nth])),
            None => (at(0), if to_left.is_empty() { String::new() } else { "│".to_owned() }),
        };
        let mut line = spaces(start) + &name;
        let last = to_left.len() + depth;
        for nth in first.map_or(1, |nth| nth + 1)..last {
            line = left(&line, at(nth)) + "│";
        }
        if let Some(name) = to_right.get(depth) {
            line = left(&line, at(last)) + "┌ " + name;
        }
        (width(&line) <= columns).then_some(line)
    };
    (0..to_right.len()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_breaks_at_spaces_and_inside_words_only_when_it_must() {
        assert_eq!(wrap("the lease ran out", 9), ["the lease", "ran out"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn a_list_breaks_between_its_items() {
        let items = ["1 calm", "2 long work", "3 pause"].map(str::to_owned);
        assert_eq!(enumerated(&items, 14), ["1 calm,", "2 long work,", "3 pause"]);
        assert_eq!(enumerated(&items, 20), ["1 calm, 2 long work,", "3 pause"]);
        assert_eq!(enumerated(&[], 20), Vec::<String>::new());
    }

    #[test]
    fn wide_characters_count_for_two_columns() {
        assert_eq!(left("锁", 4), "锁  ");
        assert_eq!(wrap("锁锁锁", 4), ["锁锁", "锁"]);
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(printable("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
        assert!(matches!(printable("redlock{nodes=7}"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_tent_has_a_name_on_both_sides_and_keeps_to_the_page() {
        let names = ["calm", "pause", "stall", "delay", "storm"].map(Cow::Borrowed);
        let tent_of = |count: usize, columns| tent(&names[..count], 8, 2, columns);
        assert_eq!(tent_of(1, 80).expect("it fits"), ["        ┌ calm"]);
        assert_eq!(tent_of(2, 80).expect("it fits"), ["   calm ┐ ┌ pause"]);
        assert_eq!(tent_of(4, 80).expect("it fits"), ["    pause ┐ ┌ stall", "   calm ┐ │ │ ┌ delay"]);
        assert_eq!(
            tent_of(5, 80).expect("it fits"),
            ["    pause ┐ ┌ stall", "   calm ┐ │ │ ┌ delay", "        │ │ │ │ ┌ storm"]
        );
        assert_eq!(tent_of(5, 22), None, "too narrow to the right");
        assert_eq!(tent(&names, 4, 2, 80), None, "and to the left");
    }

    #[test]
    fn the_stairs_lead_down_to_their_columns() {
        let names = [Cow::Borrowed("calm"), Cow::Borrowed("pause")];
        assert_eq!(staircase(&names, 2, 3), ["  ┌ calm", "  │  ┌ pause"]);
    }
}
