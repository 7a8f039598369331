//! The store kind ZooKeeper: members that agree on one log (Zab), and keep sessions.
//!
//! There is no simulated ZooKeeper. Its members run as real, unmodified processes in virtual time; this crate says what picklock must know
//! of them. Tried with 3.8.0 as Debian packages it, on Java 17.
//!
//! **Entry point:** [`KIND`], which [`ZooKeeper`] describes.
//!
//! # Where things are
//!
//! - `spec`: ZooKeeper as a store kind: the members and their roles, the address for clients, the time that a new leader may take.
//! - `real`: the command line and the files of a member, how the installed version is found, and the lines of a member's log that say
//!   who leads.
//! - [`jute`]: the encoding of its packets; [`messages`]: what is asked and answered.
//! - `protocol`: its packets, in the words of a story.
//! - `params`: the parameters.
//!
//! There is no `server`, as the members run as real processes, and no `tests`: each file ends with its own.
//!
//! # What is known of the real one, and shows in runs
//!
//! - A lock is an ephemeral node, which lasts as long as the session of its client.
//! - A session is no shorter than two ticks.
//! - Only the leader ends sessions, at the next whole tick after they ran out, and a new leader gives each its full time again.
//! - A client that hears nothing learns that its session is over only when it reaches a member again.
//! - A restart finds the directory as the process left it, also after a loss of power: ZooKeeper syncs what it acknowledges.
//!
//! # What is not here
//!
//! No client: adapters speak to a member on its client port. No start of processes: `picklock_programs` does it.

pub mod jute;
pub mod messages;
mod params;
mod protocol;
mod real;
mod spec;

pub use params::PARAMS;
pub use spec::{KIND, ZooKeeper};

/// Where clients ask.
pub const CLIENT_PORT: u16 = 2181;

/// Where members follow their leader.
const PEER_PORT: u16 = 2888;

/// Where members vote.
const ELECTION_PORT: u16 = 3888;

/// Where Debian's package has the server and a logger that writes to standard output.
const CLASS_PATH: &str = "/usr/share/java/slf4j-simple.jar:/usr/share/java/zookeeper.jar";
