//! The service of a store kind to clients outside of the world, on real sockets.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::member::Member;
use super::server::ServerContext;
use crate::base::future::BoxFuture;
use crate::contract::param::{OneSpan, Param};

/// How the simulated servers of a kind are served.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// The parameters of served servers.
    pub params: &'static [Param],
    /// Starts a member and serves until its host stops.
    pub start: fn(ServerContext, Process) -> BoxFuture<'static, ()>,
    /// A member in words, in the list of served addresses: its product, its role, and how a client is admitted.
    pub words: fn(&Member) -> String,
    /// The parameter for the time after which a silent primary is failed over. `None` if the kind has another parameter or none for it.
    pub down_after: Option<Param<OneSpan>>,
    /// True if its servers can ask clients for a password.
    pub passwords: bool,
}

/// The process that serves a world, as its servers see it.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// A number that no other process has. Servers draw identifiers from it, because the identifiers of two processes must differ.
    pub salt: u64,
    /// The password of all servers; empty if there is none.
    pub password: String,
    /// True once the process ends: a server then stops a script for which clients wait.
    pub ending: Arc<AtomicBool>,
}
