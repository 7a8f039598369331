//! The values that scripts see and give, against what Redis 7.0.15 was seen to do.

use picklock_model::time::{EPOCH_NS, WallTime};

use crate::server::node::Node;

/// Runs a script in a node of its own; the reply as it goes over the wire.
fn run(protocol: &str, script: &str) -> String {
    let mut node = Node::default();
    let client = node.connect("client:1");
    let mut reply = Vec::new();
    for args in [
        &[b"HELLO", protocol.as_bytes()][..],
        &[b"HSET", b"h", b"f", b"1"],
        &[b"SADD", b"s", b"m"],
        &[b"ZADD", b"z", b"1.5", b"m"],
        &[b"EVAL", script.as_bytes(), b"0"],
    ] {
        reply.clear();
        let _ = node.execute(WallTime(EPOCH_NS), client, args, &mut reply);
    }
    String::from_utf8_lossy(&reply).replace("\r\n", "|")
}

fn check(protocol: &str, cases: &[(&str, &str)]) {
    for (script, reply) in cases {
        assert_eq!(run(protocol, script).split(" script: ").next(), Some(*reply), "{script}");
    }
}

#[test]
fn tables_with_a_name_become_replies_of_their_type() {
    check(
        "3",
        &[
            ("return {double=3.5}", ",3.5|"),
            ("return {map={a=1}}", "%1|$1|a|:1|"),
            ("return {set={a=true}}", "~1|$1|a|"),
            ("return {big_number='12\\r\\n3'}", "(12  3|"),
            ("return {verbatim_string={string='x',format='txt'}}", "=5|txt:x|"),
            ("return {verbatim_string={string='x'}}", "*0|"),
            ("return true", ":1|"),
            ("redis.setresp(3) return true", "#t|"),
            ("redis.setresp(3) return {false}", "*1|#f|"),
        ],
    );
    check(
        "2",
        &[
            ("return {double=3.5}", "$3|3.5|"),
            ("return {map={a=1}}", "*2|$1|a|:1|"),
            ("redis.setresp(3) return false", ":0|"),
        ],
    );
}

#[test]
fn replies_become_tables_by_the_protocol_of_the_script() {
    check(
        "2",
        &[
            ("return redis.call('hgetall', 'h')", "*2|$1|f|$1|1|"),
            ("redis.setresp(3) return redis.call('hgetall', 'h').map.f", "$1|1|"),
            ("redis.setresp(3) return redis.call('smembers', 's').set.m and 1", ":1|"),
            ("redis.setresp(3) return tostring(redis.call('zscore', 'z', 'm').double)", "$3|1.5|"),
            ("redis.setresp(3) return type(redis.call('get', 'none'))", "$3|nil|"),
            ("return type(redis.call('get', 'none'))", "$7|boolean|"),
            ("redis.setresp(4)", "-ERR RESP version must be 2 or 3."),
        ],
    );
}

#[test]
fn a_script_says_in_its_first_line_what_it_does_not_do() {
    check(
        "2",
        &[
            ("#!lua flags=no-writes\nreturn redis.call('hlen', 'h')", ":1|"),
            (
                "#!lua flags=no-writes\nreturn redis.call('set', 'k', 'v')",
                "-ERR Write commands are not allowed from read-only scripts.",
            ),
            ("#!lua flags=foo\nreturn 1", "-ERR Unexpected flag in script shebang: foo|"),
            ("#!lua foo=bar\nreturn 1", "-ERR Unknown lua shebang option: foo=bar|"),
            ("#!js\nreturn 1", "-ERR Unexpected engine in script shebang: #!js|"),
            ("#!lua", "-ERR Invalid script shebang|"),
            ("#!lua\nerror('x')", "-ERR user_script:2: x"),
        ],
    );
}

#[test]
fn a_library_that_is_not_modelled_is_refused_with_its_name() {
    let refused =
        |name| format!("-ERR the Lua library {name} is not modelled; try picklock run --servers real");
    check(
        "2",
        &[
            ("return cjson.encode({1})", &refused("cjson")),
            ("return cmsgpack.pack(1)", &refused("cmsgpack")),
            ("return struct.pack('>I2', 258)", &refused("struct")),
            ("return bit.band(255, 15)", &refused("bit")),
            ("local ok, error = pcall(function() return cjson.null end) return ok", "$-1|"),
        ],
    );
}

#[test]
fn a_script_of_a_million_steps_ends() {
    assert_eq!(run("2", "local n = 0 for i = 1, 1000000 do n = n + i % 7 end return n"), ":2999998|");
}

#[test]
fn an_endless_script_is_stopped_at_the_same_instruction_whatever_ran_before_it() {
    let reach_with = |padding: usize, keys: usize| {
        let mut node = Node::default();
        node.config.script_steps = 2_000_000;
        let client = node.connect("client:1");
        let padding = "local a = 1 ".repeat(padding);
        let steps = "redis.call('INCR', KEYS[1])\n".repeat(400);
        let script = format!("{padding}for i = 1, 1999000 do end {steps}while true do end");
        let count = keys.to_string();
        let mut args: Vec<&[u8]> = vec![b"EVAL", script.as_bytes(), count.as_bytes()];
        args.extend(["n", "m", "o"][..keys].iter().map(|key| key.as_bytes()));
        args.extend([&b"x"[..], b"y"]);
        let _ = node.execute(WallTime(EPOCH_NS), client, &args, &mut Vec::new());
        let steps = node.store.string(b"n").expect("it is a string").cloned();
        String::from_utf8(steps.expect("it is there")).expect("it is a number")
    };
    let reach = |padding| reach_with(padding, 1);
    assert_eq!([0, 1, 2, 6, 7].map(reach), ["163", "162", "162", "162", "161"]);
    for padding in [0, 1, 2, 6, 7] {
        assert_eq!([2, 3].map(|keys| reach_with(padding, keys)), [reach(padding), reach(padding)]);
    }
    run("2", "return redis.REDIS_VERSION");
    assert_eq!(reach(0), "163");
}
