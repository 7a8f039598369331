//! Entries, votes, snapshots and messages as bytes, on disk and between members. Numbers are little-endian.

use std::collections::BTreeSet;

use picklock_model::ids::{EventId, GrantId, HostId, Origin};

use crate::entry::{Content, Entry, MemberId, Snapshot, Vote};
use crate::message::{Body, Message};

/// Something that is written as bytes and read again.
pub(crate) trait Coded: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads it from the front; none if that is cut off or something else.
    fn read_from(from: &mut &[u8]) -> Option<Self>;
}

/// As bytes, with their number before them.
pub(crate) fn framed<T: Coded>(value: &T) -> Vec<u8> {
    let mut out = vec![0; 4];
    value.put(&mut out);
    let len = (out.len() as u32 - 4).to_le_bytes();
    out[..4].copy_from_slice(&len);
    out
}

/// The first of several, which is taken out of `from`; none if it is not whole yet. What cannot be read is passed over.
pub(crate) fn unframed<T: Coded>(from: &mut Vec<u8>) -> Option<Option<T>> {
    let (len, rest) = from.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len) as usize;
    let value = T::read_from(&mut rest.get(..len)?);
    from.drain(..4 + len);
    Some(value)
}

impl Coded for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read_from(from: &mut &[u8]) -> Option<u64> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(u64::from_le_bytes(*bytes))
    }
}

impl Coded for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read_from(from: &mut &[u8]) -> Option<u32> {
        let (bytes, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(u32::from_le_bytes(*bytes))
    }
}

impl Coded for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read_from(from: &mut &[u8]) -> Option<bool> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first == 1)
    }
}

impl Coded for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self);
    }

    fn read_from(from: &mut &[u8]) -> Option<Vec<u8>> {
        let len = u32::read_from(from)? as usize;
        let (bytes, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(bytes.to_vec())
    }
}

impl Coded for Option<u64> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.unwrap_or_default().put(out);
    }

    fn read_from(from: &mut &[u8]) -> Option<Option<u64>> {
        let is_some = bool::read_from(from)?;
        let value = u64::read_from(from)?;
        Some(is_some.then_some(value))
    }
}

impl Coded for BTreeSet<MemberId> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|member| member.put(out));
    }

    fn read_from(from: &mut &[u8]) -> Option<BTreeSet<MemberId>> {
        let len = u32::read_from(from)?;
        (0..len).map(|_| u32::read_from(from)).collect()
    }
}

/// An event as its number and one, a grant as its three numbers; 0 is none.
impl Coded for Origin {
    fn put(&self, out: &mut Vec<u8>) {
        self.cause.map_or(0, |event| u64::from(event.0) + 1).put(out);
        self.grant.is_some().put(out);
        if let Some(grant) = self.grant {
            u32::from(grant.client.0).put(out);
            grant.section.put(out);
            grant.task.put(out);
        }
    }

    fn read_from(from: &mut &[u8]) -> Option<Origin> {
        let cause =
            u64::read_from(from)?.checked_sub(1).and_then(|event| u32::try_from(event).ok()).map(EventId);
        let has_grant = bool::read_from(from)?;
        let grant = match has_grant {
            true => {
                let client = HostId(u16::try_from(u32::read_from(from)?).ok()?);
                let section = u32::read_from(from)?;
                Some(GrantId { client, section, task: u32::read_from(from)? })
            }
            false => None,
        };
        Some(Origin { cause, grant })
    }
}

impl Coded for Vote {
    fn put(&self, out: &mut Vec<u8>) {
        self.term.put(out);
        self.given_to.put(out);
    }

    fn read_from(from: &mut &[u8]) -> Option<Vote> {
        Some(Vote { term: u64::read_from(from)?, given_to: u32::read_from(from)? })
    }
}

impl Coded for Entry {
    fn put(&self, out: &mut Vec<u8>) {
        self.term.put(out);
        self.index.put(out);
        self.origin.put(out);
        match &self.content {
            Content::Nothing => out.push(0),
            Content::Data(data) => {
                out.push(1);
                data.put(out);
            }
            Content::Members(members) => {
                out.push(2);
                members.put(out);
            }
        }
    }

    fn read_from(from: &mut &[u8]) -> Option<Entry> {
        let (term, index, origin) = (u64::read_from(from)?, u64::read_from(from)?, Origin::read_from(from)?);
        let content = match kind(from)? {
            0 => Content::Nothing,
            1 => Content::Data(Vec::read_from(from)?),
            2 => Content::Members(BTreeSet::read_from(from)?),
            _ => return None,
        };
        Some(Entry { term, index, origin, content })
    }
}

impl Coded for Vec<Entry> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|entry| entry.put(out));
    }

    fn read_from(from: &mut &[u8]) -> Option<Vec<Entry>> {
        let len = u32::read_from(from)?;
        (0..len).map(|_| Entry::read_from(from)).collect()
    }
}

impl Coded for Snapshot {
    fn put(&self, out: &mut Vec<u8>) {
        self.index.put(out);
        self.term.put(out);
        self.members.put(out);
        self.state.put(out);
    }

    fn read_from(from: &mut &[u8]) -> Option<Snapshot> {
        Some(Snapshot {
            index: u64::read_from(from)?,
            term: u64::read_from(from)?,
            members: BTreeSet::read_from(from)?,
            state: Vec::read_from(from)?,
        })
    }
}

fn kind(from: &mut &[u8]) -> Option<u8> {
    let (first, rest) = from.split_first()?;
    *from = rest;
    Some(*first)
}

impl Coded for Message {
    fn put(&self, out: &mut Vec<u8>) {
        self.from.put(out);
        self.to.put(out);
        self.term.put(out);
        self.body.put(out);
    }

    fn read_from(from: &mut &[u8]) -> Option<Message> {
        let (sender, to, term) = (u32::read_from(from)?, u32::read_from(from)?, u64::read_from(from)?);
        Some(Message { from: sender, to, term, body: Body::read_from(from)? })
    }
}

impl Coded for Body {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Body::Vote { index, last_term, asks } => {
                out.push(0);
                index.put(out);
                last_term.put(out);
                asks.put(out);
            }
            Body::Voted { granted, asked } => {
                out.push(1);
                granted.put(out);
                asked.put(out);
            }
            Body::Append { index, last_term, entries, committed } => {
                out.push(2);
                index.put(out);
                last_term.put(out);
                entries.put(out);
                committed.put(out);
            }
            Body::Appended { index, refused } => {
                out.push(3);
                index.put(out);
                refused.put(out);
            }
            Body::Heartbeat { committed, read } => {
                out.push(4);
                committed.put(out);
                read.put(out);
            }
            Body::Heard { read } => {
                out.push(5);
                read.put(out);
            }
            Body::Install { snapshot } => {
                out.push(6);
                snapshot.put(out);
            }
            Body::Propose { origin, data } => {
                out.push(7);
                origin.put(out);
                data.put(out);
            }
            Body::Read { read } => {
                out.push(8);
                read.put(out);
            }
            Body::Readable { read, index } => {
                out.push(9);
                read.put(out);
                index.put(out);
            }
            Body::Note { origin, data } => {
                out.push(10);
                origin.put(out);
                data.put(out);
            }
        }
    }

    fn read_from(from: &mut &[u8]) -> Option<Body> {
        Some(match kind(from)? {
            0 => Body::Vote {
                index: u64::read_from(from)?,
                last_term: u64::read_from(from)?,
                asks: bool::read_from(from)?,
            },
            1 => Body::Voted { granted: bool::read_from(from)?, asked: bool::read_from(from)? },
            2 => Body::Append {
                index: u64::read_from(from)?,
                last_term: u64::read_from(from)?,
                entries: Vec::read_from(from)?,
                committed: u64::read_from(from)?,
            },
            3 => Body::Appended { index: u64::read_from(from)?, refused: Option::read_from(from)? },
            4 => Body::Heartbeat { committed: u64::read_from(from)?, read: u64::read_from(from)? },
            5 => Body::Heard { read: u64::read_from(from)? },
            6 => Body::Install { snapshot: Snapshot::read_from(from)? },
            7 => Body::Propose { origin: Origin::read_from(from)?, data: Vec::read_from(from)? },
            8 => Body::Read { read: u64::read_from(from)? },
            9 => Body::Readable { read: u64::read_from(from)?, index: u64::read_from(from)? },
            10 => Body::Note { origin: Origin::read_from(from)?, data: Vec::read_from(from)? },
            _ => return None,
        })
    }
}
