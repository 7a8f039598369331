//! Entries and messages are read as they were written, and damaged bytes are no panic.

use std::collections::BTreeSet;

use picklock_model::ids::{EventId, GrantId, HostId, Origin};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use crate::bytes::{framed, unframed};
use crate::{Body, Content, Entry, Message, Snapshot};

fn origin() -> impl Strategy<Value = Origin> {
    let grant = (any::<u16>(), any::<u32>(), any::<u32>());
    let grant = grant.prop_map(|(client, section, task)| GrantId { client: HostId(client), section, task });
    (option::of(any::<u32>().prop_map(EventId)), option::of(grant))
        .prop_map(|(cause, grant)| Origin { cause, grant })
}

fn entry() -> impl Strategy<Value = Entry> {
    let content = prop_oneof![
        Just(Content::Nothing),
        vec(any::<u8>(), 0..20).prop_map(Content::Data),
        btree_set(any::<u32>(), 0..4).prop_map(Content::Members),
    ];
    (any::<u64>(), any::<u64>(), origin(), content).prop_map(|(term, index, origin, content)| Entry {
        term,
        index,
        origin,
        content,
    })
}

fn body() -> impl Strategy<Value = Body> {
    let number = any::<u64>;
    prop_oneof![
        (number(), number(), any::<bool>()).prop_map(|(index, last_term, asks)| Body::Vote {
            index,
            last_term,
            asks
        }),
        any::<(bool, bool)>().prop_map(|(granted, asked)| Body::Voted { granted, asked }),
        (number(), number(), vec(entry(), 0..3), number()).prop_map(
            |(index, last_term, entries, committed)| {
                Body::Append { index, last_term, entries, committed }
            }
        ),
        (number(), option::of(number())).prop_map(|(index, refused)| Body::Appended { index, refused }),
        (number(), number()).prop_map(|(committed, read)| Body::Heartbeat { committed, read }),
        number().prop_map(|read| Body::Heard { read }),
        (number(), number(), btree_set(any::<u32>(), 0..3), vec(any::<u8>(), 0..9)).prop_map(
            |(index, term, members, state)| Body::Install {
                snapshot: Snapshot { index, term, members, state }
            }
        ),
        (origin(), vec(any::<u8>(), 0..9)).prop_map(|(origin, data)| Body::Propose { origin, data }),
        number().prop_map(|read| Body::Read { read }),
        (number(), number()).prop_map(|(read, index)| Body::Readable { read, index }),
        (origin(), vec(any::<u8>(), 0..9)).prop_map(|(origin, data)| Body::Note { origin, data }),
    ]
}

proptest! {
    #[test]
    fn a_message_is_read_as_it_was_written(from: u32, to: u32, term: u64, body in body()) {
        let message = Message { from, to, term, body };
        let mut bytes = framed(&message);
        bytes.push(9);
        prop_assert_eq!(unframed(&mut bytes), Some(Some(message)));
        prop_assert_eq!(bytes, [9]);
    }

    #[test]
    fn damaged_bytes_are_nothing(mut bytes in vec(any::<u8>(), 0..80)) {
        let _ = unframed::<Message>(&mut bytes);
        let _ = unframed::<Entry>(&mut bytes);
    }
}

#[test]
fn a_set_of_members_has_its_length_before_it() {
    let snapshot = Snapshot { index: 1, term: 2, members: BTreeSet::from([3, 4]), state: vec![5] };
    let message = Message { from: 1, to: 2, term: 3, body: Body::Install { snapshot } };
    assert_eq!(framed(&message).len(), 4 + 4 + 4 + 8 + 1 + 8 + 8 + 4 + 8 + 4 + 1);
}
