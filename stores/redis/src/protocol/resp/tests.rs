//! The protocol, in pieces, in excess, and as garbage.

use proptest::prelude::*;

use super::*;

/// All requests of a stream that arrives in pieces of these sizes, and the error that ended it.
fn read(bytes: &[u8], piece: usize) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
    let mut requests = Requests::default();
    let mut all = Vec::new();
    for chunk in bytes.chunks(piece.max(1)) {
        requests.room().extend_from_slice(chunk);
        loop {
            match requests.take() {
                Ok(None) => break,
                Ok(Some(request)) => all.push(request.args.iter().map(|arg| arg.to_vec()).collect()),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }
    (all, None)
}

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

#[test]
fn requests_of_both_kinds_mix_on_one_connection() {
    let (all, error) = read(b"PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n\r\n*0\r\n*-1\r\nGET a\n", 1);
    assert_eq!(all, vec![words("PING"), words("ECHO hi"), words("GET a")]);
    assert_eq!(error, None);
}

#[test]
fn inline_words_may_be_quoted() {
    let (all, _) = read(b"set 'it\\'s' \"a\\x41\\n\" \"\"\r\n", 100);
    assert_eq!(all, vec![vec![b"set".to_vec(), b"it's".to_vec(), b"aA\n".to_vec(), b"".to_vec()]]);
}

#[test]
fn protocol_errors_have_the_texts_of_redis() {
    let text = |bytes: &[u8]| read(bytes, 1 << 20).1.unwrap_or_default();
    assert_eq!(text(b"*x\r\n"), "Protocol error: invalid multibulk length");
    assert_eq!(text(b"*01\r\n"), "Protocol error: invalid multibulk length");
    assert_eq!(text(b"*2147483648\r\n"), "Protocol error: invalid multibulk length");
    assert_eq!(text(b"*1\r\n:3\r\n"), "Protocol error: expected '$', got ':'");
    assert_eq!(text(b"*1\r\n$-1\r\n"), "Protocol error: invalid bulk length");
    assert_eq!(text(b"*1\r\n$536870913\r\n"), "Protocol error: invalid bulk length");
    assert_eq!(text(b"get \"a\r\n"), "Protocol error: unbalanced quotes in request");
    assert_eq!(text(b"get 'a'b\r\n"), "Protocol error: unbalanced quotes in request");
    assert_eq!(text(&[b'a'; LINE_MAX + 1]), "Protocol error: too big inline request");
    assert_eq!(
        text(&[b"*".as_slice(), &[b'1'; LINE_MAX + 1]].concat()),
        "Protocol error: too big mbulk count string"
    );
    assert_eq!(
        text(&[b"*1\r\n$".as_slice(), &[b'1'; LINE_MAX + 1]].concat()),
        "Protocol error: too big bulk count string"
    );
}

#[test]
fn a_huge_count_takes_no_memory_beforehand() {
    let mut requests = Requests::default();
    requests.room().extend_from_slice(b"*2147483647\r\n");
    assert_eq!(requests.take(), Ok(None));
    assert!(requests.spans.capacity() < 1000);
}

#[test]
fn integers_are_read_strictly() {
    for (text, value) in [("0", Some(0)), ("-1", Some(-1)), ("9223372036854775807", Some(i64::MAX))] {
        assert_eq!(integer(text.as_bytes()), value);
    }
    assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
    for text in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "99999999999999999999"]
    {
        assert_eq!(integer(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn a_line_break_in_an_error_cannot_end_it() {
    let mut out = Vec::new();
    Reply::Error("ERR a\r\n+OK".into()).encode(Protocol::Two, &mut out);
    assert_eq!(out, b"-ERR a  +OK\r\n");
}

#[test]
fn null_and_map_differ_between_the_protocols() {
    let reply = Reply::Map(vec![(Reply::text("a"), Reply::Nil)]);
    let encoded = |protocol| {
        let mut out = Vec::new();
        reply.encode(protocol, &mut out);
        out
    };
    assert_eq!(encoded(Protocol::Two), b"*2\r\n$1\r\na\r\n$-1\r\n");
    assert_eq!(encoded(Protocol::Three), b"%1\r\n$1\r\na\r\n_\r\n");
}

#[test]
fn every_type_has_its_form_in_both_protocols() {
    let pair = || vec![(Reply::text("a"), Reply::Integer(1))];
    let cases: [(Reply, &str, &str); 12] = [
        (Reply::NilArray, "*-1\r\n", "_\r\n"),
        (Reply::Set(vec![Reply::Integer(1)]), "*1\r\n:1\r\n", "~1\r\n:1\r\n"),
        (Reply::Push(vec![Reply::Nil]), "*1\r\n$-1\r\n", ">1\r\n_\r\n"),
        (Reply::Double(3.5), "$3\r\n3.5\r\n", ",3.5\r\n"),
        (Reply::Double(0.1), "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n"),
        (Reply::Double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n"),
        (Reply::Boolean(true), ":1\r\n", "#t\r\n"),
        (Reply::Boolean(false), ":0\r\n", "#f\r\n"),
        (Reply::BigNumber("12".into()), "$2\r\n12\r\n", "(12\r\n"),
        (Reply::Verbatim("txt", b"hi".to_vec()), "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"),
        (Reply::Attributed(pair(), Box::new(Reply::Integer(2))), ":2\r\n", "|1\r\n$1\r\na\r\n:1\r\n:2\r\n"),
        (Reply::Map(pair()), "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"),
    ];
    for (reply, two, three) in cases {
        for (protocol, expected) in [(Protocol::Two, two), (Protocol::Three, three)] {
            let mut out = Vec::new();
            reply.encode(protocol, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{reply:?}");
        }
    }
}

fn any_reply() -> impl Strategy<Value = Reply> {
    let leaf = prop_oneof![
        "[a-zA-Z ]{0,12}".prop_map(|text| Reply::Status(text.into())),
        "[a-zA-Z ]{0,12}".prop_map(|text| Reply::Error(text.into())),
        any::<i64>().prop_map(Reply::Integer),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Reply::Bulk),
        Just(Reply::Nil),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| proptest::collection::vec(inner, 0..5).prop_map(Reply::Array))
}

proptest! {
    #[test]
    fn a_request_survives_the_wire(
        args in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 1..6),
        piece in 1usize..20,
    ) {
        let mut wire = Vec::new();
        let slices: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        request(&mut wire, &slices);
        request(&mut wire, &slices);
        prop_assert_eq!(read(&wire, piece), (vec![args.clone(), args], None));
    }

    #[test]
    fn a_reply_survives_the_wire(reply in any_reply()) {
        let mut wire = Vec::new();
        reply.encode(Protocol::Two, &mut wire);
        let len = wire.len();
        for cut in 0..len {
            prop_assert_eq!(Reply::decode(&wire[..cut]), Ok(None));
        }
        wire.extend_from_slice(b"+more");
        prop_assert_eq!(Reply::decode(&wire), Ok(Some((reply, len))));
    }

    #[test]
    fn garbage_is_refused_without_a_panic(
        bytes in proptest::collection::vec(prop_oneof![Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'),
            Just(b'1'), Just(b'"'), Just(b'\\'), Just(b'x'), any::<u8>()], 0..200),
        piece in 1usize..50,
    ) {
        let whole = read(&bytes, bytes.len());
        prop_assert_eq!(read(&bytes, piece), whole);
        let _ = Reply::decode(&bytes);
    }
}
