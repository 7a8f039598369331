//! The locks that sessions hold and queue for: advisory locks, and the right to be the next that locks a row.
//!
//! A row itself is locked by marks at its versions; the lock of its version here only orders those that wait for the
//! transactions of these marks.
//!
//! Source: PostgreSQL 15, `storage/lmgr/lock.c` and `ProcSleep` in `storage/lmgr/proc.c`; "Locking Tuples" in
//! `access/heap/README.tuplock`.

use std::collections::{BTreeMap, VecDeque};

use crate::server::data::{Place, Xid};

/// A session by its number, in the order of their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub(crate) u64);

/// The thing that is locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tag {
    Advisory(Advisory),
    /// To be the next that locks this version of a row.
    Row(Place),
}

/// The number of an advisory lock. One number and two are different locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Advisory {
    One(i64),
    Two(i32, i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Share,
    Exclusive,
}

impl Mode {
    pub(crate) fn conflicts(self, other: Mode) -> bool {
        self == Mode::Exclusive || other == Mode::Exclusive
    }

    /// The name of the mode in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Share => "ShareLock",
            Mode::Exclusive => "ExclusiveLock",
        }
    }
}

/// How long a lock is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Until it is given back, or the session ends.
    Session,
    /// Until this transaction, or this part of one, ends or is undone.
    Transaction(Xid),
}

/// The times that a session has a lock in one mode.
#[derive(Debug)]
struct Holder {
    session: SessionId,
    mode: Mode,
    counts: BTreeMap<Scope, u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub(super) session: SessionId,
    pub(super) mode: Mode,
    scope: Scope,
}

#[derive(Debug, Default)]
struct Lock {
    holders: Vec<Holder>,
    queue: VecDeque<Waiter>,
}

#[derive(Debug, Default)]
pub(crate) struct Locks(BTreeMap<Tag, Lock>);

impl Lock {
    /// True if another session has it in a mode that conflicts.
    fn is_held_against(&self, session: SessionId, mode: Mode) -> bool {
        self.holders.iter().any(|holder| holder.session != session && holder.mode.conflicts(mode))
    }

    fn grant(&mut self, waiter: &Waiter) {
        let Waiter { session, mode, scope } = *waiter;
        let held = self.holders.iter().position(|holder| holder.session == session && holder.mode == mode);
        let at = held.unwrap_or_else(|| {
            self.holders.push(Holder { session, mode, counts: BTreeMap::new() });
            self.holders.len() - 1
        });
        *self.holders[at].counts.entry(scope).or_default() += 1;
    }

    /// The place in the queue for a session; none if it need not wait.
    fn place(&self, session: SessionId, mode: Mode) -> Option<usize> {
        let mine: Vec<Mode> = self
            .holders
            .iter()
            .filter(|holder| holder.session == session)
            .map(|holder| holder.mode)
            .collect();
        if mine.contains(&mode) {
            return None;
        }
        let mut ahead = Vec::new();
        for (at, waiter) in self.queue.iter().enumerate() {
            // Who would wait for a lock that the session has comes after it.
            if mine.iter().any(|held| held.conflicts(waiter.mode)) {
                let free = !ahead.iter().any(|other| mode.conflicts(*other));
                return (!free || self.is_held_against(session, mode)).then_some(at);
            }
            ahead.push(waiter.mode);
        }
        let free = !ahead.iter().any(|other| mode.conflicts(*other));
        (!free || self.is_held_against(session, mode)).then_some(self.queue.len())
    }

    /// Gives the lock to those whose turn it is.
    fn wake(&mut self, woken: &mut Vec<SessionId>) {
        let mut ahead: Vec<Mode> = Vec::new();
        let mut at = 0;
        while let Some(waiter) = self.queue.get(at).cloned() {
            let blocked = ahead.iter().any(|mode| mode.conflicts(waiter.mode));
            if blocked || self.is_held_against(waiter.session, waiter.mode) {
                ahead.push(waiter.mode);
                at += 1;
            } else {
                self.queue.remove(at);
                self.grant(&waiter);
                woken.push(waiter.session);
            }
        }
    }
}

impl Locks {
    /// True if somebody waits for a lock in a mode that conflicts, and the session does not have it in this mode. Who does not want to wait is
    /// refused then, also where one who does would be placed before the others and be given the lock at once.
    pub(crate) fn is_wanted(&self, session: SessionId, tag: &Tag, mode: Mode) -> bool {
        self.0.get(tag).is_some_and(|lock| {
            let has = lock.holders.iter().any(|holder| holder.session == session && holder.mode == mode);
            !has && lock.queue.iter().any(|waiter| waiter.mode.conflicts(mode))
        })
    }

    /// Takes a lock if that is possible at once.
    pub(crate) fn try_take(&mut self, session: SessionId, tag: &Tag, mode: Mode, scope: Scope) -> bool {
        let lock = self.0.entry(tag.clone()).or_default();
        let free = lock.place(session, mode).is_none();
        if free {
            lock.grant(&Waiter { session, mode, scope });
        }
        free
    }

    /// Queues for a lock that could not be taken at once.
    pub(crate) fn queue(&mut self, session: SessionId, tag: &Tag, mode: Mode, scope: Scope) {
        let lock = self.0.entry(tag.clone()).or_default();
        let at = lock.place(session, mode).unwrap_or(lock.queue.len());
        lock.queue.insert(at, Waiter { session, mode, scope });
    }

    /// Gives back a lock that was taken once; none if the session has none such.
    pub(crate) fn give_back(
        &mut self,
        session: SessionId,
        tag: &Tag,
        mode: Mode,
        scope: Scope,
    ) -> Option<Vec<SessionId>> {
        let lock = self.0.get_mut(tag)?;
        let holder =
            lock.holders.iter_mut().find(|holder| holder.session == session && holder.mode == mode)?;
        let count = holder.counts.get_mut(&scope)?;
        *count -= 1;
        if *count == 0 {
            holder.counts.remove(&scope);
        }
        Some(self.settle(tag))
    }

    /// Gives back what a session has in these scopes: the locks that it has alone no more, and the sessions that go on.
    pub(crate) fn give_back_all(
        &mut self,
        session: SessionId,
        of: &dyn Fn(Scope) -> bool,
    ) -> (Vec<Tag>, Vec<SessionId>) {
        let (mut gone, mut woken) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        for (tag, lock) in &mut self.0 {
            let mut some = false;
            let mut alone = false;
            for holder in lock.holders.iter_mut().filter(|holder| holder.session == session) {
                alone |= holder.mode == Mode::Exclusive;
                let before = holder.counts.len();
                holder.counts.retain(|scope, _| !of(*scope));
                some |= holder.counts.len() < before;
            }
            if some {
                touched.push((tag.clone(), alone));
            }
        }
        for (tag, alone) in touched {
            woken.extend(self.settle(&tag));
            if alone && !self.is_alone(session, &tag) {
                gone.push(tag);
            }
        }
        (gone, woken)
    }

    /// True if a session has a lock that nobody else can have.
    pub(crate) fn is_alone(&self, session: SessionId, tag: &Tag) -> bool {
        let has = |holder: &Holder| holder.session == session && holder.mode == Mode::Exclusive;
        self.0.get(tag).is_some_and(|lock| lock.holders.iter().any(has))
    }

    /// Takes a session out of the queue of a lock.
    pub(crate) fn leave(&mut self, session: SessionId, tag: &Tag) -> Vec<SessionId> {
        if let Some(lock) = self.0.get_mut(tag) {
            lock.queue.retain(|waiter| waiter.session != session);
        }
        self.settle(tag)
    }

    /// Gives a lock on after a change: the sessions that go on.
    fn settle(&mut self, tag: &Tag) -> Vec<SessionId> {
        let mut woken = Vec::new();
        if let Some(lock) = self.0.get_mut(tag) {
            lock.holders.retain(|holder| !holder.counts.is_empty());
            lock.wake(&mut woken);
            if lock.holders.is_empty() && lock.queue.is_empty() {
                self.0.remove(tag);
            }
        }
        woken
    }

    /// The sessions that a waiter waits for: those that have the lock, and those that stand before it.
    pub(super) fn blockers(&self, session: SessionId, tag: &Tag) -> (Vec<SessionId>, Vec<SessionId>) {
        let Some(lock) = self.0.get(tag) else { return (Vec::new(), Vec::new()) };
        let Some(mode) = lock.queue.iter().find(|waiter| waiter.session == session).map(|waiter| waiter.mode)
        else {
            return (Vec::new(), Vec::new());
        };
        let holders =
            lock.holders.iter().filter(|holder| holder.session != session && holder.mode.conflicts(mode));
        let ahead = lock.queue.iter().take_while(|waiter| waiter.session != session);
        let ahead = ahead.filter(|waiter| waiter.mode.conflicts(mode)).map(|waiter| waiter.session);
        (holders.map(|holder| holder.session).collect(), ahead.collect())
    }

    /// Moves a waiter before another of the same queue: the sessions that go on.
    pub(super) fn overtake(&mut self, tag: &Tag, session: SessionId, before: SessionId) {
        let Some(queue) = self.0.get_mut(tag).map(|lock| &mut lock.queue) else { return };
        let at = |session| queue.iter().position(|waiter| waiter.session == session);
        let (Some(from), Some(to)) = (at(session), at(before)) else { return };
        if let Some(waiter) = queue.remove(from) {
            queue.insert(to.min(queue.len()), waiter);
        }
    }

    /// Gives a lock on after its queue was put in another order.
    pub(super) fn regrant(&mut self, tag: &Tag) -> Vec<SessionId> {
        self.settle(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionId = SessionId(1);
    const B: SessionId = SessionId(2);
    const C: SessionId = SessionId(3);

    fn tag() -> Tag {
        Tag::Advisory(Advisory::One(7))
    }

    #[test]
    fn a_lock_is_given_back_as_often_as_it_was_taken() {
        let mut locks = Locks::default();
        assert!(locks.try_take(A, &tag(), Mode::Exclusive, Scope::Session));
        assert!(locks.try_take(A, &tag(), Mode::Exclusive, Scope::Session));
        assert!(!locks.try_take(B, &tag(), Mode::Share, Scope::Session));
        locks.queue(B, &tag(), Mode::Share, Scope::Session);
        assert_eq!(locks.give_back(A, &tag(), Mode::Exclusive, Scope::Session), Some(vec![]));
        assert_eq!(locks.give_back(A, &tag(), Mode::Exclusive, Scope::Session), Some(vec![B]));
        assert_eq!(locks.give_back(A, &tag(), Mode::Exclusive, Scope::Session), None);
        assert_eq!(locks.give_back(B, &tag(), Mode::Share, Scope::Session), Some(vec![]));
    }

    #[test]
    fn a_reader_does_not_overtake_a_writer_that_waits() {
        let mut locks = Locks::default();
        assert!(locks.try_take(A, &tag(), Mode::Share, Scope::Session));
        locks.queue(B, &tag(), Mode::Exclusive, Scope::Session);
        assert!(!locks.try_take(C, &tag(), Mode::Share, Scope::Session));
        locks.queue(C, &tag(), Mode::Share, Scope::Session);
        assert_eq!(locks.leave(B, &tag()), [C]);
    }

    #[test]
    fn who_has_a_lock_stands_before_those_that_wait_for_it() {
        let mut locks = Locks::default();
        assert!(locks.try_take(A, &tag(), Mode::Share, Scope::Session));
        locks.queue(B, &tag(), Mode::Exclusive, Scope::Session);
        assert!(locks.try_take(A, &tag(), Mode::Exclusive, Scope::Session), "nobody else has it");
        assert_eq!(locks.give_back_all(A, &|_| true), (vec![tag()], vec![B]));
    }
}
