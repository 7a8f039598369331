//! A lock design as picklock runs it: name, claim, parameters, the servers it needs, and how to make a client.
//!
//! A [`Design`] has a value for each parameter, and the text `redlock{nodes=7,belief=trusting}` is its spelling everywhere: command line,
//! reports, repro files. A [`Family`] (`redlock`) is the set of designs that share their code and differ in these values.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::lock::{Belief, BoxFuture, Client, Exclusion, LockError};
use super::store::{OwnServer, SimulatedStore, Store, admits, complete, has_actions};
use crate::host::Host;
use picklock_model::plan::{Plan, PlanError, Settings, WorldSpec};

pub use picklock_model::repro::Part;
pub use picklock_model::trace::{Condition, Conditions};

pub use super::family::{Family, SpellingError, spell};
pub use super::store::{Member, ServerContext, StoreAddress, Topology};

/// The process that renews what a client holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewedBy {
    /// Nothing is renewed.
    Nobody,
    /// The client that holds it, or perhaps: of a program nobody knows.
    Holder,
    /// A service on a host of its own.
    Service,
}

/// A lock algorithm with the servers that it needs and a value for each parameter: the unit that is tested.
#[derive(Clone)]
pub struct Design {
    /// Its spelling.
    pub name: Arc<str>,
    /// Its claim, in one line.
    pub claim: Arc<str>,
    /// How its holders come to believe.
    pub belief: Belief,
    /// Which of its grants exclude each other.
    pub exclusion: Exclusion,
    /// True if its grants carry fencing tokens.
    pub fenced: bool,
    /// True if its holders send their token with reads too, and not with writes alone.
    pub fences_reads: bool,
    /// The servers it needs.
    pub topology: Topology,
    /// True if it is only what it claims to be on stores that keep every acknowledged write over a restart: then it
    /// gets such stores, whatever the scenario says.
    pub persistent: bool,
    /// True if an owner may acquire once more what it holds, from any section of its client: its record is the owner's, not a section's.
    pub reentrant: bool,
    /// True if a holder may acquire once more what it holds: all that are reentrant, and those whose clients or sessions count.
    pub nests: bool,
    /// True if the record of a lock counts only as long as the key of its client's session, which the request that creates the record
    /// keeps first: others may put their own in its place after that.
    pub in_sessions: bool,
    /// True if it sells from a stock although it has no lock, or guards its own data.
    pub sells: bool,
    /// True if an acquire takes up the record that an earlier one of the same client has left, though its holders do not nest.
    pub takes_up: bool,
    /// True if the data that it guards lie in its own store, and not at the resource.
    pub own_data: bool,
    /// The process that renews what its holders hold. Faults of a client's renewals do not apply to it unless that is a client.
    pub renewed_by: RenewedBy,
    /// True if its clients do everything by themselves: they hold the lock when they like, and use no resource.
    pub autonomous: bool,
    /// True if its server comes alone: there is no replica of it, and it keeps no records of locks.
    pub alone: bool,
    /// Leases that must run out, one after another, before a waiter surely gets the lock after a fault; none if it has no
    /// leases.
    pub leases_to_recover: u32,
    /// True if the store keeps what others wait for (a grant, or a row for a moment) until it notices that the connection of its holder is gone.
    pub held_by_connection: bool,
    /// The leases for which its clients wait for an answer, if that is longer than a waiter may have to wait for its turn; 0
    /// otherwise, and for clients that wait for ever.
    pub answer_leases: u32,
    /// The single conditions that it claims to survive: while one of them lasts, and no more, somebody still gets the lock in
    /// good time. Without any, that is claimed only when nothing is broken.
    pub survives: Conditions,
    /// True if nothing is granted while no replica acknowledges what is written.
    pub needs_replicas: bool,
    /// The files that it is made of, if it is not all in this program: a run of others is another run.
    pub parts: Arc<[Part]>,
    /// Its stores; `None` for a design without servers.
    pub store: Option<Store>,
    /// Makes one of its clients.
    pub client: MakeClient,
}

/// Makes a client on a host.
pub type MakeClient = Arc<dyn Fn(Context) -> BoxFuture<'static, Result<Client, LockError>> + Send + Sync>;

impl Design {
    /// A design without servers and tokens, with naive belief: a start to build upon.
    pub fn new<F, Fut>(name: &str, client: F) -> Design
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, LockError>> + Send + 'static,
    {
        Design {
            name: name.into(),
            claim: "".into(),
            belief: Belief::Naive,
            exclusion: Exclusion::Mutual,
            fenced: false,
            fences_reads: true,
            topology: Topology::default(),
            persistent: false,
            reentrant: false,
            nests: false,
            takes_up: false,
            in_sessions: false,
            sells: false,
            own_data: false,
            renewed_by: RenewedBy::Nobody,
            autonomous: false,
            alone: false,
            leases_to_recover: 1,
            held_by_connection: false,
            answer_leases: 0,
            survives: Conditions::NONE,
            needs_replicas: false,
            parts: Arc::new([]),
            store: None,
            client: Arc::new(move |context| Box::pin(client(context))),
        }
    }

    /// The same design on so many stores of this kind.
    #[must_use]
    pub fn on_stores(self, topology: Topology, kind: impl SimulatedStore) -> Design {
        self.on_store(topology, Store::simulated(kind))
    }

    /// The same design on so many of these stores, whoever serves them.
    #[must_use]
    pub fn on_store(mut self, topology: Topology, store: Store) -> Design {
        self.topology = topology;
        self.store = Some(store);
        self
    }

    /// The same design on servers of its own, each run by this function: a kind of store that has no replicas, no
    /// parameters, and hosts named `node-1`, `node-2` and so on.
    #[must_use]
    pub fn on<F, Fut>(self, topology: Topology, server: F) -> Design
    where
        F: Fn(ServerContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.on_stores(topology, OwnServer::new(server))
    }

    /// The settings of its stores in a plan: what the plan gives, and the kind's defaults for the rest. Empty for a design
    /// without stores.
    #[must_use]
    pub fn settings(&self, world: &WorldSpec) -> Settings {
        let Some(store) = &self.store else { return Settings::default() };
        let mut settings = complete(store.spec.params(), &world.store, world.ttl);
        self.required().iter().for_each(|(name, value)| settings.put(name, value.clone()));
        settings
    }

    /// The settings of its stores whatever a plan gives: what its clients need, and that which keeps every acknowledged write, for a
    /// design that claims no more than it does on such stores.
    #[must_use]
    pub fn required(&self) -> Settings {
        let Some(store) = &self.store else { return Settings::default() };
        let mut required = store.spec.required();
        if self.persistent {
            store.spec.keep_everything(&mut required);
        }
        required
    }

    /// The hosts of its stores, which run with these [settings](Design::settings).
    #[must_use]
    pub fn members(&self, settings: &Settings) -> Vec<Member> {
        let Some(store) = &self.store else { return Vec::new() };
        store.spec.members(self.topology, settings)
    }

    /// True if its clients do the same in a fault-free run while monitors only answer them: not those that wait for
    /// replicas, which monitors may write to, and not programs, of which nobody knows what they ask.
    #[must_use]
    pub fn lets_monitors_rest(&self) -> bool {
        !self.needs_replicas && self.parts.is_empty()
    }

    /// Where its clients find its stores, which have these [members](Design::members).
    #[must_use]
    pub fn addresses(&self, members: &[Member]) -> Vec<StoreAddress> {
        let Some(store) = &self.store else { return Vec::new() };
        (1..=self.topology.stores).map(|nth| store.spec.address(nth, self.topology, members)).collect()
    }

    /// Checks what a plan says of the stores, which may come from a hostile file.
    ///
    /// # Errors
    /// When it gives a parameter a value that the kind of store does not take, or applies a fault action that it does not have.
    pub fn admits(&self, plan: &Plan) -> Result<(), PlanError> {
        let store = self.store.as_ref();
        has_actions(store.map(|store| (store.spec.name(), store.actions())), &plan.injections)?;
        store.map_or(Ok(()), |store| admits(store.spec.params(), &plan.world))
    }

    /// The same design with another belief.
    #[must_use]
    pub fn believing(mut self, belief: Belief) -> Design {
        self.belief = belief;
        self
    }

    /// The same, with grants of which these exclude each other.
    #[must_use]
    pub fn excluding(mut self, exclusion: Exclusion) -> Design {
        self.exclusion = exclusion;
        self
    }

    /// The same design, on stores that keep every acknowledged write over a restart.
    #[must_use]
    pub fn persistent(mut self) -> Design {
        self.persistent = true;
        self
    }

    /// The same design, whose holders may acquire once more what they hold.
    #[must_use]
    pub fn reentrant(mut self) -> Design {
        self.reentrant = true;
        self.nesting()
    }

    /// The same design, whose holders may acquire once more what they hold, while each acquire from outside makes a record of its own.
    #[must_use]
    pub fn nesting(mut self) -> Design {
        self.nests = true;
        self
    }

    /// The same design, whose records count as long as their clients' sessions.
    #[must_use]
    pub fn in_sessions(mut self) -> Design {
        self.in_sessions = true;
        self
    }

    /// The same design, guarding data in its own store: its clients change them with
    /// [`Lock::apply`](super::lock::Lock::apply), or without a lock in their own way, and nobody uses the resource.
    #[must_use]
    pub fn guarding_own_data(mut self) -> Design {
        self.own_data = true;
        self
    }

    /// The same design with [autonomous clients](super::autonomous::AutonomousClient).
    #[must_use]
    pub fn autonomous(mut self) -> Design {
        self.autonomous = true;
        self
    }

    /// The same design, whose holders renew what they hold.
    #[must_use]
    pub fn renewing(mut self) -> Design {
        self.renewed_by = RenewedBy::Holder;
        self
    }

    /// The same design, whose grants have no lease: there is none to wait for after a fault, and none that ends a lost holder's
    /// grant.
    #[must_use]
    pub fn without_leases(mut self) -> Design {
        self.leases_to_recover = 0;
        self.survives = Conditions::NONE;
        self
    }

    /// The same design, in which a connection may hold what others wait for.
    #[must_use]
    pub fn held_by_connection(mut self) -> Design {
        self.held_by_connection = true;
        self
    }

    /// The same design, whose clients wait for an answer for so many leases.
    #[must_use]
    pub fn answered_within(mut self, leases: u32) -> Design {
        self.answer_leases = leases;
        self
    }

    /// The same design, which claims to survive each of these conditions.
    #[must_use]
    pub fn surviving(mut self, conditions: impl IntoIterator<Item = Condition>) -> Design {
        self.survives = conditions.into_iter().collect();
        self
    }

    /// The same design, whose server cannot have replicas.
    #[must_use]
    pub fn alone(mut self) -> Design {
        self.alone = true;
        self
    }

    /// The same design, made of these files.
    #[must_use]
    pub fn made_of(mut self, parts: Vec<Part>) -> Design {
        self.parts = parts.into();
        self
    }

    /// The same design, handing out fencing tokens.
    #[must_use]
    pub fn fenced(mut self) -> Design {
        self.fenced = true;
        self
    }
}

impl fmt::Debug for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Design")
            .field("name", &self.name)
            .field("topology", &self.topology)
            .finish_non_exhaustive()
    }
}

/// The context with which a client is made.
#[derive(Clone, Debug)]
pub struct Context {
    /// Its host.
    pub host: Host,
    /// The lease time to ask for.
    pub ttl: Duration,
    /// Where the stores are, in order.
    pub stores: Vec<StoreAddress>,
    /// The parameters of the stores; each has a value.
    pub settings: Arc<Settings>,
}
