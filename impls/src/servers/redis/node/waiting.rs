//! Sessions that wait: for replicas (WAIT), with a deadline on the node's wall clock.
//!
//! As in Redis, a deadline is looked at after every command and on every tick, and it has passed when the clock shows a
//! later millisecond: a step of the clock moves all deadlines.

use std::collections::BTreeSet;

use super::delivery::Then;
use super::{Answer, Next, Node, SessionId};
use crate::servers::redis::resp::Reply;

/// What a session waits for.
#[derive(Clone, Debug)]
pub(in crate::servers::redis) struct Waiting {
    pub(super) cause: Cause,
    /// The last millisecond of the wall clock that it waits through; none without limit.
    pub(super) deadline_ms: Option<i64>,
}

#[derive(Clone, Debug)]
pub(in crate::servers::redis) enum Cause {
    /// So many replicas that have acknowledged the effects up to an offset.
    Replicas { count: usize, offset: u64 },
}

/// Who waits.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// The deadlines in order.
    deadlines: BTreeSet<(i64, SessionId)>,
    /// Those that wait for replicas, the first to wait first.
    replicas: Vec<SessionId>,
}

impl Node {
    /// Lets a session wait. The server executes nothing more for it until a delivery resumes it.
    pub(in crate::servers::redis) fn wait_for(
        &mut self,
        id: SessionId,
        cause: Cause,
        deadline_ms: Option<i64>,
    ) -> Answer {
        match &cause {
            Cause::Replicas { .. } => self.queues.replicas.push(id),
        }
        if let Some(deadline) = deadline_ms {
            self.queues.deadlines.insert((deadline, id));
        }
        self.session_mut(id).waiting = Some(Box::new(Waiting { cause, deadline_ms }));
        Answer { reply: None, next: Next::Blocked }
    }

    /// Ends the waiting of a session, if it waits.
    pub(super) fn stop_waiting(&mut self, id: SessionId) -> Option<Waiting> {
        let waiting = *self.sessions.get_mut(&id)?.waiting.take()?;
        if let Some(deadline) = waiting.deadline_ms {
            self.queues.deadlines.remove(&(deadline, id));
        }
        match waiting.cause {
            Cause::Replicas { .. } => self.queues.replicas.retain(|other| *other != id),
        }
        Some(waiting)
    }

    /// Answers a session that waited.
    fn resume(&mut self, id: SessionId, reply: &Reply) {
        let mut bytes = Vec::new();
        reply.encode(self.session(id).protocol, &mut bytes);
        self.deliver(id, bytes.into(), Then::Resume);
    }

    /// True while some session waits with a deadline.
    pub(super) fn has_deadlines(&self) -> bool {
        !self.queues.deadlines.is_empty()
    }

    /// Answers those whose deadline has passed.
    pub(super) fn end_overdue(&mut self) {
        let now = self.store.now_ms();
        while let Some(&(deadline, id)) = self.queues.deadlines.first() {
            if deadline >= now {
                return;
            }
            let Some(waiting) = self.stop_waiting(id) else { return };
            let reply = match waiting.cause {
                Cause::Replicas { offset, .. } => acknowledged(self.acknowledged(offset)),
            };
            self.resume(id, &reply);
        }
    }

    /// Answers those that waited for replicas and have enough of them now.
    pub(in crate::servers::redis) fn serve_acknowledged(&mut self) {
        for id in self.queues.replicas.clone() {
            let Some(Waiting { cause, .. }) = self.session(id).waiting.as_deref() else { continue };
            let Cause::Replicas { count, offset } = *cause;
            let acked = self.acknowledged(offset);
            if acked >= count {
                self.stop_waiting(id);
                self.resume(id, &acknowledged(acked));
            }
        }
    }

    /// Ends all waiting that a replica does not do: those sessions are told, and closed.
    pub(super) fn unblock_all(&mut self) {
        let waiting: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.waiting.is_some())
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            self.stop_waiting(id);
            let mut bytes = Vec::new();
            UNBLOCKED.encode(self.session(id).protocol, &mut bytes);
            self.deliver(id, bytes.into(), Then::Close);
        }
    }
}

const UNBLOCKED: Reply = Reply::error(
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
);

/// The reply of WAIT.
pub(in crate::servers::redis) fn acknowledged(replicas: usize) -> Reply {
    Reply::Integer(i64::try_from(replicas).unwrap_or(i64::MAX))
}
