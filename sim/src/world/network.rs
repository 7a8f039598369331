//! The one network model that both engines share: connections, segments, latency, cuts, delays.
//!
//! A segment is sent, is in flight, and arrives in order. Its latency is a function of its address (the two hosts' names,
//! which connection between them, direction, number), so that taking one message away does not move another's.
//! A segment whose link is cut when it should arrive waits for the end of the cut, as TCP retransmits; after
//! [`tcp_timeout`](picklock_model::plan::WorldSpec::tcp_timeout), or the timeout of its socket, its sender sees the
//! connection break. A host without power answers nothing; one whose process was killed refuses and resets.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::choices::Chooser;
use crate::base::waiter::Waiter;
use picklock_model::ids::{ConnId, EventId, GrantId, HostId, Origin};
use picklock_model::plan::{ChoiceKind, Latency};
use picklock_model::seed::{Line, Seed, scale};
use picklock_model::time::{TrueTime, nanos};
use picklock_model::trace::{Disconnect, HostInfo};

/// Which way a segment goes on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// From the host that connected.
    Out,
    /// Back to it.
    Back,
}

impl Direction {
    pub(crate) fn reverse(self) -> Direction {
        match self {
            Direction::Out => Direction::Back,
            Direction::Back => Direction::Out,
        }
    }
}

/// What comes back to a probe by which one end of a connection looks whether the other is still there (TCP keepalive). The kernel of
/// the other host answers, whatever its process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It is there.
    Answered,
    /// Nothing: the host has no power, or the link is cut.
    Silent,
    /// The host no longer knows the connection.
    Unknown,
}

/// One end of a connection, named by the direction in which it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub(crate) conn: ConnId,
    pub(crate) sends: Direction,
}

/// The kind and the content of a segment in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flight {
    Syn,
    SynAck,
    Data { number: u32, len: u32, bytes: Vec<u8>, grant: Option<GrantId>, sent: EventId },
    Fin,
    Rst(Disconnect),
}

pub(super) struct InFlight {
    pub(super) due: TrueTime,
    pub(super) flight: Flight,
}

/// A received segment that its process has not read to the end.
pub(crate) struct Chunk {
    /// All its bytes; none where an engine carries them itself.
    pub(crate) bytes: Vec<u8>,
    /// How many have not been read.
    pub(crate) left: u32,
    pub(crate) event: EventId,
    pub(crate) grant: Option<GrantId>,
}

/// The state of one end.
pub(crate) struct End {
    pub(crate) host: HostId,
    /// The process still has the socket.
    pub(crate) open: bool,
    pub(crate) received: VecDeque<Chunk>,
    /// No more bytes will come, for this reason.
    pub(crate) ended: Option<Disconnect>,
    pub(crate) established: bool,
    pub(crate) reader: Waiter,
    pub(crate) last_read: Origin,
    /// The generator of the latencies of its segments.
    pub(super) draws: Line,
    /// The segments that this end has sent and the other has not received.
    pub(super) flights: VecDeque<InFlight>,
    pub(super) sent: u32,
    /// How many bytes this end has sent, and how many it has read.
    pub(super) sent_bytes: u64,
    pub(crate) read_bytes: u64,
    pub(super) fin_sent: bool,
    /// The first flight waits for the end of a cut.
    pub(super) stuck: bool,
    /// How long it waits before the connection breaks, if not for [`Network::tcp_timeout`] (`TCP_USER_TIMEOUT` of this socket).
    pub(crate) user_timeout: Option<Duration>,
}

/// The real addresses at both ends of a connection that came in from outside.
pub(crate) struct Visit {
    pub(crate) client: String,
    pub(crate) door: String,
}

pub(crate) struct Conn {
    pub(crate) port: u16,
    /// The real addresses, for a connection of a real client.
    pub(crate) client: Option<Box<Visit>>,
    pub(super) ends: [End; 2],
    /// The injection by which the network has forgotten it: nothing passes on it any more.
    pub(super) forgotten: Option<u32>,
}

impl Conn {
    pub(crate) fn end(&self, sends: Direction) -> &End {
        &self.ends[sends as usize]
    }

    pub(crate) fn end_mut(&mut self, sends: Direction) -> &mut End {
        &mut self.ends[sends as usize]
    }

    /// True if nobody has an end of it any more and nothing is on its way: nothing will ever happen to it again.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().all(|end| !end.open && end.flights.is_empty())
    }
}

pub(super) struct Delay {
    pub(super) from: HostId,
    pub(super) to: HostId,
    pub(super) by: Duration,
    pub(super) until: TrueTime,
    pub(super) left: Option<u32>,
    pub(super) injection: u32,
}

#[derive(Default)]
pub(crate) struct Listening {
    pub(crate) accepted: VecDeque<ConnId>,
    pub(crate) acceptor: Waiter,
}

pub(crate) struct Network {
    pub(super) seed: Seed,
    pub(super) latency_min_ns: u64,
    /// The largest latency less the smallest.
    pub(super) latency_width_ns: u64,
    pub(super) tcp_timeout: Duration,
    /// Hashes of the hosts' names: addresses that do not move when another host is taken away.
    pub(super) addresses: Vec<u64>,
    pub(super) conns: Vec<Conn>,
    /// Those of them that may not be over yet, in order: what concerns all connections looks at these alone.
    pub(super) live: Vec<ConnId>,
    /// How many may become live before the list is looked through for those that are over.
    pub(super) live_max: usize,
    /// Buffers of segments that have been read.
    pub(super) spare: Vec<Vec<u8>>,
    /// How many connections there have been between two hosts: which one it is is part of the address of its latencies.
    pub(super) ordinals: BTreeMap<(HostId, HostId), u32>,
    pub(crate) listening: BTreeMap<(HostId, u16), Listening>,
    /// Cuts in force: from, to, injection.
    pub(super) cuts: Vec<(HostId, HostId, u32)>,
    pub(super) delays: Vec<Delay>,
    /// Replies to be lost: from, to, injection.
    pub(super) losses: Vec<(HostId, HostId, u32)>,
}

/// How many buffers are kept, and of how many bytes each.
pub(super) const SPARE: usize = 16;
pub(super) const SPARE_BYTES: usize = 4 * 1024;

impl Network {
    pub(super) fn new(seed: Seed, hosts: &[HostInfo], latency: Latency, tcp_timeout: Duration) -> Network {
        Network {
            seed,
            latency_min_ns: nanos(latency.min),
            latency_width_ns: nanos(latency.max).saturating_sub(nanos(latency.min)),
            tcp_timeout,
            addresses: hosts.iter().map(|host| xxh3_64(host.drawn_as().as_bytes())).collect(),
            conns: Vec::new(),
            live: Vec::new(),
            live_max: 64,
            spare: Vec::new(),
            ordinals: BTreeMap::new(),
            listening: BTreeMap::new(),
            cuts: Vec::new(),
            delays: Vec::new(),
            losses: Vec::new(),
        }
    }

    pub(crate) fn conn(&self, id: ConnId) -> &Conn {
        &self.conns[id.0 as usize]
    }

    pub(crate) fn conn_mut(&mut self, id: ConnId) -> &mut Conn {
        &mut self.conns[id.0 as usize]
    }

    pub(crate) fn end(&mut self, side: Side) -> &mut End {
        self.conn_mut(side.conn).end_mut(side.sends)
    }

    pub(crate) fn peer(&self, side: Side) -> HostId {
        self.conn(side.conn).end(side.sends.reverse()).host
    }

    /// How many of the bytes that this end has sent the other has not read.
    pub(crate) fn unread(&self, side: Side) -> u64 {
        let conn = self.conn(side.conn);
        conn.end(side.sends).sent_bytes.saturating_sub(conn.end(side.sends.reverse()).read_bytes)
    }

    pub(super) fn add(&mut self, conn: Conn) -> ConnId {
        let id = ConnId(self.conns.len() as u32);
        self.conns.push(conn);
        self.live.push(id);
        if self.live.len() > self.live_max {
            let conns = &self.conns;
            // The one just made has not sent its first segment yet.
            self.live.retain(|other| *other == id || !conns[other.0 as usize].is_over());
            self.live_max = (2 * self.live.len()).max(64);
        }
        id
    }

    /// The bytes of a segment to be sent.
    pub(crate) fn segment(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut segment = self.spare.pop().unwrap_or_default();
        segment.extend_from_slice(bytes);
        segment
    }

    /// Keeps the buffer of a segment that has been read for another one.
    pub(crate) fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE && (1..=SPARE_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub(super) fn cut(&mut self, from: HostId, to: HostId, injection: u32) {
        if from != to {
            self.cuts.push((from, to, injection));
        }
    }

    pub(super) fn delay(
        &mut self,
        from: HostId,
        to: HostId,
        by: Duration,
        until: TrueTime,
        left: Option<u32>,
        injection: u32,
    ) {
        self.delays.push(Delay { from, to, by, until, left, injection });
    }

    pub(super) fn lose_next(&mut self, from: HostId, to: HostId, injection: u32) {
        self.losses.push((from, to, injection));
    }

    /// Ends the cuts of an injection; what waited for them may go on.
    pub(super) fn heal(&mut self, injection: u32) -> Vec<(ConnId, Direction)> {
        self.cuts.retain(|(_, _, by)| *by != injection);
        self.unstick(|_, _| true)
    }

    /// Ends all delays, and loses nothing more.
    pub(super) fn forgive(&mut self) {
        self.delays.clear();
        self.losses.clear();
    }

    /// Takes out what refers to tasks: those that wait for a connection, a message or an end.
    pub(super) fn dissolve(&mut self) -> impl Sized + use<> {
        (std::mem::take(&mut self.conns), std::mem::take(&mut self.listening))
    }

    pub(super) fn unstick(&mut self, which: impl Fn(HostId, HostId) -> bool) -> Vec<(ConnId, Direction)> {
        let mut freed = Vec::new();
        for id in &self.live {
            let conn = &mut self.conns[id.0 as usize];
            for direction in [Direction::Out, Direction::Back] {
                let (from, to) = (conn.end(direction).host, conn.end(direction.reverse()).host);
                let end = conn.end_mut(direction);
                if end.stuck && which(from, to) {
                    end.stuck = false;
                    freed.push((*id, direction));
                }
            }
        }
        freed
    }

    /// The injection that keeps the segments of a connection in this direction from arriving.
    pub(super) fn barred(&self, conn: ConnId, direction: Direction) -> Option<u32> {
        let entry = self.conn(conn);
        let (from, to) = (entry.end(direction).host, entry.end(direction.reverse()).host);
        entry.forgotten.or_else(|| self.cut_by(from, to))
    }

    pub(super) fn cut_by(&self, from: HostId, to: HostId) -> Option<u32> {
        self.cuts.iter().find(|(f, t, _)| *f == from && *t == to).map(|(_, _, injection)| *injection)
    }

    /// The generator of the latencies of the segments from one end of a new connection.
    pub(super) fn draws(&self, from: HostId, to: HostId, ordinal: u32, direction: Direction) -> Line {
        let address = |host: HostId| self.addresses[usize::from(host.0)];
        let link = address(from).rotate_left(1) ^ address(to);
        self.seed.along([link, u64::from(ordinal), direction as u64])
    }

    /// The latency of one segment, in nanoseconds. The cube of a uniform draw puts half of the messages into the fastest
    /// eighth of the range and leaves a tail up to its end, as measured round trips inside a data centre look.
    pub(super) fn latency_ns(&self, draws: Line, number: u64, chooser: &mut Chooser) -> u64 {
        let draw = draws.at(number);
        let cube = scale(scale(draw, draw), draw);
        let proposed = scale(cube, self.latency_width_ns);
        let chosen = chooser.choose(ChoiceKind::Latency, self.latency_width_ns.max(1), proposed);
        self.latency_min_ns.saturating_add(chosen)
    }
}

/// Numbers of the segments that are not data, in the addresses of latencies.
pub(super) const HANDSHAKE: u64 = u64::MAX;
