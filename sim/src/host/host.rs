//! The host of one process, with all that the process may touch: clocks, timers, tasks, the network, randomness, its disk.
//!
//! A [`Host`] is concrete and cheap to clone, so that lock code reads like ordinary tokio code. Which engine is behind
//! it cannot be seen.

use std::sync::Arc;

use super::sockets::Directory;
use crate::base::future::BoxFuture;
use crate::world::World;
use picklock_model::ids::{HostId, Origin};
use picklock_model::plan::Access;
use picklock_model::time::{Monotonic, WallTime};
use picklock_model::trace::What;

/// One process's view of the world.
#[derive(Clone)]
pub struct Host {
    pub(crate) id: HostId,
    pub(crate) world: Arc<World>,
    pub(crate) spawner: Arc<dyn Spawner>,
}

/// How an engine takes on a host's task.
pub(crate) trait Spawner: Send + Sync {
    /// A background task, in the service of this one of the client's tasks.
    fn spawn(&self, host: HostId, task: u32, future: BoxFuture<'static, ()>);
    /// The directory of the engine's own sockets, if it carries bytes itself.
    fn sockets(&self) -> Option<Arc<Directory>>;
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
        state.before(self.id, Access::Clock, None);
        let reading = state.monotonic(self.id);
        state.after(self.id, Access::Clock, None);
        reading
    }

    /// Reads the wall clock, which may be stepped at any time.
    #[must_use]
    pub fn wall(&self) -> WallTime {
        let mut state = self.world.state();
        state.before(self.id, Access::Clock, None);
        let now = state.local_now(self.id);
        let reading = state.process(self.id).clock.wall(now);
        state.after(self.id, Access::Clock, None);
        reading
    }

    /// Says that the client's section begins another attempt to acquire. For locks that ask again after a refusal: what
    /// hit an attempt that came to nothing is distinguished from what hit the one that was granted. A lock that keeps its
    /// place between two attempts says nothing: to it the whole wait is one.
    pub fn begin_attempt(&self) {
        self.world.state().begin_attempt(self.id);
    }

    /// Records what a server on this host did, and for which message it did it.
    pub fn record(&self, origin: Origin, what: What) {
        self.world.state().record(self.id, origin, what);
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.world.hosts()[usize::from(self.id.0)].name).finish()
    }
}
