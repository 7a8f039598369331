//! The names of nodes below a lock, and the order in which they stand.

use picklock_model::ids::Key;

/// How many digits the number at the end of a name has.
const DIGITS: usize = 10;

/// The node of a lock.
pub(crate) fn parent(key: &Key) -> String {
    format!("/{}", key.as_str())
}

/// The path of a node to be created, up to its number. `mark` is a value that no other node has, for a protected one.
pub(crate) fn prefix(key: &Key, mark: Option<&str>) -> String {
    let parent = parent(key);
    mark.map_or_else(|| format!("{parent}/lock-"), |mark| format!("{parent}/{mark}-lock-"))
}

/// The name of a child by which its parent knows it.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The child with this mark.
pub(crate) fn marked<'n>(children: &'n [String], mark: &str) -> Option<&'n String> {
    children.iter().find(|child| child.starts_with(mark))
}

/// Where a child stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it is gone.
    Gone,
    /// Before all others.
    First,
    /// Right behind this child.
    Behind(String),
}

impl Place {
    /// The place of `own` among the children of its parent.
    pub(crate) fn of(own: &str, children: &[String]) -> Place {
        if !children.iter().any(|child| child == own) {
            return Place::Gone;
        }
        let before = children.iter().filter(|child| number(child) < number(own));
        match before.max_by(|one, other| number(one).cmp(number(other))) {
            None => Place::First,
            Some(before) => Place::Behind(before.clone()),
        }
    }
}

/// The number at the end of a name, whose digits stand in its order. What has no number stands first, as nobody can wait for its turn before it.
fn number(name: &str) -> &str {
    let at = name.len().saturating_sub(DIGITS);
    name.get(at..).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_order_is_that_of_the_numbers_and_not_of_the_names() {
        let all = children(&["b-lock-0000000007", "c-lock-0000000005", "a-lock-0000000009"]);
        assert_eq!(Place::of("c-lock-0000000005", &all), Place::First);
        assert_eq!(Place::of("b-lock-0000000007", &all), Place::Behind("c-lock-0000000005".to_owned()));
        assert_eq!(Place::of("a-lock-0000000009", &all), Place::Behind("b-lock-0000000007".to_owned()));
        assert_eq!(Place::of("a-lock-0000000008", &all), Place::Gone);
    }

    #[test]
    fn a_protected_node_is_found_by_its_mark() {
        let key = Key::new("lock:1");
        assert_eq!(prefix(&key, Some("ab")), "/lock:1/ab-lock-");
        assert_eq!(prefix(&key, None), "/lock:1/lock-");
        let all = children(&["b-lock-0000000007", "ab-lock-0000000005"]);
        assert_eq!(marked(&all, "ab").map(String::as_str), Some("ab-lock-0000000005"));
        assert_eq!(name("/lock:1/ab-lock-0000000005"), "ab-lock-0000000005");
    }
}
