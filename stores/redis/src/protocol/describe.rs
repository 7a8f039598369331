//! The content of a segment, in the words of `redis-cli`: commands, and the replies to them. Nodes and Sentinels speak alike.
//!
//! A long argument is cut: a story wants to know which command it was, and of which key, not every byte of its script.
//!
//! Left out on purpose: commands typed as a line, which cannot be distinguished from the rest of a segment that was cut in the
//! middle.

use crate::protocol::resp::{Reply, Requests};

/// An argument of more characters is cut: a unique id in its usual spelling is just shown.
const WHOLE: usize = 40;
/// How many characters are left of an argument that is cut.
const BEGINNING: usize = 24;
/// How many are left of a script's digest, which nobody reads to its end.
const DIGEST: usize = 8;
/// How many arguments, items, commands or replies are shown in a row.
const SHOWN: usize = 16;

/// The commands of a segment to a node or a Sentinel; none if they do not begin and end with it.
pub(crate) fn describe_requests(bytes: &[u8]) -> Option<String> {
    let mut requests = Requests::default();
    requests.room().extend_from_slice(bytes);
    let (mut said, mut read) = (Vec::new(), 0);
    while let Some(request) = requests.take().ok()? {
        if !request.raw.starts_with(b"*") {
            return None;
        }
        read += request.raw.len();
        said.push(command(&request.args));
    }
    (read == bytes.len()).then(|| row(said, "; ")).filter(|said| !said.is_empty())
}

/// The replies in a segment from a node or a Sentinel; none if they do not begin and end with it.
pub(crate) fn describe_replies(bytes: &[u8]) -> Option<String> {
    let (mut said, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (reply, len) = Reply::decode(rest).ok()??;
        said.push(answer(&reply));
        rest = &rest[len..];
    }
    Some(row(said, "; ")).filter(|said| !said.is_empty())
}

fn command(args: &[&[u8]]) -> String {
    let name = args.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
    let second = args.get(1).map(|second| second.to_ascii_uppercase()).unwrap_or_default();
    let shown = |(at, arg): (usize, &&[u8])| match (at, &name[..]) {
        (1, b"EVAL" | b"EVAL_RO") => cut(&one_line(arg), WHOLE, BEGINNING),
        (2, b"SCRIPT") if second == b"LOAD" => cut(&one_line(arg), WHOLE, BEGINNING),
        (1, b"EVALSHA" | b"EVALSHA_RO") => cut(arg, DIGEST, DIGEST),
        _ => word(arg),
    };
    row(args.iter().take(SHOWN + 1).enumerate().map(shown).collect(), " ")
}

fn answer(reply: &Reply) -> String {
    match reply {
        Reply::Status(text) | Reply::Error(text) => characters(text.as_bytes()).collect(),
        Reply::Integer(number) => number.to_string(),
        Reply::Bulk(bytes) => word(bytes),
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => {
            format!("[{}]", row(items.iter().take(SHOWN + 1).map(answer).collect(), ", "))
        }
        Reply::Double(number) => number.to_string(),
        Reply::Boolean(yes) => yes.to_string(),
        Reply::BigNumber(digits) => characters(digits.as_bytes()).collect(),
        // What is written in another way is not read as such.
        _ => "(nil)".to_owned(),
    }
}

/// The items in a row, up to a number of them.
fn row(mut items: Vec<String>, between: &str) -> String {
    if items.len() > SHOWN {
        items.truncate(SHOWN);
        items.push("..".to_owned());
    }
    items.join(between)
}

fn word(bytes: &[u8]) -> String {
    cut(bytes, WHOLE, BEGINNING)
}

/// An argument, or its beginning if it has more than `whole` characters; in quotes if it does not read as one word.
fn cut(bytes: &[u8], whole: usize, beginning: usize) -> String {
    let mut text: Vec<String> = characters(bytes).take(whole + 1).collect();
    let dots = if text.len() > whole { ".." } else { "" };
    if text.len() > whole {
        text.truncate(beginning);
    }
    let text = text.concat();
    let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
    if is_word { format!("{text}{dots}") } else { format!("'{text}{dots}'") }
}

/// The characters of a text, and escapes for what is none.
fn characters(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let shown = |char: char| match char.is_control() {
            true => char.escape_default().to_string(),
            false => char.to_string(),
        };
        chunk.valid().chars().map(shown).chain(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")))
    })
}

/// A script without the ends of its lines and what they begin with.
fn one_line(script: &[u8]) -> Vec<u8> {
    let words = script.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::resp::request;

    fn commands(lines: &[&[&[u8]]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        lines.iter().for_each(|args| request(&mut bytes, args));
        bytes
    }

    #[test]
    fn commands_are_described_as_one_would_type_them() {
        let described = |args: &[&[u8]]| describe_requests(&commands(&[args])).unwrap();
        let token: &[u8] = b"7f3a0000-0000-4000-8000-000000000000";
        let script = b"-- frees it\nif redis.call('get', KEYS[1]) == ARGV[1] then return 1 end";
        let sha = b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
        let examples: [(&[&[u8]], &str); 9] = [
            (&[b"PING"], "PING"),
            (
                &[b"set", b"lock:1", token, b"NX", b"PX", b"1000"],
                "set lock:1 7f3a0000-0000-4000-8000-000000000000 NX PX 1000",
            ),
            (&[b"SET", b"k", &[b'v'; 41]], "SET k vvvvvvvvvvvvvvvvvvvvvvvv.."),
            (&[b"EVAL", script, b"1", b"k"], "EVAL '-- frees it if redis.cal..' 1 k"),
            (&[b"script", b"load", script], "script load '-- frees it if redis.cal..'"),
            (&[b"EVALSHA", sha, b"1", b"k", b"t"], "EVALSHA e0e1f9fa.. 1 k t"),
            (&[b"SET", b"k", b"two words"], "SET k 'two words'"),
            (&[b"SET", b"", "ü".as_bytes()], "SET '' ü"),
            (&[b"SET", b"a\r\nb\0", b"\xff\xfe"], "SET a\\r\\nb\\u{0} \\xff\\xfe"),
        ];
        for (args, said) in examples {
            assert_eq!(described(args), said);
        }
    }

    #[test]
    fn commands_of_one_segment_are_described_in_order() {
        let mut bytes = commands(&[&[b"MULTI"], &[b"GET", b"k"], &[b"EXEC"]]);
        assert_eq!(describe_requests(&bytes).as_deref(), Some("MULTI; GET k; EXEC"));
        bytes.truncate(bytes.len() - 1);
        assert_eq!(describe_requests(&bytes), None, "its end is in the next segment");
        assert_eq!(describe_requests(&bytes[3..]), None, "its beginning was in the last one");
        assert_eq!(describe_requests(b"PING\r\n"), None, "typed, or the rest of an argument");
        assert_eq!(describe_requests(b""), None);
        let many = commands(&[[b"PING".as_slice()].as_slice(); 40]);
        assert!(describe_requests(&many).unwrap().ends_with("PING; PING; .."));
    }

    #[test]
    fn replies_are_described_without_their_framing() {
        let examples: [(&[u8], &str); 14] = [
            (b"_\r\n", "(nil)"),
            (b"%1\r\n$5\r\nproto\r\n:3\r\n+OK\r\n", "[proto, 3]; OK"),
            (b">2\r\n+message\r\n#t\r\n", "[message, true]"),
            (b"~1\r\n,1.5\r\n", "[1.5]"),
            (b"=7\r\ntxt:abc\r\n", "abc"),
            (b"+OK\r\n", "OK"),
            (b"$-1\r\n", "(nil)"),
            (b"*-1\r\n", "(nil)"),
            (b":1\r\n", "1"),
            (b"-ERR syntax error\r\n", "ERR syntax error"),
            (b"$4\r\n7f3a\r\n", "7f3a"),
            (b"$0\r\n\r\n", "''"),
            (b"*3\r\n:1\r\n$-1\r\n*1\r\n$1\r\na\r\n", "[1, (nil), [a]]"),
            (b"+OK\r\n:2\r\n", "OK; 2"),
        ];
        for (bytes, said) in examples {
            assert_eq!(describe_replies(bytes).as_deref(), Some(said));
        }
        for cut in [&b"$4\r\n7f"[..], b"3a\r\n", b"+OK\r\n:", b"+OK", b"*2\r\n:1\r\n", b""] {
            assert_eq!(describe_replies(cut), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            prop::collection::vec(prop::sample::select(b"*$+-:123\r\nOK\xff \0".to_vec()), 0..60),
        ]) {
            for said in [describe_requests(&bytes), describe_replies(&bytes)].into_iter().flatten() {
                prop_assert!(!said.contains(char::is_control));
            }
        }

        #[test]
        fn every_command_is_described_on_one_line(args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..20)) {
            let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
            let said = describe_requests(&commands(&[&args])).unwrap();
            prop_assert!(!said.contains(char::is_control));
        }
    }
}
