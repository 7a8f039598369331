//! Commands as patterns, and the proptest strategies that they stand for.
//!
//! `SET <str> <val> [NX|XX] [GET] [EX <ttl>|KEEPTTL]`: words stand for themselves, `<name>` for a value of that kind, `[a|b]`
//! for one of the alternatives or none, `(a|b)` for one of them, `{a}` for one to three times.

use proptest::prelude::*;
use proptest::strategy::Union;

/// The words of a command.
pub(crate) type Words = Vec<Vec<u8>>;

/// The strategy that a pattern stands for.
pub(crate) fn strategy(pattern: &str) -> BoxedStrategy<Words> {
    let tokens = tokens(pattern);
    let mut rest = tokens.as_slice();
    let strategy = alternatives(&mut rest);
    assert!(rest.is_empty(), "`{pattern}` has a bracket too many");
    strategy
}

fn tokens(pattern: &str) -> Vec<String> {
    let mut spaced = String::new();
    for char in pattern.chars() {
        match char {
            '[' | ']' | '(' | ')' | '{' | '}' | '|' => spaced.extend([' ', char, ' ']),
            _ => spaced.push(char),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

fn alternatives(rest: &mut &[String]) -> BoxedStrategy<Words> {
    let mut options = vec![sequence(rest)];
    while rest.first().is_some_and(|token| token == "|") {
        *rest = &rest[1..];
        options.push(sequence(rest));
    }
    if options.len() == 1 { options.remove(0) } else { Union::new(options).boxed() }
}

fn sequence(rest: &mut &[String]) -> BoxedStrategy<Words> {
    let mut parts = Vec::new();
    while let Some((token, tail)) = rest.split_first() {
        let part = match token.as_str() {
            "]" | ")" | "}" | "|" => break,
            "[" => {
                let inner = bracket(rest, "]");
                prop_oneof![2 => Just(Vec::new()), 1 => inner].boxed()
            }
            "(" => bracket(rest, ")"),
            "{" => {
                let inner = bracket(rest, "}");
                prop::collection::vec(inner, 1..4).prop_map(|times| times.concat()).boxed()
            }
            word => {
                *rest = tail;
                match word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
                    Some(kind) => super::values::of(kind).prop_map(|value| vec![value]).boxed(),
                    None => Just(vec![word.as_bytes().to_vec()]).boxed(),
                }
            }
        };
        parts.push(part);
    }
    parts.prop_map(|parts| parts.concat()).boxed()
}

fn bracket(rest: &mut &[String], close: &str) -> BoxedStrategy<Words> {
    *rest = &rest[1..];
    let inner = alternatives(rest);
    assert_eq!(rest.first().map(String::as_str), Some(close), "a bracket is not closed");
    *rest = &rest[1..];
    inner
}
