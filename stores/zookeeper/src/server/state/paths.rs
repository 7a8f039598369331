//! The paths of nodes: which there may be, and how they are taken apart.
//!
//! *Source:* `PathUtils.validatePath` and `DataTree` of ZooKeeper 3.8.

/// The root.
pub(crate) const ROOT: &str = "/";

/// The nodes that are always there.
pub(crate) const RESERVED: [&str; 4] = [ROOT, "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

/// The path under which a node is kept: the root has two names.
pub(crate) fn kept(path: &str) -> &str {
    if path.is_empty() { ROOT } else { path }
}

/// The parent of a path and the name under it. None for a path without a slash, or with a zero character.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    if path.contains('\0') {
        return None;
    }
    let (parent, name) = path.rsplit_once('/')?;
    Some((kept(parent), name))
}

/// True if a node may have this path.
pub(crate) fn is_valid(path: &str) -> bool {
    let chars: Vec<char> = path.chars().collect();
    if chars.first() != Some(&'/') {
        return false;
    }
    chars.len() == 1 || (chars.last() != Some(&'/') && (1..chars.len()).all(|at| may_stand(&chars, at)))
}

/// True if the character at this place, which is not the first, may follow those before it.
fn may_stand(chars: &[char], at: usize) -> bool {
    let (this, before) = (chars[at], chars[at - 1]);
    let ends_name = chars.get(at + 1).is_none_or(|next| *next == '/');
    match (before, this) {
        ('/', '/') => false,
        ('.', '.') => !(at >= 2 && chars[at - 2] == '/' && ends_name),
        ('/', '.') => !ends_name,
        // Java sees a character beyond the first 65536 as two that are refused.
        _ => !matches!(this, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..),
    }
}

/// The number at the end of the name of a sequential node.
pub(crate) fn sequence(name: &str) -> Option<i32> {
    let digits = name.get(name.len().checked_sub(10)?..)?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_refused_as_the_real_one_refuses_them() {
        for path in ["/", "/a", "/a/b", "/a.b", "/..a", "/a..", "/.a", "/zookeeper", "/\u{e9}"] {
            assert!(is_valid(path), "{path}");
        }
        for path in [
            "",
            "a",
            "/a/",
            "//",
            "/a//b",
            "/.",
            "/..",
            "/a/./b",
            "/a/../b",
            "/a\u{1}",
            "/\u{f000}",
            "/\u{1f600}",
        ] {
            assert!(!is_valid(path), "{path}");
        }
    }

    #[test]
    fn a_path_has_a_parent_and_a_name() {
        assert_eq!(split("/a"), Some(("/", "a")));
        assert_eq!(split("/a/b"), Some(("/a", "b")));
        assert_eq!(split("/a/"), Some(("/a", "")));
        assert_eq!(split("a"), None);
        assert_eq!(split("/a\0"), None);
    }

    #[test]
    fn a_sequential_name_ends_with_ten_digits() {
        assert_eq!(sequence("x-lock-0000000012"), Some(12));
        assert_eq!(sequence("0000000003"), Some(3));
        assert_eq!(sequence("lock"), None);
        assert_eq!(sequence("a-long-enough-name"), None);
    }
}
