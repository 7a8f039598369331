//! The agent of a real primary: it asks the controller whether its server leads, and stops a fenced server that is no longer confirmed.
//!
//! PostgreSQL itself asks nobody. The agent does what the simulated server does, at the same times, so the controller is the same before both.
//! A fenced server that is not confirmed is stopped, as Patroni does to demote one, and starts anew once it is confirmed; the simulated one
//! runs on and serves nobody.

use std::pin::pin;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::store::{Agent, Switch};

use crate::controller::Question;
use crate::server::Pair;

/// The agent of a primary.
pub(crate) fn agent(pair: Pair) -> Agent {
    Agent::new(move |host, switch| ask(host, switch, pair.clone()))
}

/// On the disk of the host: the server has run before.
const STARTED: &str = "started";

/// Asks for as long as the host runs.
async fn ask(host: Host, switch: Switch, pair: Pair) {
    let began = host.monotonic();
    let is_new = host.disk().read(STARTED).is_empty();
    host.disk().write(STARTED, b"yes");
    host.disk().sync(STARTED);
    // A fenced server that comes back has to be confirmed first.
    switch.set(is_new || pair.fenced.is_none());
    let end = |asked: Monotonic, limit: Duration| asked + limit;
    let mut until = pair.fenced.map(|limit| if is_new { end(began, limit) } else { began });
    let mut question = Question::new(host.clone(), pair.controller);
    loop {
        let asked = host.monotonic();
        let answer = until_end(&host, &switch, until, question.ask(pair.interval)).await;
        if let Some(limit) = pair.fenced
            && let Some(leads) = answer
        {
            until = Some(if leads { end(asked, limit) } else { asked });
            switch.set(leads && host.monotonic() < end(asked, limit));
        }
        until_end(&host, &switch, until, host.sleep_until(asked + pair.interval)).await;
    }
}

/// Waits for something, and stops the server meanwhile if its time ends.
async fn until_end<T>(
    host: &Host,
    switch: &Switch,
    until: Option<Monotonic>,
    something: impl Future<Output = T>,
) -> T {
    let Some(until) = until else { return something.await };
    let mut something = pin!(something);
    tokio::select! {
        biased;
        done = &mut something => return done,
        () = host.sleep_until(until) => switch.set(false),
    }
    something.await
}
