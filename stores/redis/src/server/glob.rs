//! Redis's own glob patterns, for keys and channels (Redis 7.0 `util.c`).
//!
//! `*` stands for any bytes, `?` for one, `[abc]`, `[a-z]` and `[^a]` for one of a set, and a backslash takes the
//! byte after it as it is. A set that is not closed ends with the pattern.

/// True if the pattern fits all of the text.
#[must_use]
pub(crate) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star, when it has to take one byte more.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
            continue;
        }
        let taken = pattern.get(p..).and_then(|rest| element(rest, text[t]));
        match (taken, star) {
            (Some(len), _) => (p, t) = (p + len, t + 1),
            (None, Some((after, from))) => {
                (p, t) = (after, from + 1);
                star = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// How much of the pattern's front one byte takes; `None` if it does not fit.
fn element(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => set(rest, byte).map(|len| len + 1),
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [plain, ..] => (*plain == byte).then_some(1),
    }
}

/// The same for a set, from after its opening bracket.
fn set(pattern: &[u8], byte: u8) -> Option<usize> {
    let negated = pattern.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    let end = loop {
        match &pattern[at..] {
            [] => break at,
            [b'\\', escaped, ..] => {
                found |= *escaped == byte;
                at += 2;
            }
            [b']', ..] => break at + 1,
            [from, b'-', to, ..] => {
                found |= (*from.min(to)..=*from.max(to)).contains(&byte);
                at += 3;
            }
            [plain, ..] => {
                found |= *plain == byte;
                at += 1;
            }
        }
    };
    (found != negated).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_fit_as_in_redis() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("", "", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeello", true),
            ("h[ae]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[b-a]llo", "hallo", true),
            ("h[\\]]llo", "h]llo", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("[abc", "c", true),
            ("[", "[", false),
            ("[^", "x", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "xxaxxbxx", false),
            ("user:*:lock", "user:1:lock", true),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = b"a*".repeat(50);
        assert!(!fits(&[&pattern[..], b"b"].concat(), &[b'a'; 5_000]));
    }

    /// The plain definition: a star takes nothing, or one byte and itself again.
    fn reference(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], _) => text.is_empty(),
            ([b'*', rest @ ..], _) => {
                reference(rest, text) || !text.is_empty() && reference(pattern, &text[1..])
            }
            (_, []) => false,
            _ => element(pattern, text[0]).is_some_and(|len| reference(&pattern[len..], &text[1..])),
        }
    }

    proptest! {
        #[test]
        fn a_star_may_take_any_bytes(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(fits(pattern, text), reference(pattern, text));
        }
    }
}
