//! Hostile scripts: each ends, whatever library function it calls, and the node goes on.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the time of the machine is what is bounded"
)]

use std::time::{Duration, Instant};

use picklock_model::time::{EPOCH_NS, WallTime};

use crate::server::node::Node;

/// A node whose scripts take too long after few steps, so that a debug build is quick.
fn node() -> Node {
    let mut node = Node::default();
    node.config.script_steps = 10_000_000;
    node
}

/// Runs a script on a thread with the stack of a thread of a campaign. The reply, or `busy` for a script that was stopped.
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
    let straight =
        format!("local f, s = string[ARGV[1]], 'a' {} return #s", "s = f('%s%s', s, s) ".repeat(40));
    for script in [
        &straight.replace("ARGV[1]", "'format'")[..],
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
