//! Requests and replies of clients, as a story shows them: records of big-endian numbers and of strings, each packet with
//! its length before it.

/// Codes of requests and what they are called, for those that name a node first.
const OF_A_NODE: [(i32, &str); 9] = [
    (1, "create"),
    (2, "delete"),
    (3, "exists"),
    (4, "get"),
    (5, "set"),
    (8, "children"),
    (12, "children"),
    (15, "create"),
    (9, "sync"),
];

/// The session is closed.
const CLOSE: i32 = -11;

/// The client is still there.
const PING: i32 = 11;

/// Errors that a lock meets, and what they are called.
const ERRORS: [(i32, &str); 5] = [
    (-101, "no node"),
    (-103, "bad version"),
    (-110, "node exists"),
    (-112, "session expired"),
    (-118, "session moved"),
];

/// The request of a client; `None` for what is no single request, such as messages between members.
pub(crate) fn describe_request(bytes: &[u8]) -> Option<String> {
    let mut rest = Reader::packet(bytes)?;
    let number = rest.int()?;
    // Whoever connects names no number: version 0, the last transaction seen, the time-out.
    if number == 0 && rest.0.len() >= 40 {
        let (_, time_out, session) = (rest.long()?, rest.int()?, rest.long()?);
        let which = if session == 0 { "a session".to_owned() } else { format!("session {session:#x}") };
        return Some(format!("connect: {which} of {time_out} ms"));
    }
    let code = rest.int()?;
    match code {
        PING => return Some("ping".to_owned()),
        CLOSE => return Some("close the session".to_owned()),
        _ => {}
    }
    let (_, name) = OF_A_NODE.iter().find(|(known, _)| *known == code)?;
    let path = rest.string()?;
    Some(format!("{name} {path}"))
}

/// The reply or the event of a member.
pub(crate) fn describe_reply(bytes: &[u8]) -> Option<String> {
    let mut rest = Reader::packet(bytes)?;
    let number = rest.int()?;
    if number == 0 && (32..=33).contains(&rest.0.len()) {
        let (time_out, session) = (rest.int()?, rest.long()?);
        return Some(match session {
            0 => "the session is over".to_owned(),
            _ => format!("session {session:#x} of {time_out} ms"),
        });
    }
    let (at, error) = (rest.long()?, rest.int()?);
    match number {
        -2 => return Some("ping".to_owned()),
        -1 => {
            let (kind, _) = (rest.int()?, rest.int()?);
            let path = rest.string()?;
            let what = match kind {
                1 => "created",
                2 => "deleted",
                3 => "changed",
                4 => "has other children",
                _ => return None,
            };
            return Some(format!("event: {path} {what}"));
        }
        _ => {}
    }
    if error != 0 {
        let known = ERRORS.iter().find(|(known, _)| *known == error);
        return Some(known.map_or_else(|| format!("error {error}"), |(_, name)| (*name).to_owned()));
    }
    Some(format!("ok at {at:#x}"))
}

/// The rest of a packet.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// The first packet of these bytes, if all of it is there.
    fn packet(bytes: &'b [u8]) -> Option<Reader<'b>> {
        let mut reader = Reader(bytes);
        let len = usize::try_from(reader.int()?).ok()?;
        reader.0.get(..len).map(Reader)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    fn long(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }

    fn string(&mut self) -> Option<&'b str> {
        let len = usize::try_from(self.int()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        let text = std::str::from_utf8(text).ok()?;
        (!text.chars().any(char::is_control)).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        [&(body.len() as i32).to_be_bytes()[..], &body].concat()
    }

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as i32).to_be_bytes()[..], text.as_bytes()].concat()
    }

    #[test]
    fn requests_are_described_with_the_node_that_they_name() {
        let request = |number: i32, code: i32, rest: &[u8]| {
            describe_request(&packet(&[&number.to_be_bytes(), &code.to_be_bytes(), rest]))
        };
        assert_eq!(request(3, 1, &text("/lock:1/a-")).unwrap(), "create /lock:1/a-");
        assert_eq!(request(4, 12, &[&text("/lock:1")[..], &[0]].concat()).unwrap(), "children /lock:1");
        assert_eq!(request(-2, 11, &[]).unwrap(), "ping");
        assert_eq!(request(5, -11, &[]).unwrap(), "close the session");
        assert_eq!(request(5, 77, &text("/x")), None);
        let connect = [&[0; 8][..], &4000_i32.to_be_bytes(), &7_i64.to_be_bytes(), &[0; 21]].concat();
        assert_eq!(
            describe_request(&packet(&[&[0; 4], &connect])).unwrap(),
            "connect: session 0x7 of 4000 ms"
        );
    }

    #[test]
    fn replies_are_described_with_their_error_and_events_with_their_node() {
        let reply = |number: i32, at: i64, error: i32, rest: &[u8]| {
            describe_reply(&packet(&[&number.to_be_bytes(), &at.to_be_bytes(), &error.to_be_bytes(), rest]))
        };
        assert_eq!(reply(3, 18, 0, &text("/lock:1/a-1")).unwrap(), "ok at 0x12");
        assert_eq!(reply(3, 18, -101, &[]).unwrap(), "no node");
        assert_eq!(reply(3, 18, -7, &[]).unwrap(), "error -7");
        assert_eq!(reply(-2, 18, 0, &[]).unwrap(), "ping");
        let event = [&2_i32.to_be_bytes()[..], &3_i32.to_be_bytes(), &text("/lock:1/a-1")].concat();
        assert_eq!(reply(-1, -1, 0, &event).unwrap(), "event: /lock:1/a-1 deleted");
        let over = packet(&[&[0; 4], &0_i32.to_be_bytes(), &0_i64.to_be_bytes(), &[0; 21]]);
        assert_eq!(describe_reply(&over).unwrap(), "the session is over");
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(code in -12..20_i32, bytes: Vec<u8>) {
            let whole = packet(&[&code.to_be_bytes(), &code.to_be_bytes(), &bytes]);
            for bytes in [&whole, &bytes] {
                let _ = (describe_request(bytes), describe_reply(bytes));
            }
        }
    }
}
