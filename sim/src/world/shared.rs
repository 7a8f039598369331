//! The world as its hosts share it: who is in it, where addresses lead, and the state, which belongs to the thread of the run.

use std::cell::RefMut;
use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::choices::Chooser;
use super::log::{EventSink, Log};
use super::state::{LifecycleChange, State};
use super::wire::Keeper;
use crate::base::own_thread::OwnThread;
use picklock_model::ids::HostId;
use picklock_model::plan::Plan;
use picklock_model::points::PointsToRecord;
use picklock_model::time::WallTime;
use picklock_model::trace::HostInfo;

/// The world of one run, shared by its hosts.
pub(crate) struct World {
    hosts: Vec<HostInfo>,
    /// Where a served world meets the real one.
    outside: Option<Outside>,
    /// The keeper of what segments say; hardly any run has one.
    pub(crate) keeper: Option<Keeper>,
    state: OwnThread<State>,
    /// True if a host may have died or been started anew: see [`State::note_lifecycle_change`].
    lifecycle_changed: Arc<AtomicBool>,
}

/// The way out of a served world and into it.
pub(crate) struct Outside {
    /// The host in whose name real peers speak.
    pub(crate) host: HostId,
    /// The real addresses that are doors to a port of a host.
    pub(crate) doors: Mutex<BTreeMap<(String, u16), (HostId, u16)>>,
    /// The receivers of the new socket of a door that moves, by the host behind it and its port there.
    pub(crate) movers: BTreeMap<(HostId, u16), UnboundedSender<TcpListener>>,
}

impl Outside {
    /// Gives the door to this port of a host another real port.
    fn move_door(&self, host: HostId, port: u16, to: u16) -> io::Result<()> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let found = doors.iter().find(|(_, place)| **place == (host, port)).map(|(door, _)| door.clone());
        let (Some(door), Some(mover)) = (found, self.movers.get(&(host, port))) else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        let listener = TcpListener::bind((door.0.as_str(), to))?;
        listener.set_nonblocking(true)?;
        doors.remove(&door);
        doors.insert((door.0, to), (host, port));
        // A world that is over has no doors.
        let _ = mover.send(listener);
        Ok(())
    }
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
    pub(crate) fn new(
        plan: &Plan,
        hosts: Vec<HostInfo>,
        points_to_record: PointsToRecord,
        keeper: Option<Keeper>,
        chooser: Chooser,
    ) -> World {
        World { keeper, ..World::around(State::new(plan, &hosts, points_to_record, chooser), hosts, None) }
    }

    /// A world that runs beside the real one: its clocks show real time, and each event goes to `sink` instead of
    /// being kept.
    pub(crate) fn served(
        plan: &Plan,
        hosts: Vec<HostInfo>,
        outside: Outside,
        unix_ns: u64,
        sink: EventSink,
    ) -> World {
        let mut state = State::new(plan, &hosts, PointsToRecord::Nothing, Chooser::new(plan, None, false));
        state.log = Log::to_sink(sink);
        for process in &mut state.processes {
            process.clock.set_wall(WallTime(unix_ns));
        }
        World::around(state, hosts, Some(outside))
    }

    fn around(state: State, hosts: Vec<HostInfo>, outside: Option<Outside>) -> World {
        let lifecycle_changed = Arc::clone(&state.lifecycle_changed);
        World { hosts, outside, keeper: None, state: OwnThread::new(state), lifecycle_changed }
    }

    /// Where an address leads to, as a host of this world sees it; `None` if there is no such host.
    pub(crate) fn route(&self, peer: &str, port: u16) -> Option<Route> {
        let named = self.hosts.iter().position(|host| host.name == peer);
        if let Some(index) = named {
            return Some(Route::Host(HostId(index as u16), port));
        }
        let outside = self.outside.as_ref()?;
        let doors = outside.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let door = doors.get(&(peer.to_owned(), port));
        Some(door.map_or(Route::Out(outside.host), |(host, port)| Route::Host(*host, *port)))
    }

    /// Gives the door to this port of a host another real port, in a served world.
    pub(crate) fn move_door(&self, host: HostId, port: u16, to: u16) -> io::Result<()> {
        let outside = self.outside.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        outside.move_door(host, port, to)
    }

    /// True if [`take_lifecycle_changes`](World::take_lifecycle_changes) may have something. It is asked after every poll and
    /// hardly ever has.
    #[inline]
    pub(crate) fn has_lifecycle_changes(&self) -> bool {
        self.lifecycle_changed.load(Ordering::Relaxed)
    }

    /// The hosts that died or were started anew since this was last asked, in order.
    pub(crate) fn take_lifecycle_changes(&self) -> Vec<LifecycleChange> {
        self.lifecycle_changed.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.state().lifecycle_changes)
    }

    pub(crate) fn hosts(&self) -> &[HostInfo] {
        &self.hosts
    }

    /// The state, for one short operation. Nothing that can call back into the world runs while it is held: futures
    /// and streams are dropped outside of it.
    ///
    /// # Panics
    /// On any other thread than that of the run.
    #[inline]
    pub(crate) fn state(&self) -> RefMut<'_, State> {
        self.state.get()
    }

    /// Changes the state as something is dropped. On any other thread than that of the run it changes nothing: a panic there drops
    /// the values of the thread, and another panic would end the process.
    pub(crate) fn tidy(&self, change: impl FnOnce(&mut State)) {
        if let Some(mut state) = self.state.try_get() {
            change(&mut state);
        }
    }
}
