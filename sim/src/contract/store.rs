//! The contract of a kind of store: everything that picklock knows of one, declared in one place.
//!
//! A kind says which hosts a store consists of and what each is for, which parameters of its own a scenario may set, how
//! a client finds it, what it keeps over a restart, how long its failover may take, and how its protocol reads. The world
//! knows none of this: it runs the programs of hosts. The smallest kind is a function that serves
//! ([`Design::on`](super::design::Design::on)).

use std::future::Future;
use std::time::Duration;

use super::lock::BoxFuture;
use super::param::{Args, Param, Value};
use crate::host::Host;
use picklock_model::plan::{Injection, Lever, PlanError, Setting, Settings, WorldSpec};
use picklock_model::trace::Role;

/// A kind of store.
pub trait StoreKind: Send + Sync + 'static {
    /// Its name, such as it stands in a scenario file: `[name]` holds its parameters.
    fn name(&self) -> &'static str;

    /// Its own parameters, which a scenario sets by name.
    fn params(&self) -> &'static [Param] {
        &[]
    }

    /// True if a store of it can consist of several members that keep the same data.
    fn replicates(&self) -> bool {
        false
    }

    /// The hosts of so many stores, in the order in which they are started.
    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let _ = settings;
        (1..=topology.stores).map(|store| Member::new(format!("node-{store}"), store, Role::Store)).collect()
    }

    /// Where clients find a store, counted from 1.
    fn address(&self, store: u32, topology: Topology, members: &[Member]) -> StoreAddress {
        let _ = topology;
        let first = members.iter().find(|member| member.store == store && member.role == Role::Store);
        StoreAddress::Host(first.map(|member| member.name.clone()).unwrap_or_default())
    }

    /// Runs the program of one member until its host stops; called again when the host restarts. What the member keeps
    /// over a restart is on its host's disk.
    fn serve(&self, seat: ServerSeat) -> BoxFuture<'static, ()>;

    /// Changes the settings so that every acknowledged write survives a restart, for designs that claim no more than
    /// that.
    fn keep_everything(&self, settings: &mut Settings) {
        let _ = settings;
    }

    /// How long the lock may be out of everybody's reach after a fault beside the leases that must run out: until another
    /// member stands in for one that took writes, until a server that was started anew answers. With `whole`, until the
    /// lost member is back at its place as well, for designs that need an acknowledgement of it.
    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        let _ = (topology, settings, whole);
        Duration::ZERO
    }

    /// The shortest lease that it grants: a scenario with a shorter one says nothing of it.
    fn smallest_lease(&self) -> Duration {
        Duration::from_millis(1)
    }

    /// The port that a member listens on.
    fn port(&self, role: Role) -> u16;

    /// The address of a member as a client outside is given it: a URL, with the scheme that its clients read.
    fn url(&self, host: &str, port: u16) -> String {
        format!("tcp://{host}:{port}")
    }

    /// How the real server is run as this one of its store's members. `None` if there is none, or it cannot keep these
    /// settings.
    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        let _ = (member, members, settings);
        None
    }

    /// False if its members say nothing of the records of locks that they keep, as real servers do: what is judged by records
    /// stays open then, and a member that dies while somebody holds is taken to have kept something.
    fn tells_records(&self) -> bool {
        true
    }

    /// What a segment to a member says (`request`), or one from it, in the words of its protocol, as a story tells it.
    /// `None` if it cannot be read alone.
    fn decode(&self, role: Role, request: bool, bytes: &[u8]) -> Option<String> {
        let _ = (role, request, bytes);
        None
    }

    /// Levers that only this kind has, such as a reply that is an error. A member is told of one by
    /// [`Host::next_lever`](crate::host::Host::next_lever).
    fn levers(&self) -> &'static [OwnLever] {
        &[]
    }
}

/// How the real server of a member is run, as an unmodified process.
#[derive(Clone, Debug)]
pub struct RealServer {
    /// Program and arguments. It runs in a network of its own, takes connections from every host of it, finds the others by
    /// their names, and has an empty home directory.
    pub command: Vec<String>,
    /// Whether a restart finds the home directory as the process left it, also after a loss of power: a server that syncs what
    /// it acknowledges misses nothing that it would miss.
    pub keeps: bool,
    /// What a line of its log says of who leads: that this member does from now on, or does so no more. `None` if it says nothing
    /// of that.
    pub leads: fn(&str) -> Option<bool>,
}

impl RealServer {
    /// One that starts from nothing each time, and whose log tells nothing.
    #[must_use]
    pub fn new(command: Vec<String>) -> RealServer {
        RealServer { command, keeps: false, leads: |_| None }
    }
}

/// A lever of a kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLever {
    /// Its name in a plan.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// One host of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its host's name.
    pub name: String,
    /// The store that it belongs to, counted from 1.
    pub store: u32,
    /// What it is for.
    pub role: Role,
    /// Where others reach it, if not by its name: a served member, by its door.
    pub door: Option<(String, u16)>,
}

impl Member {
    /// A member that others reach by its name.
    #[must_use]
    pub fn new(name: impl Into<String>, store: u32, role: Role) -> Member {
        Member { name: name.into(), store, role, door: None }
    }

    /// Where others reach it, as `host` or `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.door.as_ref().map_or_else(|| self.name.clone(), |(host, port)| format!("{host}:{port}"))
    }
}

/// What a member's program is started with.
#[derive(Clone, Debug)]
pub struct ServerSeat {
    /// Its host.
    pub host: Host,
    /// Which member it is.
    pub member: Member,
    /// All members of its store, itself included, in the order of the kind.
    pub members: Vec<Member>,
    /// The parameters of its kind; each has a value.
    pub settings: Settings,
    /// True in a run without faults that nobody looks at but for what clients pass through
    /// ([`Design::lets_watchers_rest`](super::design::Design::lets_watchers_rest)): a watcher need not watch there, and only
    /// has to answer.
    pub may_rest: bool,
}

impl ServerSeat {
    /// The members of its store that have this role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.role == role)
    }
}

/// Where a client finds a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAddress {
    /// At this host, always.
    Host(String),
    /// At whichever address one of these hosts names; the first that answers is believed.
    Ask(Vec<String>),
}

/// The servers that a design needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Independent stores.
    pub stores: u32,
    /// True: each store has several members, of which one leads until another one takes its place.
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

    /// How many stores a majority can do without.
    #[must_use]
    pub const fn minority(self) -> u32 {
        self.stores - self.quorum()
    }
}

/// A kind of store that a scenario may speak of: its name and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct StoreParams {
    /// The kind's name.
    pub kind: &'static str,
    /// What it declares.
    pub params: &'static [Param],
}

impl StoreParams {
    /// What a kind declares.
    #[must_use]
    pub fn of(kind: &dyn StoreKind) -> StoreParams {
        StoreParams { kind: kind.name(), params: kind.params() }
    }
}

/// Servers of a design's own.
pub(super) struct OwnServer<F>(F);

impl<F> OwnServer<F> {
    pub(super) fn new(serve: F) -> OwnServer<F> {
        OwnServer(serve)
    }
}

impl<F, Fut> StoreKind for OwnServer<F>
where
    F: Fn(ServerSeat) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn name(&self) -> &'static str {
        "own-server"
    }

    fn serve(&self, seat: ServerSeat) -> BoxFuture<'static, ()> {
        Box::pin(self.0(seat))
    }

    /// It listens where it pleases.
    fn port(&self, _: Role) -> u16 {
        0
    }
}

/// The settings with a value for every declared parameter: the one given, or the default.
#[must_use]
pub fn complete(params: &'static [Param], given: &Settings, ttl: Duration) -> Settings {
    let mut settings = Settings::default();
    for (param, value) in Args::defaults(params).iter() {
        let value = given.get(param.name).cloned().or_else(|| setting(value, ttl));
        value.into_iter().for_each(|value| settings.put(param.name, value));
    }
    settings
}

/// A parameter's value in a plan. A kind of store declares single values only, no ranges and shares.
#[must_use]
pub fn setting(value: Value, ttl: Duration) -> Option<Setting> {
    match value {
        Value::Spans(span, _) => Some(Setting::Span(span.resolve(ttl))),
        Value::Counts(count, _) => Some(Setting::Count(count)),
        Value::Word(word) => Some(Setting::Word(word.to_owned())),
        Value::Share(_) => None,
    }
}

/// Checks that every lever of a kind's own is one that this kind has; without a kind there are none.
pub(super) fn has_levers(kind: Option<&dyn StoreKind>, injections: &[Injection]) -> Result<(), PlanError> {
    let levers = kind.map_or(&[][..], StoreKind::levers);
    for injection in injections {
        let Lever::Own { name, .. } = &injection.lever else { continue };
        if !levers.iter().any(|lever| lever.name == name) {
            let names: Vec<&str> = levers.iter().map(|lever| lever.name).collect();
            let must = match (kind, names.is_empty()) {
                (None, _) => "left out: the design has no stores".to_owned(),
                (Some(kind), true) => format!("left out: {} has no levers of its own", kind.name()),
                (Some(kind), false) => format!("a lever of {}: {}", kind.name(), names.join(", ")),
            };
            let value = name.chars().take(40).collect();
            return Err(PlanError { field: "lever.own.name".into(), value, must: must.into() });
        }
    }
    Ok(())
}

/// Checks the values given to declared parameters against their domains.
pub(super) fn admits(params: &'static [Param], world: &WorldSpec) -> Result<(), PlanError> {
    for (name, given) in world.store.iter() {
        let Some(param) = params.iter().find(|param| param.name == name) else { continue };
        let text = given.to_string();
        let mut args = Args::defaults(params);
        let parsed = param.domain.parse(&text).ok();
        let fits = parsed.filter(|value| setting(*value, world.ttl).as_ref() == Some(given));
        let bounded = fits.is_some_and(|value| {
            args.put(param.name, value);
            !args.check(world.ttl).is_err_and(|(wrong, _)| wrong == param.name)
        });
        if !bounded {
            let must = param.domain.to_string();
            return Err(PlanError { field: format!("store.{name}").into(), value: text, must: must.into() });
        }
    }
    Ok(())
}
