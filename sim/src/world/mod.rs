//! The world: hosts, clocks, the network and the levers, behind one lock, independent of the engine that drives it.
//!
//! An engine does three things: it polls the hosts' tasks, it moves true time from one entry of the agenda to the
//! next, and it carries bytes. Everything that decides *when* a message arrives, *whether* a process runs and *what* a
//! clock shows is here, so that both engines see the same network, the same pauses and the same clocks.
//!
//! Left out on purpose: bandwidth, packet sizes and congestion. A segment is what one write hands over; it arrives
//! whole, in order, after a latency. Loss shows as TCP shows it, as lateness or a broken connection.

mod agenda;
mod file;
mod levers;
mod log;
mod network;
mod oracle;
mod points;
mod process;
mod timers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::base::ids::{EventId, GrantId, HostId, Origin};
use crate::base::time::{Monotonic, TrueTime, WallTime};
use crate::plan::probe::PointSeen;
use crate::plan::{Injection, Plan};
use crate::trace::{HostInfo, Role, What};

pub(crate) use file::File;
pub(crate) use network::{Chunk, Direction, Flight, Listening, Side};
pub use process::PulledLever;
pub(crate) use process::{Admission, Life};
pub(crate) use timers::TimerKey;

use agenda::Due;

use agenda::Agenda;
pub(crate) use log::EventSink;
use log::Log;
use network::Network;
use oracle::Oracle;
use process::Process;
use timers::Timers;

/// The world of one run, shared by its hosts.
pub(crate) struct World {
    hosts: Vec<HostInfo>,
    /// Where a served world meets the real one.
    outside: Option<Outside>,
    state: Mutex<State>,
    /// True if a host may have died or been started anew: see [`State::turn_over`].
    turned_over: Arc<AtomicBool>,
}

/// The way out of a served world and into it.
pub(crate) struct Outside {
    /// The host in whose name real peers speak.
    pub(crate) host: HostId,
    /// The real addresses that are doors to a port of a host.
    pub(crate) doors: BTreeMap<(String, u16), (HostId, u16)>,
}

/// The port of the outside host on which connections to real addresses are taken.
pub(crate) const WAY_OUT: u16 = 1;

/// Where an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// A port of a host of the world.
    Host(HostId, u16),
    /// Out of the world, through this host.
    Out(HostId),
}

impl World {
    pub(crate) fn new(plan: &Plan, hosts: Vec<HostInfo>, probing: bool) -> World {
        World::around(State::new(plan, &hosts, probing), hosts, None)
    }

    /// A world that runs beside the real one: its clocks show real time, and what happens is told to `sink` instead of
    /// being kept.
    pub(crate) fn served(
        plan: &Plan,
        hosts: Vec<HostInfo>,
        outside: Outside,
        unix_ns: u64,
        sink: EventSink,
    ) -> World {
        let mut state = State::new(plan, &hosts, false);
        state.log = Log::telling(sink);
        for process in &mut state.processes {
            process.clock.set_wall(WallTime(unix_ns));
        }
        World::around(state, hosts, Some(outside))
    }

    fn around(state: State, hosts: Vec<HostInfo>, outside: Option<Outside>) -> World {
        let turned_over = Arc::clone(&state.turned_over);
        World { hosts, outside, state: Mutex::new(state), turned_over }
    }

    /// Where an address leads to, as a host of this world sees it; `None` if there is no such host.
    pub(crate) fn route(&self, peer: &str, port: u16) -> Option<Route> {
        let named = self.hosts.iter().position(|host| host.name == peer);
        if let Some(index) = named {
            return Some(Route::Host(HostId(index as u16), port));
        }
        let outside = self.outside.as_ref()?;
        let door = outside.doors.get(&(peer.to_owned(), port));
        Some(door.map_or(Route::Out(outside.host), |(host, port)| Route::Host(*host, *port)))
    }

    /// True if [`take_turnover`](World::take_turnover) may have something. It is asked after every poll and hardly ever has.
    #[inline]
    pub(crate) fn has_turned_over(&self) -> bool {
        self.turned_over.load(Ordering::Relaxed)
    }

    /// The hosts that died or were started anew since this was last asked, in order.
    pub(crate) fn take_turnover(&self) -> Vec<Turnover> {
        self.turned_over.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.state().turnover)
    }

    pub(crate) fn hosts(&self) -> &[HostInfo] {
        &self.hosts
    }

    /// The state, for one short operation. Nothing that can call back into the world runs while it is held: futures
    /// and streams are dropped outside of it.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the world")
    }
}

/// Everything that changes during a run.
pub(crate) struct State {
    pub(crate) now: TrueTime,
    roles: Vec<Role>,
    names: Vec<String>,
    agenda: Agenda,
    pub(crate) processes: Vec<Process>,
    pub(crate) network: Network,
    timers: Timers,
    oracle: Oracle,
    pub(crate) log: Log,
    injections: Vec<Injection>,
    /// True for the injections that have already been seen to make a difference.
    bit: Vec<bool>,
    /// Injections whose effect lasts at this moment.
    unhealed: Vec<u32>,
    /// Every protocol point passed, while probing.
    points_seen: Option<Vec<PointSeen>>,
    /// Hosts that died or were started anew since the engine last looked, in order.
    turnover: Vec<Turnover>,
    /// True while `turnover` may hold something: shared with the [`World`], which reads it without its lock.
    turned_over: Arc<AtomicBool>,
    /// Live lock records by store, as the stores report them.
    records: BTreeMap<HostId, u32>,
    /// The member that last came to lead.
    leader: Option<HostId>,
    /// The store that each host is a member of.
    stores: Vec<u32>,
    /// The client that was last seen not to be over, by index.
    last_busy: usize,
}

/// A change of a host's life that the engine must carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turnover {
    Died(HostId),
    Started(HostId),
}

impl State {
    fn new(plan: &Plan, hosts: &[HostInfo], probing: bool) -> State {
        let mut state = State {
            now: TrueTime(0),
            roles: hosts.iter().map(|host| host.role).collect(),
            names: hosts.iter().map(|host| host.name.clone()).collect(),
            agenda: Agenda::default(),
            processes: hosts
                .iter()
                .enumerate()
                .map(|(index, host)| Process::new(plan.seed, HostId(index as u16), &host.name))
                .collect(),
            network: Network::new(plan.network_seed, hosts, plan.world.latency, plan.world.tcp_timeout),
            timers: Timers::default(),
            oracle: Oracle::default(),
            log: Log::new(),
            injections: plan.injections.clone(),
            bit: vec![false; plan.injections.len()],
            unhealed: Vec::new(),
            points_seen: probing.then(Vec::new),
            turnover: Vec::new(),
            turned_over: Arc::new(AtomicBool::new(false)),
            records: BTreeMap::new(),
            leader: hosts.iter().position(|host| host.role == Role::Store).map(|index| HostId(index as u16)),
            stores: hosts.iter().map(|host| host.store).collect(),
            last_busy: 0,
        };
        state.arm_injections();
        state
    }

    /// What the process on this host takes for the present: later than true time while it owes a pause that struck
    /// inside the step that it is executing.
    pub(crate) fn local_now(&self, host: HostId) -> TrueTime {
        self.processes[usize::from(host.0)].resumes_at(self.now)
    }

    pub(crate) fn process(&mut self, host: HostId) -> &mut Process {
        &mut self.processes[usize::from(host.0)]
    }

    pub(crate) fn role(&self, host: HostId) -> Role {
        self.roles[usize::from(host.0)]
    }

    pub(crate) fn monotonic(&self, host: HostId) -> Monotonic {
        self.processes[usize::from(host.0)].clock.monotonic(self.local_now(host))
    }

    /// Records what happened on a host in its own step, with the origin given or, if that is empty, with what the
    /// process last learned and the section that it is in.
    pub(crate) fn record(&mut self, host: HostId, origin: Origin, what: What) -> EventId {
        let at = self.local_now(host);
        let process = &self.processes[usize::from(host.0)];
        if process.life == Life::Dead {
            // The process died inside the step that it is executing: the rest of the step does not happen.
            return EventId(u32::MAX);
        }
        let cause = origin.cause.or(process.context);
        let grant = origin.grant.or_else(|| process.grant());
        self.follow_records(host, &what);
        self.log.push(at, host, cause, None, grant, what)
    }

    /// Records what a lever or the network does to a host now.
    pub(crate) fn record_act(&mut self, host: HostId, cause: Option<EventId>, what: What) -> EventId {
        self.log.push(self.now, host, cause, None, None, what)
    }

    pub(crate) fn mark_bit(&mut self, injection: u32) {
        if let Some(bit) = self.bit.get_mut(injection as usize)
            && !*bit
        {
            *bit = true;
            let host = HostId(0);
            self.log.push(self.now, host, None, None, None, What::Bit { injection });
        }
    }

    fn follow_records(&mut self, host: HostId, what: &What) {
        match what {
            What::Created { .. } => *self.records.entry(host).or_default() += 1,
            What::Deleted { .. } | What::Expired { .. } | What::Lost { .. } => {
                let count = self.records.entry(host).or_default();
                *count = count.saturating_sub(1);
            }
            What::Promoted => self.leader = Some(host),
            _ => {}
        }
    }

    /// The next instant at which something is due.
    pub(crate) fn next_due(&mut self) -> Option<TrueTime> {
        self.agenda.next_at()
    }

    /// Carries out the next entry of the agenda if it is due at `limit` or earlier, moving true time to it.
    /// False if there is none. `sockets` collects the segments that arrived, for an engine that carries bytes itself.
    pub(crate) fn step(&mut self, limit: TrueTime, sockets: Option<&mut Vec<(Side, Flight)>>) -> bool {
        let (at, due) = loop {
            let Some((at, nth, due)) = self.agenda.pop_until(limit) else { return false };
            match due {
                Due::Timer { slot } if !self.timer_due(slot, (at, nth)) => {}
                _ => break (at, due),
            }
        };
        self.now = self.now.max(at);
        match due {
            // Its task is awake by now.
            Due::Timer { .. } => {}
            Due::Arrival { conn, direction } => self.arrival(conn, direction, sockets),
            Due::Resume { host, injection } => self.resume(host, injection),
            Due::Lever { injection } => self.pull(injection),
            Due::Heal { injection } => self.heal(injection),
            Due::Restart { host, injection } => self.restart(host, injection),
            Due::Deadline { host, generation } => self.deadline_due(host, generation),
            Due::GiveUp { conn, direction, segment } => self.give_up(conn, direction, segment),
        }
        true
    }

    /// Moves true time forward without anything happening.
    pub(crate) fn advance(&mut self, to: TrueTime) {
        self.now = self.now.max(to);
    }

    /// True if every client has finished or is dead for good, and nothing of theirs is on its way to the resource.
    pub(crate) fn settled(&mut self) -> bool {
        let busy = |host: usize| {
            let process = &self.processes[host];
            let over = process.finished || (process.life == Life::Dead && !process.restarting);
            self.roles[host] == Role::Client && !over
        };
        // This is asked at every step, and the client that was busy then mostly still is.
        if busy(self.last_busy) {
            return false;
        }
        match (0..self.processes.len()).find(|host| busy(*host)) {
            Some(host) => {
                self.last_busy = host;
                false
            }
            None => self.oracle.nothing_in_flight(),
        }
    }

    fn turn_over(&mut self, change: Turnover) {
        self.turnover.push(change);
        self.turned_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_points(&mut self) -> Vec<PointSeen> {
        self.points_seen.take().unwrap_or_default()
    }

    /// Takes out everything that refers to tasks. Their wakers lead back to the world, which would otherwise keep itself
    /// alive; they are dropped outside of its lock, because the last of them drops a task.
    pub(crate) fn dissolve(&mut self) -> impl Sized + use<> {
        self.processes.iter_mut().for_each(Process::dissolve);
        (std::mem::take(&mut self.timers), std::mem::take(&mut self.oracle), self.network.dissolve())
    }

    pub(crate) fn grant_of(&self, host: HostId) -> Option<GrantId> {
        self.processes[usize::from(host.0)].grant()
    }
}
