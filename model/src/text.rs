//! Names for readers: what tables call a design, and in an error message the name that was probably meant.

use std::borrow::Cow;

use strsim::damerau_levenshtein;

/// What tables call a design: the `name` of a program that has one, and else its spelling.
#[must_use]
pub fn title(design: &str) -> Cow<'_, str> {
    let named = |design: &'_ str| -> Option<String> {
        let rest = design.strip_prefix("program{name=")?;
        let end = rest.find([',', '}'])?;
        let servers = if design.ends_with("@real") { "@real" } else { "" };
        Some(format!("{}{servers}", &rest[..end]))
    };
    named(design).map_or(Cow::Borrowed(design), Cow::Owned)
}

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
    fn a_program_is_called_by_its_name() {
        assert_eq!(title("program{name=Redisson 4.7.0 RLock,stores=3}:java Lock"), "Redisson 4.7.0 RLock");
        assert_eq!(title("program{name=Jedis}:java Lock@real"), "Jedis@real");
        assert_eq!(title("program{stores=3}:java Lock"), "program{stores=3}:java Lock");
        assert_eq!(title("redlock{nodes=3}"), "redlock{nodes=3}");
    }

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_nonsense_finds_none() {
        assert_eq!(nearest("redlok", ["single", "redlock"]), Some("redlock"));
        assert_eq!(nearest("puase", ["pause", "stall"]), Some("pause"));
        assert_eq!(nearest("xyzzy", ["single", "redlock"]), None);
    }
}
