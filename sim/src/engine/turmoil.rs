//! The second engine: the turmoil crate, a tokio runtime and sockets for each host, ticks of a millisecond.
//!
//! turmoil schedules the hosts and carries the bytes; the world's network model decides when. Every link is held, and
//! before each tick the messages that the model has let arrive are delivered one by one. turmoil's own latencies,
//! partitions and random numbers are not used. True time is the world's: ticks, plus the spans skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::guard::Guard;
use super::program::HostProgram;
use crate::base::future::BoxFuture;
use crate::host::sockets::Directory;
use crate::host::{Host, Spawner};
use crate::world::{Direction, Flight, LifecycleChange, Progress, Side, World};
use picklock_model::ids::HostId;
use picklock_model::time::{EPOCH_NS, TrueTime};
use picklock_model::trace::Role;

const TICK: Duration = Duration::from_millis(1);

/// Runs a world to its end.
pub(crate) fn run(world: &Arc<World>, programs: &[HostProgram], idle_skip: bool) {
    let mut hosts = Hosts::new(world, programs);
    let mut quiet = 0;
    loop {
        let now = world.state().now;
        let busy = hosts.tick(now + TICK);
        quiet = if busy { 0 } else { quiet + 1 };
        let mut state = world.state();
        match state.settled(world.hosts()) {
            Progress::Over => return,
            Progress::LetIn => quiet = 0,
            Progress::Busy => {}
        }
        let horizon = state.ending.horizon;
        if state.now >= horizon {
            match state.at_horizon(world.hosts()) {
                Progress::LetIn => quiet = 0,
                Progress::Busy | Progress::Over => return,
            }
        }
        // A task woken by another host's runs in the tick after it, so one quiet tick must have passed.
        if idle_skip && quiet > 1 {
            let next = state.next_due().map_or(horizon, |due| due.min(horizon));
            let tick_before = TrueTime((next - TICK).0 / 1_000_000 * 1_000_000);
            if tick_before > state.now + 3 * TICK {
                state.advance(tick_before);
            }
        }
    }
}

struct Hosts<'a> {
    world: &'a Arc<World>,
    sim: turmoil::Sim<'a>,
    directory: Arc<Directory>,
    addresses: Vec<IpAddr>,
}

impl<'a> Hosts<'a> {
    fn new(world: &'a Arc<World>, programs: &'a [HostProgram]) -> Hosts<'a> {
        let mut sim = turmoil::Builder::new()
            .epoch(epoch())
            .tick_duration(TICK)
            .simulation_duration(Duration::MAX)
            .tcp_capacity(1 << 16)
            .rng_seed(0)
            .build();
        let directory = Arc::new(Directory::default());
        for (index, (info, program)) in world.hosts().iter().zip(programs).enumerate() {
            let id = HostId(index as u16);
            let critical = info.role == Role::Client;
            let spawner: Arc<dyn Spawner> =
                Arc::new(Local { world: Arc::clone(world), directory: Arc::clone(&directory) });
            let host = Host { id, world: Arc::clone(world), spawner };
            sim.host(info.name.as_str(), move || {
                let program = Guard::new(Arc::clone(&host.world), id, critical, 0, program(host.clone()));
                async move {
                    program.await;
                    // A host whose program has returned would no longer be ticked, its background tasks neither.
                    std::future::pending::<turmoil::Result>().await
                }
            });
        }
        let addresses: Vec<IpAddr> =
            world.hosts().iter().map(|info| sim.lookup(info.name.as_str())).collect();
        for (index, a) in addresses.iter().enumerate() {
            addresses[index + 1..].iter().for_each(|b| sim.hold(*a, *b));
        }
        Hosts { world, sim, directory, addresses }
    }

    /// One tick: what is due in the world, the messages that arrive by it, then every host. True if anything was due.
    fn tick(&mut self, until: TrueTime) -> bool {
        let mut arrived = Vec::new();
        let mut busy = false;
        {
            let mut state = self.world.state();
            while state.step(until, Some(&mut arrived)) {
                busy = true;
            }
            state.advance(until);
        }
        self.apply_lifecycle_changes();
        if !arrived.is_empty() {
            self.let_through(&arrived);
        }
        self.sim.step().expect("no host's program returns an error");
        self.apply_lifecycle_changes();
        busy
    }

    fn apply_lifecycle_changes(&mut self) {
        for change in self.world.take_lifecycle_changes() {
            match change {
                LifecycleChange::Died(host) => self.sim.crash(self.addresses[usize::from(host.0)]),
                LifecycleChange::Started(host) => self.sim.bounce(self.addresses[usize::from(host.0)]),
            }
        }
    }

    /// Lets turmoil deliver the messages that are these segments. How a connection ends is the model's affair, so
    /// turmoil's own closing messages pass at once.
    fn let_through(&mut self, arrived: &[(Side, Flight)]) {
        let mut data: BTreeMap<(SocketAddr, SocketAddr), usize> = BTreeMap::new();
        // turmoil keeps what is delivered among its messages until it steps.
        let mut connecting: BTreeSet<(SocketAddr, SocketAddr)> = BTreeSet::new();
        for (side, flight) in arrived {
            match flight {
                Flight::Syn => connecting.extend(self.let_connect(*side, &connecting)),
                Flight::Data { .. } => {
                    if let Some(route) = self.directory.route(*side) {
                        *data.entry(route).or_default() += 1;
                    }
                }
                Flight::SynAck | Flight::Fin | Flight::Rst(_) => {}
            }
        }
        self.sim.links(|links| {
            for sent in links.flatten() {
                match sent.protocol() {
                    turmoil::Protocol::Tcp(turmoil::Segment::Data(..)) => {
                        if let Some(count) = data.get_mut(&sent.pair())
                            && *count > 0
                        {
                            *count -= 1;
                            sent.deliver();
                        }
                    }
                    turmoil::Protocol::Tcp(turmoil::Segment::Syn(_)) => {}
                    _ => sent.deliver(),
                }
            }
        });
    }

    /// Delivers the first segment of a connection, and returns the addresses of both ends. Those of `connecting` are delivered
    /// already.
    fn let_connect(
        &mut self,
        side: Side,
        connecting: &BTreeSet<(SocketAddr, SocketAddr)>,
    ) -> Option<(SocketAddr, SocketAddr)> {
        debug_assert_eq!(side.sends, Direction::Out);
        let (from, to) = {
            let mut state = self.world.state();
            (state.network.end(side).host, state.network.peer(side))
        };
        let position = self.directory.take_dialed(from, to, side.conn)?;
        let (source, target) = (self.addresses[usize::from(from.0)], self.addresses[usize::from(to.0)]);
        let mut ends = None;
        self.sim.links(|links| {
            let held = links.flatten().filter(|sent| {
                let pair @ (src, dst) = sent.pair();
                let syn = matches!(sent.protocol(), turmoil::Protocol::Tcp(turmoil::Segment::Syn(_)));
                syn && src.ip() == source && dst.ip() == target && !connecting.contains(&pair)
            });
            if let Some(sent) = held.into_iter().nth(position) {
                ends = Some(sent.pair());
                sent.deliver();
            }
        });
        ends.inspect(|ends| self.directory.set_ends(side.conn, *ends))
    }
}

#[expect(clippy::disallowed_types, reason = "turmoil asks for its epoch in this type; nothing reads a clock")]
fn epoch() -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + Duration::from_nanos(EPOCH_NS)
}

/// Spawns on the runtime of the host that is being polled.
struct Local {
    world: Arc<World>,
    directory: Arc<Directory>,
}

impl Spawner for Local {
    fn spawn(&self, host: HostId, task: u32, future: BoxFuture<'static, ()>) {
        tokio::task::spawn_local(Guard::new(Arc::clone(&self.world), host, false, task, future));
    }

    fn sockets(&self) -> Option<Arc<Directory>> {
        Some(Arc::clone(&self.directory))
    }
}
