//! What one process may touch, and all that it may touch: clocks, timers, tasks, the network, randomness, its disk.
//!
//! A [`Host`] is concrete and cheap to clone, so that lock code reads like ordinary tokio code. Which engine is behind
//! it cannot be seen.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use crate::connect::Connect;
use crate::disk::Disk;
use crate::engine::sockets::Directory;
use crate::ids::{EventId, GrantId, HostId, Key};
use crate::oracle::OracleTurn;
use crate::sleep::{Sleep, Timeout};
use crate::stream::{Listener, Stream};
use crate::task::Task;
use crate::time::{Monotonic, WallTime};
use crate::trace::What;
use crate::witness::Witness;
use crate::world::{Route, WAY_OUT, World};

pub use crate::sleep::Elapsed;

/// One process's view of the world.
#[derive(Clone)]
pub struct Host {
    pub(crate) id: HostId,
    pub(crate) world: Arc<World>,
    pub(crate) spawner: Arc<dyn Spawner>,
}

/// The longest name of a real host, in bytes (RFC 1035).
const HOST_NAME_MAX: usize = 255;

/// How an engine takes on a host's task.
pub(crate) trait Spawner: Send + Sync {
    fn spawn(&self, host: HostId, worker: bool, future: crate::lock::BoxFuture<'static, ()>);
    /// The directory of the engine's own sockets, if it carries bytes itself.
    fn sockets(&self) -> Option<Arc<Directory>>;
}

/// The message that an action of a server goes back to, and the section in whose service that was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The delivery of the message.
    pub cause: Option<EventId>,
    /// The section.
    pub grant: Option<GrantId>,
}

impl Host {
    /// Its index among the hosts of the run.
    #[must_use]
    pub fn id(&self) -> HostId {
        self.id
    }

    /// Its name, such as `client-1` or `node-3`.
    #[must_use]
    pub fn name(&self) -> String {
        self.world.hosts()[usize::from(self.id.0)].name.clone()
    }

    /// Reads the monotonic clock: the one to measure spans with.
    #[must_use]
    pub fn monotonic(&self) -> Monotonic {
        let mut state = self.world.state();
        state.before(self.id, crate::plan::Access::Clock, None);
        let reading = state.monotonic(self.id);
        state.after(self.id, crate::plan::Access::Clock, None);
        reading
    }

    /// Reads the wall clock, which may be stepped at any time.
    #[must_use]
    pub fn wall(&self) -> WallTime {
        let mut state = self.world.state();
        state.before(self.id, crate::plan::Access::Clock, None);
        let now = state.local_now(self.id);
        let reading = state.process(self.id).clock.wall(now);
        state.after(self.id, crate::plan::Access::Clock, None);
        reading
    }

    /// Waits until `span` has passed on the monotonic clock.
    #[must_use]
    pub fn sleep(&self, span: Duration) -> Sleep {
        let deadline = self.world.state().monotonic(self.id) + span;
        self.sleep_until(deadline)
    }

    /// Waits until the monotonic clock shows `deadline`.
    #[must_use]
    pub fn sleep_until(&self, deadline: Monotonic) -> Sleep {
        Sleep::new(self.clone(), deadline)
    }

    /// Runs `future` until it is ready or `span` has passed on the monotonic clock. If both have happened when the
    /// process looks (after a pause, say), the future wins.
    ///
    /// # Errors
    /// [`Elapsed`] when the span has passed first.
    pub fn timeout<F: Future>(&self, span: Duration, future: F) -> Timeout<F> {
        Timeout::new(self.sleep(span), future)
    }

    /// Runs a background task of this process: it pauses and dies with it.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task::spawn(self, future)
    }

    /// Connects to a port of another host.
    ///
    /// # Errors
    /// When nobody listens there, the host is unknown or is this one, or the connection breaks meanwhile. There is no
    /// timeout but TCP's own: wrap it in [`timeout`](Host::timeout).
    pub async fn connect(&self, peer: &str, port: u16) -> io::Result<Stream> {
        match self.world.route(peer, port) {
            Some(Route::Host(target, port)) if target != self.id => Connect::new(self, target, port).await,
            Some(Route::Out(outside)) if peer.len() <= HOST_NAME_MAX => {
                let mut stream = Connect::new(self, outside, WAY_OUT).await?;
                stream.write_all(format!("{peer}:{port}\n").as_bytes()).await?;
                Ok(stream)
            }
            Some(Route::Host(..) | Route::Out(_)) | None => {
                Err(io::Error::new(io::ErrorKind::NotFound, format!("no other host is named `{peer}`")))
            }
        }
    }

    /// Listens on a port.
    ///
    /// # Errors
    /// When this process already listens there.
    pub async fn bind(&self, port: u16) -> io::Result<Listener> {
        crate::connect::bind(self, port).await
    }

    /// Random numbers of this process.
    #[must_use]
    pub fn rng(&self) -> HostRng<'_> {
        HostRng { host: self }
    }

    /// The disk of this host.
    #[must_use]
    pub fn disk(&self) -> Disk {
        Disk::new(self.clone())
    }

    /// Records what a server on this host did, and for which message it did it.
    pub fn record(&self, origin: Origin, what: What) {
        self.world.state().record(self.id, origin, what);
    }

    /// Asks the simulator's perfect lock for a key in the name of the present section. The future is ready when the
    /// key is this section's; dropping it leaves the queue.
    #[must_use]
    pub fn oracle_acquire(&self, key: &Key) -> OracleTurn {
        OracleTurn::new(self.clone(), key.clone())
    }

    /// Gives a key back to the perfect lock.
    pub async fn oracle_release(&self, key: &Key) {
        crate::oracle::release(self, key).await;
    }

    /// What a workload tells the simulator about the section that it runs on this client.
    #[must_use]
    pub fn witness(&self) -> Witness {
        Witness::new(self.clone())
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.world.hosts()[usize::from(self.id.0)].name).finish()
    }
}

/// Random numbers of one process, from a stream of its own.
pub struct HostRng<'a> {
    host: &'a Host,
}

impl HostRng<'_> {
    /// A uniform number in `0..bound`.
    ///
    /// # Panics
    /// When `bound` is zero.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no members to draw");
        self.host.world.state().process(self.host.id).rng.below(bound)
    }

    /// A uniform span in `min..=max`.
    #[must_use]
    pub fn span(&self, min: Duration, max: Duration) -> Duration {
        self.host.world.state().process(self.host.id).rng.span(min, max)
    }

    /// A value that no other acquire uses: 20 random bytes in hexadecimal, as the Redis documentation suggests.
    #[must_use]
    pub fn owner_id(&self) -> String {
        let mut state = self.host.world.state();
        let rng = &mut state.process(self.host.id).rng;
        let (a, b, c) = (rng.next_u64(), rng.next_u64(), rng.below(1 << 32));
        format!("{a:016x}{b:016x}{c:08x}")
    }
}
