//! Everything that changes during a run, and the one step that moves it on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::choices::Chooser;
use super::code::{CodeLog, Done};
use super::ending::Ending;
use super::leaders::Leaders;
use super::log::Log;
use super::network::{Flight, Network, Side};
use super::oracle::Oracle;
use super::process::{Life, Process};
use super::queue::{EventQueue, Pending};
use super::timers::Timers;
use picklock_model::ids::{ConnId, EventId, GrantId, HostId, Origin};
use picklock_model::plan::{Injection, Plan};
use picklock_model::points::{PointsToRecord, Reached};
use picklock_model::time::{Monotonic, TrueTime};
use picklock_model::trace::{Broken, Hit, HostInfo, Outage, Role, What};

/// Everything that changes during a run.
pub(crate) struct State {
    pub(crate) now: TrueTime,
    pub(super) roles: Vec<Role>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) queue: EventQueue,
    pub(crate) processes: Vec<Process>,
    pub(crate) network: Network,
    /// Decides everything that is left open.
    pub(crate) chooser: Chooser,
    pub(super) timers: Timers,
    pub(super) oracle: Oracle,
    pub(crate) log: Log,
    /// Where programs are in their source; hardly any run keeps it.
    pub(crate) code: Option<CodeLog>,
    pub(super) injections: Vec<Injection>,
    /// True for the injections that have already been seen to make a difference.
    pub(super) took_effect: Vec<bool>,
    /// Where they did, in whose service, in how manieth attempt of that section, and when first.
    pub(super) hits: BTreeMap<(u32, HostId, Option<GrantId>, usize), TrueTime>,
    /// When each section began an attempt to acquire.
    pub(crate) attempts: BTreeMap<GrantId, Vec<TrueTime>>,
    /// True once a fault action was applied.
    pub(super) hit: bool,
    pub(crate) ending: Ending,
    /// Injections whose effect lasts at this moment.
    pub(super) unhealed: Vec<u32>,
    /// The outages that last, and those that are over.
    pub(super) outages: Vec<Outage>,
    /// Injections that were healed before their time.
    pub(super) healed_early: BTreeSet<u32>,
    /// The hosts whose injection points are noted, and the points that were reached.
    pub(super) points_to_record: PointsToRecord,
    pub(super) reached_points: Vec<Reached>,
    /// Hosts that died or were started anew since the engine last looked, in order.
    pub(super) lifecycle_changes: Vec<LifecycleChange>,
    /// True while `lifecycle_changes` may hold something: shared with the [`World`], which reads it without its lock.
    pub(super) lifecycle_changed: Arc<AtomicBool>,
    /// Live lock records by store, as the stores report them.
    pub(super) records: BTreeMap<HostId, u32>,
    /// The hosts that do not report the records that they keep.
    pub(super) silent: Vec<bool>,
    pub(super) leaders: Leaders,
    /// The client that was last seen not to be over, by index.
    pub(super) last_busy: usize,
}

/// Room for so many reached points is made in advance: few runs reach fewer.
const POINTS: usize = 1 << 11;

/// A change of a host's life that the engine must carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifecycleChange {
    Died(HostId),
    Started(HostId),
}

impl State {
    pub(super) fn new(
        plan: &Plan,
        hosts: &[HostInfo],
        points_to_record: PointsToRecord,
        mut chooser: Chooser,
    ) -> State {
        let mut state = State {
            now: TrueTime(0),
            roles: hosts.iter().map(|host| host.role).collect(),
            names: hosts.iter().map(|host| host.name.as_str().into()).collect(),
            queue: EventQueue::default(),
            processes: hosts
                .iter()
                .enumerate()
                .map(|(index, host)| {
                    Process::new(plan.seed, HostId(index as u16), host.drawn_as(), &mut chooser)
                })
                .collect(),
            network: Network::new(plan.network_seed, hosts, plan.world.latency, plan.world.tcp_timeout),
            chooser,
            timers: Timers::default(),
            oracle: Oracle::default(),
            log: Log::new(),
            code: None,
            injections: plan.injections.clone(),
            took_effect: vec![false; plan.injections.len()],
            hits: BTreeMap::new(),
            attempts: BTreeMap::new(),
            hit: false,
            ending: Ending::new(plan.world.horizon),
            unhealed: Vec::new(),
            outages: Vec::new(),
            healed_early: BTreeSet::new(),
            points_to_record,
            reached_points: Vec::with_capacity(if points_to_record == PointsToRecord::Nothing {
                0
            } else {
                POINTS
            }),
            lifecycle_changes: Vec::new(),
            lifecycle_changed: Arc::new(AtomicBool::new(false)),
            records: BTreeMap::new(),
            silent: hosts.iter().map(|host| host.silent).collect(),
            leaders: Leaders::new(hosts),
            last_busy: 0,
        };
        state.arm_injections();
        state
    }

    /// Keeps no record of what happens.
    pub(crate) fn record_nothing(&mut self) {
        self.log = Log::to_sink(Box::new(|_| {}));
    }

    /// The present of the process on this host: later than true time while a pause is deferred that hit
    /// inside the step that it is executing.
    pub(crate) fn local_now(&self, host: HostId) -> TrueTime {
        self.processes[usize::from(host.0)].resumes_at(self.now)
    }

    pub(crate) fn process(&mut self, host: HostId) -> &mut Process {
        &mut self.processes[usize::from(host.0)]
    }

    pub(crate) fn role(&self, host: HostId) -> Role {
        self.roles[usize::from(host.0)]
    }

    pub(crate) fn monotonic(&self, host: HostId) -> Monotonic {
        self.processes[usize::from(host.0)].clock.monotonic(self.local_now(host))
    }

    /// Records what happened on a host in its own step, with the origin given or, if that is empty, with what the
    /// process last learned and the section that it is in.
    pub(crate) fn record(&mut self, host: HostId, origin: Origin, what: What) -> EventId {
        let at = self.local_now(host);
        let process = &self.processes[usize::from(host.0)];
        if process.life == Life::Dead {
            // The process died inside the step that it is executing: the rest of the step does not happen.
            return EventId(u32::MAX);
        }
        let cause = origin.cause.or(process.context);
        let grant = origin.grant.or_else(|| process.grant());
        self.follow_records(host, &what);
        self.push(at, host, cause, None, grant, what)
    }

    /// Records what a fault action or the network does to a host now.
    pub(crate) fn record_act(&mut self, host: HostId, cause: Option<EventId>, what: What) -> EventId {
        self.push(self.now, host, cause, None, None, what)
    }

    /// Records an event, and where the program of its host is meanwhile, if that is kept.
    pub(super) fn push(
        &mut self,
        at: TrueTime,
        host: HostId,
        cause: Option<EventId>,
        conn: Option<ConnId>,
        grant: Option<GrantId>,
        what: What,
    ) -> EventId {
        let done = self.code.as_ref().and_then(|_| Done::of(&what));
        let event = self.log.push(at, host, cause, conn, grant, what);
        if let (Some(code), Some(done)) = (&mut self.code, done) {
            code.note(host, event, done);
        }
        event
    }

    /// An injection made a difference to a host, and to the section that its process is in, if it is in one.
    pub(crate) fn hit_host(&mut self, injection: u32, host: HostId) {
        let at_stake = self.processes[usize::from(host.0)].at_stake();
        if at_stake.is_empty() {
            self.mark_effect(injection, host, None);
        }
        at_stake.into_iter().for_each(|grant| self.mark_effect(injection, host, Some(grant)));
    }

    pub(crate) fn mark_effect(&mut self, injection: u32, host: HostId, grant: Option<GrantId>) {
        let attempt = grant.and_then(|grant| self.attempts.get(&grant)).map_or(0, Vec::len);
        self.hits.entry((injection, host, grant, attempt)).or_insert(self.now);
        if let Some(done) = self.took_effect.get_mut(injection as usize)
            && !*done
        {
            *done = true;
            let host = HostId(0);
            self.log.push(self.now, host, None, None, None, What::TookEffect { injection });
        }
    }

    pub(super) fn follow_records(&mut self, host: HostId, what: &What) {
        match what {
            What::Created { .. } => *self.records.entry(host).or_default() += 1,
            What::Deleted { .. } | What::Expired { .. } | What::Lost { .. } => {
                let count = self.records.entry(host).or_default();
                *count = count.saturating_sub(1);
            }
            What::BecameLeader => self.leaders.leads(host),
            _ => {}
        }
    }

    /// True if a server keeps a record of a lock. One that does not report them does so while somebody holds.
    pub(super) fn keeps_records(&self, host: HostId) -> bool {
        match self.silent[usize::from(host.0)] {
            true => self.processes.iter().any(Process::holds),
            false => self.records.get(&host).is_some_and(|count| *count > 0),
        }
    }

    /// The place of the task that is polled next among so many that are ready.
    pub(crate) fn next_task(&mut self, ready: usize) -> usize {
        self.chooser.next_task(ready, self.now)
    }

    /// The next instant at which something is due.
    pub(crate) fn next_due(&mut self) -> Option<TrueTime> {
        self.queue.next_at()
    }

    /// Carries out the next entry of the queue if it is due at `limit` or earlier, moving true time to it.
    /// False if there is none. `sockets` collects the segments that arrived, for an engine that carries bytes itself.
    pub(crate) fn step(&mut self, limit: TrueTime, sockets: Option<&mut Vec<(Side, Flight)>>) -> bool {
        let (at, due) = loop {
            let Some((at, nth, due)) = self.queue.pop_until(limit) else { return false };
            match due {
                Pending::Timer { slot } if !self.timer_due(slot, (at, nth)) => {}
                _ => break (at, due),
            }
        };
        self.now = self.now.max(at);
        match due {
            // Its task is awake by now.
            Pending::Timer { .. } => {}
            Pending::Arrival { conn, direction } => self.arrival(conn, direction, sockets),
            Pending::Resume { host, injection } => self.resume(host, injection),
            Pending::Action { injection } => self.apply(injection),
            Pending::Heal { injection } if self.healed_early.remove(&injection) => {}
            Pending::Heal { injection } => self.heal(injection),
            Pending::Restart { host, injection } => self.restart(host, injection),
            Pending::Deadline { host, generation, task } => self.deadline_due(host, generation, task),
            Pending::GiveUp { conn, direction, segment } => self.give_up(conn, direction, segment),
        }
        true
    }

    /// Moves true time forward without anything happening.
    pub(crate) fn advance(&mut self, to: TrueTime) {
        self.now = self.now.max(to);
    }

    pub(super) fn note_lifecycle_change(&mut self, change: LifecycleChange) {
        self.lifecycle_changes.push(change);
        self.lifecycle_changed.store(true, Ordering::Relaxed);
    }

    /// Something does not work from now on.
    pub(super) fn breaks(&mut self, injection: u32, what: Broken) {
        self.outages.push(Outage { injection, what, from: self.now, until: None });
    }

    /// Ends the outages that are meant.
    pub(super) fn mends(&mut self, meant: impl Fn(&Outage) -> bool) {
        let now = self.now;
        let lasting = self.outages.iter_mut().filter(|outage| outage.until.is_none() && meant(outage));
        lasting.for_each(|outage| outage.until = Some(now));
    }

    /// All that is broken now.
    pub(super) fn broken(&self) -> Vec<Broken> {
        self.outages.iter().filter(|outage| outage.until.is_none()).map(|outage| outage.what).collect()
    }

    /// The outages of the run, also those that still last.
    pub(crate) fn take_outages(&mut self) -> Vec<Outage> {
        std::mem::take(&mut self.outages)
    }

    /// Where the injections made a difference, in order of time.
    pub(crate) fn take_hits(&mut self) -> Vec<Hit> {
        let hits = std::mem::take(&mut self.hits).into_iter();
        let mut hits: Vec<Hit> =
            hits.map(|((injection, host, grant, _), at)| Hit { injection, at, host, grant }).collect();
        hits.sort_by_key(|hit| hit.at);
        hits
    }

    /// The names of the hosts, and the points that were reached, by their numbers.
    pub(crate) fn take_points(&mut self) -> (Vec<Arc<str>>, Vec<Reached>) {
        (self.names.clone(), std::mem::take(&mut self.reached_points))
    }

    /// Takes out everything that refers to tasks. Their wakers lead back to the world, which would otherwise keep itself
    /// alive; they are dropped outside of its lock, because the last of them drops a task.
    pub(crate) fn dissolve(&mut self) -> impl Sized + use<> {
        self.processes.iter_mut().for_each(Process::dissolve);
        self.ending.waiting = None;
        (std::mem::take(&mut self.timers), std::mem::take(&mut self.oracle), self.network.dissolve())
    }

    pub(crate) fn grant_of(&self, host: HostId) -> Option<GrantId> {
        self.processes[usize::from(host.0)].grant()
    }
}
