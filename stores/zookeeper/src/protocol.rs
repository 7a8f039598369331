//! Requests and replies of clients, as a story shows them.

use crate::jute::{Packets, Record};
use crate::messages::{
    ConnectRequest, ConnectResponse, Multi, Op, ReplyHeader, Request, RequestHeader, WatchEvent, error,
    event, xid,
};

/// The request of a client; `None` for what is no single request, such as messages between members.
pub(crate) fn describe_request(bytes: &[u8]) -> Option<String> {
    let packet = first_packet(bytes)?;
    // Whoever connects names no number: version 0 stands there.
    if let Ok(connect @ ConnectRequest { protocol_version: 0, .. }) = ConnectRequest::whole(&packet) {
        return Some(match connect.session_id {
            0 => format!("connect: a session of {} ms", connect.timeout_ms),
            session => format!("connect: session {session:#x} of {} ms", connect.timeout_ms),
        });
    }
    let mut rest = &packet[..];
    let header = RequestHeader::take(&mut rest).ok()?;
    let request = Request::take(header.opcode, &mut rest).ok()?;
    described(&request)
}

/// The reply or the event of a member.
pub(crate) fn describe_reply(bytes: &[u8]) -> Option<String> {
    let packet = first_packet(bytes)?;
    if let Ok(connect @ ConnectResponse { protocol_version: 0, .. }) = ConnectResponse::whole(&packet) {
        return Some(match connect.session_id {
            0 => "the session is over".to_owned(),
            session => format!("session {session:#x} of {} ms", connect.timeout_ms),
        });
    }
    let mut rest = &packet[..];
    let header = ReplyHeader::take(&mut rest).ok()?;
    match header.xid {
        xid::PING => return Some("ping".to_owned()),
        xid::EVENT => return happened(&WatchEvent::take(&mut rest).ok()?),
        _ => {}
    }
    Some(match header.error {
        error::OK => format!("ok at {:#x}", header.zxid),
        other => error::name(other).map_or_else(|| format!("error {other}"), str::to_owned),
    })
}

fn described(request: &Request) -> Option<String> {
    let (what, path) = match request {
        Request::Ping(()) => return Some("ping".to_owned()),
        Request::CloseSession(()) => return Some("close the session".to_owned()),
        Request::Auth(auth) => return Some(format!("authenticate: {}", plain(&auth.scheme)?)),
        Request::WhoAmI(()) => return Some("who am I".to_owned()),
        Request::SetWatches(_) | Request::SetWatches2(_) => return Some("watch again".to_owned()),
        Request::Multi(multi) | Request::MultiRead(multi) => return several(multi),
        Request::Create(create) | Request::Create2(create) | Request::CreateContainer(create) => {
            ("create", &create.path)
        }
        Request::CreateTtl(create) => ("create", &create.path),
        Request::Delete(delete) => ("delete", &delete.path),
        Request::Exists(read) => ("exists", &read.path),
        Request::GetData(read) => ("get", &read.path),
        Request::SetData(set) => ("set", &set.path),
        Request::GetAcl(of) => ("rights", &of.path),
        Request::SetAcl(set) => ("set rights", &set.path),
        Request::GetChildren(read) | Request::GetChildren2(read) => ("children", &read.path),
        Request::GetAllChildrenNumber(of) => ("count", &of.path),
        Request::GetEphemerals(of) => ("ephemerals", &of.path),
        Request::Sync(of) => ("sync", &of.path),
        Request::Check(check) => ("check", &check.path),
        Request::AddWatch(add) => ("watch", &add.path),
        Request::CheckWatches(of) => ("check watch", &of.path),
        Request::RemoveWatches(of) => ("unwatch", &of.path),
        Request::Other(_) => return None,
    };
    Some(format!("{what} {}", plain(path)?))
}

/// Several operations at once.
fn several(multi: &Multi) -> Option<String> {
    let each = multi.ops.iter().map(|op| {
        let (what, path) = match op {
            Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create) => {
                ("create", &create.path)
            }
            Op::CreateTtl(create) => ("create", &create.path),
            Op::Delete(delete) => ("delete", &delete.path),
            Op::SetData(set) => ("set", &set.path),
            Op::Check(check) => ("check", &check.path),
            Op::GetChildren(read) => ("children", &read.path),
            Op::GetData(read) => ("get", &read.path),
        };
        Some(format!("{what} {}", plain(path)?))
    });
    Some(format!("at once: {}", each.collect::<Option<Vec<String>>>()?.join(", ")))
}

fn happened(what: &WatchEvent) -> Option<String> {
    let word = match what.kind {
        event::CREATED => "created",
        event::DELETED => "deleted",
        event::DATA_CHANGED => "changed",
        event::CHILDREN_CHANGED => "has other children",
        _ => return None,
    };
    Some(format!("event: {} {word}", plain(&what.path)?))
}

/// What a story can show as it is.
fn plain(text: &str) -> Option<&str> {
    (!text.chars().any(char::is_control)).then_some(text)
}

/// The first packet of these bytes, if all of it is there.
fn first_packet(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packets = Packets::default();
    packets.extend(bytes);
    packets.next_packet().ok()?
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
        assert_eq!(
            request(3, 1, &[&text("/lock:1/a-")[..], &[0; 12]].concat()).unwrap(),
            "create /lock:1/a-"
        );
        assert_eq!(request(4, 12, &[&text("/lock:1")[..], &[0]].concat()).unwrap(), "children /lock:1");
        assert_eq!(request(-2, 11, &[]).unwrap(), "ping");
        assert_eq!(request(5, -11, &[]).unwrap(), "close the session");
        assert_eq!(request(5, 77, &text("/x")), None);
        let password = [&16_i32.to_be_bytes()[..], &[0; 17]].concat();
        let connect = [&[0; 8][..], &4000_i32.to_be_bytes(), &7_i64.to_be_bytes(), &password].concat();
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
        let password = [&16_i32.to_be_bytes()[..], &[0; 17]].concat();
        let over = packet(&[&[0; 4], &0_i32.to_be_bytes(), &0_i64.to_be_bytes(), &password]);
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
