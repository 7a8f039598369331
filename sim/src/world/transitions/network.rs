//! The events of the network: connects, segments that are sent, arrive or never will, ends of connections.

use std::collections::VecDeque;
use std::time::Duration;

use crate::base::waiter::Waiter;
use crate::world::network::*;
use crate::world::process::Life;
use crate::world::queue::Pending;
use crate::world::state::State;
use picklock_model::ids::{ConnId, EventId, GrantId, HostId, Origin};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Broken, Content, Disconnect, Role, What};

impl State {
    /// Begins to connect. The other host answers after a latency, if it can.
    pub(crate) fn open(&mut self, from: HostId, to: HostId, port: u16) -> ConnId {
        let ordinals = self.network.ordinals.entry((from, to)).or_default();
        let ordinal = *ordinals;
        *ordinals += 1;
        let draws = [
            self.network.draws(from, to, ordinal, Direction::Out),
            self.network.draws(to, from, ordinal, Direction::Back),
        ];
        let ends = [Direction::Out, Direction::Back].map(|sends| End {
            host: if sends == Direction::Out { from } else { to },
            open: sends == Direction::Out,
            received: VecDeque::new(),
            ended: None,
            established: false,
            reader: Waiter::default(),
            last_read: Origin::default(),
            draws: draws[sends as usize],
            flights: VecDeque::new(),
            sent: 0,
            sent_bytes: 0,
            read_bytes: 0,
            fin_sent: false,
            stuck: false,
            user_timeout: None,
        });
        let id = self.network.add(Conn { port, client: None, ends, forgotten: None });
        let (at, grant, cause) = (self.local_now(from), self.grant_of(from), self.process(from).context);
        self.push(at, from, cause, Some(id), grant, What::Connecting { peer: to });
        self.launch(id, Direction::Out, Flight::Syn);
        id
    }

    /// Sends one segment of data; the event of it. The caller has passed the gate and knows that the end is open.
    /// Where an engine carries the bytes itself, none are handed over.
    pub(crate) fn send(
        &mut self,
        side: Side,
        served: Option<Origin>,
        bytes: Vec<u8>,
        len: u32,
        content: Content,
    ) -> EventId {
        let to = self.network.peer(side);
        let end = self.network.end(side);
        let (from, number) = (end.host, end.sent);
        end.sent += 1;
        end.sent_bytes += u64::from(len);
        // A client writes in the service of its section; a server answers what it last read, unless it says otherwise.
        let served = served.unwrap_or(end.last_read);
        let origin = match self.role(from) {
            Role::Client => Origin { cause: self.process(from).context, grant: self.grant_of(from) },
            _ => served,
        };
        let what = What::Sent { peer: to, segment: number, bytes: len, content };
        let at = self.local_now(from);
        let sent = self.push(at, from, origin.cause, Some(side.conn), origin.grant, what);
        if let Some(at) = self.network.losses.iter().position(|(f, t, _)| *f == from && *t == to) {
            let (_, _, injection) = self.network.losses.remove(at);
            self.mark_effect(injection, from, origin.grant);
            self.launch(side.conn, side.sends, Flight::Rst(Disconnect::Reset));
            self.end_side(side, Disconnect::Reset);
            return sent;
        }
        if let Some(grant) = origin.grant
            && self.role(from) == Role::Client
            && self.role(to) == Role::Resource
        {
            self.bound_for_resource(grant);
        }
        let flight = Flight::Data { number, len, bytes, grant: origin.grant, sent };
        self.launch(side.conn, side.sends, flight);
        sent
    }

    fn launch(&mut self, conn: ConnId, direction: Direction, flight: Flight) {
        let number = match &flight {
            Flight::Data { number, .. } => u64::from(*number),
            _ => HANDSHAKE,
        };
        let entry = self.network.conn(conn);
        let sender = entry.end(direction);
        let latency_ns = self.network.latency_ns(sender.draws, number, &mut self.chooser);
        let mut due = TrueTime(self.now.0.saturating_add(latency_ns));
        let mut spent = Vec::new();
        if !self.network.delays.is_empty() {
            let (from, to) = (sender.host, entry.end(direction.reverse()).host);
            let delay;
            let grant = match &flight {
                Flight::Data { grant, .. } => *grant,
                _ => self.grant_of(from).filter(|_| self.role(from) == Role::Client),
            };
            (delay, spent) = self.delay_of(from, to, grant);
            due = due + delay;
        }
        let end = self.network.conn_mut(conn).end_mut(direction);
        due = due.max(end.flights.back().map_or(due, |ahead| ahead.due));
        end.flights.push_back(InFlight { due, flight });
        self.queue.push(due, Pending::Arrival { conn, direction });
        for injection in spent {
            self.breaks(injection, Broken::Late);
            self.heal_at(due, injection);
        }
    }

    /// How much longer a message sent now takes, and the injections whose last message it is.
    fn delay_of(&mut self, from: HostId, to: HostId, grant: Option<GrantId>) -> (Duration, Vec<u32>) {
        let now = self.now;
        self.network.delays.retain(|delay| delay.until >= now && delay.left != Some(0));
        let mut total = Duration::ZERO;
        let (mut affecting, mut spent) = (Vec::new(), Vec::new());
        for delay in self.network.delays.iter_mut().filter(|delay| delay.from == from && delay.to == to) {
            total += delay.by;
            affecting.push(delay.injection);
            if let Some(left) = &mut delay.left {
                *left -= 1;
                if *left == 0 {
                    spent.push(delay.injection);
                }
            }
        }
        affecting.into_iter().for_each(|injection| self.mark_effect(injection, from, grant));
        (total, spent)
    }

    /// After a cut has ended, what waited first arrives after a latency of its own, and the rest behind it.
    pub(in crate::world) fn reschedule_arrival(&mut self, conn: ConnId, direction: Direction) {
        let now = self.now;
        let draws = self.network.conn(conn).end(direction).draws;
        let again = self.network.latency_ns(draws, HANDSHAKE - 1, &mut self.chooser);
        let end = self.network.conn_mut(conn).end_mut(direction);
        let mut due = TrueTime(now.0.saturating_add(again));
        for flight in &mut end.flights {
            due = due.max(flight.due);
            flight.due = due;
            self.queue.push(due, Pending::Arrival { conn, direction });
        }
    }

    /// The first segment of a direction arrives, unless its link is cut, its receiver has no power, or it moved.
    pub(in crate::world) fn arrival(
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
        let cut = self.network.barred(conn, direction);
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
                end.reader.wake();
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
                end.reader.wake();
            }
            Flight::Fin => self.end_side(receiver, Disconnect::Closed),
            Flight::Rst(why) => self.end_side(receiver, why),
        }
    }

    fn get_stuck(&mut self, conn: ConnId, direction: Direction, cut: Option<u32>) {
        let side = Side { conn, sends: direction };
        let end = self.network.end(side);
        end.stuck = true;
        let (from, user_timeout) = (end.host, end.user_timeout);
        let (segment, grant) = match end.flights.front().map(|first| &first.flight) {
            Some(Flight::Data { number, grant, .. }) => (*number, *grant),
            _ => (u32::MAX, None),
        };
        if let Some(injection) = cut {
            let own = || self.grant_of(from).filter(|_| self.role(from) == Role::Client);
            self.mark_effect(injection, from, grant.or_else(own));
        }
        let give_up = self.now + user_timeout.unwrap_or(self.network.tcp_timeout);
        self.queue.push(give_up, Pending::GiveUp { conn, direction, segment });
    }

    /// The kernel of the listening host answers, whether its process is paused or not.
    fn syn_arrives(&mut self, conn: ConnId, to: HostId, port: u16) {
        let receiver = Side { conn, sends: Direction::Back };
        let alive = self.processes[usize::from(to.0)].life == Life::Alive;
        match self.network.listening.get_mut(&(to, port)) {
            Some(listening) if alive => {
                listening.accepted.push_back(conn);
                listening.acceptor.wake();
                let end = self.network.end(receiver);
                end.open = true;
                end.established = true;
                self.launch(conn, Direction::Back, Flight::SynAck);
            }
            _ => self.launch(conn, Direction::Back, Flight::Rst(Disconnect::Refused)),
        }
    }

    /// A segment has waited too long: its sender sees the connection break, and the receiver once it can hear again.
    pub(in crate::world) fn give_up(&mut self, conn: ConnId, direction: Direction, segment: u32) {
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
        end.reader.wake();
        if open {
            let what = What::Disconnected { peer, why };
            self.log.push(self.now, host, None, Some(side.conn), None, what);
        }
    }

    /// What comes back to a probe from this end.
    pub(crate) fn probe(&self, side: Side) -> Probe {
        let conn = self.network.conn(side.conn);
        let other = conn.end(side.sends.reverse());
        let to = other.host;
        let is_cut = [side.sends, side.sends.reverse()].map(|way| self.network.barred(side.conn, way));
        if is_cut.iter().any(Option::is_some) || self.processes[usize::from(to.0)].dark {
            Probe::Silent
        } else if other.open {
            Probe::Answered
        } else {
            Probe::Unknown
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
        end.reader = Waiter::default();
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
    pub(in crate::world) fn cut_off(&mut self, host: HostId, power_loss: bool) {
        self.processes[usize::from(host.0)].dark = power_loss;
        self.network.listening.retain(|(listener, _), _| *listener != host);
        for side in self.sides_of(host) {
            if power_loss {
                let peer = self.network.peer(side);
                let end = self.network.end(side);
                end.open = false;
                end.fin_sent = true;
                end.reader = Waiter::default();
                let unread: Vec<Option<GrantId>> = end.received.drain(..).map(|chunk| chunk.grant).collect();
                unread.into_iter().for_each(|grant| self.unbind(grant, peer, host));
            } else {
                self.close(side);
            }
        }
    }

    /// The host answers again: with resets on the connections that it no longer knows.
    pub(in crate::world) fn network_up(&mut self, host: HostId) {
        self.processes[usize::from(host.0)].dark = false;
        for (conn, direction) in self.network.unstick(|_, to| to == host) {
            self.reschedule_arrival(conn, direction);
        }
    }

    /// Kills the connections between two hosts at both ends at once; false if there were none.
    pub(in crate::world) fn drop_connections(&mut self, a: HostId, b: HostId) -> bool {
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

    /// Has the network forget the connections between two hosts; false if there were none.
    pub(in crate::world) fn forget_connections(&mut self, a: HostId, b: HostId, injection: u32) -> bool {
        let sides: Vec<Side> =
            self.sides_of(a).into_iter().filter(|side| self.network.peer(*side) == b).collect();
        for side in &sides {
            self.network.conn_mut(side.conn).forgotten.get_or_insert(injection);
        }
        !sides.is_empty()
    }

    /// Breaks a connection at both ends at once.
    pub(crate) fn reset(&mut self, side: Side) {
        for end in [side, Side { conn: side.conn, sends: side.sends.reverse() }] {
            self.drop_flights(end);
            self.end_side(end, Disconnect::Reset);
        }
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
    pub(in crate::world) fn sides_of(&self, host: HostId) -> Vec<Side> {
        let mut sides = Vec::new();
        for id in &self.network.live {
            let conn = self.network.conn(*id);
            for sends in [Direction::Out, Direction::Back] {
                let end = conn.end(sends);
                if end.host == host && end.open {
                    sides.push(Side { conn: *id, sends });
                }
            }
        }
        sides
    }
}
