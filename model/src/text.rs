//! Help for error messages: the name that was probably meant.

use strsim::damerau_levenshtein;

/// The candidate most like `name`, if it is near enough to be a slip: at most a third of its letters are missing, added, replaced
/// or in the place of their neighbour.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_nonsense_finds_none() {
        assert_eq!(nearest("redlok", ["single", "redlock"]), Some("redlock"));
        assert_eq!(nearest("puase", ["pause", "stall"]), Some("pause"));
        assert_eq!(nearest("xyzzy", ["single", "redlock"]), None);
    }
}
