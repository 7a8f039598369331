//! A controller: it lets the standby lead once the primary is silent for `down_after`.
//!
//! PostgreSQL has no failover manager of its own. This one is the smallest that can be: one host, which is asked by the primary again and
//! again whether it leads. Once nobody has asked for `down_after`, it has the standby promoted (`pg_promote`), and from then on it confirms
//! nobody. A primary that is not *fenced* goes on all the same, and takes writes again when it comes back: what somebody has to prevent who
//! promotes by hand. A fenced one serves only while it is confirmed.
//!
//! Left out on purpose: a second controller, a vote (who asks has to reach this one), a primary that becomes a standby afterwards
//! (`pg_rewind`), a failover back.
//!
//! *Source:* PostgreSQL 15 documentation, 27.3 Failover; Patroni's documentation, `ttl` of the leader key, for the fence.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_model::trace::{Role, What};
use picklock_sim::host::{Host, Origin};
use picklock_sim::store::ServerContext;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use crate::PORT;
use crate::link::Link;

/// What a primary asks.
const ASKS: &[u8] = b"do I lead?\n";
/// The answer to the primary.
const CONFIRMED: &[u8] = b"yes\n";
/// The answer to a primary that is one no more.
const REPLACED: &[u8] = b"no\n";

/// It is there once the primary is not confirmed any more.
const GIVEN_UP: &str = "replaced";
/// It is there once the standby has been promoted.
const DONE: &str = "promoted";

/// What a controller knows.
struct Controller {
    host: Host,
    /// When the primary has asked last; none once it is replaced.
    asked: Mutex<Option<Monotonic>>,
}

impl Controller {
    fn asked(&self) -> Option<Monotonic> {
        *self.asked.lock().expect("nothing panics while it holds this lock")
    }

    fn set(&self, asked: Option<Monotonic>) {
        *self.asked.lock().expect("nothing panics while it holds this lock") = asked;
    }
}

/// A primary's connection to its controller.
pub(crate) struct Question {
    host: Host,
    controller: String,
    stream: Option<Stream>,
}

impl Question {
    /// No connection yet, to the controller on that host.
    pub(crate) fn new(host: Host, controller: String) -> Question {
        Question { host, controller, stream: None }
    }

    /// Asks once, and waits so long for the answer: true if this primary leads, false if it was replaced. None without an answer; then the next
    /// question goes by a new connection.
    pub(crate) async fn ask(&mut self, patience: Duration) -> Option<bool> {
        let host = self.host.clone();
        let answer = host.timeout(patience, self.answer()).await.ok().and_then(Result::ok);
        if answer.is_none() {
            self.stream = None;
        }
        answer
    }

    async fn answer(&mut self) -> io::Result<bool> {
        if self.stream.is_none() {
            self.stream = Some(self.host.connect(&self.controller, PORT).await?);
        }
        let Some(open) = &mut self.stream else { return Err(io::ErrorKind::NotConnected.into()) };
        open.write_for(Origin::default(), ASKS).await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\n") {
            if open.read_buf(&mut answer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(answer == CONFIRMED)
    }
}

/// Runs a controller until its host stops.
pub(crate) async fn serve(context: ServerContext, down_after: Duration) {
    let standby =
        context.of_role(Role::Follower).next().map(|member| member.name.clone()).unwrap_or_default();
    let host = context.host;
    let has = |file: &str| !host.disk().read(file).is_empty();
    let (is_replaced, is_over) = (has(GIVEN_UP), has(DONE));
    let asked = Mutex::new((!is_replaced).then(|| host.monotonic()));
    let controller = Arc::new(Controller { host, asked });
    if !is_over {
        controller.host.spawn(watch(Arc::clone(&controller), standby, down_after));
    }
    // The port is free: a host runs one server, and this is its start.
    let Ok(listener) = controller.host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let controller = Arc::clone(&controller);
        controller.host.clone().spawn(async move {
            let _ = answer(&controller, stream).await;
        });
    }
}

/// Answers a primary until it goes.
async fn answer(controller: &Controller, mut stream: Stream) -> io::Result<()> {
    let mut received = Vec::new();
    while stream.read_buf(&mut received).await? > 0 {
        while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = received.drain(..=end).collect();
            if line != ASKS {
                return Ok(());
            }
            let leads = controller.asked().is_some();
            if leads {
                controller.set(Some(controller.host.monotonic()));
            }
            stream.write_for(stream.origin(), if leads { CONFIRMED } else { REPLACED }).await?;
        }
    }
    Ok(())
}

/// Waits until the primary is silent for too long, and has the standby lead.
async fn watch(controller: Arc<Controller>, standby: String, down_after: Duration) {
    let host = &controller.host;
    while let Some(asked) = controller.asked() {
        let due = asked + down_after;
        if host.monotonic() < due {
            host.sleep_until(due).await;
            continue;
        }
        // From now on the primary is not confirmed any more, whether the standby can be reached or not.
        controller.set(None);
        keep(host, GIVEN_UP);
    }
    host.record(Origin::default(), What::Noticed { text: format!("promotes {standby}") });
    while !matches!(host.timeout(down_after, promote(host, &standby)).await, Ok(Ok(()))) {
        host.sleep(down_after).await;
    }
    keep(host, DONE);
}

/// Keeps a fact over a restart.
fn keep(host: &Host, file: &str) {
    host.disk().write(file, b"yes");
    host.disk().sync(file);
}

/// Has the standby lead. That it leads already is as good.
async fn promote(host: &Host, standby: &str) -> io::Result<()> {
    Link::open(host, standby, &[("user", "postgres")]).await?.run("SELECT pg_promote()").await.map(drop)
}
