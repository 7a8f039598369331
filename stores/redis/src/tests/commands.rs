//! The answers and effects of a node, command by command, against what Redis 7.0.15 was seen to do.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::{EPOCH_NS, WallTime};
use picklock_model::trace::What;

use crate::protocol::resp::{Reply, Requests};
use crate::server::node::{Delivery, Next, Node, Outcome, SessionId, Then};

/// A node, one client of it, and a wall clock.
struct Bench {
    node: Node,
    session: SessionId,
    now: WallTime,
    last: Outcome,
}

impl Bench {
    fn new() -> Bench {
        Bench::of(Node::default())
    }

    fn of(mut node: Node) -> Bench {
        let session = node.connect("client");
        Bench { node, session, now: WallTime(EPOCH_NS), last: Outcome::default() }
    }

    fn call(&mut self, args: &[&[u8]]) -> Reply {
        let mut out = Vec::new();
        self.last = self.node.execute(self.now, self.session, args, &mut out);
        let (reply, len) = Reply::decode(&out).unwrap().unwrap();
        assert_eq!(len, out.len(), "one command, one reply");
        reply
    }

    /// Calls a command of words without spaces; the reply as text.
    fn run(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        shown(&self.call(&words))
    }

    fn eval(&mut self, script: &str, keys: &[&str], args: &[&str]) -> String {
        let count = keys.len().to_string();
        let mut words = vec!["EVAL", script, &count];
        words.extend(keys);
        words.extend(args);
        let words: Vec<&[u8]> = words.into_iter().map(str::as_bytes).collect();
        shown(&self.call(&words))
    }

    fn lua(&mut self, script: &str) -> String {
        self.eval(script, &[], &[])
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now + Duration::from_millis(ms);
    }

    fn events(&self) -> &[What] {
        &self.last.effects.events
    }

    /// The effects of the last command, as words.
    fn writes(&self) -> Vec<String> {
        commands(&self.last.effects.writes)
    }
}

fn commands(bytes: &[u8]) -> Vec<String> {
    let mut requests = Requests::default();
    requests.room().extend_from_slice(bytes);
    let mut all = Vec::new();
    while let Some(request) = requests.take().unwrap() {
        all.push(String::from_utf8(request.args.join(&b' ')).unwrap());
    }
    all
}

fn shown(reply: &Reply) -> String {
    match reply {
        Reply::Status(text) => format!("+{text}"),
        Reply::Error(text) => format!("-{text}"),
        Reply::Integer(number) => format!(":{number}"),
        Reply::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Reply::Nil | Reply::NilArray => "nil".into(),
        Reply::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        _ => unreachable!("RESP2 has no such type"),
    }
}

fn key(name: &str) -> Key {
    Key::new(name)
}

const EPOCH_MS: u64 = EPOCH_NS / 1_000_000;

#[test]
fn a_key_lives_through_its_last_millisecond_and_is_dead_after_it() {
    let mut bench = Bench::new();
    assert_eq!(bench.run("SET k v NX PX 100"), "+OK");
    bench.pass(100);
    assert_eq!(bench.run("PTTL k"), ":0");
    assert_eq!(bench.run("SET k w NX PX 100"), "nil");
    bench.pass(1);
    assert_eq!(bench.run("SET k w NX PX 100"), "+OK");
    assert_eq!(
        bench.events(),
        [What::Expired { key: key("k"), overdue_ns: 0 }, What::Created { key: key("k") }]
    );
    assert_eq!(
        bench.writes(),
        ["MULTI".to_owned(), "DEL k".into(), format!("SET k w PXAT {}", EPOCH_MS + 201), "EXEC".into()]
    );
}

#[test]
fn a_clock_that_jumps_back_lengthens_a_lease() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 10000");
    bench.now = bench.now - Duration::from_secs(3600);
    assert_eq!(bench.run("PTTL k"), ":3610000");
}

#[test]
fn a_clock_that_jumps_ahead_ends_a_lease_at_the_next_cycle() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 10000");
    bench.run("INCR counter");
    assert!(bench.node.needs_ticks());
    bench.pass(20_000);
    let effects = bench.node.tick(bench.now);
    assert_eq!(effects.events, [What::Expired { key: key("k"), overdue_ns: 9_999_000_000 }]);
    assert!(!bench.node.needs_ticks());
    assert_eq!(bench.run("DBSIZE"), ":1");
}

#[test]
fn set_takes_its_options_in_any_order_and_case() {
    let mut bench = Bench::new();
    assert_eq!(bench.run("set k v px 100 nx"), "+OK");
    assert_eq!(bench.run("SET k v NX GET"), "v");
    assert_eq!(bench.run("SET k w XX KEEPTTL GET"), "v");
    assert_eq!(bench.run("PTTL k"), ":100");
    assert_eq!(bench.run("SET k v EXAT 1577836801"), "+OK");
    assert_eq!(bench.run("PTTL k"), ":1000");
    assert_eq!(bench.run("SET k v"), "+OK");
    assert_eq!(bench.run("PTTL k"), ":-1");
    assert_eq!(bench.run("SET other v XX"), "nil");
}

#[test]
fn set_refuses_what_redis_refuses() {
    let mut bench = Bench::new();
    let syntax = "-ERR syntax error";
    for options in ["NX XX", "PX", "PX 1 EX 1", "PX 1 KEEPTTL", "KEEPTTL PX 1", "WHAT"] {
        assert_eq!(bench.run(&format!("SET k v {options}")), syntax, "{options}");
    }
    let invalid = "-ERR invalid expire time in 'set' command";
    for options in ["PX 0", "PX -1", "EX 9223372036854775807", "PX 9223372036854775807", "PXAT 0"] {
        assert_eq!(bench.run(&format!("SET k v {options}")), invalid, "{options}");
    }
    assert_eq!(bench.run("SET k v PX 1.5"), "-ERR value is not an integer or out of range");
    assert_eq!(bench.run("SET k"), "-ERR wrong number of arguments for 'set' command");
    assert_eq!(bench.run("EXISTS k"), ":0");
}

#[test]
fn expire_with_a_time_that_has_passed_deletes() {
    let mut bench = Bench::new();
    bench.run("SET k v NX PX 100");
    assert_eq!(bench.run("PEXPIRE missing 1"), ":0");
    assert_eq!(bench.run("PEXPIRE k 0"), ":1");
    assert_eq!(bench.events(), [What::Deleted { key: key("k") }]);
    assert_eq!(bench.writes(), ["DEL k"]);
    assert_eq!(bench.run("EXPIRE k 9223372036854775807"), "-ERR invalid expire time in 'expire' command");
    assert_eq!(bench.run("PEXPIRE k 1 FOO"), "-ERR Unsupported option FOO");
}

#[test]
fn expire_says_what_it_did_in_absolute_time() {
    let mut bench = Bench::new();
    bench.run("SET k v NX PX 100");
    assert_eq!(bench.run("PEXPIRE k 5000"), ":1");
    assert_eq!(bench.events(), [What::Extended { key: key("k") }]);
    assert_eq!(bench.writes(), [format!("PEXPIREAT k {}", EPOCH_MS + 5000)]);
    assert_eq!(bench.run("PEXPIRE k 5000 GT"), ":0");
    assert_eq!(bench.run("PEXPIRE k 4000 LT"), ":1");
    assert_eq!(bench.run("PEXPIRE k 4000 NX"), ":0");
    assert_eq!(bench.run("TTL k"), ":4");
    assert_eq!(bench.run("PERSIST k"), ":1");
    assert_eq!(bench.run("PERSIST k"), ":0");
    assert_eq!(bench.run("TTL k"), ":-1");
    assert_eq!(bench.run("TTL missing"), ":-2");
}

#[test]
fn ttl_is_rounded_to_the_nearest_second() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 1499");
    assert_eq!(bench.run("TTL k"), ":1");
    bench.run("SET k v PX 1500");
    assert_eq!(bench.run("TTL k"), ":2");
}

#[test]
fn a_write_to_an_expired_key_sees_neither_key_nor_lease() {
    let mut bench = Bench::new();
    bench.run("SET n 41 PX 10");
    bench.run("HSET h f 1");
    bench.run("PEXPIRE h 10");
    bench.pass(11);
    assert_eq!(bench.run("INCR n"), ":1");
    assert_eq!(bench.run("PTTL n"), ":-1");
    assert_eq!(bench.run("HINCRBY h f 5"), ":5");
    assert_eq!(bench.run("PTTL h"), ":-1");
}

#[test]
fn what_does_not_end_is_no_record_unless_it_was_absent() {
    let mut bench = Bench::new();
    for line in
        ["INCR n", "SET n 5", "PERSIST n", "DEL n", "SET plain v", "GETSET plain w", "PEXPIRE none 1000"]
    {
        bench.run(line);
        assert_eq!(bench.events(), [], "{line}");
    }
    bench.run("SETNX lock v");
    assert_eq!(bench.events(), [What::Created { key: key("lock") }]);
    assert_eq!(bench.writes(), ["SETNX lock v"]);
    bench.run("SET lock w");
    assert_eq!(bench.events(), [What::Created { key: key("lock") }]);
    bench.run("UNLINK lock plain");
    assert_eq!(bench.events(), [What::Deleted { key: key("lock") }]);
    assert_eq!(bench.writes(), ["UNLINK lock plain"]);
}

#[test]
fn a_record_that_gets_its_lease_by_another_command_is_created_once() {
    let created = || vec![What::Created { key: key("k") }];
    let extended = || vec![What::Extended { key: key("k") }];
    let leases = ["PEXPIRE k 1000", "EXPIRE k 1", "PEXPIREAT k 1577836809000", "EXPIREAT k 1577836809"];
    for value in ["SET k v", "GETSET k v", "MSET k v", "INCR k"] {
        for lease in leases {
            let mut bench = Bench::new();
            bench.run(value);
            assert_eq!(bench.events(), [], "{value}");
            bench.run(lease);
            assert_eq!(bench.events(), created(), "{value}, {lease}");
            bench.run(lease);
            assert_eq!(bench.events(), extended(), "{value}, {lease} twice");
            bench.run("DEL k");
            assert_eq!(bench.events(), [What::Deleted { key: key("k") }]);
            // The next one of the same client is another record.
            bench.run(value);
            bench.run(lease);
            assert_eq!(bench.events(), created(), "{value}, {lease} after DEL");
        }
    }
    for value in ["SETNX k v", "SET k v NX", "HSET k f v", "HINCRBY k f 1"] {
        let mut bench = Bench::new();
        bench.run(value);
        assert_eq!(bench.events(), created(), "{value}");
        bench.run("PEXPIRE k 1000");
        assert_eq!(bench.events(), extended(), "{value}");
    }
    // Lists and sets are queues.
    let mut bench = Bench::new();
    for line in ["RPUSH k a", "PEXPIRE k 1000"] {
        bench.run(line);
        assert_eq!(bench.events(), [], "{line}");
    }
}

#[test]
fn a_record_that_has_run_out_is_created_anew_by_a_script_a_transaction_and_command_by_command() {
    let anew = |lines: &[&[&[u8]]]| {
        let mut bench = Bench::new();
        bench.run("SET k me NX PX 10");
        bench.pass(11);
        let mut events = Vec::new();
        for line in lines {
            bench.call(line);
            events.extend_from_slice(bench.events());
        }
        events.retain(|event| !matches!(event, What::Expired { .. }));
        events
    };
    let script =
        b"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 10) end
        redis.call('set', KEYS[1], ARGV[1]) return redis.call('pexpire', KEYS[1], 10)";
    let set: &[&[u8]] = &[b"SET", b"k", b"me"];
    let lease: &[&[u8]] = &[b"PEXPIRE", b"k", b"10"];
    let created = [What::Created { key: key("k") }];
    let eval: &[&[u8]] = &[b"EVAL", script, b"1", b"k", b"me"];
    assert_eq!(anew(&[eval]), created);
    assert_eq!(anew(&[eval, eval]), [created[0].clone(), What::Extended { key: key("k") }]);
    assert_eq!(anew(&[&[b"MULTI"], set, lease, &[b"EXEC"]]), created);
    assert_eq!(anew(&[set, lease]), created);
    assert_eq!(anew(&[lease]), [], "there was nothing to extend");
}

#[test]
fn increments_fail_rather_than_overflow() {
    let mut bench = Bench::new();
    bench.run("SET n 9223372036854775807");
    assert_eq!(bench.run("INCR n"), "-ERR increment or decrement would overflow");
    assert_eq!(bench.run("DECRBY n -9223372036854775808"), "-ERR decrement would overflow");
    assert_eq!(bench.run("INCRBY n x"), "-ERR value is not an integer or out of range");
    bench.run("SET n 1.0");
    assert_eq!(bench.run("DECR n"), "-ERR value is not an integer or out of range");
}

#[test]
fn hashes_count_and_end_with_their_last_field() {
    let mut bench = Bench::new();
    assert_eq!(bench.run("HSET h a 1 b 2"), ":2");
    assert_eq!(bench.events(), [What::Created { key: key("h") }]);
    assert_eq!(bench.run("HSET h a"), "-ERR wrong number of arguments for 'hset' command");
    assert_eq!(bench.run("HSETNX h a 9"), ":0");
    assert_eq!(bench.run("HINCRBY h a 2"), ":3");
    assert_eq!(bench.run("HGETALL h"), "[a 3 b 2]");
    assert_eq!(bench.run("HDEL h a a"), ":1");
    assert_eq!(bench.run("HDEL h b"), ":1");
    assert_eq!(bench.events(), [What::Deleted { key: key("h") }]);
    assert_eq!(bench.run("EXISTS h"), ":0");
    bench.run("SET s v");
    assert_eq!(bench.run("HGET s f"), "-WRONGTYPE Operation against a key holding the wrong kind of value");
    bench.run("HSET h f text");
    assert_eq!(bench.run("GET h"), "-WRONGTYPE Operation against a key holding the wrong kind of value");
    assert_eq!(bench.run("HINCRBY h f 1"), "-ERR hash value is not an integer");
    assert_eq!(bench.run("TYPE h"), "+hash");
}

#[test]
fn connecting_clients_get_their_answers() {
    let mut bench = Bench::new();
    assert_eq!(bench.run("PING"), "+PONG");
    assert_eq!(
        bench.run("CLIENT SETINFO LIB-NAME redis-rs"),
        "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP."
    );
    assert_eq!(bench.run("CLIENT ID"), ":1");
    assert_eq!(bench.run("SELECT 0"), "+OK");
    assert_eq!(bench.run("SELECT 16"), "-ERR DB index is out of range");
    assert_eq!(bench.run("HELLO 4"), "-NOPROTO unsupported protocol version");
    assert_eq!(
        bench.run("HELLO 2"),
        "[server redis version 7.0.15 proto :2 id :1 mode standalone role master modules []]"
    );
    assert!(bench.run("COMMAND DOCS").contains("unknown subcommand"));
    assert_eq!(bench.run("CLIENT NOPE"), "-ERR unknown subcommand 'NOPE'. Try CLIENT HELP.");
    assert_eq!(bench.run("FOO bar"), "-ERR unknown command 'FOO', with args beginning with: 'bar' ");
    assert_eq!(bench.run("TIME"), "[1577836800 0]");
    assert_eq!(bench.run("QUIT"), "+OK");
    assert_eq!(bench.last.next, Next::Close);
    let mut out = Vec::new();
    let _ = bench.node.execute(bench.now, bench.session, &[b"HELLO", b"3"], &mut out);
    assert!(out.starts_with(b"%7\r\n"));
}

#[test]
fn lua_values_become_replies_as_in_redis() {
    let mut bench = Bench::new();
    for (script, reply) in [
        ("return 3.99", ":3"),
        ("return -3.99", ":-3"),
        ("return 1e19", ":-9223372036854775808"),
        ("return 0/0", ":-9223372036854775808"),
        ("return nil", "nil"),
        ("return false", "nil"),
        ("return true", ":1"),
        ("return", "nil"),
        ("return 'text'", "text"),
        ("return {1, 2, nil, 4}", "[:1 :2]"),
        ("return {1, {'a', false}, 3.5}", "[:1 [a nil] :3]"),
        ("return {ok='fine'}", "+fine"),
        ("return {err='MY words'}", "-MY words"),
        ("return redis.error_reply('words')", "-ERR words"),
        ("return redis.error_reply('MY words')", "-MY words"),
        ("return redis.error_reply('-MY words')", "-MY words"),
        ("return redis.status_reply('fine')", "+fine"),
        ("return redis.sha1hex('')", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("return {}", "[]"),
        ("return function() end", "nil"),
        ("return redis.call('ping')", "+PONG"),
        ("return redis.call('get', 'missing')", "nil"),
        ("return redis.call('get', 'missing') == false and 1 or 0", ":1"),
        ("return redis.call('incr', 'n')", ":1"),
        ("return redis.call('set', 'k', 'v')['ok']", "OK"),
        ("return type(redis.call('pttl', 'k'))", "number"),
        ("return redis.pcall('incr', 'k').err", "ERR value is not an integer or out of range"),
        ("return tostring({}) == tostring({})", ":1"),
        ("return math.random(1, 1000)", ":397"),
    ] {
        assert_eq!(bench.lua(script), reply, "{script}");
    }
}

#[test]
fn numbers_become_arguments_as_c_prints_them() {
    let mut bench = Bench::new();
    for (number, text) in [
        ("3", "3"),
        ("-7", "-7"),
        ("3.5", "3.5"),
        ("0.1", "0.10000000000000001"),
        ("1e15", "1000000000000000"),
        ("2^53", "9007199254740992"),
        ("1e17", "1e+17"),
        ("1e300", "1.0000000000000001e+300"),
        ("0.0001", "0.0001"),
        ("0.00001", "1.0000000000000001e-05"),
        ("1/0", "inf"),
        ("-1/0", "-inf"),
    ] {
        assert_eq!(bench.lua(&format!("return redis.call('echo', {number})")), text, "{number}");
    }
}

#[test]
fn a_script_that_fails_says_where_and_keeps_what_it_wrote() {
    let mut bench = Bench::new();
    let script = "redis.call('set', 'k', 'v')\nreturn redis.call('hget', 'k', 'f')";
    let sha = bench.run("PING") + &shown(&bench.call(&[b"SCRIPT", b"LOAD", script.as_bytes()]));
    let sha = &sha["+PONG".len()..];
    assert_eq!(
        bench.lua(script),
        format!(
            "-WRONGTYPE Operation against a key holding the wrong kind of value script: {sha}, on @user_script:2."
        )
    );
    assert_eq!(bench.run("GET k"), "v");
    assert_eq!(bench.lua("return pcall(redis.call, 'incr', 'k') and 1 or 2"), ":2");
    let caught = "local ok, failure = pcall(redis.call, 'incr', 'k') return failure";
    assert_eq!(bench.lua(caught), "ERR value is not an integer or out of range");
    let routine = "local ok, failure = coroutine.resume(coroutine.create(function() redis.call('incr', 'k') end))\n\
                   return {tostring(ok), failure}";
    assert_eq!(bench.lua(routine), "[false -ERR value is not an integer or out of range]");
    let handled =
        "return select(2, xpcall(function() redis.call('incr', 'k') end, function(f) return f.err end))";
    assert_eq!(bench.lua(handled), "ERR value is not an integer or out of range");
    assert!(bench.lua("error('boo')").starts_with("-ERR user_script:1: boo script: "));
    assert!(bench.lua("return foo").starts_with(
        "-ERR user_script:1: Script attempted to access nonexistent global variable 'foo' script: "
    ));
    assert!(
        bench
            .lua("return redis.call('nope')")
            .starts_with("-ERR Unknown Redis command called from script script: ")
    );
    assert!(
        bench
            .lua("return redis.call('get')")
            .starts_with("-ERR Wrong number of args calling Redis command from")
    );
    assert!(
        bench
            .lua("return redis.call('eval', '', 0)")
            .starts_with("-ERR This Redis command is not allowed from")
    );
    assert!(
        bench
            .lua("return redis.call({})")
            .starts_with("-ERR Lua redis lib command arguments must be strings or")
    );
    assert!(
        bench
            .lua("return redis.call()")
            .starts_with("-ERR Please specify at least one argument for this redis")
    );
    assert!(bench.lua("error({err='MY words'})").starts_with("-MY words script: "));
    assert!(bench.lua("retur 1").starts_with("-ERR Error compiling script (new function): user_script:1: "));
}

#[test]
fn scripts_cannot_leave_anything_behind() {
    let mut bench = Bench::new();
    for script in [
        "x = 1",
        "_G.x = 1",
        "redis.call = nil",
        "string.upper = nil",
        "math.x = 1",
        "coroutine.wrap = nil",
        "cjson.null = 1",
        "bit.band = nil",
        "getmetatable('').__index = {}",
        "getmetatable(_G).__index = {}",
    ] {
        let reply = bench.lua(script);
        assert!(
            reply.starts_with("-ERR user_script:1: Attempt to modify a readonly table"),
            "{script}: {reply}"
        );
    }
    for script in
        ["rawset(_G, 'x', 1)", "setmetatable(_G, {})", "table.insert(table, 1)", "table.insert(_G, 1)"]
    {
        let reply = bench.lua(script);
        assert!(reply.starts_with("-ERR Attempt to modify a readonly table"), "{script}: {reply}");
    }
    assert_eq!(bench.lua("return loadstring('return #KEYS + 5')()"), ":5");
    assert!(bench.lua("loadstring('x = 1')()").contains("Attempt to modify a readonly table"));
    for name in ["dofile", "setfenv", "getfenv", "print", "require", "os", "io"] {
        assert!(bench.lua(&format!("return {name}")).contains("nonexistent global"), "{name}");
    }
    let draw = "math.randomseed(7) return math.random(1000000)";
    assert_eq!(bench.lua(draw), bench.lua(draw));
    assert_eq!(bench.lua("return ('x'):rep(3)"), "xxx");
}

#[test]
fn endless_scripts_make_the_node_busy_until_they_are_killed() {
    for script in ["while true do end", "while true do pcall(function() while true do end end) end"] {
        let mut bench = Bench::new();
        let other = bench.node.connect("other");
        let endless: [&[u8]; 3] = [b"EVAL", script.as_bytes(), b"0"];
        let outcome = bench.node.execute(bench.now, bench.session, &endless, &mut Vec::new());
        assert_eq!(outcome.next, Next::Runaway(5_000));
        let first = std::mem::replace(&mut bench.session, other);
        assert!(bench.run("GET n").starts_with("-BUSY Redis is busy running a script."));
        assert_eq!(bench.run("SCRIPT KILL"), "+OK");
        let deliveries = bench.node.take_deliveries();
        assert_eq!((deliveries.len(), deliveries[0].session, deliveries[0].then), (1, first, Then::Resume));
        assert!(deliveries[0].bytes.starts_with(b"-ERR Script killed by user with SCRIPT KILL... script: "));
        assert_eq!(bench.lua("return 1"), ":1");
    }
}

#[test]
fn endless_scripts_that_wrote_cannot_be_killed_and_get_equally_far_each_time() {
    let counted = |before: &str| {
        let mut bench = Bench::new();
        bench.lua(before);
        let endless: [&[u8]; 3] = [b"EVAL", b"while true do redis.call('incr', 'n') end", b"0"];
        let _ = bench.node.execute(bench.now, bench.session, &endless, &mut Vec::new());
        bench.session = bench.node.connect("other");
        assert!(bench.run("SCRIPT KILL").starts_with("-UNKILLABLE Sorry"));
        bench.node.busy = None;
        bench.run("GET n")
    };
    assert_eq!(counted("return 1"), counted("for i = 1, 1000 do end return 1"));
}

#[test]
fn tables_without_end_become_an_error_not_a_crash() {
    let mut bench = Bench::new();
    bench.lua("local t = {} t[1] = t return t");
    assert!(
        bench
            .lua("local t = {} for i = 1, 100 do t = {t, t} end return t")
            .contains("reached lua stack limit")
    );
}

#[test]
fn scripts_are_known_by_their_hash_until_they_are_flushed() {
    let mut bench = Bench::new();
    let none = "-NOSCRIPT No matching script. Please use EVAL.";
    let sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
    assert_eq!(bench.run(&format!("EVALSHA {sha} 0")), none);
    assert_eq!(bench.run("EVALSHA short 0"), none);
    assert_eq!(shown(&bench.call(&[b"SCRIPT", b"LOAD", b"return 1"])), sha);
    assert_eq!(bench.run(&format!("EVALSHA {} 0", sha.to_uppercase())), ":1");
    assert_eq!(bench.run(&format!("SCRIPT EXISTS {sha} {}", "0".repeat(40))), "[:1 :0]");
    assert_eq!(bench.run("SCRIPT FLUSH"), "+OK");
    assert_eq!(bench.run(&format!("EVALSHA {sha} 0")), none);
    assert_eq!(bench.lua("return 1"), ":1");
    assert_eq!(bench.run(&format!("EVALSHA {sha} 0")), ":1");
    assert_eq!(
        bench.run(&format!("EVALSHA {sha} 2 a")),
        "-ERR Number of keys can't be greater than number of args"
    );
    assert_eq!(bench.run(&format!("EVALSHA {sha} -1 a")), "-ERR Number of keys can't be negative");
}

#[test]
fn compare_and_delete_deletes_only_for_the_owner() {
    let script =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    let mut bench = Bench::new();
    bench.run("SET lock me NX PX 1000");
    assert_eq!(bench.eval(script, &["lock"], &["you"]), ":0");
    assert_eq!(bench.eval(script, &["lock"], &["me"]), ":1");
    assert_eq!(bench.events(), [What::Deleted { key: key("lock") }]);
    assert_eq!(bench.writes(), ["del lock"]);
}

#[test]
fn the_deadline_of_wait_is_on_the_wall_clock() {
    let mut bench = Bench::new();
    bench.run("SET k v");
    let mut out = Vec::new();
    let outcome = bench.node.execute(bench.now, bench.session, &[b"WAIT", b"1", b"50"], &mut out);
    assert_eq!(outcome.next, Next::Blocked);
    assert!(bench.node.needs_ticks());
    bench.pass(50);
    let _ = bench.node.tick(bench.now);
    assert_eq!(bench.node.take_deliveries(), [], "the last millisecond has not passed");
    bench.pass(1);
    let _ = bench.node.tick(bench.now);
    let answer = Delivery { session: bench.session, bytes: b":0\r\n".as_slice().into(), then: Then::Resume };
    assert_eq!(bench.node.take_deliveries(), [answer]);
    assert!(!bench.node.needs_ticks());
}

#[test]
fn who_waits_when_a_primary_is_demoted_is_notified_and_closed() {
    let mut bench = Bench::new();
    bench.run("SET k v");
    let other = bench.node.connect("other");
    let _ = bench.node.execute(bench.now, bench.session, &[b"WAIT", b"1", b"0"], &mut Vec::new());
    let _ = bench.node.execute(bench.now, other, &[b"REPLICAOF", b"node-2", b"6379"], &mut Vec::new());
    let deliveries = bench.node.take_deliveries();
    assert_eq!(
        (deliveries.len(), deliveries[0].session, deliveries[0].then),
        (1, bench.session, Then::Close)
    );
    assert!(deliveries[0].bytes.starts_with(b"-UNBLOCKED "));
}
