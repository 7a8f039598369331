//! Sessions that wait: for keys (BLPOP and its kin), for replicas (WAIT), for the disk (WAITAOF), for the end of a pause.
//!
//! As in Redis, a deadline is looked at on every tick, and it has passed when the clock shows a later millisecond: a
//! step of the wall clock moves all deadlines, and an answer may come a tick late. Who waits for a key is served in the
//! order of coming; keys are looked at in the order in which they were changed (Redis 7.0 `blocked.c`).

use std::sync::Arc;

use picklock_model::time::WallTime;

use super::delivery::Then;
use super::ids::{KeptCommand, SessionId};
use super::outcome::{Answer, Next};
use super::queues::{Cause, Waiting};
use super::state::{Executor, Node};
use crate::protocol::resp::Reply;
use crate::server::store::Access;

impl Node {
    /// Sets the time, and whose commands follow.
    pub(crate) fn at(&mut self, now: WallTime) {
        self.store.begin(now);
        self.store.access = if self.is_replica() { Access::Replica } else { Access::Primary };
        if self.pause.is_some_and(|pause| self.store.now_ms() >= pause.until_ms) {
            self.end_pause();
        }
        if self.paused().is_some() {
            // Nothing is deleted during a pause: what is dead looks gone.
            self.store.access = Access::Replica;
        }
    }

    /// Lets a session wait. The server executes nothing more for it until a delivery resumes it.
    pub(crate) fn wait_for(&mut self, id: SessionId, cause: Cause, deadline_ms: Option<i64>) -> Answer {
        match &cause {
            Cause::Replicas { .. } => self.queues.replicas.push(id),
            Cause::Pause { .. } => self.queues.paused.push(id),
            Cause::Keys { database, keys, .. } => {
                for key in keys {
                    let waiting = self.queues.keys.entry((*database, key.clone())).or_default();
                    if waiting.last() != Some(&id) {
                        waiting.push(id);
                    }
                }
            }
            Cause::Disk { .. } | Cause::Script => {}
        }
        self.queues.blocked += usize::from(cause.is_blocking());
        if let Some(deadline) = deadline_ms {
            self.queues.deadlines.insert((deadline, id));
        }
        self.session_mut(id).waiting = Some(Box::new(Waiting { cause, deadline_ms }));
        self.look_away();
        Answer::silent(Next::Blocked)
    }

    /// Keeps a command until the pause is over; then it is executed as is said here.
    pub(crate) fn postpone(&mut self, id: SessionId, command: KeptCommand, execute: Executor) -> Next {
        self.executes_kept = Some(execute);
        self.wait_for(id, Cause::Pause { command }, None).next
    }

    /// Ends the waiting of a session, if it waits.
    pub(crate) fn stop_waiting(&mut self, id: SessionId) -> Option<Waiting> {
        let waiting = *self.sessions.get_mut(&id)?.waiting.take()?;
        if let Some(deadline) = waiting.deadline_ms {
            self.queues.deadlines.remove(&(deadline, id));
        }
        let queues = &mut self.queues;
        queues.blocked -= usize::from(waiting.cause.is_blocking());
        match &waiting.cause {
            Cause::Replicas { .. } => queues.replicas.retain(|other| *other != id),
            Cause::Pause { .. } => queues.paused.retain(|other| *other != id),
            Cause::Keys { database, keys, .. } => {
                for key in keys {
                    let place = (*database, key.clone());
                    if let Some(waiting) = queues.keys.get_mut(&place) {
                        waiting.retain(|other| *other != id);
                        if waiting.is_empty() {
                            queues.keys.remove(&place);
                        }
                    }
                }
                self.look_away();
            }
            Cause::Disk { .. } | Cause::Script => {}
        }
        Some(waiting)
    }

    /// Answers a session that waited.
    pub(crate) fn resume(&mut self, id: SessionId, reply: &Reply) {
        self.execute_for(id, |node| {
            node.reply(id, reply);
            node.advance_answers(id);
            Some(Then::Resume)
        });
    }

    /// The sessions that wait for keys, with these.
    pub(crate) fn waiting_for_keys(&self) -> Vec<(SessionId, Vec<Vec<u8>>)> {
        let waits = self.sessions.iter().filter_map(|(id, session)| match session.waiting.as_deref() {
            Some(Waiting { cause: Cause::Keys { keys, .. }, .. }) => Some((*id, keys.clone())),
            _ => None,
        });
        waits.collect()
    }

    /// True while some session waits with a deadline.
    pub(crate) fn has_deadlines(&self) -> bool {
        !self.queues.deadlines.is_empty()
    }

    /// How many sessions wait with a deadline.
    pub(crate) fn overdue_later(&self) -> usize {
        self.queues.deadlines.len()
    }

    /// How many sessions wait for something other than the end of their own script.
    pub(crate) fn blocked(&self) -> usize {
        self.queues.blocked + self.queues.paused.len()
    }

    /// Answers those whose deadline has passed.
    pub(crate) fn end_overdue(&mut self) {
        let now = self.store.now_ms();
        while let Some(&(deadline, id)) = self.queues.deadlines.first() {
            if deadline >= now {
                return;
            }
            if !self.time_out(id) {
                return;
            }
        }
    }

    /// Answers a session that waits as if its deadline had passed. False if it does not wait for anything that has one.
    pub(crate) fn time_out(&mut self, id: SessionId) -> bool {
        let cause = self.sessions.get(&id).and_then(|session| session.waiting.as_ref());
        if !cause.is_some_and(|waiting| waiting.cause.is_blocking()) {
            return false;
        }
        let Some(waiting) = self.stop_waiting(id) else { return false };
        let reply = match waiting.cause {
            Cause::Replicas { offset, .. } => acknowledged(self.acknowledged(offset)),
            Cause::Disk { logs } => synced(logs),
            Cause::Keys { .. } | Cause::Pause { .. } | Cause::Script => Reply::NilArray,
        };
        self.resume(id, &reply);
        true
    }

    /// Answers a session that waits with an error instead. False if it does not wait.
    pub(crate) fn unblock(&mut self, id: SessionId, error: &Reply) -> bool {
        let cause = self.sessions.get(&id).and_then(|session| session.waiting.as_ref());
        let waits = cause.is_some_and(|waiting| waiting.cause.is_blocking());
        if waits {
            self.stop_waiting(id);
            self.resume(id, error);
        }
        waits
    }

    /// Answers those that waited for replicas and have enough of them now.
    pub(crate) fn serve_acknowledged(&mut self) {
        for id in self.queues.replicas.clone() {
            let Some(Waiting { cause, .. }) = self.session(id).waiting.as_deref() else { continue };
            let Cause::Replicas { count, offset } = *cause else { continue };
            let acked = self.acknowledged(offset);
            if acked >= count {
                self.stop_waiting(id);
                self.resume(id, &acknowledged(acked));
            }
        }
    }

    /// Serves those that waited for keys which have something for them now.
    pub(crate) fn serve_ready(&mut self) {
        while !self.queues.ready.is_empty() {
            for place in std::mem::take(&mut self.queues.ready) {
                let waiting = self.queues.keys.get(&place).cloned().unwrap_or_default();
                for id in waiting {
                    self.serve(id, &place);
                }
            }
        }
    }

    /// Serves a session that waits for a key, if there is something for it.
    fn serve(&mut self, id: SessionId, place: &(usize, Vec<u8>)) {
        let Some(Waiting { cause: Cause::Keys { takes, .. }, .. }) = self.session(id).waiting.as_deref()
        else {
            return;
        };
        let takes = Arc::clone(takes);
        let selected = std::mem::replace(&mut self.store.selected, place.0);
        let served = takes.serve(&mut self.store, &place.1);
        self.store.selected = selected;
        if let Some(reply) = served {
            self.stop_waiting(id);
            self.execute_for(id, |node| {
                node.digest_changes();
                node.reply(id, &reply);
                node.advance_answers(id);
                Some(Then::Resume)
            });
        }
    }

    /// Ends the script that takes too long.
    pub(crate) fn end_script(&mut self) {
        if let Some(busy) = self.busy.take()
            && self.stop_waiting(busy.session).is_some()
        {
            self.resume(busy.session, &busy.killed);
        }
    }

    /// Executes what was kept during a pause, in the order of coming.
    pub(crate) fn end_pause(&mut self) {
        self.pause = None;
        self.go_on_writing();
    }

    /// Executes what was kept during a pause, unless there is still one.
    pub(crate) fn go_on_writing(&mut self) {
        if self.paused().is_some() {
            return;
        }
        // Nothing was ever kept if nobody has said how it is executed.
        let Some(execute) = self.executes_kept else { return };
        for id in self.queues.paused.clone() {
            if let Some(Waiting { cause: Cause::Pause { command }, .. }) = self.stop_waiting(id) {
                let args: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
                self.execute_for(id, |node| {
                    Some(match execute(node, id, &args) {
                        Next::Blocked => Then::Same,
                        Next::Close => Then::Close,
                        _ => Then::Resume,
                    })
                });
                self.store.settle();
                self.serve_ready();
            }
        }
    }

    /// Ends all waiting that a replica does not do: those sessions are notified, and closed.
    pub(crate) fn unblock_all(&mut self) {
        let blocked = |waiting: &Waiting| waiting.cause.is_blocking();
        let waits =
            self.sessions.iter().filter(|(_, session)| session.waiting.as_deref().is_some_and(blocked));
        for id in waits.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.stop_waiting(id);
            self.execute_for(id, |node| {
                node.reply(id, &DEMOTED);
                Some(Then::Close)
            });
        }
    }
}

const DEMOTED: Reply = Reply::error(
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
);

/// The reply of WAIT.
pub(crate) fn acknowledged(replicas: usize) -> Reply {
    Reply::Integer(i64::try_from(replicas).unwrap_or(i64::MAX))
}

/// The reply of WAITAOF: whether the node's own append-only file is synced, and those of how many replicas.
pub(crate) fn synced(logs: bool) -> Reply {
    Reply::Array(vec![Reply::Integer(i64::from(logs)), Reply::Integer(0)])
}
