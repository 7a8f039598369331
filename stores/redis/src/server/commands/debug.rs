//! DEBUG, as far as tests of Redis use it (Redis 7.0 `debug.c`).
//!
//! Left out on purpose: what shows the inside of another implementation (memory layouts, allocators), and the digests,
//! which distinguish datasets here as well but are not Redis's numbers.

use super::{number, subcommand_syntax};
use crate::protocol::resp::{Protocol, Reply};
use crate::server::node::{Answer, Next, Node, SessionId};
use crate::server::snapshot;
use crate::server::store::Store;

pub(crate) fn debug(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match args {
        [_, _, seconds] if is(b"SLEEP") => {
            let seconds: f64 =
                std::str::from_utf8(seconds).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
            let ms = if seconds.is_finite() { (seconds * 1000.0).max(0.0) as u64 } else { 0 };
            node.store.sleep(ms);
            return Ok(Answer { next: Next::Stall(ms), ..Answer::from(Reply::OK) });
        }
        [_, _, on] if is(b"SET-ACTIVE-EXPIRE") => {
            node.expires_lazily = number(on).unwrap_or(0) == 0;
            Reply::OK
        }
        [_, _, on] if is(b"SET-DISABLE-DENY-SCRIPTS") => {
            node.scripts_inspect = number(on).unwrap_or(0) != 0;
            Reply::OK
        }
        [_, _, key] if is(b"OBJECT") => object(node, key)?,
        [_, _, key] if is(b"LISTPACK") => {
            node.store.peek(key).ok_or(Reply::error("ERR no such key"))?;
            Reply::Status("Listpack structure printed on stdout".into())
        }
        [_, _] if is(b"RELOAD") || is(b"LOADAOF") => reload(node),
        [_, _, ..] if is(b"RELOAD") => reload(node),
        [_, _] if is(b"DIGEST") => Reply::Status(digest(&node.store.snapshot()).into()),
        [_, _, keys @ ..] if is(b"DIGEST-VALUE") => {
            let digests = keys.iter().map(|key| match node.store.peek(key) {
                None => "0".repeat(40),
                Some(entry) => digest(format!("{:?}", entry.value).as_bytes()),
            });
            Reply::Array(digests.map(|text| Reply::Status(text.into())).collect())
        }
        [_, _, name] if is(b"PROTOCOL") => return protocol(node, id, name),
        [_, _] if is(b"CHANGE-REPL-ID") => Reply::OK,
        [_, _, ..]
            if [
                b"QUICKLIST-PACKED-THRESHOLD".as_slice(),
                b"REPLYBUFFER",
                b"PAUSE-CRON",
                b"SET-SKIP-CHECKSUM-VALIDATION",
                b"AOF-FLUSH-SLEEP",
                b"DICT-RESIZING",
                b"CONFIG-REWRITE-FORCE-ALL",
            ]
            .iter()
            .any(|word| is(word)) =>
        {
            Reply::OK
        }
        [_, _, rest @ ..] if is(b"REPLICATE") && rest.len() >= 2 => {
            node.store.propagate(&rest[1..]);
            Reply::OK
        }
        [_, _, text] if is(b"ERROR") => Reply::Error(String::from_utf8_lossy(text).into_owned().into()),
        [_, _, _] if is(b"LOG") => Reply::OK,
        [_, _] if is(b"HELP") => super::help("debug", node.store.version),
        _ => return Err(subcommand_syntax("DEBUG", args[1])),
    };
    Ok(reply.into())
}

/// The SHA-1 of some bytes in hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    if bytes.is_empty() { "0".repeat(40) } else { sha1_smol::Sha1::from(bytes).digest().to_string() }
}

fn object(node: &mut Node, key: &[u8]) -> Result<Reply, Reply> {
    let entry = node.store.kept(key).ok_or(Reply::error("ERR no such key"))?;
    let (encoding, len) = (entry.encoding(), entry.memory());
    Ok(Reply::Status(
        format!(
            "Value at:0x7f0000000000 refcount:1 encoding:{encoding} serializedlength:{len} lru:0 lru_seconds_idle:0"
        )
        .into(),
    ))
}

/// Writes the dataset out and reads it again.
fn reload(node: &mut Node) -> Reply {
    let blank = Store::blank(node.store.version, node.store.now);
    match snapshot::load(&snapshot::of_node(node, false), blank, !node.is_replica()) {
        Ok(copy) => {
            node.store.replace(copy.store);
            Reply::OK
        }
        Err(_) => Reply::error("ERR Error trying to load the RDB dump, check server logs"),
    }
}

/// The number that `DEBUG PROTOCOL double` answers with.
#[expect(clippy::approx_constant, reason = "it is Redis's number, which is not meant to be pi")]
const PROTOCOL_DOUBLE: f64 = 3.141;

/// A reply of each type, to test clients with.
fn protocol(node: &mut Node, id: SessionId, name: &[u8]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
    let integers = |range: std::ops::Range<i64>| range.map(Reply::Integer).collect();
    let reply = match () {
        () if is(b"string") => Reply::text("Hello World"),
        () if is(b"integer") => Reply::Integer(12345),
        () if is(b"double") => Reply::Double(PROTOCOL_DOUBLE),
        () if is(b"null") => Reply::Nil,
        () if is(b"array") => Reply::Array(integers(0..3)),
        () if is(b"set") => Reply::Set(integers(0..3)),
        () if is(b"map") => {
            Reply::Map((0..3).map(|at| (Reply::Integer(at), Reply::Boolean(at == 1))).collect())
        }
        () if is(b"attrib") => {
            let pairs = vec![(
                Reply::text("key-popularity"),
                Reply::Array(vec![Reply::text("key:123"), Reply::Integer(90)]),
            )];
            Reply::Attributed(pairs, Box::new(Reply::text("Some real reply following the attribute")))
        }
        () if is(b"push") => {
            if node.session(id).protocol == Protocol::Two {
                return Err(Reply::error("ERR RESP2 is not supported by this command"));
            }
            node.reply(id, &Reply::Push(vec![Reply::text("server-cpu-usage"), Reply::Integer(42)]));
            Reply::text("Some real reply following the push reply")
        }
        () if is(b"verbatim") => Reply::Verbatim("txt", b"This is a verbatim\nstring".to_vec()),
        () if is(b"bignum") => Reply::BigNumber("1234567999999999999999999999999999999".into()),
        () if is(b"true") => Reply::Boolean(true),
        () if is(b"false") => Reply::Boolean(false),
        () => {
            return Err(Reply::error(
                "ERR Wrong protocol type name. Please use one of the following: \
                 string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
            ));
        }
    };
    Ok(reply.into())
}
