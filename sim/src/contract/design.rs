//! A lock design as picklock runs it: name, claim, parameters, the servers it needs, and how to make a client.
//!
//! A [`Family`] is a design with its parameters open (`redlock`); a [`Design`] has them fixed
//! (`redlock{nodes=7,belief=trusting}`) and that text is its spelling everywhere: command line, reports, capsules.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::lock::{Belief, BoxFuture, Client, LockError};
use crate::host::Host;
use crate::plan::{MinReplicas, Persistence, WorldSpec};
use crate::trace::Role;

/// A design with its parameters open.
pub struct Family {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// What it claims, in one line.
    pub claim: &'static str,
    /// Where it is known to break, in one line.
    pub weakness: &'static str,
    /// Where it comes from: paper, documentation, article.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes a design of checked arguments.
    pub build: fn(&Args) -> Design,
}

/// One parameter of a family.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// The values it takes.
    pub domain: Domain,
    /// Its value when not given.
    pub default: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// A whole number in an inclusive range.
    Int(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Int(min, max) => write!(f, "a whole number from {min} to {max}"),
            Domain::Word(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// Why the spelling of a design was not understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpellingError {
    /// The text has the wrong form.
    #[error("design `{0}` is not spelled `name` or `name{{parameter=value,...}}`")]
    Form(String),
    /// There is no such design.
    #[error("there is no design `{name}`{}; `picklock list designs` shows them all", hint(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar name, if one is near.
        nearest: Option<String>,
    },
    /// The design has no such parameter.
    #[error("design `{design}` has no parameter `{param}`; it has {known}")]
    Param {
        /// The design's name.
        design: String,
        /// The parameter given.
        param: String,
        /// Those it has.
        known: String,
    },
    /// The parameter does not take this value.
    #[error("design `{design}`: parameter `{param}` cannot be `{value}`; it takes {domain}")]
    Value {
        /// The design's name.
        design: String,
        /// The parameter.
        param: String,
        /// The value given.
        value: String,
        /// What it takes, in words.
        domain: String,
    },
    /// A parameter was given twice.
    #[error("design `{design}`: parameter `{param}` is given twice")]
    Twice {
        /// The design's name.
        design: String,
        /// The parameter.
        param: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Checked arguments of a family: every parameter has a value of its domain.
#[derive(Clone, Debug)]
pub struct Args {
    values: BTreeMap<&'static str, String>,
    /// The parameters that were given a value other than their default, in the family's order.
    spelled: Vec<&'static str>,
}

impl Args {
    /// The value of a parameter as it is spelled; `None` if the family declares no such parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The value of a [`Domain::Int`] parameter.
    ///
    /// # Panics
    /// When the family declares no such parameter.
    #[must_use]
    pub fn int(&self, name: &str) -> u64 {
        self.word(name).parse().expect("the value was checked against its domain")
    }

    /// The value of a [`Domain::Word`] parameter.
    ///
    /// # Panics
    /// When the family declares no such parameter.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.values.get(name).expect("a family asks only for parameters that it declares")
    }
}

impl Family {
    /// The design with every parameter at its default.
    #[must_use]
    pub fn design(&self) -> Design {
        self.with(&[]).expect("the defaults of a family lie in their domains")
    }

    /// The design with these parameters given.
    ///
    /// # Errors
    /// When a parameter is unknown, given twice, or given a value outside its domain.
    pub fn with(&self, given: &[(&str, &str)]) -> Result<Design, SpellingError> {
        let args = self.check(given)?;
        let mut design = (self.build)(&args);
        design.name = self.name.into();
        if !args.spelled.is_empty() {
            let given: Vec<String> =
                args.spelled.iter().map(|name| format!("{name}={}", args.word(name))).collect();
            design.name = format!("{}{{{}}}", self.name, given.join(",")).into();
        }
        design.claim = self.claim.into();
        Ok(design)
    }

    fn check(&self, given: &[(&str, &str)]) -> Result<Args, SpellingError> {
        let mut values: BTreeMap<&'static str, String> =
            self.params.iter().map(|param| (param.name, param.default.to_owned())).collect();
        for (at, (name, value)) in given.iter().enumerate() {
            let param = self.params.iter().find(|param| param.name == *name);
            let param = param.ok_or_else(|| self.no_such_param(name))?;
            if given[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(SpellingError::Twice { design: self.name.into(), param: (*name).into() });
            }
            let value = param.domain.canonical(value).ok_or_else(|| SpellingError::Value {
                design: self.name.into(),
                param: (*name).into(),
                value: (*value).into(),
                domain: param.domain.to_string(),
            })?;
            values.insert(param.name, value);
        }
        let spelled = self.params.iter().filter(|p| values[p.name] != p.default).map(|p| p.name).collect();
        Ok(Args { values, spelled })
    }

    fn no_such_param(&self, name: &str) -> SpellingError {
        let known: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        SpellingError::Param { design: self.name.into(), param: name.into(), known }
    }
}

impl Domain {
    /// The value in its canonical spelling, if it lies in the domain.
    fn canonical(self, value: &str) -> Option<String> {
        match self {
            Domain::Int(min, max) => {
                let number: u64 = value.parse().ok()?;
                (min..=max).contains(&number).then(|| number.to_string())
            }
            Domain::Word(words) => words.contains(&value).then(|| value.to_owned()),
        }
    }
}

/// Finds the design that a text spells, among families.
///
/// # Errors
/// When the text is malformed or names an unknown design, parameter or value.
pub fn spell(families: &[&Family], text: &str) -> Result<Design, SpellingError> {
    // A message repeats what was given, but not a whole file of it.
    let clipped = |text: &str| text.chars().take(80).collect::<String>();
    let form = || SpellingError::Form(clipped(text));
    let text = text.trim();
    let (name, inner) = match text.split_once('{') {
        None => (text, ""),
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix('}').ok_or_else(form)?),
    };
    if name.is_empty() || name.contains(['}', ',', '=']) || inner.contains(['{', '}']) {
        return Err(form());
    }
    let given: Vec<(&str, &str)> = inner
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| part.split_once('=').map(|(name, value)| (name.trim(), value.trim())).ok_or_else(form))
        .collect::<Result<_, _>>()?;
    let family = families.iter().find(|family| family.name == name);
    let family = family.ok_or_else(|| SpellingError::Unknown {
        name: clipped(name),
        nearest: crate::base::text::nearest(name, families.iter().map(|family| family.name)).map(Into::into),
    })?;
    family.with(&given)
}

/// A design with its parameters fixed: what is tested.
#[derive(Clone)]
pub struct Design {
    /// Its spelling.
    pub name: Arc<str>,
    /// What it claims, in one line.
    pub claim: Arc<str>,
    /// How its holders come to believe.
    pub belief: Belief,
    /// True if its grants carry fencing tokens.
    pub fenced: bool,
    /// The servers it needs.
    pub topology: Topology,
    /// True if it is only what it claims to be on stores that keep every acknowledged write over a restart: then it
    /// gets such stores, whatever the scenario says.
    pub persistent: bool,
    /// True if a holder may acquire what it holds once more.
    pub reentrant: bool,
    /// True if it has no lock and sells from a stock all the same.
    pub sells: bool,
    /// True if its server comes alone: there is no replica of it, and it keeps no records of locks.
    pub alone: bool,
    /// Leases that must run out, one after another, before a waiter surely gets the lock after a fault.
    pub leases_to_recover: u32,
    /// True if nothing is granted while no replica acknowledges what is written.
    pub needs_replicas: bool,
    /// Starts one of its servers; `None` for a design without servers.
    pub server: Option<StartServer>,
    /// Makes one of its clients.
    pub client: MakeClient,
}

/// Starts a server on a host and serves until the host stops.
pub type StartServer = Arc<dyn Fn(ServerSeat) -> BoxFuture<'static, ()> + Send + Sync>;

/// Makes a client on a host.
pub type MakeClient = Arc<dyn Fn(Seat) -> BoxFuture<'static, Result<Client, LockError>> + Send + Sync>;

impl Design {
    /// A design without servers and tokens, with naive belief: a start to build upon.
    pub fn new<F, Fut>(name: &str, client: F) -> Design
    where
        F: Fn(Seat) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Client, LockError>> + Send + 'static,
    {
        Design {
            name: name.into(),
            claim: "".into(),
            belief: Belief::Naive,
            fenced: false,
            topology: Topology::default(),
            persistent: false,
            reentrant: false,
            sells: false,
            alone: false,
            leases_to_recover: 1,
            needs_replicas: false,
            server: None,
            client: Arc::new(move |seat| Box::pin(client(seat))),
        }
    }

    /// The same design on servers of this kind and number.
    #[must_use]
    pub fn on<F, Fut>(mut self, topology: Topology, server: F) -> Design
    where
        F: Fn(ServerSeat) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.topology = topology;
        self.server = Some(Arc::new(move |seat| Box::pin(server(seat))));
        self
    }

    /// The same design with another belief.
    #[must_use]
    pub fn believing(mut self, belief: Belief) -> Design {
        self.belief = belief;
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
        self
    }

    /// The same design, whose server cannot have replicas.
    #[must_use]
    pub fn alone(mut self) -> Design {
        self.alone = true;
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

/// The servers that a design needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Independent stores.
    pub stores: u32,
    /// True: each store has replicas, and Sentinels that promote one of them.
    pub replicated: bool,
}

impl Topology {
    /// `stores` independent stores without replicas.
    #[must_use]
    pub const fn independent(stores: u32) -> Topology {
        Topology { stores, replicated: false }
    }

    /// How many stores are a majority; 0 without stores.
    #[must_use]
    pub const fn quorum(self) -> u32 {
        if self.stores == 0 { 0 } else { self.stores / 2 + 1 }
    }
}

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its host.
    pub host: Host,
    /// The lease time to ask for.
    pub ttl: Duration,
    /// Where the stores are, in order.
    pub stores: Vec<StoreAddress>,
}

/// Where a client finds a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAddress {
    /// At this host, always.
    Host(String),
    /// At whichever address one of these Sentinels names; the first that answers is believed.
    Sentinels(Vec<String>),
}

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct ServerSeat {
    /// Its host.
    pub host: Host,
    /// What it is to be.
    pub role: ServerRole,
    /// What it keeps over a restart.
    pub persistence: Persistence,
    /// For a Sentinel: how long a primary may be silent.
    pub down_after: Duration,
    /// For a store with replicas: how many it must hear from to take writes.
    pub min_replicas: MinReplicas,
    /// For a replica: the address by which its primary shall name it, if that is not its host's name.
    pub announce: Option<(String, u16)>,
}

/// Where a Sentinel is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelPlace {
    /// The host that it runs on.
    pub host: String,
    /// Where others reach it, as `host` or `host:port`.
    pub address: String,
}

/// What a server is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerRole {
    /// An independent store, or the first primary of a replicated one.
    Store {
        /// The names of its replicas; empty without replication.
        replicas: Vec<String>,
    },
    /// A replica.
    Replica {
        /// The name of the first primary.
        primary: String,
    },
    /// One of the Sentinels of a replicated store. It begins with what it would know after running for a while.
    Sentinel {
        /// Where the first primary is, as `host` or `host:port`; so are all others here.
        primary: String,
        /// The replicas.
        replicas: Vec<String>,
        /// All Sentinels of the store, this one included, with the hosts that they run on.
        sentinels: Vec<SentinelPlace>,
    },
}

/// How many Sentinels watch a replicated store: the least number that outlives the loss of one.
const SENTINELS: u32 = 3;

/// The names of the Sentinels of a store.
fn sentinels_of(store: u32) -> Vec<String> {
    (1..=SENTINELS).map(|nth| format!("sentinel-{store}-{nth}")).collect()
}

impl Topology {
    /// The servers of this topology: host name and role, stores before replicas before Sentinels.
    #[must_use]
    pub fn servers(self, world: &WorldSpec) -> Vec<(String, ServerRole)> {
        let replicas_of = |store: u32| -> Vec<String> {
            let count = if self.replicated { world.replicas } else { 0 };
            (1..=count).map(|replica| format!("replica-{store}-{replica}")).collect()
        };
        let stores = (1..=self.stores)
            .map(|store| (format!("node-{store}"), ServerRole::Store { replicas: replicas_of(store) }));
        let replicas = (1..=self.stores).flat_map(|store| {
            replicas_of(store)
                .into_iter()
                .map(move |name| (name, ServerRole::Replica { primary: format!("node-{store}") }))
        });
        let sentinels = (1..=self.stores).filter(|_| self.replicated).flat_map(|store| {
            let names = sentinels_of(store);
            let place = |name: &String| SentinelPlace { host: name.clone(), address: name.clone() };
            let role = ServerRole::Sentinel {
                primary: format!("node-{store}"),
                replicas: replicas_of(store),
                sentinels: names.iter().map(place).collect(),
            };
            names.into_iter().map(move |name| (name, role.clone()))
        });
        stores.chain(replicas).chain(sentinels).collect()
    }

    /// Where clients find the stores.
    #[must_use]
    pub fn addresses(self) -> Vec<StoreAddress> {
        (1..=self.stores)
            .map(|store| {
                if self.replicated {
                    StoreAddress::Sentinels(sentinels_of(store))
                } else {
                    StoreAddress::Host(format!("node-{store}"))
                }
            })
            .collect()
    }
}

impl ServerRole {
    /// The role as a trace names it.
    #[must_use]
    pub fn kind(&self) -> Role {
        match self {
            ServerRole::Store { .. } => Role::Store,
            ServerRole::Replica { .. } => Role::Replica,
            ServerRole::Sentinel { .. } => Role::Sentinel,
        }
    }
}
