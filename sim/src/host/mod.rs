//! The host of one process, with all that the process may touch: clocks, timers, tasks, the network, randomness, its disk.

pub(crate) mod actions;
mod bell;
mod connect;
pub mod disk;
pub mod driver;
#[expect(clippy::module_inception, reason = "a host is what all the others here belong to")]
mod host;
mod origins;
mod rng;
pub mod sleep;
pub(crate) mod sockets;
pub mod stream;
pub mod task;

pub use actions::AppliedAction;
pub use bell::Wanted;
pub(crate) use connect::Connect;
pub use host::Host;
pub(crate) use host::Spawner;
pub use origins::Origins;
pub use picklock_model::ids::Origin;
pub use rng::HostRng;
pub use sleep::Elapsed;
