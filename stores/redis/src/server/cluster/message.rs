//! The messages of the cluster bus: those of Redis, in a compact form of their own.
//!
//! A message is a length of four bytes and so many bytes: a header that says what its sender is, and what the message is about. Of a set of
//! slots only the words between the first and the last that are not empty are sent. Redis sends the same things in structures of fixed size.

use super::ids::NodeId;
use super::slot::Slots;

/// The longest message.
const LENGTH_MAX: usize = 64 * 1024 * 1024;

/// A message of one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) body: Body,
}

/// What a sender says of itself in each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) sender: NodeId,
    /// The primary of a replica.
    pub(crate) primary: Option<NodeId>,
    /// True for a replica, even if it does not know its primary.
    pub(crate) is_replica: bool,
    /// The slots of the sender; those of its primary if it is a replica, and so is the configuration epoch.
    pub(crate) slots: Slots,
    pub(crate) config_epoch: u64,
    pub(crate) current_epoch: u64,
    /// How much of the stream of effects it has.
    pub(crate) offset: u64,
    /// True while it lets no client write, so that a replica can take over.
    pub(crate) is_paused: bool,
    /// True if a vote is asked for although the primary works.
    pub(crate) forces_vote: bool,
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// It wants a [`Pong`](Body::Pong).
    Ping(Vec<Gossip>),
    /// A ping of a node that wants to be taken up.
    Meet(Vec<Gossip>),
    /// The answer to a ping, or the state of the sender that nobody has asked for.
    Pong(Vec<Gossip>),
    /// This node is down, as a majority has found.
    Fail(NodeId),
    /// A message for those who listen to a channel.
    Publish { sharded: bool, channel: Vec<u8>, message: Vec<u8> },
    /// A replica wants to be elected.
    VoteRequest,
    /// A vote for the receiver.
    Vote,
    /// A replica wants its primary to stop all writes, to take over from it.
    ManualFailover,
    /// The newer configuration of a node, about which the receiver is wrong.
    Update { about: NodeId, config_epoch: u64, slots: Slots },
}

/// What the sender of a ping knows of a third node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gossip {
    pub(crate) about: NodeId,
    pub(crate) is_replica: bool,
    pub(crate) is_suspected: bool,
    pub(crate) is_failed: bool,
    /// When the sender last had an answer of it, in seconds.
    pub(crate) pong_received_s: i64,
}

impl Body {
    /// The kinds of messages, as CLUSTER INFO counts them.
    pub(crate) const KINDS: [&str; 10] = [
        "ping",
        "pong",
        "fail",
        "publish",
        "auth-req",
        "auth-ack",
        "update",
        "mfstart",
        "publishshard",
        "meet",
    ];

    /// The number of its kind.
    pub(crate) fn kind(&self) -> usize {
        match self {
            Body::Ping(_) => 0,
            Body::Pong(_) => 1,
            Body::Fail(_) => 2,
            Body::Publish { sharded: false, .. } => 3,
            Body::VoteRequest => 4,
            Body::Vote => 5,
            Body::Update { .. } => 6,
            Body::ManualFailover => 7,
            Body::Publish { sharded: true, .. } => 8,
            Body::Meet(_) => 9,
        }
    }
}

impl Message {
    /// The message with its length in front.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        let Header { sender, primary, slots, .. } = &self.header;
        let header = &self.header;
        out.push(u8::try_from(self.body.kind()).unwrap_or(u8::MAX));
        out.extend_from_slice(sender.as_bytes());
        put_flags(&mut out, [primary.is_some(), header.is_replica, header.is_paused, header.forces_vote]);
        if let Some(primary) = primary {
            out.extend_from_slice(primary.as_bytes());
        }
        put_slots(&mut out, slots);
        for number in [header.config_epoch, header.current_epoch, header.offset] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        match &self.body {
            Body::Ping(gossip) | Body::Meet(gossip) | Body::Pong(gossip) => {
                put_len(&mut out, gossip.len());
                for about in gossip {
                    out.extend_from_slice(about.about.as_bytes());
                    put_flags(&mut out, [about.is_replica, about.is_suspected, about.is_failed, false]);
                    out.extend_from_slice(&about.pong_received_s.to_be_bytes());
                }
            }
            Body::Fail(about) => out.extend_from_slice(about.as_bytes()),
            Body::Publish { channel, message, .. } => {
                put_len(&mut out, channel.len());
                out.extend_from_slice(channel);
                out.extend_from_slice(message);
            }
            Body::VoteRequest | Body::Vote | Body::ManualFailover => {}
            Body::Update { about, config_epoch, slots } => {
                out.extend_from_slice(about.as_bytes());
                out.extend_from_slice(&config_epoch.to_be_bytes());
                put_slots(&mut out, slots);
            }
        }
        let len = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
        out[..4].copy_from_slice(&len.to_be_bytes());
        out
    }

    /// The first message in these bytes and how many of them it takes, if all of it is there.
    ///
    /// # Errors
    /// When no node sends such bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<(Message, usize)>, Garbled> {
        let Some((len, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let len = u32::from_be_bytes(*len) as usize;
        if len > LENGTH_MAX {
            return Err(Garbled);
        }
        let Some(content) = rest.get(..len) else { return Ok(None) };
        let message = Reader(content).message().ok_or(Garbled)?;
        Ok(Some((message, len + 4)))
    }
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes on the bus that are no message")]
pub(crate) struct Garbled;

fn put_flags(out: &mut Vec<u8>, flags: [bool; 4]) {
    out.push(flags.iter().enumerate().map(|(at, flag)| u8::from(*flag) << at).sum());
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
}

/// Where the words begin that are not empty, how many there are up to the last of them, and these.
fn put_slots(out: &mut Vec<u8>, slots: &Slots) {
    let words = slots.words();
    let begin = words.iter().position(|word| *word != 0).unwrap_or(0);
    let end = words.iter().rposition(|word| *word != 0).map_or(begin, |last| last + 1);
    put_len(out, begin);
    put_len(out, end - begin);
    for word in &words[begin..end] {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn id(&mut self) -> Option<NodeId> {
        NodeId::from_bytes(self.take(NodeId::BYTES)?)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn flags(&mut self) -> Option<[bool; 4]> {
        let flags = self.byte()?;
        Some([0, 1, 2, 3].map(|at| flags >> at & 1 == 1))
    }

    fn len(&mut self) -> Option<usize> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn slots(&mut self) -> Option<Slots> {
        let (begin, count) = (self.len()?, self.len()?);
        let mut slots = Slots::default();
        for word in slots.words_mut().get_mut(begin..begin.checked_add(count)?)? {
            *word = self.number()?;
        }
        Some(slots)
    }

    fn gossip(&mut self) -> Option<Vec<Gossip>> {
        let len = self.len()?;
        let mut all = Vec::new();
        for _ in 0..len {
            let about = self.id()?;
            let [is_replica, is_suspected, is_failed, _] = self.flags()?;
            let pong_received_s = self.number()?.cast_signed();
            all.push(Gossip { about, is_replica, is_suspected, is_failed, pong_received_s });
        }
        Some(all)
    }

    fn message(&mut self) -> Option<Message> {
        let kind = self.byte()?;
        let sender = self.id()?;
        let [follows, is_replica, is_paused, forces_vote] = self.flags()?;
        let primary = if follows { Some(self.id()?) } else { None };
        let slots = self.slots()?;
        let (config_epoch, current_epoch, offset) = (self.number()?, self.number()?, self.number()?);
        let header = Header {
            sender,
            primary,
            is_replica,
            slots,
            config_epoch,
            current_epoch,
            offset,
            is_paused,
            forces_vote,
        };
        let body = match kind {
            0 => Body::Ping(self.gossip()?),
            1 => Body::Pong(self.gossip()?),
            2 => Body::Fail(self.id()?),
            3 | 8 => {
                let len = self.len()?;
                let channel = self.take(len)?.to_vec();
                Body::Publish { sharded: kind == 8, channel, message: std::mem::take(&mut self.0).to_vec() }
            }
            4 => Body::VoteRequest,
            5 => Body::Vote,
            6 => Body::Update { about: self.id()?, config_epoch: self.number()?, slots: self.slots()? },
            7 => Body::ManualFailover,
            9 => Body::Meet(self.gossip()?),
            _ => return None,
        };
        self.0.is_empty().then_some(Message { header, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: Body) -> Message {
        let header = Header {
            sender: NodeId::of("node-1"),
            primary: Some(NodeId::of("node-2")),
            is_replica: true,
            slots: [1, 2, 3, 16383].into_iter().collect(),
            config_epoch: 7,
            current_epoch: 9,
            offset: 123,
            is_paused: false,
            forces_vote: true,
        };
        Message { header, body }
    }

    fn all() -> Vec<Message> {
        let about = NodeId::of("node-3");
        let gossip = vec![Gossip {
            about,
            is_replica: true,
            is_suspected: false,
            is_failed: true,
            pong_received_s: 1_700_000_000,
        }];
        let publish =
            |sharded| Body::Publish { sharded, channel: b"room".to_vec(), message: b"\0hello".to_vec() };
        let bodies = [
            Body::Ping(gossip.clone()),
            Body::Pong(Vec::new()),
            Body::Meet(gossip),
            Body::Fail(about),
            publish(false),
            publish(true),
            Body::VoteRequest,
            Body::Vote,
            Body::ManualFailover,
            Body::Update { about, config_epoch: 4, slots: Slots::share(1, 3) },
        ];
        bodies.map(message).into()
    }

    #[test]
    fn a_message_is_read_as_it_was_written_and_not_before_all_of_it_is_there() {
        for message in all() {
            let bytes = message.encode();
            for len in 0..bytes.len() {
                assert_eq!(Message::decode(&bytes[..len]), Ok(None));
            }
            let two = [bytes.as_slice(), b"more"].concat();
            assert_eq!(Message::decode(&two), Ok(Some((message, bytes.len()))));
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        for message in all() {
            let mut bytes = message.encode();
            bytes[4] = 99;
            assert_eq!(Message::decode(&bytes), Err(Garbled));
        }
        assert_eq!(Message::decode(&[0xff; 64]), Err(Garbled));
    }
}
