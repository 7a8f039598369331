//! The store kind etcd: members that agree on one log (Raft), and hold leases.
//!
//! A simulated member speaks gRPC on its client port: keys with revisions, transactions, watches, leases, and the services for locks and
//! elections. Behind it is a replicated log ([`picklock_raft`]). The real members run as unmodified processes in virtual time; tried with 3.4.23.
//!
//! **Entry point:** [`KIND`], which [`Etcd`] describes.
//!
//! # Where things are
//!
//! - `spec`: etcd as a store kind: the members and their roles, the address for clients, the time that a new leader may take.
//! - `server`: the simulated member: `serve` puts it on a host, `services` answers calls, `member` has changes appended and waits for them, `lock` is the
//!   services for locks and elections, `keys_only` what 3.7 leaves out, `local` the member as a service on its own host uses it; `state` is what the log is about: `keys`,
//!   `transaction`, `leases`, and `locks` and `objects`, which are reported to the trace.
//! - `grpc`: calls over HTTP/2 between hosts, of both sides. [`Channel`] is the client's.
//! - [`messages`]: what is called, and what is answered; [`requests`]: those of the recipes for locks and elections.
//! - `version`: what members of 3.4, 3.6 and 3.7 do differently.
//! - `real`: the command line and the ports of a real member, how the installed version is found, and the lines of its log that say
//!   who leads.
//! - `protocol`: the requests of its JSON gateway and of its gRPC, in the words of a story.
//! - `params`: the parameters.
//!
//! # Rules
//!
//! - Only the leader lets leases run out, by its own monotonic clock, and looks for them twice a second. It ends a lease by an entry of the log.
//! - A new leader gives every lease its full time again, and an election timeout more, once its first entry is applied.
//! - A renewal is no entry: the leader moves the time of the lease, and no other member knows it. Members that do not lead ask it.
//! - A lease is no shorter than one and a half election timeouts, in whole seconds.
//! - A read is confirmed by a majority (ReadIndex), unless it is asked for as serializable.
//! - A change that was handed to a leader that dies is lost: who asked hears of a time-out after 5 s and two election timeouts.
//! - A member answers a change once a majority has it on disk. With `disk=lost` a loss of power takes what a member has acknowledged.
//!
//! *Source:* etcd's `server/lease/lessor.go`, `server/etcdserver/v3_server.go` and `api/v3rpc`, 3.4 and 3.6; the API reference of etcd 3.6.
//!
//! # What is not here
//!
//! Authentication, learners, alarms, checkpoints of leases, the JSON gateway of a simulated member, a change of the members while it runs,
//! fragments and progress reports of watches. Such a call is refused as unimplemented. No lock: those are designs.

mod grpc;
pub mod messages;
mod params;
mod protocol;
mod real;
pub mod requests;
mod server;
mod spec;
mod version;

pub use grpc::status::Status;
pub use grpc::{Channel, Receiver, Sender, Stream};
pub use params::{PARAMS, SERVED};
pub use server::serve_any as serve;
pub use server::{HolderOf, Local};
pub use spec::{Etcd, KIND};
pub use version::Version;

/// Where clients ask.
pub const CLIENT_PORT: u16 = 2379;

/// Where members talk to each other.
pub const PEER_PORT: u16 = 2380;
