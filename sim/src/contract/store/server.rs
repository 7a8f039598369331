//! The servers of a store: simulated ones, which are written against a host, or real ones.

use std::future::Future;
use std::sync::Arc;

use super::member::Member;
use super::spec::{OwnAction, StoreSpec};
use crate::contract::lock::BoxFuture;
use crate::host::Host;
use picklock_model::plan::Settings;
use picklock_model::trace::Role;

/// A kind of store with a simulated server.
pub trait SimulatedStore: StoreSpec {
    /// Runs the program of one member until its host stops; called again when the host restarts. What the member keeps
    /// over a restart is on its host's disk.
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()>;
}

/// Starts a member and serves until its host stops.
pub type Serve = Arc<dyn Fn(ServerContext) -> BoxFuture<'static, ()> + Send + Sync>;

/// The stores that a design stands on: what is known of them, and who serves them.
#[derive(Clone)]
pub struct Store {
    /// The declaration of their kind.
    pub spec: Arc<dyn StoreSpec>,
    /// The servers.
    pub server: Server,
}

/// The servers of a store.
#[derive(Clone)]
pub enum Server {
    /// Simulated servers.
    Simulated(Serve),
    /// The real ones, as unmodified processes: their members do not report the records of locks that they keep, and have no
    /// actions of their own. What is judged by records stays open then, and a member that dies while somebody holds is taken to
    /// have kept something.
    Real(Serve),
}

impl Store {
    /// A store with its simulated server.
    pub fn simulated(kind: impl SimulatedStore) -> Store {
        let kind = Arc::new(kind);
        let spec = Arc::clone(&kind);
        Store { spec, server: Server::Simulated(Arc::new(move |context| kind.serve(context))) }
    }

    /// Runs the program of one member.
    pub(crate) fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        match &self.server {
            Server::Simulated(serve) | Server::Real(serve) => serve(context),
        }
    }

    /// True if real servers serve it.
    #[must_use]
    pub fn is_real(&self) -> bool {
        matches!(self.server, Server::Real(_))
    }

    /// The fault actions that its members have and others have not.
    #[must_use]
    pub fn actions(&self) -> &'static [OwnAction] {
        if self.is_real() { &[] } else { self.spec.actions() }
    }

    /// True if both are the very same object.
    #[must_use]
    pub fn is(&self, other: &Store) -> bool {
        Arc::ptr_eq(&self.spec, &other.spec) && self.is_real() == other.is_real()
    }
}

/// The context with which a member's program is started.
#[derive(Clone, Debug)]
pub struct ServerContext {
    /// Its host.
    pub host: Host,
    /// Which member it is.
    pub member: Member,
    /// All members of its store, itself included, in the order of the kind.
    pub members: Vec<Member>,
    /// The parameters of its kind; each has a value.
    pub settings: Settings,
    /// True in a probe run of which only the injection points of clients are used
    /// ([`Design::lets_monitors_rest`](crate::design::Design::lets_monitors_rest)): a monitor only has to answer there.
    pub passive: bool,
}

impl ServerContext {
    /// The members of its store that have this role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.role == role)
    }
}

/// Servers of a design's own.
pub(crate) struct OwnServer<F>(F);

impl<F> OwnServer<F> {
    pub(crate) fn new(serve: F) -> OwnServer<F> {
        OwnServer(serve)
    }
}

impl<F, Fut> StoreSpec for OwnServer<F>
where
    F: Fn(ServerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn name(&self) -> &'static str {
        "own-server"
    }

    /// It listens where it pleases.
    fn port(&self, _: Role) -> u16 {
        0
    }
}

impl<F, Fut> SimulatedStore for OwnServer<F>
where
    F: Fn(ServerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(self.0(context))
    }
}
