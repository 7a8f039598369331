//! Tests of the messages: what is written is read again, and no bytes break the reader.

use proptest::prelude::*;

use super::*;
use crate::jute::{Packets, Record};

fn create() -> impl Strategy<Value = Create> {
    (any::<String>(), any::<Option<Vec<u8>>>(), any::<i32>()).prop_map(|(path, data, flags)| Create {
        path,
        data,
        acl: vec![Acl::open()],
        flags,
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        create().prop_map(Op::Create),
        create().prop_map(Op::Create2),
        (any::<String>(), any::<i32>()).prop_map(|(path, version)| Op::Delete(Delete { path, version })),
        (any::<String>(), any::<i32>()).prop_map(|(path, version)| Op::Check(Check { path, version })),
        (any::<String>(), any::<bool>()).prop_map(|(path, watch)| Op::GetData(Read { path, watch })),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        create().prop_map(Request::Create),
        create().prop_map(Request::Create2),
        prop::collection::vec(op(), 0..4).prop_map(|ops| Request::Multi(Multi { ops })),
        (any::<String>(), any::<bool>()).prop_map(|(path, watch)| Request::Exists(Read { path, watch })),
        (any::<i64>(), any::<Vec<String>>()).prop_map(|(relative_zxid, data)| {
            Request::SetWatches(SetWatches { relative_zxid, data, ..SetWatches::default() })
        }),
        Just(Request::Ping(())),
        Just(Request::CloseSession(())),
        Just(Request::Other(77)),
    ]
}

fn result() -> impl Strategy<Value = OpResult> {
    prop_oneof![
        any::<String>().prop_map(|path| OpResult::Create(Path { path })),
        any::<String>().prop_map(|path| {
            OpResult::Create2(PathStat { path, stat: Stat { czxid: 7, ..Stat::default() } })
        }),
        any::<Option<Vec<u8>>>().prop_map(|data| OpResult::GetData(DataStat { data, stat: Stat::default() })),
        Just(OpResult::Delete),
        Just(OpResult::Check),
        any::<i32>().prop_map(OpResult::Error),
    ]
}

#[test]
fn a_request_to_connect_is_as_long_as_its_client_knows() {
    let mut connect = ConnectRequest { password: Some(vec![0; 16]), ..ConnectRequest::default() };
    assert_eq!(connect.bytes().len(), 44, "before 3.4");
    connect.read_only = Some(false);
    assert_eq!(connect.bytes().len(), 45);
    assert_eq!(ConnectRequest::whole(&connect.bytes()), Ok(connect));
}

/// The bytes that `MultiOperationRecord.java` of 3.8 makes.
#[test]
fn several_operations_are_written_as_the_java_client_writes_them() {
    let ops = vec![Op::Check(Check { path: "/a".to_owned(), version: 3 })];
    let expected = [
        &[0, 0, 0, 13, 0, 0xff, 0xff, 0xff, 0xff][..],
        &[0, 0, 0, 2, b'/', b'a', 0, 0, 0, 3],
        &[0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff],
    ];
    assert_eq!(Multi { ops }.bytes(), expected.concat());
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written(request in request(), xid: i32) {
        let mut packets = Packets::default();
        packets.extend(&request.packet(xid));
        let packet = packets.next_packet().unwrap().unwrap();
        let mut rest = &packet[..];
        let header = RequestHeader::take(&mut rest).unwrap();
        prop_assert_eq!(&header, &RequestHeader { xid, opcode: request.opcode() });
        prop_assert_eq!(Request::take(header.opcode, &mut rest), Ok(request));
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn results_are_read_as_they_were_written(results in prop::collection::vec(result(), 0..5)) {
        let results = MultiResults { results };
        prop_assert_eq!(MultiResults::whole(&results.bytes()), Ok(results));
    }

    #[test]
    fn no_bytes_break_the_reader(opcode in -12..110_i32, bytes: Vec<u8>) {
        let _ = Request::take(opcode, &mut &bytes[..]);
        let _ = (ConnectRequest::whole(&bytes), ConnectResponse::whole(&bytes), MultiResults::whole(&bytes));
        let _ = (WatchEvent::whole(&bytes), ChildrenStat::whole(&bytes), AclStat::whole(&bytes));
    }
}
