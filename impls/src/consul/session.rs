//! A session that is renewed in the background, and a monitor of the key that it holds.
//!
//! *Source:* `RenewPeriodic` in `api/session.go` and `monitorLock` in `api/lock.go` of Consul.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use tokio::sync::oneshot;

use crate::client::consul::{Api, ApiError};
use crate::client::flag::Flag;

/// After an error, a session is renewed again this much later.
const RENEWS_AGAIN: Duration = Duration::from_secs(1);

/// After an error, a monitor asks again this much later, if it may (`DefaultMonitorRetryTime`).
const MONITORS_AGAIN: Duration = Duration::from_secs(2);

/// A session. It is asked to end once this is dropped.
pub(super) struct Session {
    pub(super) id: String,
    shared: Arc<Mutex<State>>,
    /// Set once the monitor has seen that the key is lost, or could not see it any more.
    lost: Arc<Flag>,
    _ends: oneshot::Sender<()>,
}

#[derive(Clone, Copy)]
struct State {
    /// When the last renewal that was answered had been sent.
    sent: Monotonic,
    /// When the answer came.
    answered: Monotonic,
}

fn state(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Begins a session, and has it renewed.
    pub(super) async fn begin(
        host: &Host,
        api: &Arc<Api>,
        ttl: Duration,
        lock_delay: Duration,
    ) -> Result<Session, ApiError> {
        let sent = host.monotonic();
        let id = api.create(ttl, lock_delay).await?;
        let state = State { sent, answered: host.monotonic() };
        let shared = Arc::new(Mutex::new(state));
        let (ends, end) = oneshot::channel();
        let renewer = Renewer {
            host: host.clone(),
            api: Arc::clone(api),
            id: id.clone(),
            ttl,
            shared: Arc::clone(&shared),
        };
        host.spawn(renewer.renew(end));
        Ok(Session { id, shared, lost: Arc::default(), _ends: ends })
    }

    /// Has the key monitored that it holds.
    pub(super) fn monitor(&self, host: &Host, api: &Arc<Api>, key: &str, retries: u32) {
        let (host, api, lost) = (host.clone(), Arc::clone(api), Arc::clone(&self.lost));
        let (id, key) = (self.id.clone(), key.to_owned());
        host.clone().spawn(async move {
            watch(&host, &api, (&key, &id), retries).await;
            lost.set();
        });
    }

    /// Set once its key is lost, as far as its client knows.
    pub(super) fn lost(&self) -> &Arc<Flag> {
        &self.lost
    }

    /// When the last renewal that was answered had been sent, and when it was answered.
    pub(super) fn renewed(&self) -> (Monotonic, Monotonic) {
        let state = *state(&self.shared);
        (state.sent, state.answered)
    }
}

/// Waits until the session does not hold the key any more, or that cannot be seen.
async fn watch(host: &Host, api: &Api, (key, session): (&str, &str), retries: u32) {
    let (mut index, mut left) = (0, retries);
    loop {
        match api.get(key, index, None).await {
            Ok((now, Some(pair))) if pair.session.as_deref() == Some(session) => {
                (index, left) = (now, retries);
            }
            Ok(_) => return,
            Err(error) if left > 0 && error.is_retryable() => {
                host.sleep(MONITORS_AGAIN).await;
                (index, left) = (0, left - 1);
            }
            Err(_) => return,
        }
    }
}

/// What renews a session.
struct Renewer {
    host: Host,
    api: Arc<Api>,
    id: String,
    ttl: Duration,
    shared: Arc<Mutex<State>>,
}

impl Renewer {
    /// Renews every half of the TTL, after an error every second, until a TTL has passed without an answer, the session is over or is to end. It
    /// reports to nobody how it ends.
    async fn renew(mut self, mut end: oneshot::Receiver<()>) {
        let mut pause = self.ttl / 2;
        let mut last = self.host.monotonic();
        while self.host.monotonic().since(last) <= self.ttl {
            tokio::select! {
                biased;
                // Sent or dropped: both say that it is to end.
                _ = &mut end => {
                    // If it cannot be asked to end, its time ends it.
                    let _ = self.api.destroy(&self.id).await;
                    return;
                }
                () = self.host.sleep(pause) => {}
            }
            let sent = self.host.monotonic();
            match self.api.renew(&self.id).await {
                Err(_) => pause = RENEWS_AGAIN,
                Ok(None) => return,
                Ok(Some(ttl)) => {
                    self.ttl = ttl;
                    pause = ttl / 2;
                    last = self.host.monotonic();
                    let mut state = state(&self.shared);
                    (state.sent, state.answered) = (sent, last);
                }
            }
        }
    }
}
