//! Values of commands: mostly such that commands do something, sometimes such that they must refuse.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

type Value = BoxedStrategy<Vec<u8>>;

fn words(words: &'static [&'static str]) -> Value {
    select(words).prop_map(|word| word.as_bytes().to_vec()).boxed()
}

const STRINGS: &[&str] = &["s1", "s2", "s3"];
const NUMBERS: &[&str] = &["n1", "n2"];
const LISTS: &[&str] = &["l1", "l2", "l3"];
const SETS: &[&str] = &["t1", "t2", "t3"];
const SORTED: &[&str] = &["z1", "z2", "z3"];
const HASHES: &[&str] = &["h1", "h2"];
const ANY: &[&str] = &["s1", "s2", "n1", "l1", "l2", "t1", "t2", "z1", "z2", "h1", "h2", "none", ""];

/// A key that mostly holds this type.
fn key(usual: &'static [&'static str]) -> Value {
    prop_oneof![12 => words(usual), 1 => words(ANY)].boxed()
}

/// The strategy of a kind of value.
///
/// # Panics
/// When there is no such kind.
pub(crate) fn of(kind: &str) -> Value {
    match kind {
        "str" => key(STRINGS),
        "num" => key(NUMBERS),
        "list" => key(LISTS),
        "set" => key(SETS),
        "zset" => key(SORTED),
        "hash" => key(HASHES),
        "key" => words(ANY),
        "val" => value(),
        "member" => {
            prop_oneof![8 => words(&["a", "b", "c", "d", "e", "f", "g"]), 2 => words(&["1", "2", "3", "10"]), 1 => value()].boxed()
        }
        "field" => prop_oneof![8 => words(&["f1", "f2", "f3", "f4"]), 1 => value()].boxed(),
        "int" => Union::new_weighted(vec![
            (10, (-3_i64..12).prop_map(|number| number.to_string().into_bytes()).boxed()),
            (1, words(&["9223372036854775807", "-9223372036854775808", "9223372036854775808", "4294967296", "1000"])),
            (1, words(&["", "x", "1.5", " 1", "+1", "01", "-0", "1e3"])),
        ])
        .boxed(),
        "count" => prop_oneof![10 => words(&["1", "2", "3", "5", "100"]), 1 => words(&["0", "-1", "x", "-3"])].boxed(),
        "index" => prop_oneof![12 => (-5_i64..7).prop_map(|n| n.to_string().into_bytes()), 1 => words(&["x", "99999999999", "-99999999999"])].boxed(),
        "float" => Union::new_weighted(vec![
            (6, words(&["1", "2", "3", "-1", "0", "1.5", "2.25", "-0.5", "100"])),
            (3, words(&["0.1", "3.0e2", "1e10", "-1.23e-5", "1e17", "1e21", "0.30000000000000004", "17179869184.5", "5.0"])),
            (1, words(&["inf", "-inf", "+inf", "nan", "x", "", "1e400", " 1", "0x10", "1e-400", "-0"])),
        ])
        .boxed(),
        "score" => Union::new_weighted(vec![
            (10, words(&["1", "2", "3", "-1", "0", "1.5", "2.5", "100"])),
            (1, words(&["inf", "-inf", "x", "nan", "1e17", "0.1", "3.3333333333333335"])),
        ])
        .boxed(),
        "from-score" => words(&["-inf", "0", "1", "(1", "2", "(2", "-1", "1.5", "x", "(inf"]),
        "to-score" => words(&["+inf", "inf", "3", "(3", "2", "(2", "100", "x", "1"]),
        // Seconds and milliseconds far enough away that no reply depends on how fast the machine is.
        "ttl" => prop_oneof![10 => words(&["1000", "2000", "86400", "100000"]), 1 => words(&["0", "-1", "x", "9223372036854775807", "9223372036854775", ""])].boxed(),
        // Which of two is later must not depend on which millisecond it is.
        "far" => (100_000_i64..100_000_000).prop_map(|ttl| ttl.to_string().into_bytes()).boxed(),
        "at" => prop_oneof![10 => words(&["33177117420", "4102444800"]), 1 => words(&["0", "-1", "1", "x", "9223372036854775807"])].boxed(),
        "at-ms" => prop_oneof![10 => words(&["33177117420000", "4102444800000"]), 1 => words(&["0", "-1", "1", "x", "9223372036854775807"])].boxed(),
        "pattern" => words(&["*", "?1", "[st]*", "s?", "\\*", "[^a]*", "h[1-9]", "[a", "", "*1*", "music.*", "n*s"]),
        "channel" => words(&["music", "sport", "music.art", "c1"]),
        "db" => words(&["0", "1", "9", "15", "16", "-1", "x"]),
        "script" => super::scripts::any(),
        "sha" => words(&["e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "x", "ffffffffffffffffffffffffffffffffffffffff"]),
        _ => panic!("there is no kind of value <{kind}>"),
    }
}

fn value() -> Value {
    Union::new_weighted(vec![
        (6, words(&["a", "b", "hello", "Hello World", "x y", "foobar"])),
        (4, (-20_i64..200).prop_map(|number| number.to_string().into_bytes()).boxed()),
        (2, words(&["1.5", "3.14", "-0.25", "1e5", "", "00", " 7"])),
        (1, words(&["9223372036854775807", "-9223372036854775808", "9999999999999999999"])),
        (1, prop::collection::vec(any::<u8>(), 0..12).boxed()),
        (1, select(&[44_usize, 45, 64, 65, 130][..]).prop_map(|len| vec![b'v'; len]).boxed()),
    ])
    .boxed()
}
