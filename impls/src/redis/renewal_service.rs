//! The `single` design, whose leases a service on a host of its own renews: the client only sends it heartbeats. Who holds and who renews
//! are two processes.
//!
//! *Claim:* work may outlast the lease, and a pause of the holder that is shorter than the service's patience costs nothing: the service
//! renews meanwhile. One place knows of all leases.
//! *Weakness:* after a pause that is longer than that the service stops, the lease runs out, and the holder goes on, as nobody notifies
//! it. What a dead client held blocks the others for the patience more. The service is one more process that all leases depend on:
//! while it is dead, stands still or is cut off from the store, every lease that it renews runs out, and all holders lose their
//! locks at once; while it is cut off from one client, all leases of that client do.
//! *Source:* a proposal to separate who holds from who renews.
//!
//! With a heartbeat every ninth of the lease (`heartbeat`), a patience of a third (`patience`) and a renewal every third: the last renewal comes
//! between no and one third of a lease before the patience is over, so the lease runs out between two thirds and one lease after
//! it. A pause begins up to a heartbeat after the last one that was heard. So two holders are possible after a pause of more than the patience, two thirds of a
//! lease, less a heartbeat, and certain after the patience and a lease.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_redis::Redis;
use picklock_sim::design::{Context, Design, Family, RenewedBy};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::params;
use picklock_sim::stream::Stream;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Mutex;

use super::common::{on_stores, store_of};
use super::renewer::{self, Held, RenewedRedis};
use super::single::Single;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, Policy, RETRY, STORE, TIMEOUT};

/// The family of designs that are renewed by a service.
pub(crate) static FAMILY: Family = Family {
    name: "renewal-service",
    claim: "single, renewed by a service on another host while heartbeats reach it: short pauses of the holder cost nothing",
    weakness: "a longer pause, and all leases at once when the service is dead, paused or cut off",
    source: "a proposal to separate who holds from who renews",
    params: params![HEARTBEAT, PATIENCE, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, STORE],
    build,
};

const HEARTBEAT: Param<Count> = Param {
    name: "heartbeat",
    domain: Count(1, 1_000),
    default: "111",
    doc: "how often a client sends the service a heartbeat, in thousandths of the lease",
};

const PATIENCE: Param<Count> = Param {
    name: "patience",
    domain: Count(1, 10_000),
    default: "333",
    doc: "how long the service renews without a heartbeat, in thousandths of the lease",
};

fn build(args: &Args) -> Design {
    let (heartbeat, patience) = (args.get(HEARTBEAT) as u32, args.get(PATIENCE) as u32);
    let topology = store_of(args);
    let design = on_stores(args, topology, move |context, policy| async move {
        RenewalService::connect(&context, policy, heartbeat).await
    });
    let design = design.on_stores(topology, RenewedRedis::new(Redis::default(), patience));
    Design { renewed_by: RenewedBy::Service, leases_to_recover: 1 + patience.div_ceil(1_000), ..design }
}

struct RenewalService {
    single: Single,
    heartbeats: Arc<Heartbeats>,
}

impl RenewalService {
    async fn connect(context: &Context, policy: Policy, permille: u32) -> Result<RenewalService, LockError> {
        let single = Single::connect(context, policy).await?;
        let heartbeats = Heartbeats {
            host: context.host.clone(),
            ttl: context.ttl,
            every: context.ttl * permille / 1_000,
            stream: Mutex::new(None),
            state: StdMutex::default(),
        };
        Ok(RenewalService { single, heartbeats: Arc::new(heartbeats) })
    }
}

impl Lock for RenewalService {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let grant = self.single.try_acquire(key).await?;
        if let Some(grant) = &grant {
            self.heartbeats.hold(Held { owner: grant.owner.clone(), key: key.clone() });
        }
        Ok(grant)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.heartbeats.free(&Held { owner: grant.owner.clone(), key: grant.key.clone() });
        self.single.release(grant).await
    }
}

/// What a client sends to the service.
struct Heartbeats {
    host: Host,
    ttl: Duration,
    /// How often.
    every: Duration,
    /// The connection to the service; none while it is to be made.
    stream: Mutex<Option<Stream>>,
    state: StdMutex<State>,
}

/// The grants of a client.
#[derive(Default)]
struct State {
    held: BTreeSet<Held>,
    /// True while the task runs that sends heartbeats.
    beats: bool,
}

impl Heartbeats {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client holds a grant: the service hears of it at once, and with every heartbeat.
    fn hold(self: &Arc<Heartbeats>, held: Held) {
        self.send(renewer::hold(&held, self.ttl));
        let mut state = self.state();
        state.held.insert(held);
        if !std::mem::replace(&mut state.beats, true) {
            self.host.spawn(Arc::clone(self).repeat());
        }
    }

    /// It does no longer.
    fn free(self: &Arc<Heartbeats>, held: &Held) {
        if self.state().held.remove(held) {
            self.send(renewer::free(held));
        }
    }

    /// Sends lines in the background: nobody waits for the service.
    fn send(self: &Arc<Heartbeats>, lines: String) {
        let heartbeats = Arc::clone(self);
        self.host.spawn(async move { heartbeats.say(&lines).await });
    }

    /// Says again and again what is held, until nothing is.
    async fn repeat(self: Arc<Heartbeats>) {
        let mut due = self.host.monotonic() + self.every;
        loop {
            self.host.sleep_until(due).await;
            due = self.host.monotonic() + self.every;
            let lines: String = {
                let mut state = self.state();
                state.beats = !state.held.is_empty();
                state.held.iter().map(|held| renewer::hold(held, self.ttl)).collect()
            };
            if lines.is_empty() {
                return;
            }
            self.say(&lines).await;
        }
    }

    /// Sends lines, over a new connection if there is none. What could not be sent is said with the next heartbeat.
    async fn say(&self, lines: &str) {
        let saying = async {
            let mut slot = self.stream.lock().await;
            let mut stream = match slot.take() {
                Some(stream) => stream,
                None => self.host.connect(renewer::HOST, renewer::PORT).await?,
            };
            stream.write_all(lines.as_bytes()).await?;
            *slot = Some(stream);
            std::io::Result::Ok(())
        };
        let _ = self.host.timeout(self.every, saying).await;
    }
}
