//! The fault actions that only PostgreSQL has.

use std::sync::Arc;

use picklock_sim::store::OwnAction;

use crate::server::locks::SessionId;
use crate::server::machine::{Machine, Now};
use crate::server::shared::Server;

/// The actions of PostgreSQL's servers.
pub(crate) const ACTIONS: &[OwnAction] = &[OwnAction {
    name: "end-session",
    doc: "the sessions that have something locked are ended, the oldest first, as by pg_terminate_backend",
}];

/// Does what actions ask for, for as long as the host runs.
pub(crate) async fn act(server: Arc<Server>) {
    loop {
        let action = server.host.next_action().await;
        if server.with(|machine, now| machine.end_holders(action.count as usize, now)) > 0 {
            server.host.action_took_effect(&action);
        }
    }
}

impl Machine {
    /// Ends so many of the sessions that have something locked, in the order of their connections: how many there were.
    fn end_holders(&mut self, most: usize, now: Now) -> usize {
        let holds = |id: &SessionId| {
            let session = &self.sessions[id];
            let in_transaction = session.transaction.as_ref().is_some_and(|it| self.heap.has_touched(it.top));
            session.waiting.is_none() && (in_transaction || !session.reported.is_empty())
        };
        let holders: Vec<SessionId> =
            self.sessions.keys().filter(|id| holds(id)).take(most).copied().collect();
        for id in &holders {
            self.terminate(*id);
        }
        self.settle(now);
        holders.len()
    }
}
