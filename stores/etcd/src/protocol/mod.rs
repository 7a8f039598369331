//! The two protocols of the client port, in the words of a story: the JSON gateway over HTTP/1, and gRPC over HTTP/2.
//!
//! The gateway is read segment by segment. gRPC has a state for each connection: frames go on in the next segment, fields of headers stand
//! for earlier ones, and a message names no method, as its stream does. Both ends begin in a way that says which protocol it is.

mod calls;
mod frames;
mod gateway;
mod words;

use picklock_sim::store::ConnectionReader;

use calls::Calls;
use frames::Frames;

/// The bytes that a client of HTTP/2 begins with (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Reads one connection to a member.
#[derive(Default)]
pub(crate) struct Connection {
    requests: Direction,
    replies: Direction,
    calls: Calls,
}

/// One direction of a connection.
enum Direction {
    /// The first bytes, which do not say yet which protocol it is.
    Unknown(Vec<u8>),
    Gateway,
    Grpc(Frames),
}

impl Default for Direction {
    fn default() -> Direction {
        Direction::Unknown(Vec::new())
    }
}

impl ConnectionReader for Connection {
    fn read(&mut self, request: bool, bytes: &[u8]) -> Option<String> {
        let direction = if request { &mut self.requests } else { &mut self.replies };
        let begun = direction.begin(request, bytes);
        match direction {
            Direction::Unknown(_) => None,
            Direction::Gateway if request => gateway::describe_request(bytes),
            Direction::Gateway => gateway::describe_reply(bytes),
            Direction::Grpc(frames) => {
                let parts = frames.read(begun.as_deref().unwrap_or(bytes));
                let said: Vec<String> =
                    parts.into_iter().flat_map(|part| self.calls.read(request, part)).collect();
                (!said.is_empty()).then(|| said.join("; "))
            }
        }
    }
}

impl Direction {
    /// Looks at the first bytes; gives those that frames begin with once they are there.
    fn begin(&mut self, request: bool, bytes: &[u8]) -> Option<Vec<u8>> {
        let Direction::Unknown(seen) = self else { return None };
        seen.extend_from_slice(bytes);
        let frames = match request {
            true if seen.len() < PREFACE.len() && PREFACE.starts_with(seen) => return None,
            true => seen.strip_prefix(PREFACE),
            false if seen.is_empty() => return None,
            // A frame that begins with this byte is longer than a server may send; HTTP/1 begins with its name.
            false => (seen[0] != b'H').then_some(seen.as_slice()),
        };
        let frames = frames.map(<[u8]>::to_vec);
        *self = if frames.is_some() { Direction::Grpc(Frames::default()) } else { Direction::Gateway };
        frames
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A connection of clientv3 3.6.6 to etcd 3.4.23, segment by segment: `>` to the member, `<` from it. Its `concurrency.Mutex` waits
    /// for another client, holds and is released.
    const RECORDED: &str = include_str!("clientv3.hex");

    fn recorded() -> Vec<(bool, Vec<u8>)> {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let segment = |line: &str| {
            let (direction, digits) = line.split_once(' ').unwrap();
            (direction == ">", digits.as_bytes().chunks(2).map(byte).collect())
        };
        RECORDED.lines().map(segment).collect()
    }

    /// The messages of a connection in the order in which they end, each with its direction.
    fn messages(segments: &[(bool, Vec<u8>)]) -> Vec<String> {
        let mut connection = Connection::default();
        let mut messages = Vec::new();
        for (request, bytes) in segments {
            let said = connection.read(*request, bytes);
            let direction = if *request { ">" } else { "<" };
            messages.extend(
                said.iter().flat_map(|said| said.split("; ")).map(|said| format!("{direction} {said}")),
            );
        }
        messages
    }

    /// A frame of HTTP/2.
    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let len = (payload.len() as u32).to_be_bytes();
        [&len[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// Header fields that stand for nothing but themselves.
    fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
        let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
    }

    fn message(bytes: &[u8]) -> Vec<u8> {
        [&[0], &(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
    }

    fn asking(frames: &[Vec<u8>]) -> (bool, Vec<u8>) {
        (true, [PREFACE, &frames.concat()].concat())
    }

    #[test]
    fn the_messages_of_a_client_that_waits_for_a_lock_are_described() {
        let expected = [
            "> Lease/LeaseGrant ttl=2s",
            "< LeaseGrant lease=21f6f5e66e7ff0c ttl=2s",
            "> KV/Txn if create(lock:1/21f6f5e66e7ff0c)=0 then Put lock:1/21f6f5e66e7ff0c lease=21f6f5e66e7ff0c, \
             Range lock:1/* first=create limit=1 else Range lock:1/21f6f5e66e7ff0c, Range lock:1/* first=create limit=1",
            "< Txn succeeded=true rev=5: Put, Range lock:1/21f6f5e66e7ff09 create=4 count=2",
            "> KV/Range lock:1/* last=create limit=1 max_create=4",
            "< Range lock:1/21f6f5e66e7ff09 create=4 count=2 rev=5",
            "> Watch/Watch lock:1/21f6f5e66e7ff09 rev=5",
            "< Watch 0 is created rev=5",
            "< Watch 0: Delete lock:1/21f6f5e66e7ff09 rev=6",
            "> KV/Range lock:1/* last=create limit=1 max_create=4",
            "> Watch/Watch is cancelled",
            "< Range no keys count=1 rev=6",
            "> KV/Range lock:1/21f6f5e66e7ff0c",
            "< Range lock:1/21f6f5e66e7ff0c create=5 rev=6",
            "> KV/DeleteRange lock:1/21f6f5e66e7ff0c",
            "< DeleteRange deleted=1 rev=8",
            "> Lease/LeaseKeepAlive lease=21f6f5e66e7ff0c",
            "< LeaseKeepAlive lease=21f6f5e66e7ff0c ttl=2s",
        ];
        assert_eq!(messages(&recorded()), expected);
    }

    #[test]
    fn headers_go_on_in_a_continuation_with_padding_and_priority() {
        let block = fields(&[(":method", "POST"), (":path", "/etcdserverpb.Lease/LeaseRevoke")]);
        let (first, second) = block.split_at(9);
        let padded = [&[2][..], &[0; 5], first, &[0; 2]].concat();
        let data = [&[3], &message(&[0x08, 0x2a])[..], &[0; 3]].concat();
        let asked = asking(&[frame(1, 0x28, 1, &padded), frame(9, 0x4, 1, second), frame(0, 0x9, 1, &data)]);
        assert_eq!(messages(&[asked]), ["> Lease/LeaseRevoke lease=2a"]);
    }

    #[test]
    fn a_call_that_fails_or_is_cancelled_says_so() {
        let path = |path: &str| fields(&[(":path", path)]);
        let asked = asking(&[
            frame(1, 0x4, 1, &path("/etcdserverpb.Lease/LeaseKeepAlive")),
            frame(1, 0x4, 3, &path("/v3lockpb.Lock/Lock")),
            frame(0, 0x1, 3, &message(b"\x0a\x06lock:1\x10\x2a")),
        ]);
        let failure =
            fields(&[("grpc-status", "5"), ("grpc-message", "etcdserver: requested lease%20not found")]);
        let answered = (false, [frame(4, 0, 0, &[]), frame(1, 0x5, 1, &failure)].concat());
        let cancelled = (true, frame(3, 0, 3, &[0, 0, 0, 8]));
        let late = (false, frame(0, 0, 3, &message(&[])));
        assert_eq!(
            messages(&[asked, answered, cancelled, late]),
            [
                "> v3lockpb.Lock/Lock lock:1 lease=2a",
                "< Lease/LeaseKeepAlive fails: etcdserver: requested lease not found (status 5)",
                "> v3lockpb.Lock/Lock is cancelled",
            ]
        );
    }

    #[test]
    fn a_message_that_cannot_be_read_is_shown_by_its_method_and_length() {
        let path = |path: &str| fields(&[(":path", path)]);
        let compressed = [&[1], &message(&[1, 2, 3])[1..]].concat();
        let asked = asking(&[
            frame(1, 0x4, 1, &path("/etcdserverpb.KV/Put")),
            frame(0, 0, 1, &compressed),
            frame(0, 0, 1, &message(&[0xff])),
            frame(1, 0x4, 3, &path("/grpc.health.v1.Health/Check")),
            frame(0, 0, 3, &message(&[])),
        ]);
        let long = frame(0, 0, 1, &[0, 0x7f, 0, 0, 0, 1]);
        assert_eq!(
            messages(&[asked, (true, long)]),
            [
                "> KV/Put (3 bytes)",
                "> KV/Put (1 bytes)",
                "> grpc.health.v1.Health/Check (0 bytes)",
                "> KV/Put (2130706432 bytes)",
            ]
        );
    }

    #[test]
    fn a_value_that_is_no_text_is_shown_by_its_first_bytes() {
        let path = fields(&[(":path", "/etcdserverpb.KV/Put")]);
        let put = |value: &[u8]| message(&[&b"\x0a\x01k\x12"[..], &[value.len() as u8], value].concat());
        let values: [&[u8]; 3] = [b"me", &[0xff, 1], &[0xe4, 0xb8, 1, 2, 3]];
        let asked = asking(&[frame(1, 0x4, 1, &path), frame(0, 0, 1, &values.map(put).concat())]);
        assert_eq!(messages(&[asked]), ["> KV/Put k=me", "> KV/Put k=xff01", "> KV/Put k=xe4b80102.."]);
    }

    #[test]
    fn a_message_is_read_after_one_that_is_too_long_to_be_kept() {
        let long = [&message(&vec![7; (1 << 20) + 1]), &message(&[0x08, 0x2a])[..]].concat();
        let (first, second) = long.split_at(1 << 20);
        let path = fields(&[(":path", "/etcdserverpb.Lease/LeaseRevoke")]);
        let asked = asking(&[frame(1, 0x4, 1, &path), frame(0, 0, 1, first), frame(0, 0, 1, second)]);
        let revoked = "> Lease/LeaseRevoke lease=2a";
        assert_eq!(messages(&[asked]), ["> Lease/LeaseRevoke (1048577 bytes)", revoked]);
    }

    #[test]
    fn nothing_is_read_after_a_frame_that_makes_no_sense() {
        let path = fields(&[(":path", "/etcdserverpb.Lease/LeaseRevoke")]);
        let good = [frame(1, 0x4, 1, &path), frame(0, 0, 1, &message(&[0x08, 0x2a]))].concat();
        let unknown_field = frame(1, 0x4, 3, &[0xff, 0x20]);
        let too_long = vec![0x7f, 0, 0, 0, 0, 0, 0, 0, 1];
        let alone = frame(9, 0x4, 1, &path);
        for bad in [unknown_field, too_long, alone] {
            let asked = asking(&[good.clone(), bad, good.clone()]);
            assert_eq!(messages(&[asked]), ["> Lease/LeaseRevoke lease=2a"]);
        }
    }

    #[test]
    fn the_gateway_is_read_segment_by_segment() {
        let mut connection = Connection::default();
        let body = r#"{"key": "bG9jazox"}"#;
        let request = format!("POST /v3/kv/range HTTP/1.1\r\nHost: node-1:2379\r\n\r\n{body}");
        for _ in 0..2 {
            let described = connection.read(true, request.as_bytes()).unwrap();
            assert_eq!(described, r#"POST /v3/kv/range {"key":"lock:1"}"#);
            let reply = connection.read(false, b"HTTP/1.1 200 OK\r\n\r\n{\"count\":\"1\"}").unwrap();
            assert_eq!(reply, r#"{"count":"1"}"#);
        }
        assert_eq!(connection.read(true, b"POST /raft HTTP/1.1\r\n\r\n\x08\x01"), None);
    }

    proptest! {
        #[test]
        fn any_split_into_segments_gives_the_same_messages(sizes in prop::collection::vec(1_usize..200, 1..40)) {
            let whole = messages(&recorded());
            let mut sizes = sizes.iter().cycle();
            let mut split = Vec::new();
            for (request, bytes) in recorded() {
                let mut rest = bytes.as_slice();
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                    split.push((request, piece.to_vec()));
                    rest = after;
                }
            }
            prop_assert_eq!(messages(&split), whole);
        }

        #[test]
        fn segments_of_one_direction_can_be_joined(cut in 0_usize..33) {
            let segments = recorded();
            let mut joined: Vec<(bool, Vec<u8>)> = Vec::new();
            for (nth, (request, bytes)) in segments.iter().enumerate() {
                match joined.last_mut() {
                    Some((last, seen)) if last == request && nth != cut => seen.extend_from_slice(bytes),
                    _ => joined.push((*request, bytes.clone())),
                }
            }
            prop_assert_eq!(messages(&joined), messages(&segments));
        }

        #[test]
        fn no_bytes_break_the_reader(
            requests in prop::collection::vec((0_u8..10, any::<u8>(), 0_u8..4, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
            bytes: Vec<u8>,
            at in 0_usize..33,
            flip: u8,
        ) {
            let frames: Vec<Vec<u8>> =
                requests.iter().map(|(kind, flags, stream, payload)| frame(*kind, *flags, *stream, payload)).collect();
            let replies = (false, [frames.concat(), bytes.clone()].concat());
            messages(&[asking(&frames), replies, (true, bytes)]);
            let mut segments = recorded();
            let segment = &mut segments[at].1;
            let place = usize::from(flip) % segment.len();
            segment[place] ^= flip;
            messages(&segments);
        }
    }
}
