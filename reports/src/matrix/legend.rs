//! The legend of a matrix: the signs that stand in it, in their order.

use super::Matrix;
use super::mark::{Mark, UNMET};

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

#[cfg(test)]
mod tests {
    use super::*;

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
