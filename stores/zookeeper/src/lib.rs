//! The store kind ZooKeeper: members that agree on one log (Zab), and keep sessions.
//!
//! A simulated member speaks ZooKeeper's protocol on its client port: nodes, sessions, watches, transactions. Behind it is a replicated log
//! ([`picklock_raft`]). The real members run as unmodified processes in virtual time; tried with 3.8.0 as Debian packages it, on Java 17.
//!
//! **Entry point:** [`KIND`], which [`ZooKeeper`] describes.
//!
//! # Where things are
//!
//! - `spec`: ZooKeeper as a store kind: the members and their roles, the address for clients, the time that a new leader may take.
//! - `server`: the simulated member: `serve` puts it on a host, `connection` is a client's, `member` has requests reach the leader and sessions
//!   end; `state` is what the log is about: `tree` with `nodes`, `paths` and `rights`, `changes` by entries of the log, `reads`, `watches`,
//!   `connections`, `sessions` as the leader counts them, `notes` between members, and `locks`, which are reported to the trace. `words` are those of
//!   four letters.
//! - `real`: the command line and the files of a member, how the installed version is found, and the lines of a member's log that say
//!   who leads.
//! - [`jute`]: the encoding of its packets; [`messages`]: what is asked and answered.
//! - `protocol`: its packets, in the words of a story.
//! - `params`: the parameters.
//!
//! # Rules
//!
//! - A lock is an ephemeral node, which lasts as long as the session of its client. A session is no shorter than two ticks, and no longer than 20.
//! - Only the leader ends sessions, by its own monotonic clock, at the first whole tick after they ran out, and by an entry of the log. A new leader
//!   gives each its full time again.
//! - A request is a sign of life when it comes in. Other members report those of their clients to the leader with their answers to its own signs of
//!   life, twice a tick.
//! - A client that hears nothing learns that its session is over only when it reaches a member again.
//! - Reads are answered by the member that is asked, from what it has. Changes are ordered by the leader; `sync` waits for what the leader had
//!   appended, and does not make sure that it still leads.
//! - A follower gives up a leader when their connection ends, or after five ticks of silence; a leader looks at each whole tick for a majority. A member
//!   without a leader closes the connections of its clients. An election takes 0.2 s to 0.4 s.
//! - A client that has seen more than a member has is not taken. One that comes back by another member takes its session along: what it left on the
//!   old connection is refused by closing that.
//! - A member acknowledges a change once a majority has it on disk. With `disk=lost` a loss of power takes what a member has acknowledged.
//!
//! *Source:* the server of ZooKeeper 3.8.0, its `quorum` package for who follows whom.
//!
//! # What is not here
//!
//! Rights of somebody: everybody has the same. Nodes that end by themselves (TTL; off by default in the real one too), observers, read-only mode, quotas, local
//! sessions, a change of the members, TLS. Zab's own election, in which the longest log and then the highest number wins: here one of those with the
//! longest log does. A session's requests are carried out one after the other, where the real one lets several changes be on their way.
//! No lock: those are designs. No start of processes: `picklock_programs` does it.

pub mod jute;
pub mod messages;
mod params;
mod protocol;
mod real;
mod server;
mod spec;
#[cfg(test)]
mod tests;
mod version;

pub use params::{PARAMS, SERVED};
pub use server::serve_any as serve;
pub use spec::{KIND, ZooKeeper};

/// Where clients ask.
pub const CLIENT_PORT: u16 = 2181;

/// Where members follow their leader.
const PEER_PORT: u16 = 2888;

/// Where members vote.
const ELECTION_PORT: u16 = 3888;

/// For so many ticks a follower may be silent before it is given up, or a leader.
const SYNC_LIMIT: u32 = 5;

/// Where Debian's package has the server and a logger that writes to standard output.
const CLASS_PATH: &str = "/usr/share/java/slf4j-simple.jar:/usr/share/java/zookeeper.jar";
