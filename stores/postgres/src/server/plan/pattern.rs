//! Regular expressions of the simplest forms: characters, classes of characters, anchors, and how often one comes.

use crate::protocol::SqlError;

/// A part of a pattern, and how often it comes.
struct Part {
    is: Kind,
    least: usize,
    most: usize,
}

enum Kind {
    Any,
    One(char),
    /// Ranges of characters; true for all but these.
    Class(Vec<(char, char)>, bool),
}

/// True if a pattern is found in a text.
pub(super) fn matches(text: &str, pattern: &str) -> Result<bool, SqlError> {
    let (begins, rest) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (ends, rest) = match rest.strip_suffix('$') {
        Some(rest) if !rest.ends_with('\\') => (true, rest),
        _ => (false, rest),
    };
    let parts = parts(rest)?;
    let letters: Vec<char> = text.chars().collect();
    // The places that are reached by the parts so far: all of them at once, so that no pattern takes exponential time.
    let mut reached: Vec<bool> = (0..=letters.len()).map(|at| at == 0 || !begins).collect();
    for part in &parts {
        reached = behind(part, &letters, &reached);
    }
    Ok(if ends { reached.last() == Some(&true) } else { reached.contains(&true) })
}

/// The places that a part leads to from these.
fn behind(part: &Part, letters: &[char], from: &[bool]) -> Vec<bool> {
    let mut to = vec![false; from.len()];
    // The places up to here are done.
    let mut done = 0;
    let mut end = 0;
    for at in (0..from.len()).filter(|at| from[*at]) {
        // The end of the letters that fit, which is the same for all places before it.
        end = end.max(at);
        end += letters[end..].iter().take_while(|letter| part.is.has(**letter)).count();
        let first = at.saturating_add(part.least).max(done);
        let last = at.saturating_add(part.most).min(end);
        if first <= last {
            to[first..=last].fill(true);
            done = last + 1;
        }
    }
    to
}

impl Kind {
    fn has(&self, letter: char) -> bool {
        match self {
            Kind::Any => true,
            Kind::One(one) => *one == letter,
            Kind::Class(ranges, others) => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *others
            }
        }
    }
}

fn refused() -> SqlError {
    SqlError::unsupported("a regular expression of this form")
}

fn parts(pattern: &str) -> Result<Vec<Part>, SqlError> {
    let mut letters = pattern.chars().peekable();
    let mut parts = Vec::new();
    while let Some(letter) = letters.next() {
        let is = match letter {
            '.' => Kind::Any,
            '[' => {
                let others = letters.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                loop {
                    match letters.next().ok_or_else(refused)? {
                        ']' if !ranges.is_empty() => break,
                        '[' | '\\' => return Err(refused()),
                        from if letters.next_if_eq(&'-').is_some() => {
                            ranges.push((from, letters.next().ok_or_else(refused)?));
                        }
                        one => ranges.push((one, one)),
                    }
                }
                Kind::Class(ranges, others)
            }
            '\\' => match letters.next().ok_or_else(refused)? {
                'd' => Kind::Class(vec![('0', '9')], false),
                plain if !plain.is_alphanumeric() => Kind::One(plain),
                _ => return Err(refused()),
            },
            '(' | ')' | '|' | '*' | '+' | '?' | '{' | '^' | '$' => return Err(refused()),
            plain => Kind::One(plain),
        };
        let (least, most) = match letters.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let inner: String = letters.by_ref().skip(1).take_while(|letter| *letter != '}').collect();
                let number = |text: &str| text.parse::<usize>().map_err(|_| refused());
                let (least, most) = inner.split_once(',').unwrap_or((&inner, &inner));
                let most = if most.is_empty() { usize::MAX } else { number(most)? };
                parts.push(Part { is, least: number(least)?, most });
                continue;
            }
            _ => (1, 1),
        };
        if (least, most) != (1, 1) {
            letters.next();
        }
        parts.push(Part { is, least, most });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_in_a_text() {
        let date = "^[0-9]{4}-[0-9]{2}-[0-9]{2}";
        for (text, pattern, found) in [
            ("2026-01-01T00", date, true),
            ("x2026-01-01", date, false),
            ("2026-1-01", date, false),
            ("abc", "b", true),
            ("abc", "^b", false),
            ("aaab", "^a+b$", true),
            ("a.b", "a\\.b", true),
            ("axb", "a\\.b", false),
            ("7", "^\\d?$", true),
            ("x", "[^x]", false),
            ("", "^.*$", true),
        ] {
            assert_eq!(matches(text, pattern), Ok(found), "{text} {pattern}");
        }
        assert!(matches("", "a|b").is_err());
    }

    #[test]
    fn a_part_comes_as_often_as_it_says() {
        for (text, pattern, found) in [
            ("aab", "^a{2}b$", true),
            ("ab", "^a{2}b$", false),
            ("aaab", "^a{1,2}ab$", true),
            ("aaaab", "^a{1,2}ab$", false),
            ("abab", "^a*b*a*b$", true),
            ("b", "^a{1,}b", false),
            ("xxab", "x{2}a?b$", true),
        ] {
            assert_eq!(matches(text, pattern), Ok(found), "{text} {pattern}");
        }
    }

    #[test]
    fn no_pattern_takes_exponential_time_or_much_stack() {
        let text = "a".repeat(2_000);
        assert_eq!(matches(&text, &("^".to_owned() + &"a*".repeat(1_000) + "b")), Ok(false));
        assert_eq!(matches(&text, &"a?".repeat(20_000)), Ok(true));
    }
}
