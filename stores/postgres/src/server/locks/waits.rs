//! The waits of sessions.

use std::collections::BTreeMap;

use super::table::{Locks, Mode, Scope, SessionId, Tag};
use crate::server::data::Xid;

/// The thing that a session waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The end of a transaction, or of a part of one.
    End(Xid),
    /// That the standby has the log up to this place.
    Copy(u64),
    /// A lock.
    Lock { tag: Tag, mode: Mode, scope: Scope },
}

#[derive(Debug, Default)]
pub(crate) struct Waits {
    pub(crate) locks: Locks,
    waiting: BTreeMap<SessionId, Wait>,
    /// Those that wait for the end of a transaction, in the order in which they came.
    ends: Vec<(Xid, SessionId)>,
    /// Those that wait for the standby, and up to which place.
    copies: Vec<(u64, SessionId)>,
    /// The sessions whose wait is over, and that have not gone on yet.
    woken: Vec<SessionId>,
}

impl Waits {
    /// A session waits.
    pub(crate) fn wait(&mut self, session: SessionId, wait: Wait) {
        match &wait {
            Wait::End(xid) => self.ends.push((*xid, session)),
            Wait::Copy(place) => self.copies.push((*place, session)),
            Wait::Lock { tag, mode, scope } => self.locks.queue(session, tag, *mode, *scope),
        }
        self.waiting.insert(session, wait);
    }

    pub(crate) fn of(&self, session: SessionId) -> Option<&Wait> {
        self.waiting.get(&session)
    }

    /// A session waits no longer, because it gave up.
    pub(crate) fn leave(&mut self, session: SessionId) {
        self.ends.retain(|(_, waiter)| *waiter != session);
        self.copies.retain(|(_, waiter)| *waiter != session);
        // What it waited for may just have come.
        self.woken.retain(|woken| *woken != session);
        if let Some(Wait::Lock { tag, .. }) = self.waiting.remove(&session) {
            let woken = self.locks.leave(session, &tag);
            self.wake(woken);
        }
    }

    /// Transactions, or parts of them, have ended.
    pub(crate) fn ended(&mut self, is_over: impl Fn(Xid) -> bool) {
        let (over, rest): (Vec<_>, Vec<_>) = self.ends.drain(..).partition(|(xid, _)| is_over(*xid));
        self.ends = rest;
        self.wake(over.into_iter().map(|(_, session)| session).collect());
    }

    /// The standby has the log up to this place.
    pub(crate) fn copied(&mut self, upto: u64) {
        let (over, rest): (Vec<_>, Vec<_>) = self.copies.drain(..).partition(|(place, _)| *place <= upto);
        self.copies = rest;
        self.wake(over.into_iter().map(|(_, session)| session).collect());
    }

    /// True if a session waits for the standby.
    pub(crate) fn is_for_copy(&self, session: SessionId) -> bool {
        matches!(self.waiting.get(&session), Some(Wait::Copy(_)))
    }

    /// Sessions were given what they wait for.
    pub(crate) fn wake(&mut self, sessions: Vec<SessionId>) {
        for session in sessions {
            self.waiting.remove(&session);
            self.woken.push(session);
        }
    }

    /// The next session that goes on.
    pub(crate) fn next_woken(&mut self) -> Option<SessionId> {
        (!self.woken.is_empty()).then(|| self.woken.remove(0))
    }

    /// Gives back what a session has in these scopes: the locks that it has no more.
    pub(crate) fn give_back_all(&mut self, session: SessionId, of: &dyn Fn(Scope) -> bool) -> Vec<Tag> {
        let (gone, woken) = self.locks.give_back_all(session, of);
        self.wake(woken);
        gone
    }
}
