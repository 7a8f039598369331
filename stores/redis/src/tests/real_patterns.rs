//! Lua's patterns beside those of a real server: random ones, with each function that takes them.
//!
//! The comparison needs `redis-server` 7.0 on the path: `cargo test -p picklock-redis --lib real -- --ignored`.

use picklock_model::time::{EPOCH_NS, WallTime};

use super::real::Real;
use crate::server::node::Node;

const SUBJECTS: [&str; 8] = [
    "hello world",
    "key=value, k2=v2",
    "",
    "THE (quick) fox",
    "aaa",
    "  a b  ",
    "x\\0y%z^$",
    "[[a]{b}]-12.5e3",
];

const PIECES: [&str; 46] = [
    "a", "l", ".", "%a", "%l", "%L", "%u", "%c", "%W", "[%u%d]", "%d", "%s", "%w", "%S", "%p", "%x", "[a-z]",
    "[^a]", "[%w_]", "[]", "[^]]", "(", ")", "()", "%1", "%2", "*", "+", "-", "?", "^", "$", "%b()",
    "%f[%w]", "%f", "%", "=", " ", "%%", "[a", "[%", "\\0", "%z", "[^%s]", "[a-]", "%b",
];

const CALLS: [&str; 22] = [
    "find(s, p)",
    "find(s, p, 3)",
    "find(s, p, -4)",
    "find(s, p, 1, true)",
    "find(s, p, 100)",
    "find(s, p, '2.7')",
    "match(s, p)",
    "match(s, p, 2)",
    "gsub(s, p, '<%0>')",
    "gsub(s, p, '%1%2')",
    "gsub(s, p, '%')",
    "gsub(s, p, 'x', 2)",
    "gsub(s, p, 7, -1)",
    "gsub(s, p, function(...) return select('#', ...) .. ':' .. tostring((...)) end)",
    "gsub(s, p, function(a) if a == 'a' then return false end end)",
    "gsub(s, p, {a = 'A', l = 1, hello = false})",
    "gsub(s, p, function() return {} end)",
    "gsub(s, p, function() error({err = 'MINE own'}) end)",
    "gsub(s, p, function() error('text') end)",
    "gsub(s, p, function() return redis.call('nothing') end)",
    "gsub(s, p)",
    "rep(p, 2)",
];

/// Random patterns with each function, called in each way that changes a message.
fn pattern_scripts() -> Vec<String> {
    let mut state = 3_u64;
    let mut pick = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    let mut scripts = Vec::new();
    for _ in 0..4_000 {
        let pattern: String = (0..1 + pick(5)).map(|_| PIECES[pick(PIECES.len())]).collect();
        let (subject, call) = (SUBJECTS[pick(SUBJECTS.len())], CALLS[pick(CALLS.len())]);
        let values = |call: String| {
            format!("local r = {{{call}}} for i = 1, #r do r[i] = tostring(r[i]) end return r")
        };
        let body = match pick(5) {
            0 => values(format!("pcall(function() return string.{call} end)")),
            1 => values(format!("s:{}", call.replacen("s, ", "", 1).replacen("p, 2", "2", 1))),
            2 => {
                "local r = {} for a, b in string.gmatch(s, p) do r[#r + 1] = tostring(a) .. tostring(b) end return r"
                    .to_owned()
            }
            3 => format!("return string.{call}"),
            _ => values(format!("string.{call}")),
        };
        scripts.push(format!("local s, p = '{subject}', '{pattern}'\n{body}"));
    }
    let wrong = ["nil", "{}", "true", "1", "1.5", "'a'", "function() end"];
    for function in ["find", "match", "gmatch", "gsub", "rep"] {
        for (a, b, c) in [
            ("nil", "nil", "nil"),
            ("'a'", "nil", "nil"),
            ("'a'", "'a'", "{}"),
            ("12", "2", "'3'"),
            ("1.5", "'.'", "2"),
        ] {
            scripts.push(format!("return string.{function}({a}, {b}, {c})"));
            scripts.push(format!("return {{pcall(string.{function}, {a}, {b}, {c})}}"));
            scripts.push(format!("local f = string.{function} local r = f({a}, {b}, {c}) return type(r)"));
        }
        scripts.push(format!("return string.{function}()"));
        scripts.push(format!("local s = 'a' return s:{function}()"));
        for one in wrong {
            scripts.push(format!("local s = 'a' return type(s:{function}({one}))"));
            scripts.push(format!("return type(string.{function}({one}, 'a'))"));
        }
    }
    scripts
}

#[test]
#[ignore = "needs redis-server"]
fn patterns_match_as_in_a_real_server() {
    let mut real = Real::start(&[]);
    let mut node = Node::default();
    let client = node.connect("client:1");
    for script in pattern_scripts() {
        let mut reply = Vec::new();
        let _ = node.execute(WallTime(EPOCH_NS), client, &[b"EVAL", script.as_bytes(), b"0"], &mut reply);
        let theirs = real.bytes(&[b"EVAL", script.as_bytes(), b"0"]);
        assert_eq!(String::from_utf8_lossy(&reply), String::from_utf8_lossy(&theirs), "{script}");
    }
}

/// Where no server is: patterns of every kind match what they did when a real one was asked.
#[test]
fn patterns_match_as_they_did() {
    let mut node = Node::default();
    let client = node.connect("client:1");
    let mut all = Vec::new();
    for script in pattern_scripts() {
        let _ = node.execute(WallTime(EPOCH_NS), client, &[b"EVAL", script.as_bytes(), b"0"], &mut all);
    }
    assert_eq!(xxhash_rust::xxh3::xxh3_64(&all), 12_054_907_217_400_178_753, "{}", all.len());
}
