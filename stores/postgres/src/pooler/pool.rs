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
    /// How many there are, with those that are lent and those that are being made.
    count: usize,
    /// Those who wait, in the order of their coming.
    queue: VecDeque<oneshot::Sender<Turn>>,
    /// What the server said of itself on the first connection.
    parameters: Option<Vec<u8>>,
    /// The clients by their numbers: the connection that each is lent.
    clients: BTreeMap<i32, Option<(i32, i32)>>,
    last_client: i32,
}

/// The turn of a client.
enum Turn {
    /// This connection is free.
    Take(Box<Backend>),
    /// There is room for another one.
    Open,
}

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
    pub(super) async fn parameters(&self) -> Result<Vec<u8>, NoBackend> {
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

    /// Lends a connection: the free one that was used last, a new one if there is room, or the next one that is given back.
    pub(super) async fn take(&self) -> Result<Backend, NoBackend> {
        let waiting = {
            let mut state = self.state();
            if let Some(backend) = state.free.pop() {
                Err(Turn::Take(Box::new(backend)))
            } else if state.count < self.rules.size {
                state.count += 1;
                Err(Turn::Open)
            } else {
                let (turn, waiting) = oneshot::channel();
                state.queue.push_back(turn);
                Ok(waiting)
            }
        };
        let turn = match waiting {
            Err(turn) => turn,
            Ok(waiting) => match self.host.timeout(PATIENCE, waiting).await {
                Ok(turn) => turn.map_err(|_| NoBackend::Late)?,
                Err(_) => return Err(NoBackend::Late),
            },
        };
        if let Turn::Take(mut backend) = turn
            && backend.link.is_quiet().await
        {
            return Ok(*backend);
        }
        match Backend::open(&self.host, &self.server).await {
            Ok(backend) => Ok(backend),
            Err(error) => {
                self.lost();
                Err(NoBackend::Down(error))
            }
        }
    }

    /// Takes back a connection.
    pub(super) fn put(&self, mut backend: Backend) {
        let now = self.host.monotonic();
        backend.free = now;
        if now.since(backend.born) >= LIFETIME {
            return self.lost();
        }
        let mut state = self.state();
        let mut turn = Turn::Take(Box::new(backend));
        while let Some(next) = state.queue.pop_front() {
            match next.send(turn) {
                Ok(()) => return,
                // It has left.
                Err(back) => turn = back,
            }
        }
        if let Turn::Take(backend) = turn {
            state.free.push(*backend);
        }
        self.freed.notify_one();
    }

    /// A connection is gone: there is room for another one.
    pub(super) fn lost(&self) {
        let mut state = self.state();
        state.count -= 1;
        while let Some(next) = state.queue.pop_front() {
            state.count += 1;
            if next.send(Turn::Open).is_ok() {
                return;
            }
            state.count -= 1;
        }
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
