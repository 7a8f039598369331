//! Hostile scripts: each ends, whatever library function it calls, and the node goes on. And Lua's patterns beside those of a real server.

use std::time::{Duration, Instant};

use picklock_model::time::{EPOCH_NS, WallTime};

use super::real::Real;
use crate::server::node::Node;

/// A node whose scripts take too long after few steps, so that a debug build is quick.
fn node() -> Node {
    let mut node = Node::default();
    node.config.script_steps = 10_000_000;
    node
}

/// Runs a script on a thread with the stack of a worker. The reply, or `busy` for a script that was stopped.
fn run(script: &str) -> String {
    let script = script.to_owned();
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let thread = thread.spawn(move || {
        let mut node = node();
        let client = node.connect("client:1");
        let mut reply = Vec::new();
        let now = WallTime(EPOCH_NS);
        let _ = node.execute(now, client, &[b"EVAL", script.as_bytes(), b"0"], &mut reply);
        let text = if node.busy.is_some() {
            "busy".to_owned()
        } else {
            String::from_utf8_lossy(&reply).into_owned()
        };
        reply.clear();
        let other = node.connect("client:2");
        let _ = node.execute(now, other, &[b"SCRIPT", b"KILL"], &mut reply);
        reply.clear();
        let _ = node.execute(now, other, &[b"EVAL", b"return string.rep('a', 3)", b"0"], &mut reply);
        assert_eq!(
            String::from_utf8_lossy(&reply),
            "$3\r\naaa\r\n",
            "the interpreter goes on after {text:.80}"
        );
        text
    });
    thread.expect("a thread starts").join().expect("no script takes too much stack")
}

/// Longer than any of them takes in a debug build on a busy machine, and much shorter than they take without a limit.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_library_function_that_does_not_end_is_stopped() {
    for script in [
        "return string.find(string.rep('a', 50000), string.rep('a*', 200) .. 'b')",
        "return string.match(string.rep('a', 50000), string.rep('a-', 200) .. 'b')",
        "return string.gsub(string.rep('a', 50000), string.rep('a?', 200) .. 'b', '')",
        "for _ in string.gmatch(string.rep('a', 50000), string.rep('a*', 200) .. 'b') do end",
        "return string.gsub(string.rep('a', 50000), '.-b', function() end)",
        "return string.find(string.rep('(', 50000), '%b()')",
        "while true do string.rep('a', 10000000) end",
        "while true do local s = string.rep('a', 10000000) string.find(s, 'b', 1, true) end",
        "cjson.encode_sparse_array(true, 0, 0) return cjson.encode({[1000000000000] = 1})",
        "local t = {} for i = 1, 14 do t = {t, t, t, t, t, t, t, t} end return cmsgpack.pack(t)",
        "local t = {} for i = 1, 30 do t = {t, t} end return cjson.encode(t)",
        "while true do loadstring(string.rep('local a = 1 ', 100)) end",
        "return pcall(string.find, string.rep('a', 50000), string.rep('a*', 200) .. 'b')",
        "return string.gsub('x', '.', function() while true do end end)",
        "while true do pcall(string.gsub, 'x', '.', function() while true do end end) end",
    ] {
        let began = Instant::now();
        let reply = run(script);
        assert!(reply == "busy" || reply.starts_with("-ERR not enough memory"), "{script}: {reply:.80}");
        assert!(began.elapsed() < SOON, "{script}: {:?}", began.elapsed());
    }
}

#[test]
fn a_script_has_an_amount_of_memory() {
    for script in [
        "return #string.rep('a', 2000000000)",
        "return #string.rep('abcdefgh', 2000000000)",
        "local s = 'a' while true do s = s .. s end",
        "local t = {} for i = 1, 100 do t[i] = string.rep('a', 2000000) .. i end return #table.concat({table.concat(t), table.concat(t)})",
        "return #string.gsub(string.rep('a', 10000), 'a', string.rep('b', 100000))",
        "return #string.gsub(string.rep('a', 10000), 'a', function() return string.rep('b', 100000) end)",
    ] {
        let reply = run(script);
        assert!(reply.starts_with("-ERR not enough memory"), "{script}: {reply:.80}");
    }
    assert_eq!(
        run("local ok, text = pcall(string.rep, 'a', 2000000000) return text"),
        "$17\r\nnot enough memory\r\n"
    );
    assert_eq!(run("return #string.rep('', 2000000000)"), ":0\r\n");
    assert_eq!(run("return #string.rep('a', 10000000)"), ":10000000\r\n");
}

#[test]
fn no_script_takes_too_much_stack() {
    for (script, reply) in [
        ("return string.find(string.rep('a', 3000), string.rep('a?', 3000))", "pattern too complex"),
        (
            "cjson.encode_max_depth(1000000) local t = {} t[1] = t return cjson.encode(t)",
            "excessive nesting (1001)",
        ),
        (
            "cjson.decode_max_depth(1000000) return cjson.decode(string.rep('[', 100000))",
            "too many nested data",
        ),
        ("local t = 1 for i = 1, 999 do t = {t} end return #cjson.encode(t)", ":1999"),
        ("return #cjson.decode(string.rep('[', 999) .. string.rep(']', 999))", ":1"),
        ("return cmsgpack.unpack(string.rep('\\145', 100000))", "stack overflow"),
        ("local function f() return 1 + f() end return f()", "stack overflow"),
        (
            "return loadstring('return ' .. string.rep('(', 10000) .. '1' .. string.rep(')', 10000)) == nil",
            ":1",
        ),
        ("return loadstring('return 1' .. string.rep('..1', 10000)) == nil", ":1"),
        ("return loadstring(string.rep('do ', 10000) .. string.rep(' end', 10000)) == nil", ":1"),
        ("return {unpack({}, 1, 1000000000)}", "too many results to unpack"),
        ("local t = {} for i = 1, 200 do t = {t} end return t", "reached lua stack limit"),
    ] {
        let found = run(script);
        assert!(found.contains(reply), "{script}: {found:.120}");
    }
}

#[test]
fn code_with_too_many_jumps_is_refused() {
    let chain = format!("if x then {} end", "elseif x then ".repeat(50_000));
    for script in [
        chain.clone(),
        format!("return loadstring([[{chain}]])()"),
        format!("while 1 do {} end", "if x then break end ".repeat(50_000)),
    ] {
        let began = Instant::now();
        let found = run(&script);
        assert!(found.starts_with("-ERR"), "{found:.80}");
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    }
    assert_eq!(run(&format!("local x if x then {} end return 1", "elseif x then ".repeat(1_000))), ":1\r\n");
}

/// Each endless script shortens the patience for the next one, down to a bound.
#[test]
fn many_endless_scripts_take_little_more_than_one() {
    let mut node = Node::default();
    let client = node.connect("client:1");
    let steps: Vec<u32> = (0..9)
        .map(|_| {
            let steps = node.config.patience(node.endless);
            node.config.script_steps = 50_000;
            let _ = node.execute(
                WallTime(EPOCH_NS),
                client,
                &[b"EVAL", b"while true do end", b"0"],
                &mut Vec::new(),
            );
            node.config.script_steps = 50_000_000;
            let _ = node.execute(WallTime(EPOCH_NS), client, &[b"SCRIPT", b"KILL"], &mut Vec::new());
            steps
        })
        .collect();
    assert_eq!(steps[..3], [50_000_000, 25_000_000, 12_500_000]);
    assert_eq!(steps[8], 1_000_000);
}

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

const PIECES: [&str; 40] = [
    "a", "l", ".", "%a", "%d", "%s", "%w", "%S", "%p", "%x", "[a-z]", "[^a]", "[%w_]", "[]", "[^]]", "(",
    ")", "()", "%1", "%2", "*", "+", "-", "?", "^", "$", "%b()", "%f[%w]", "%f", "%", "=", " ", "%%", "[a",
    "[%", "\\0", "%z", "[^%s]", "[a-]", "%b",
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
            2 => format!(
                "local r = {{}} for a, b in string.gmatch(s, p) do r[#r + 1] = tostring(a) .. tostring(b) end return r"
            ),
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
    assert_eq!(xxhash_rust::xxh3::xxh3_64(&all), 3_706_618_059_622_377_582, "{}", all.len());
}
