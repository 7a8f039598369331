//! A candidate for the leadership that a Lease object grants.
//!
//! *Source:* client-go, `tools/leaderelection/leaderelection.go` and `resourcelock/leaselock.go` at 32ce75a (July 2026), with the names of its
//! functions; `wait.JitterUntil` and `wait.PollUntilContextTimeout` of apimachinery.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use picklock_kubernetes::lease::{Lease, Spec};
use picklock_kubernetes::time::micro_time;
use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;

use crate::client::kubernetes::{Api, ApiError, new_lease};

/// A candidate waits for up to so much more than its period (`JitterFactor`), in hundredths.
const JITTER: u32 = 120;

/// The times of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// How long the others wait after a change that they have seen (`LeaseDuration`), in whole seconds.
    pub(super) lease: Duration,
    /// How long a leader tries to renew before it gives up (`RenewDeadline`).
    pub(super) renew_deadline: Duration,
    /// The pause between two tries (`RetryPeriod`).
    pub(super) retry_period: Duration,
    /// True if the deadline also ends a try that is under way.
    pub(super) bounds_tries: bool,
}

impl Times {
    /// Refuses times that make no sense, as `NewLeaderElector` does.
    pub(super) fn check(&self) -> Result<(), LockError> {
        if self.lease <= self.renew_deadline {
            return Err(LockError::new("leaseDuration must be greater than renewDeadline"));
        }
        if self.renew_deadline <= self.retry_period * JITTER / 100 {
            return Err(LockError::new("renewDeadline must be greater than retryPeriod*JitterFactor"));
        }
        Ok(())
    }

    /// How long one request may take, as `NewFromKubeconfig` sets it.
    pub(super) fn timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

/// What a leader does when it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// It reads the object and empties it (`ReleaseOnCancel`).
    ReadFirst,
    /// It empties the object as it knows it (`ReleaseOnCancel` of earlier versions).
    Known,
    /// It leaves the object as it is.
    Not,
}

/// The record of an election (`LeaderElectionRecord`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Record {
    holder: String,
    seconds: i32,
    acquired: String,
    renewed: String,
    transitions: i32,
}

impl Record {
    fn of(spec: &Spec) -> Record {
        Record {
            holder: spec.holder_identity.clone().unwrap_or_default(),
            seconds: spec.lease_duration_seconds.unwrap_or_default(),
            acquired: spec.acquire_time.clone().unwrap_or_default(),
            renewed: spec.renew_time.clone().unwrap_or_default(),
            transitions: spec.lease_transitions.unwrap_or_default(),
        }
    }

    fn spec(&self) -> Spec {
        Spec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(self.seconds),
            acquire_time: Some(self.acquired.clone()),
            renew_time: Some(self.renewed.clone()),
            lease_transitions: Some(self.transitions),
        }
    }
}

/// A candidate.
pub(super) struct Elector {
    host: Host,
    api: Arc<Api>,
    name: String,
    pub(super) identity: String,
    times: Times,
    /// The record that it has seen last, or written.
    observed: Record,
    /// When that was, by its own clock.
    observed_at: Monotonic,
    /// The record that it has read last.
    read: Option<Record>,
    /// The object that it has read or written last.
    lease: Option<Lease>,
    /// When its last successful try began, and when it was answered.
    renewed: Arc<Mutex<(Monotonic, Monotonic)>>,
}

impl Elector {
    /// A candidate for a name.
    pub(super) fn new(host: &Host, api: &Arc<Api>, name: &str, times: Times) -> Elector {
        let identity = format!("{}_{}", host.name(), host.rng().owner_id());
        Elector {
            host: host.clone(),
            api: Arc::clone(api),
            name: name.to_owned(),
            identity,
            times,
            observed: Record::default(),
            observed_at: Monotonic::default(),
            read: None,
            lease: None,
            renewed: Arc::default(),
        }
    }

    /// When its last successful try began, and when it was answered: what it goes on noting here.
    pub(super) fn renewed(&self) -> Arc<Mutex<(Monotonic, Monotonic)>> {
        Arc::clone(&self.renewed)
    }

    /// It leads by this record since a try that began then.
    fn leads(&mut self, record: Record, began: Monotonic) {
        self.observe(record);
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = (began, self.observed_at);
    }

    /// How often the object went from one holder to another.
    pub(super) fn transitions(&self) -> i32 {
        self.observed.transitions
    }

    /// Tries until it leads.
    pub(super) async fn acquire(&mut self) {
        loop {
            self.host.begin_attempt();
            if self.try_acquire_or_renew().await {
                return;
            }
            let most = self.times.retry_period * (100 + JITTER) / 100;
            let pause = self.host.rng().span(self.times.retry_period, most);
            self.host.sleep(pause).await;
        }
    }

    /// Renews, until that does not succeed for as long as the deadline says.
    pub(super) async fn renew(&mut self) {
        let host = self.host.clone();
        let Times { renew_deadline, retry_period, bounds_tries, .. } = self.times;
        if !bounds_tries {
            while self.poll(host.monotonic() + renew_deadline).await {}
            return;
        }
        loop {
            let until = host.monotonic() + renew_deadline;
            let tries = Box::pin(self.try_until(until));
            if !host.timeout_boxed(renew_deadline, tries).await.unwrap_or(false) {
                return;
            }
            host.sleep(retry_period).await;
        }
    }

    /// Tries at every tick of a ticker, which keeps one for who is late, until it has renewed, or this instant.
    async fn try_until(&mut self, until: Monotonic) -> bool {
        let period = self.times.retry_period;
        let mut tick = self.host.monotonic() + period;
        while !self.try_acquire_or_renew().await {
            self.host.sleep_until(tick).await;
            let now = self.host.monotonic();
            if now >= until {
                return false;
            }
            while tick <= now {
                tick = tick + period;
            }
        }
        true
    }

    /// Tries at every tick of a ticker, the first of which comes after a period, until it has renewed; the deadline is looked at between tries alone
    /// (`wait.Poll`).
    async fn poll(&mut self, until: Monotonic) -> bool {
        let period = self.times.retry_period;
        let mut tick = self.host.monotonic() + period;
        loop {
            self.host.sleep_until(tick.min(until)).await;
            if self.try_acquire_or_renew().await {
                return true;
            }
            let now = self.host.monotonic();
            if now >= until {
                return false;
            }
            while tick <= now {
                tick = tick + period;
            }
        }
    }

    fn is_leader(&self) -> bool {
        self.observed.holder == self.identity
    }

    fn is_lease_valid(&self, now: Monotonic) -> bool {
        let seconds = u64::try_from(self.observed.seconds).unwrap_or_default();
        self.observed_at + Duration::from_secs(seconds) > now
    }

    fn observe(&mut self, record: Record) {
        self.observed = record;
        self.observed_at = self.host.monotonic();
    }

    /// One try. True if it leads now.
    async fn try_acquire_or_renew(&mut self) -> bool {
        let now = self.host.monotonic();
        let present = micro_time(self.host.wall());
        let mut record = Record {
            holder: self.identity.clone(),
            seconds: i32::try_from(self.times.lease.as_secs()).unwrap_or(i32::MAX),
            acquired: present.clone(),
            renewed: present,
            transitions: 0,
        };
        // The fast path: what it has written last is there still, more often than not.
        if self.is_leader() && self.is_lease_valid(now) {
            record.acquired.clone_from(&self.observed.acquired);
            record.transitions = self.observed.transitions;
            if self.update(&record).await.is_ok() {
                self.leads(record, now);
                return true;
            }
        }
        let found = match self.get().await {
            Ok(found) => found,
            Err(error) if error.is("NotFound") => {
                let created = self.api.create(&new_lease(&self.name, record.spec())).await;
                let Ok(created) = created else { return false };
                self.lease = Some(created);
                self.leads(record, now);
                return true;
            }
            Err(_) => return false,
        };
        if self.read.as_ref() != Some(&found) {
            self.observe(found.clone());
            self.read = Some(found.clone());
        }
        if !found.holder.is_empty() && self.is_lease_valid(now) && !self.is_leader() {
            return false;
        }
        if self.is_leader() {
            record.acquired = found.acquired;
            record.transitions = found.transitions;
        } else {
            record.transitions = found.transitions.saturating_add(1);
        }
        if self.update(&record).await.is_err() {
            return false;
        }
        self.leads(record, now);
        true
    }

    async fn get(&mut self) -> Result<Record, ApiError> {
        let lease = self.api.get(&self.name).await?;
        let record = Record::of(&lease.spec);
        self.lease = Some(lease);
        Ok(record)
    }

    /// Writes a record in place of the version that it knows.
    async fn update(&mut self, record: &Record) -> Result<(), ApiError> {
        let Some(lease) = &mut self.lease else { return Err(ApiError::TimedOut) };
        lease.spec = record.spec();
        let written = self.api.update(lease).await?;
        self.lease = Some(written);
        Ok(())
    }

    /// Gives the leadership up, for no longer than the deadline says. True if it has done so, or was no leader as far as it knew.
    pub(super) async fn release(&mut self, how: Release) -> bool {
        if how == Release::Not {
            return true;
        }
        let (host, deadline) = (self.host.clone(), self.times.renew_deadline);
        host.timeout_boxed(deadline, Box::pin(self.try_release(how))).await.unwrap_or(false)
    }

    /// That somebody else holds the object that it reads here is not seen: it is the leader by the record that it has observed in a try.
    async fn try_release(&mut self, how: Release) -> bool {
        loop {
            let transitions = match how {
                Release::ReadFirst => match self.get().await {
                    Ok(found) => found.transitions,
                    Err(_) => return false,
                },
                Release::Known | Release::Not => self.observed.transitions,
            };
            if !self.is_leader() {
                return true;
            }
            let present = micro_time(self.host.wall());
            let empty = Record {
                holder: String::new(),
                seconds: 1,
                acquired: present.clone(),
                renewed: present,
                transitions,
            };
            match self.update(&empty).await {
                Ok(()) => {
                    self.observe(empty);
                    return true;
                }
                Err(error) if how == Release::ReadFirst && error.is("Conflict") => {}
                Err(_) => return false,
            }
        }
    }
}
