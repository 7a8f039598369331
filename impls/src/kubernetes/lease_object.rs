//! A Lease object of Kubernetes as a lock: whoever has its name in it leads, for as long as others see it change.
//!
//! *Claim:* whoever sees no change of the object for a lease by its own clock may take it; a leader that does not get a change through stops after
//! a shorter time. So clocks may be set to whatever they like, and run at rates that differ by less than the one time by the other: with the
//! times of client-go (15 s, 10 s and 2 s) by a quarter.
//! *Weakness:* a leader that stands still does not stop, and when it resumes it leads on for up to its deadline, although it reads who has its place. With
//! `release` a leader that is cut off first tries to release, and works on meanwhile: with client-go's times for 2 + 10 + 5 s, two more than a
//! lease. The release of a leader that has lost its place clears the object of the next one (`release=read-first`). The object fences nothing.
//! *Source:* client-go, `tools/leaderelection` at 32ce75a (July 2026); Kubernetes documentation, Leases.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use picklock_kubernetes::Kubernetes;
use picklock_model::ids::{Key, Token};
use picklock_model::time::Monotonic;
use picklock_sim::design::{Conditions, Context, Design, Family, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param, Word};
use picklock_sim::params;
use tokio::sync::{Mutex, oneshot};

use super::elector::{Elector, Release, Times};
use crate::client::flag::Flag;
use crate::client::kubernetes::Api;
use crate::client::policy::{BELIEF, DRIFT, Policy, Reading};

const MEMBERS: Param<Count> = Param {
    name: "members",
    domain: Count(1, 5),
    default: "3",
    doc: "how many hosts the control plane has, each with a member of etcd and an API server",
};

const RENEW_DEADLINE: Param<Count> = Param {
    name: "renew_deadline",
    domain: Count(1, 999),
    default: "667",
    doc: "how long a leader tries to renew before it stops (RenewDeadline), in thousandths of the lease",
};

const RETRY_PERIOD: Param<Count> = Param {
    name: "retry_period",
    domain: Count(1, 800),
    default: "133",
    doc: "the pause between two tries (RetryPeriod), in thousandths of the lease; a candidate adds up to 1.2 of it",
};

const RELEASE: Param<Word> = Param {
    name: "release",
    domain: Word(&["read-first", "known", "none"]),
    default: "read-first",
    doc: "what a leader does when it stops (ReleaseOnCancel): it reads the object and empties it, as client-go does today; it empties the one that it \
          knows, as client-go did; or it leaves it, and the others wait for a lease",
};

const FENCING: Param<Word> = Param {
    name: "fencing",
    domain: Word(&["none", "transitions"]),
    default: "none",
    doc: "the token of a grant, which the resource compares: none, or how often the object went from one holder to another",
};

/// How often in a period a leader looks whether it leads: often enough that it makes no difference for how long it leads on.
const LOOKS: u32 = 40;

/// The pause before a request is made again.
const AGAIN: Duration = Duration::from_millis(100);

/// The family of designs with Kubernetes' Lease.
pub(crate) static FAMILY: Family = Family {
    name: "lease-object",
    claim: "Kubernetes' leader election: a Lease object, and a leader that stops before others may take it, whatever their clocks show",
    weakness: "a leader that stood still leads on, one that is cut off works on while it tries to release, and a late release clears the next one's object",
    source: "client-go, tools/leaderelection (July 2026)",
    params: params![BELIEF, DRIFT, MEMBERS, RENEW_DEADLINE, RETRY_PERIOD, RELEASE, FENCING],
    build,
};

fn build(args: &Args) -> Design {
    let rules = Rules {
        renew_deadline: args.get(RENEW_DEADLINE) as u32,
        retry_period: args.get(RETRY_PERIOD) as u32,
        release: match args.get(RELEASE) {
            "none" => Release::Not,
            "known" => Release::Known,
            _ => Release::ReadFirst,
        },
        fenced: args.get(FENCING) == "transitions",
        ..Rules::CLIENT_GO
    };
    design(args.get(MEMBERS) as u32, rules, Policy::of(args))
}

/// A design whose clients elect a leader by these rules, on a control plane of so many hosts.
pub(crate) fn design(members: u32, rules: Rules, policy: Policy) -> Design {
    let client =
        move |context: Context| async move { Ok(Client::lock(LeaseObject::new(&context, rules, policy)?)) };
    let topology = Topology { stores: 1, replicated: members > 1 };
    let design = Design::new("", client)
        .on_stores(topology, Kubernetes { members })
        .persistent()
        .believing(policy.belief)
        .renewing();
    // A lease, and what two candidates wait between their tries: the one who sees the last change, and the one who sees its end.
    let design = Design { survives: Conditions::LEASE, leases_to_recover: 2, ..design };
    if rules.fenced { design.fenced() } else { design }
}

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// How long a leader tries to renew before it stops, in thousandths of the lease.
    pub(crate) renew_deadline: u32,
    /// The pause between two tries, in thousandths of the lease.
    pub(crate) retry_period: u32,
    /// What a leader does when it stops.
    pub(crate) release: Release,
    /// True if the transitions of the object are a fencing token.
    pub(crate) fenced: bool,
    /// True if the deadline of a renewal also ends the try that is under way, and a request takes no longer.
    pub(crate) bounds_tries: bool,
    /// How long at most a leader that has stopped works on, until one more request of its is answered.
    pub(crate) lingers: Duration,
}

impl Rules {
    /// Those of client-go today, with its times.
    pub(crate) const CLIENT_GO: Rules = Rules {
        renew_deadline: 667,
        retry_period: 133,
        release: Release::ReadFirst,
        fenced: false,
        bounds_tries: true,
        lingers: Duration::ZERO,
    };
}

/// A client.
struct LeaseObject {
    host: Host,
    ttl: Duration,
    rules: Rules,
    policy: Policy,
    times: Times,
    api: Arc<Api>,
    held: Mutex<Vec<Leading>>,
}

/// A leadership.
struct Leading {
    identity: String,
    renewed: Arc<StdMutex<(Monotonic, Monotonic)>>,
    stopped: Arc<Flag>,
    /// Has it stop.
    cancel: oneshot::Sender<()>,
    /// True once it has stopped and given the object up.
    released: oneshot::Receiver<bool>,
}

impl LeaseObject {
    fn new(context: &Context, rules: Rules, policy: Policy) -> Result<LeaseObject, LockError> {
        let times = Times {
            lease: context.ttl,
            renew_deadline: context.ttl * rules.renew_deadline / 1_000,
            retry_period: context.ttl * rules.retry_period / 1_000,
            bounds_tries: rules.bounds_tries,
        };
        times.check()?;
        let api = Arc::new(Api::of(context, rules.bounds_tries.then(|| times.timeout()))?);
        let (host, ttl) = (context.host.clone(), context.ttl);
        Ok(LeaseObject { host, ttl, rules, policy, times, api, held: Mutex::default() })
    }

    /// Runs for the leadership for so long.
    async fn run(&self, key: &Key, wait: Duration) -> Option<Grant> {
        let mut elector = Elector::new(&self.host, &self.api, key.as_str(), self.times);
        self.host.timeout_boxed(wait, Box::pin(elector.acquire())).await.ok()?;
        let identity = elector.identity.clone();
        let mut grant = Grant::new(key, identity.clone());
        if self.rules.fenced {
            grant.token = u64::try_from(elector.transitions()).ok().map(|transitions| Token(transitions + 1));
        }
        let (cancel, cancelled) = oneshot::channel();
        let (done, released) = oneshot::channel();
        let stopped: Arc<Flag> = Arc::default();
        let leading =
            Leading { identity, renewed: elector.renewed(), stopped: Arc::clone(&stopped), cancel, released };
        let Rules { release, lingers, .. } = self.rules;
        let (host, api, name) = (self.host.clone(), Arc::clone(&self.api), key.as_str().to_owned());
        self.host.spawn(async move {
            let lost = tokio::select! {
                biased;
                // Sent or dropped: both say that it is to stop.
                _ = cancelled => false,
                () = elector.renew() => true,
            };
            let released = elector.release(release).await;
            if lost && !lingers.is_zero() {
                // However it ends, the time is over.
                let _ = host.timeout_boxed(lingers, Box::pin(until_answered(&host, &api, &name))).await;
            }
            // Only now is anybody notified: OnStoppedLeading is called when all of this has returned.
            stopped.set();
            // Who waited may be gone.
            let _ = done.send(released);
        });
        self.advertise(&mut grant, &leading);
        self.held.lock().await.push(leading);
        Some(grant)
    }

    /// Until when a leader may rely on its object: others wait for a lease after its last change, which it counts from the request, or from the
    /// answer.
    fn advertise(&self, grant: &mut Grant, leading: &Leading) {
        let (began, answered) = *leading.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        let lease = Duration::from_secs(self.times.lease.as_secs());
        grant.deadline = match self.policy.belief {
            Belief::Honest => Some(self.policy.lease_end(Reading::Monotonic(began), lease).deadline()),
            Belief::Trusting => Some(Reading::Monotonic(answered).plus(lease).deadline()),
            _ => None,
        };
    }
}

/// Asks the API servers until one answers.
async fn until_answered(host: &Host, api: &Api, name: &str) {
    while api.get(name).await.is_err() {
        host.sleep(AGAIN).await;
    }
}

impl Lock for LeaseObject {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(self.run(key, self.ttl).await)
    }

    async fn acquire(&self, _: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        Ok(self.run(key, wait).await)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let leading = {
            let mut held = self.held.lock().await;
            let at = held.iter().position(|leading| leading.identity == grant.owner);
            at.map(|at| held.swap_remove(at))
        };
        let leading = leading.ok_or_else(|| LockError::new("this client does not lead"))?;
        // It may have stopped by itself.
        let _ = leading.cancel.send(());
        match leading.released.await {
            Ok(true) => Ok(()),
            _ => Err(LockError::in_doubt("the lease could not be released")),
        }
    }

    /// As often a leader looks whether it has stopped.
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.times.retry_period / LOOKS)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        let stopped = {
            let held = self.held.lock().await;
            let leading = held.iter().find(|leading| leading.identity == grant.owner);
            leading.map(|leading| Arc::clone(&leading.stopped))
        };
        if let Some(stopped) = stopped {
            stopped.wait().await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let held = self.held.lock().await;
        let leading = held.iter().find(|leading| leading.identity == grant.owner);
        let Some(leading) = leading.filter(|leading| !leading.stopped.is_set()) else { return Ok(false) };
        self.advertise(grant, leading);
        Ok(true)
    }
}
