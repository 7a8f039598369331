//! The one network model that both engines share: connections, segments, latency, cuts, delays.
//!
//! A segment is sent, is in flight, and arrives in order. Its latency is a function of its address (the two hosts' names,
//! which connection between them, direction, number), so that taking one message away does not move another's.
//! A segment whose link is cut when it should arrive waits for the end of the cut, as TCP retransmits; after
//! [`tcp_timeout`](crate::plan::WorldSpec::tcp_timeout) its sender sees the connection break. A host without power
//! answers nothing; one whose process was killed refuses and resets.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::{Due, Life, State};
use crate::base::ids::Origin;
use crate::base::ids::{ConnId, EventId, GrantId, HostId};
use crate::base::seed::{Seed, scale};
use crate::base::time::{TrueTime, nanos};
use crate::plan::Latency;
use crate::trace::{Disconnect, HostInfo, Role, What};

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

/// One end of a connection, named by the direction in which it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub(crate) conn: ConnId,
    pub(crate) sends: Direction,
}

/// What a segment in flight is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flight {
    Syn,
    SynAck,
    Data { number: u32, len: u32, bytes: Bytes, grant: Option<GrantId>, sent: EventId },
    Fin,
    Rst(Disconnect),
}

struct InFlight {
    due: TrueTime,
    flight: Flight,
}

/// A received segment that its process has not read to the end.
pub(crate) struct Chunk {
    pub(crate) bytes: Bytes,
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
    pub(crate) reader: Option<Waker>,
    pub(crate) last_read: Origin,
    /// What is written is in the service of this origin rather than of the last read.
    pub(crate) answers: Option<Origin>,
    /// What this end has sent and the other has not received.
    flights: VecDeque<InFlight>,
    sent: u32,
    fin_sent: bool,
    /// The first flight waits for the end of a cut.
    stuck: bool,
}

pub(crate) struct Conn {
    pub(crate) port: u16,
    /// The real address of the client, for one that came in from outside.
    pub(crate) client: Option<Box<str>>,
    /// Which connection between these two hosts it is, from 0: part of the address of its latencies.
    ordinal: u32,
    ends: [End; 2],
}

impl Conn {
    pub(crate) fn end(&self, sends: Direction) -> &End {
        &self.ends[sends as usize]
    }

    pub(crate) fn end_mut(&mut self, sends: Direction) -> &mut End {
        &mut self.ends[sends as usize]
    }
}

struct Delay {
    from: HostId,
    to: HostId,
    by: Duration,
    until: TrueTime,
    left: Option<u32>,
    injection: u32,
}

pub(crate) struct Listening {
    pub(crate) accepted: VecDeque<ConnId>,
    pub(crate) acceptor: Option<Waker>,
}

pub(crate) struct Network {
    seed: Seed,
    latency: Latency,
    tcp_timeout: Duration,
    /// Hashes of the hosts' names: addresses that do not move when another host is taken away.
    addresses: Vec<u64>,
    conns: Vec<Conn>,
    ordinals: BTreeMap<(HostId, HostId), u32>,
    pub(crate) listening: BTreeMap<(HostId, u16), Listening>,
    /// Cuts in force: from, to, injection.
    cuts: Vec<(HostId, HostId, u32)>,
    delays: Vec<Delay>,
    /// Replies to be lost: from, to, injection.
    losses: Vec<(HostId, HostId, u32)>,
}

impl Network {
    pub(super) fn new(seed: Seed, hosts: &[HostInfo], latency: Latency, tcp_timeout: Duration) -> Network {
        Network {
            seed,
            latency,
            tcp_timeout,
            addresses: hosts.iter().map(|host| xxh3_64(host.name.as_bytes())).collect(),
            conns: Vec::new(),
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

    /// Takes out what refers to tasks: those that wait for a connection, a message or an end.
    pub(super) fn dissolve(&mut self) -> impl Sized + use<> {
        (std::mem::take(&mut self.conns), std::mem::take(&mut self.listening))
    }

    fn unstick(&mut self, which: impl Fn(HostId, HostId) -> bool) -> Vec<(ConnId, Direction)> {
        let mut freed = Vec::new();
        for (index, conn) in self.conns.iter_mut().enumerate() {
            for direction in [Direction::Out, Direction::Back] {
                let (from, to) = (conn.end(direction).host, conn.end(direction.reverse()).host);
                let end = conn.end_mut(direction);
                if end.stuck && which(from, to) {
                    end.stuck = false;
                    freed.push((ConnId(index as u32), direction));
                }
            }
        }
        freed
    }

    fn cut_by(&self, from: HostId, to: HostId) -> Option<u32> {
        self.cuts.iter().find(|(f, t, _)| *f == from && *t == to).map(|(_, _, injection)| *injection)
    }

    /// The latency of one segment. The cube of a uniform draw puts half of the messages into the fastest eighth of the
    /// range and leaves a tail up to its end, as measured round trips inside a data centre look.
    fn latency(&self, conn: ConnId, direction: Direction, number: u64) -> Duration {
        let entry = self.conn(conn);
        let address = |end: &End| self.addresses[usize::from(end.host.0)];
        let link = address(entry.end(direction)).rotate_left(1) ^ address(entry.end(direction.reverse()));
        let draw = self.seed.at([link, u64::from(entry.ordinal), direction as u64, number]);
        let square = scale(draw, draw);
        let width = nanos(self.latency.max).saturating_sub(nanos(self.latency.min));
        self.latency.min + Duration::from_nanos(scale(scale(square, draw), width))
    }
}

/// Numbers of the segments that are not data, in the addresses of latencies.
const HANDSHAKE: u64 = u64::MAX;

impl State {
    /// Begins to connect. The other host answers after a latency, if it can.
    pub(crate) fn open(&mut self, from: HostId, to: HostId, port: u16) -> ConnId {
        let ordinal = self.network.ordinals.entry((from, to)).or_default();
        let ends = [from, to].map(|host| End {
            host,
            open: host == from,
            received: VecDeque::new(),
            ended: None,
            established: false,
            reader: None,
            last_read: Origin::default(),
            answers: None,
            flights: VecDeque::new(),
            sent: 0,
            fin_sent: false,
            stuck: false,
        });
        let id = ConnId(self.network.conns.len() as u32);
        self.network.conns.push(Conn { port, client: None, ordinal: *ordinal, ends });
        *ordinal += 1;
        let (at, grant, cause) = (self.local_now(from), self.grant_of(from), self.process(from).context);
        self.log.push(at, from, cause, Some(id), grant, What::Connecting { peer: to });
        self.launch(id, Direction::Out, Flight::Syn);
        id
    }

    /// Sends one segment of data. The caller has passed the gate and knows that the end is open.
    pub(crate) fn send(&mut self, side: Side, bytes: Bytes, len: u32) {
        let (from, to) = (self.network.end(side).host, self.network.peer(side));
        let origin = self.origin_of_write(side, from);
        let number = self.network.end(side).sent;
        self.network.end(side).sent += 1;
        let what = What::Sent { peer: to, segment: number, bytes: len };
        let at = self.local_now(from);
        let sent = self.log.push(at, from, origin.cause, Some(side.conn), origin.grant, what);
        if let Some(at) = self.network.losses.iter().position(|(f, t, _)| *f == from && *t == to) {
            let (_, _, injection) = self.network.losses.remove(at);
            self.mark_bit(injection);
            self.launch(side.conn, side.sends, Flight::Rst(Disconnect::Reset));
            self.end_side(side, Disconnect::Reset);
            return;
        }
        if let Some(grant) = origin.grant
            && self.role(from) == Role::Client
            && self.role(to) == Role::Resource
        {
            self.bound_for_resource(grant);
        }
        let flight = Flight::Data { number, len, bytes, grant: origin.grant, sent };
        self.launch(side.conn, side.sends, flight);
    }

    /// A client writes in the service of its section; a server answers what it last read, unless told otherwise.
    fn origin_of_write(&mut self, side: Side, from: HostId) -> Origin {
        if self.role(from) == Role::Client {
            return Origin { cause: self.process(from).context, grant: self.grant_of(from) };
        }
        let end = self.network.end(side);
        end.answers.unwrap_or(end.last_read)
    }

    fn launch(&mut self, conn: ConnId, direction: Direction, flight: Flight) {
        let (from, to) = {
            let entry = self.network.conn(conn);
            (entry.end(direction).host, entry.end(direction.reverse()).host)
        };
        let number = match &flight {
            Flight::Data { number, .. } => u64::from(*number),
            _ => HANDSHAKE,
        };
        let (delay, spent) = self.delay_of(from, to);
        let mut due = self.now + self.network.latency(conn, direction, number) + delay;
        let end = self.network.conn_mut(conn).end_mut(direction);
        due = due.max(end.flights.back().map_or(due, |ahead| ahead.due));
        end.flights.push_back(InFlight { due, flight });
        self.agenda.push(due, Due::Arrival { conn, direction });
        spent.into_iter().for_each(|injection| self.heal_at(due, injection));
    }

    /// How much longer a message sent now takes, and the injections whose last message it is.
    fn delay_of(&mut self, from: HostId, to: HostId) -> (Duration, Vec<u32>) {
        let now = self.now;
        self.network.delays.retain(|delay| delay.until >= now && delay.left != Some(0));
        let mut total = Duration::ZERO;
        let (mut bitten, mut spent) = (Vec::new(), Vec::new());
        for delay in self.network.delays.iter_mut().filter(|delay| delay.from == from && delay.to == to) {
            total += delay.by;
            bitten.push(delay.injection);
            if let Some(left) = &mut delay.left {
                *left -= 1;
                if *left == 0 {
                    spent.push(delay.injection);
                }
            }
        }
        bitten.into_iter().for_each(|injection| self.mark_bit(injection));
        (total, spent)
    }

    /// After a cut has ended, what waited first arrives after a latency of its own, and the rest behind it.
    pub(super) fn reschedule_arrival(&mut self, conn: ConnId, direction: Direction) {
        let now = self.now;
        let again = self.network.latency(conn, direction, HANDSHAKE - 1);
        let end = self.network.conn_mut(conn).end_mut(direction);
        let mut due = now + again;
        for flight in &mut end.flights {
            due = due.max(flight.due);
            flight.due = due;
            self.agenda.push(due, Due::Arrival { conn, direction });
        }
    }

    /// The first segment of a direction arrives, unless its link is cut, its receiver has no power, or it moved.
    pub(super) fn arrival(
        &mut self,
        conn: ConnId,
        direction: Direction,
        sockets: Option<&mut Vec<(Side, Flight)>>,
    ) {
        let now = self.now;
        let entry = self.network.conn(conn);
        let (from, to, port) = (entry.end(direction).host, entry.end(direction.reverse()).host, entry.port);
        let end = entry.end(direction);
        if end.stuck || end.flights.front().is_none_or(|first| first.due > now) {
            return;
        }
        let dark = self.processes[usize::from(to.0)].dark;
        let cut = self.network.cut_by(from, to);
        if dark || cut.is_some() {
            self.get_stuck(conn, direction, cut);
            return;
        }
        let sender = Side { conn, sends: direction };
        let receiver = Side { conn, sends: direction.reverse() };
        let Some(InFlight { flight, .. }) = self.network.end(sender).flights.pop_front() else { return };
        if let Some(sockets) = sockets {
            sockets.push((sender, flight.clone()));
        }
        match flight {
            Flight::Syn => self.syn_arrives(conn, to, port),
            Flight::SynAck => {
                let end = self.network.end(receiver);
                end.established = true;
                wake(&mut end.reader);
            }
            Flight::Data { number, len, bytes, grant, sent } => {
                if !self.network.end(receiver).open {
                    self.unbind(grant, from, to);
                    self.reset_peer(receiver);
                    return;
                }
                let what = What::Delivered { peer: from, segment: number };
                let event = self.log.push(now, to, Some(sent), Some(conn), grant, what);
                let end = self.network.end(receiver);
                end.received.push_back(Chunk { bytes, left: len, event, grant });
                wake(&mut end.reader);
            }
            Flight::Fin => self.end_side(receiver, Disconnect::Closed),
            Flight::Rst(why) => self.end_side(receiver, why),
        }
    }

    fn get_stuck(&mut self, conn: ConnId, direction: Direction, cut: Option<u32>) {
        let side = Side { conn, sends: direction };
        let end = self.network.end(side);
        end.stuck = true;
        let segment = match end.flights.front().map(|first| &first.flight) {
            Some(Flight::Data { number, .. }) => *number,
            _ => u32::MAX,
        };
        if let Some(injection) = cut {
            self.mark_bit(injection);
        }
        let give_up = self.now + self.network.tcp_timeout;
        self.agenda.push(give_up, Due::GiveUp { conn, direction, segment });
    }

    /// The kernel of the listening host answers, whether its process is paused or not.
    fn syn_arrives(&mut self, conn: ConnId, to: HostId, port: u16) {
        let receiver = Side { conn, sends: Direction::Back };
        let alive = self.processes[usize::from(to.0)].life == Life::Alive;
        match self.network.listening.get_mut(&(to, port)) {
            Some(listening) if alive => {
                listening.accepted.push_back(conn);
                wake(&mut listening.acceptor);
                let end = self.network.end(receiver);
                end.open = true;
                end.established = true;
                self.launch(conn, Direction::Back, Flight::SynAck);
            }
            _ => self.launch(conn, Direction::Back, Flight::Rst(Disconnect::Refused)),
        }
    }

    /// A segment has waited too long: its sender sees the connection break, and the receiver once it can hear again.
    pub(super) fn give_up(&mut self, conn: ConnId, direction: Direction, segment: u32) {
        let side = Side { conn, sends: direction };
        let end = self.network.end(side);
        let waiting = end.stuck
            && end.flights.front().is_some_and(|first| match first.flight {
                Flight::Data { number, .. } => number == segment,
                _ => segment == u32::MAX,
            });
        if !waiting {
            return;
        }
        self.drop_flights(side);
        let due = self.now;
        let end = self.network.end(side);
        end.stuck = true;
        end.flights.push_back(InFlight { due, flight: Flight::Rst(Disconnect::Reset) });
        self.end_side(side, Disconnect::TimedOut);
    }

    /// This end learns that the connection is over.
    fn end_side(&mut self, side: Side, why: Disconnect) {
        let peer = self.network.peer(side);
        let end = self.network.end(side);
        if end.ended.is_some() {
            return;
        }
        end.ended = Some(why);
        let (host, open) = (end.host, end.open);
        if why != Disconnect::Closed {
            let lost: Vec<Option<GrantId>> = end.received.drain(..).map(|chunk| chunk.grant).collect();
            lost.into_iter().for_each(|grant| self.unbind(grant, peer, host));
        }
        let end = self.network.end(side);
        wake(&mut end.reader);
        if open {
            let what = What::Disconnected { peer, why };
            self.log.push(self.now, host, None, Some(side.conn), None, what);
        }
    }

    /// The process lets go of its end: the other end hears of it after what is already on its way.
    pub(crate) fn close(&mut self, side: Side) {
        let peer = self.network.peer(side);
        let end = self.network.end(side);
        if !end.open {
            return;
        }
        end.open = false;
        end.reader = None;
        let host = end.host;
        let unread: Vec<Option<GrantId>> = end.received.drain(..).map(|chunk| chunk.grant).collect();
        let polite = unread.is_empty();
        unread.into_iter().for_each(|grant| self.unbind(grant, peer, host));
        let flight = if polite { Flight::Fin } else { Flight::Rst(Disconnect::Reset) };
        self.send_last(side, flight);
    }

    /// The process has written its last.
    pub(crate) fn shut_down(&mut self, side: Side) {
        self.send_last(side, Flight::Fin);
    }

    fn send_last(&mut self, side: Side, flight: Flight) {
        let end = self.network.end(side);
        let over = matches!(end.ended, Some(why) if why != Disconnect::Closed);
        if end.fin_sent || over {
            return;
        }
        end.fin_sent = true;
        self.launch(side.conn, side.sends, flight);
    }

    /// Data arrived at an end that nobody has any more.
    fn reset_peer(&mut self, side: Side) {
        self.launch(side.conn, side.sends, Flight::Rst(Disconnect::Reset));
    }

    /// The host's process is gone. Its sockets close, or with the power fall silent.
    pub(super) fn cut_off(&mut self, host: HostId, power_loss: bool) {
        self.processes[usize::from(host.0)].dark = power_loss;
        self.network.listening.retain(|(listener, _), _| *listener != host);
        for side in self.sides_of(host) {
            if power_loss {
                let peer = self.network.peer(side);
                let end = self.network.end(side);
                end.open = false;
                end.fin_sent = true;
                end.reader = None;
                let unread: Vec<Option<GrantId>> = end.received.drain(..).map(|chunk| chunk.grant).collect();
                unread.into_iter().for_each(|grant| self.unbind(grant, peer, host));
            } else {
                self.close(side);
            }
        }
    }

    /// The host answers again: with resets on the connections that it no longer knows.
    pub(super) fn network_up(&mut self, host: HostId) {
        self.processes[usize::from(host.0)].dark = false;
        for (conn, direction) in self.network.unstick(|_, to| to == host) {
            self.reschedule_arrival(conn, direction);
        }
    }

    /// Kills the connections between two hosts at both ends at once; false if there were none.
    pub(super) fn drop_connections(&mut self, a: HostId, b: HostId) -> bool {
        let sides: Vec<Side> =
            self.sides_of(a).into_iter().filter(|side| self.network.peer(*side) == b).collect();
        let mut dropped = false;
        for side in sides {
            let other = Side { conn: side.conn, sends: side.sends.reverse() };
            for end in [side, other] {
                dropped |= self.network.end(end).ended.is_none();
                self.drop_flights(end);
                self.end_side(end, Disconnect::Reset);
            }
        }
        dropped
    }

    fn drop_flights(&mut self, side: Side) {
        let (from, to) = (self.network.end(side).host, self.network.peer(side));
        let dropped: Vec<InFlight> = self.network.end(side).flights.drain(..).collect();
        for InFlight { flight, .. } in dropped {
            if let Flight::Data { grant, .. } = flight {
                self.unbind(grant, from, to);
            }
        }
    }

    /// A segment from a client to the resource has been read there, or never will be.
    pub(crate) fn unbind(&mut self, grant: Option<GrantId>, from: HostId, to: HostId) {
        if let Some(grant) = grant
            && self.role(from) == Role::Client
            && self.role(to) == Role::Resource
        {
            self.no_longer_bound(grant);
        }
    }

    /// The open ends of a host, in the order of their connections.
    fn sides_of(&self, host: HostId) -> Vec<Side> {
        let mut sides = Vec::new();
        for (index, conn) in self.network.conns.iter().enumerate() {
            for sends in [Direction::Out, Direction::Back] {
                let end = conn.end(sends);
                if end.host == host && end.open {
                    sides.push(Side { conn: ConnId(index as u32), sends });
                }
            }
        }
        sides
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
