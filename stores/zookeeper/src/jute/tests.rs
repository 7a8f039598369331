//! Tests of jute: what is written is read again, and no bytes break the reader.

use proptest::prelude::*;

use super::*;

fn read_again<T: Record + PartialEq + std::fmt::Debug>(record: &T) {
    assert_eq!(&T::whole(&record.bytes()).expect("it was written so"), record);
}

#[test]
fn numbers_are_big_endian_and_strings_have_their_length_before_them() {
    assert_eq!((-2_i32).bytes(), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(0x0102_i64.bytes(), [0, 0, 0, 0, 0, 0, 1, 2]);
    assert_eq!(String::from("/a").bytes(), [0, 0, 0, 2, b'/', b'a']);
    assert_eq!(None::<Vec<u8>>.bytes(), [0xff; 4]);
    assert_eq!(Some(vec![]).bytes(), [0; 4]);
    assert_eq!(vec![true, false].bytes(), [0, 0, 0, 2, 1, 0]);
    assert_eq!(packet(&7_i32, &true), [0, 0, 0, 5, 0, 0, 0, 7, 1]);
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    assert_eq!(<Option<Vec<u8>>>::whole(&(-2_i32).bytes()), Err(Malformed));
    assert_eq!(String::whole(&5_i32.bytes()), Err(Malformed), "five bytes are promised, and none comes");
    assert_eq!(Vec::<()>::whole(&i32::MAX.bytes()), Err(Malformed));
    assert_eq!(i32::whole(&[0; 5]), Err(Malformed));
    for len in [-1, PACKET_MAX as i32 + 1] {
        let mut packets = Packets::default();
        packets.extend(&len.bytes());
        assert_eq!(packets.next_packet(), Err(Malformed));
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        numbers: (i32, i64),
        flags: Vec<bool>,
        text: String,
        bytes: Option<Vec<u8>>,
        texts: Vec<String>,
    ) {
        read_again(&numbers);
        read_again(&(flags, text));
        read_again(&bytes);
        read_again(&texts);
    }

    #[test]
    fn no_bytes_break_the_reader(bytes: Vec<u8>) {
        let _ = (<Vec<Vec<String>>>::whole(&bytes), <Vec<Option<Vec<u8>>>>::whole(&bytes), bool::whole(&bytes));
        let mut packets = Packets::default();
        packets.extend(&bytes);
        while let Ok(Some(_)) = packets.next_packet() {}
    }

    #[test]
    fn packets_come_out_as_they_were_put_in_however_reads_are_cut(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..8),
        cut in 1..9_usize,
    ) {
        let bodies: Vec<Option<Vec<u8>>> = bodies.into_iter().map(Some).collect();
        let sent: Vec<u8> = bodies.iter().flat_map(|body| packet(&(), body)).collect();
        let mut packets = Packets::default();
        let mut received = Vec::new();
        for part in sent.chunks(cut) {
            packets.extend(part);
            while let Some(packet) = packets.next_packet().expect("lengths are as they were written") {
                received.push(<Option<Vec<u8>>>::whole(&packet).expect("it was written so"));
            }
        }
        prop_assert_eq!(received, bodies);
    }
}
