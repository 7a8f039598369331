//! The connections to the server: those that are free, and the clients that wait for one.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use tokio::sync::{Notify, oneshot};

use super::backend::Backend;
use super::rules::{IDLE, LIFETIME, PATIENCE, Rules};
use crate::protocol::SqlError;

/// The connections of a pooler.
pub(super) struct Pool {
    pub(super) host: Host,
    /// The host of the server.
    pub(super) server: String,
    pub(super) rules: Rules,
    state: Mutex<State>,
    /// Notified when a connection is free.
    freed: Notify,
}

#[derive(Default)]
struct State {
    /// The one that was used last is lent first.
    free: Vec<Backend>,
    /// How many there are, with those that are lent and the one that is being made.
    count: usize,
    /// True while one is being made: there is never more than one such.
    opening: bool,
    /// Those who wait, in the order of their coming. There is a free connection only if nobody waits.
    queue: VecDeque<oneshot::Sender<Turn>>,
    /// What the server said of itself on the first connection.
    parameters: Option<Vec<u8>>,
    /// The clients by their numbers: the connection that each is lent.
    clients: BTreeMap<i32, Option<(i32, i32)>>,
    last_client: i32,
}

/// The turn of a client: a connection, or the reason why there is none.
type Turn = Result<Box<Backend>, NoBackend>;

/// What befalls a client that asks for a connection.
#[derive(Debug)]
pub(super) enum NoBackend {
    /// The server cannot be reached.
    Down(io::Error),
    /// It has waited for too long.
    Late,
}

impl NoBackend {
    /// What the client is sent.
    pub(super) fn error(&self) -> SqlError {
        match self {
            NoBackend::Down(error) => {
                SqlError::fatal("08P01", format!("server login has been failing: {error}"))
            }
            NoBackend::Late => SqlError::fatal("08P01", "query_wait_timeout"),
        }
    }
}

impl Pool {
    pub(super) fn new(host: Host, server: String, rules: Rules) -> Pool {
        Pool { host, server, rules, state: Mutex::default(), freed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds this lock")
    }

    /// The number of a new client.
    pub(super) fn enter(&self) -> i32 {
        let mut state = self.state();
        state.last_client += 1;
        let number = state.last_client;
        state.clients.insert(number, None);
        number
    }

    pub(super) fn leave(&self, client: i32) {
        self.state().clients.remove(&client);
    }

    /// What the server says of itself. The first client to come waits for a connection, and those after it for nothing.
    pub(super) async fn parameters(self: &Arc<Self>) -> Result<Vec<u8>, NoBackend> {
        if let Some(known) = self.state().parameters.clone() {
            return Ok(known);
        }
        let backend = self.take().await?;
        let parameters = backend.link.parameters.clone();
        self.put(backend);
        self.state().parameters = Some(parameters.clone());
        Ok(parameters)
    }

    /// Notes which connection a client is lent.
    pub(super) fn lent(&self, client: i32, key: Option<(i32, i32)>) {
        if let Some(lent) = self.state().clients.get_mut(&client) {
            *lent = key;
        }
    }

    /// The connection that a client is lent.
    pub(super) fn lent_to(&self, client: i32) -> Option<(i32, i32)> {
        self.state().clients.get(&client).copied().flatten()
    }

    /// Lends a connection: the free one that was used last, or the next one that is given back or made, whichever comes first.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Backend, NoBackend> {
        loop {
            let free = self.state().free.pop();
            let mut backend = match free {
                Some(backend) => backend,
                None => *self.wait().await?,
            };
            if backend.link.is_quiet().await {
                return Ok(backend);
            }
            self.lost();
        }
    }

    /// Waits for a turn; another connection is made meanwhile if there is room.
    async fn wait(self: &Arc<Self>) -> Turn {
        let (turn, waiting) = oneshot::channel();
        self.state().queue.push_back(turn);
        self.open_another();
        match self.host.timeout(PATIENCE, waiting).await {
            Ok(Ok(turn)) => turn,
            _ => Err(NoBackend::Late),
        }
    }

    /// Makes a connection if somebody waits for one, there is room, and none is being made.
    fn open_another(self: &Arc<Self>) {
        let mut state = self.state();
        if state.opening || state.queue.is_empty() || state.count >= self.rules.size {
            return;
        }
        state.opening = true;
        state.count += 1;
        drop(state);
        let pool = Arc::clone(self);
        self.host.spawn(async move {
            let made = Backend::open(&pool.host, &pool.server).await;
            pool.state().opening = false;
            match made {
                Ok(backend) => pool.put(backend),
                Err(error) => {
                    pool.state().count -= 1;
                    drop(pool.next(Err(NoBackend::Down(error))));
                }
            }
            pool.open_another();
        });
    }

    /// Gives a turn to the first of those who wait. It comes back if nobody does.
    fn next(&self, mut turn: Turn) -> Option<Turn> {
        let mut state = self.state();
        while let Some(next) = state.queue.pop_front() {
            match next.send(turn) {
                Ok(()) => return None,
                // It has left.
                Err(back) => turn = back,
            }
        }
        Some(turn)
    }

    /// Takes back a connection.
    pub(super) fn put(self: &Arc<Self>, mut backend: Backend) {
        let now = self.host.monotonic();
        backend.free = now;
        if now.since(backend.born) >= LIFETIME {
            return self.lost();
        }
        if let Some(Ok(backend)) = self.next(Ok(Box::new(backend))) {
            self.state().free.push(*backend);
            self.freed.notify_one();
        }
    }

    /// A connection is gone: there is room for another one.
    pub(super) fn lost(self: &Arc<Self>) {
        self.state().count -= 1;
        self.open_another();
    }

    /// When the next free connection is to be closed.
    fn due(&self) -> Option<Monotonic> {
        let end = |backend: &Backend| (backend.born + LIFETIME).min(backend.free + IDLE);
        self.state().free.iter().map(end).min()
    }

    fn close_old(&self) {
        let now = self.host.monotonic();
        let mut state = self.state();
        let before = state.free.len();
        state.free.retain(|backend| now.since(backend.born) < LIFETIME && now.since(backend.free) < IDLE);
        state.count -= before - state.free.len();
    }
}

/// Closes the connections that are too old, or were free for too long.
pub(super) async fn janitor(pool: Arc<Pool>) {
    loop {
        let Some(due) = pool.due() else {
            pool.freed.notified().await;
            continue;
        };
        pool.host.sleep_until(due).await;
        pool.close_old();
    }
}
