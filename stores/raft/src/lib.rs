//! One log that several members keep alike, as long as a majority of them can speak to each other: Raft, as etcd has it.
//!
//! A member wants to be elected when it hears nothing of a leader for one to two election timeouts, counted in ticks. A leader that does not
//! hear of a majority for one election timeout steps down. What a majority has on its disks is committed, and every member applies it, in
//! the order of the log. A leader answers a read once a majority has confirmed that it leads.
//!
//! A store whose members hold on to their leader by a connection has a [`Silence`] beside: a follower gives its leader up when the connection
//! ends, or after a long silence, while an election takes no longer than before.
//!
//! **Entry points:** [`Node`] is the algorithm, without clock, disk and network; [`Replica`] is one on a host.
//!
//! # Where things are
//!
//! - `entry`: what a log holds; `message`: what members say to each other; `bytes`: how both are written.
//! - `log`: the entries after the last snapshot.
//! - `node`: the algorithm: `member` (what it has, and what a message is for), `election`, `replication`, `reading`, `silence`.
//! - `replica`: a node on a host: its files, its ticks, its connections.
//!
//! *Source:* Ongaro and Ousterhout, *In Search of an Understandable Consensus Algorithm* (2014); Ongaro's dissertation (2014), 4.1 (one member
//! at a time), 6.4 (reads), 9.6 (asking before an election); etcd's raft library, 3.4 and 3.6, for ticks and for who steps down.
//!
//! # What is not here
//!
//! Learners, joint configurations, transfer of leadership, flow control. A log is never shortened by itself: its owner says when.

mod bytes;
mod entry;
mod log;
mod message;
mod node;
mod replica;
#[cfg(test)]
mod tests;

pub use entry::{Content, Entry, MemberId, Snapshot, Stored, Vote};
pub use message::{Body, Message};
pub use node::{Draw, NoLeader, Node, Outcome, Role, Rules, Silence};
pub use replica::{Applied, Keeps, Replica, State, Timing};
