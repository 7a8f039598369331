//! LIKE: texts against patterns in which `%` stands for any characters and `_` for one.
//!
//! Source: PostgreSQL 15, `MatchText` and `do_like_escape` in `utils/adt/like_match.c`.

use crate::protocol::SqlError;

/// True if a text is like a pattern; `escape` is the letter that takes the meaning from the next one, if it is another than the backslash.
pub(super) fn like(text: &str, pattern: &str, escape: Option<&str>, folds: bool) -> Result<bool, SqlError> {
    let pattern: Vec<Part> = parts(pattern, escape, folds)?;
    let text: Vec<char> = if folds { text.to_lowercase() } else { text.to_owned() }.chars().collect();
    matches(&text, &pattern)
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Letter(char),
    /// A backslash at the end: an error once the text reaches it.
    Broken,
}

fn parts(pattern: &str, escape: Option<&str>, folds: bool) -> Result<Vec<Part>, SqlError> {
    let mut given = escape.unwrap_or("\\").chars();
    let escape = given.next();
    if given.next().is_some() {
        return Err(SqlError::new("22025", "invalid escape string"));
    }
    let pattern = if folds { pattern.to_lowercase() } else { pattern.to_owned() };
    let (mut letters, mut parts) = (pattern.chars(), Vec::new());
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            letter if Some(letter) == escape => letters.next().map_or(Part::Broken, Part::Letter),
            '%' => Part::Any,
            '_' => Part::One,
            letter => Part::Letter(letter),
        });
    }
    Ok(parts)
}

/// Where a letter does not fit, the last `%` takes one more: what an earlier one would take instead leads nowhere else.
fn matches(text: &[char], pattern: &[Part]) -> Result<bool, SqlError> {
    let (mut at, mut next) = (0, 0);
    // After the last `%`: the next part, and from where on the text has to fit it.
    let mut again = None;
    loop {
        match (pattern.get(next), text.get(at)) {
            (Some(Part::Any), _) => {
                next += 1;
                again = Some((next, at));
                continue;
            }
            (None, None) => return Ok(true),
            (Some(Part::Broken), Some(_)) => {
                return Err(SqlError::new("22025", "LIKE pattern must not end with escape character"));
            }
            (Some(part), Some(letter)) if *part == Part::One || *part == Part::Letter(*letter) => {
                (at, next) = (at + 1, next + 1);
                continue;
            }
            // No more of the text can make it fit.
            (Some(_), None) => return Ok(false),
            _ => {}
        }
        let Some((part, from)) = again else { return Ok(false) };
        (at, next) = (from + 1, part);
        again = Some((part, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_like_a_pattern() {
        for (text, pattern, found) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "_", false),
            ("abc", "%", true),
            ("", "%", true),
            ("", "_", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("aXbXc", "a%X%c", true),
            ("ABC", "abc", false),
        ] {
            assert_eq!(like(text, pattern, None, false), Ok(found), "{text} {pattern}");
        }
        assert_eq!(like("ABC", "a%", None, true), Ok(true));
        assert_eq!(like("a%c", "a!%c", Some("!"), false), Ok(true));
        assert_eq!(like("a\\c", "a\\c", Some(""), false), Ok(true));
        assert_eq!(like("abc", "a\\", None, false).unwrap_err().code, "22025");
        assert_eq!(like("a", "a\\", None, false), Ok(false));
    }

    #[test]
    fn many_percent_signs_take_no_exponential_time() {
        let pattern = "%a".repeat(50) + "b";
        assert_eq!(like(&"a".repeat(5_000), &pattern, None, false), Ok(false));
    }
}
