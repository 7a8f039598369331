//! Serving a world: the servers of a topology run in real time, and real clients in any language talk to them through
//! sockets, with the same actions as in a run.
//!
//! The servers talk to each other inside the world, by the real addresses of their doors, so that a client that learns
//! where another server is can go there. An address that is no door leads out of the world, to a real server.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::contract::store::{Member, Serve, ServerContext};
use crate::engine::pace::{self, Door, Pace};
use crate::engine::program::HostProgram;
pub use crate::world::LiveCommand;
use crate::world::{Outside, World};
use picklock_model::ids::HostId;
use picklock_model::plan::{Plan, Settings};
use picklock_model::trace::{Event, HostInfo, Role};

/// The name of the host in whose name real clients speak.
pub const CLIENTS: &str = "clients";

/// A member of a store and its door.
pub struct Served {
    /// The member; its `door` is the address that the others know.
    pub member: Member,
    /// The real address to listen at.
    pub door: SocketAddr,
    /// The port that the member binds in the world.
    pub port: u16,
}

/// The reason why a world could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A door's address could not be listened at.
    #[error("cannot listen at {address} for {name}: {source}")]
    Door {
        /// The host behind it.
        name: String,
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The system gave no runtime.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
}

/// The receiver of each event of a served world: the event, and the hosts that it names by index.
pub type Listener = Box<dyn FnMut(&Event, &[HostInfo]) + Send>;

/// Serves a world until `stop` is ready. Every member gets the settings, which must be complete. `ready` is called once all
/// doors are open. A command that comes over `commands` is carried out at once.
///
/// # Errors
/// When a door cannot be opened.
pub fn serve(
    plan: &Plan,
    start: &Serve,
    settings: &Settings,
    servers: Vec<Served>,
    mut listener: Listener,
    ready: impl FnOnce(),
    (commands, stop): (UnboundedReceiver<LiveCommand>, impl Future<Output = ()>),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    let world = runtime.block_on(async {
        let pace = Pace::begin();
        let outside = HostId(servers.len() as u16);
        let members: Vec<Member> = servers.iter().map(|server| server.member.clone()).collect();
        let mut doors = Vec::new();
        let (mut addresses, mut movers) = (BTreeMap::new(), BTreeMap::new());
        let mut cast: Vec<(HostInfo, HostProgram)> = Vec::new();
        for (index, server) in servers.into_iter().enumerate() {
            let host = HostId(index as u16);
            let listener = pace::listen(server.door).map_err(|source| ServeError::Door {
                name: server.member.name.clone(),
                address: server.door,
                source,
            })?;
            addresses.insert((server.door.ip().to_string(), server.door.port()), (host, server.port));
            let (mover, moves) = unbounded_channel();
            movers.insert((host, server.port), mover);
            doors.push(Door { listener, moves, address: server.door, host, port: server.port });
            let (start, settings, member) = (Arc::clone(start), settings.clone(), server.member);
            let info = HostInfo {
                store: member.store,
                group: member.group,
                ..HostInfo::new(&member.name, member.role)
            };
            let members: Vec<Member> =
                members.iter().filter(|other| other.store == member.store).cloned().collect();
            let program: HostProgram = Arc::new(move |host| {
                let (member, members, settings) = (member.clone(), members.clone(), settings.clone());
                start(ServerContext { host, member, members, settings, passive: false })
            });
            cast.push((info, program));
        }
        let way_out = pace.clone();
        let program: HostProgram = Arc::new(move |host| Box::pin(pace::way_out(host, way_out.clone())));
        cast.push((HostInfo::new(CLIENTS, Role::Client), program));

        let (hosts, programs): (Vec<HostInfo>, Vec<HostProgram>) = cast.into_iter().unzip();
        let names = hosts.clone();
        let sink = Box::new(move |event: &Event| listener(event, &names));
        let outside_of = Outside { host: outside, doors: Mutex::new(addresses), movers };
        let world = Arc::new(World::served(plan, hosts, outside_of, unix_ns(), sink));
        ready();
        pace::run(&world, &programs, &pace, (outside, doors), commands, stop).await;
        Ok(world)
    })?;
    // The clients that are still there leave before what they are connected to is gone.
    drop(runtime);
    let remains = world.state().dissolve();
    drop(remains);
    Ok(())
}

/// The real wall clock.
#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a served world shows real time")]
fn unix_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, picklock_model::time::nanos)
}
