//! Help for error messages: the name that was probably meant.

/// The candidate most like `name`, if it is near enough to be a slip: at most a third of the letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .map(|(_, candidate)| candidate)
}

/// The edit distance of Levenshtein (1965), one row at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_nonsense_finds_none() {
        assert_eq!(nearest("redlok", ["single", "redlock"]), Some("redlock"));
        assert_eq!(nearest("xyzzy", ["single", "redlock"]), None);
    }
}
