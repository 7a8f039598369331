//! Deadlocks: sessions that wait for each other in a ring.
//!
//! A session waits for those that have what it wants (a hard edge), and for those that stand before it in a queue (a soft
//! edge). A ring with a soft edge is opened by letting a waiter overtake, if that leaves no other ring.
//!
//! Source: PostgreSQL 15, `storage/lmgr/deadlock.c` and `storage/lmgr/README`, "The Deadlock Detection Algorithm". It tries
//! all orders of the queues; here one waiter overtakes one other.

use super::table::{SessionId, Tag};
use super::waits::{Wait, Waits};
use crate::server::data::Xid;

/// A soft edge: the waiter, the lock, and the one that stands before it.
type Soft = (SessionId, Tag, SessionId);

/// Looks for a ring that a session is part of. False if there is one that cannot be opened; an opened one lets sessions
/// go on.
pub(crate) fn resolve(
    waits: &mut Waits,
    session: SessionId,
    owner: &dyn Fn(Xid) -> Option<SessionId>,
) -> bool {
    let Some(soft) = ring(waits, session, owner, &[]) else { return true };
    for edge in soft {
        if ring(waits, session, owner, std::slice::from_ref(&edge)).is_none() {
            let (waiter, tag, before) = edge;
            waits.locks.overtake(&tag, waiter, before);
            let woken = waits.locks.regrant(&tag);
            waits.wake(woken);
            return true;
        }
    }
    false
}

/// The soft edges of a ring through a session; none without a ring. Edges in `turned` count the other way round.
fn ring(
    waits: &Waits,
    session: SessionId,
    owner: &dyn Fn(Xid) -> Option<SessionId>,
    turned: &[Soft],
) -> Option<Vec<Soft>> {
    let mut path = Vec::new();
    let mut visited = Vec::new();
    search(waits, session, session, owner, turned, &mut visited, &mut path)
        .then(|| path.into_iter().flatten().collect())
}

fn search(
    waits: &Waits,
    goal: SessionId,
    at: SessionId,
    owner: &dyn Fn(Xid) -> Option<SessionId>,
    turned: &[Soft],
    visited: &mut Vec<SessionId>,
    path: &mut Vec<Option<Soft>>,
) -> bool {
    if visited.contains(&at) {
        return false;
    }
    visited.push(at);
    for (next, soft) in edges(waits, at, owner, turned) {
        path.push(soft);
        if next == goal || search(waits, goal, next, owner, turned, visited, path) {
            return true;
        }
        path.pop();
    }
    false
}

fn edges(
    waits: &Waits,
    session: SessionId,
    owner: &dyn Fn(Xid) -> Option<SessionId>,
    turned: &[Soft],
) -> Vec<(SessionId, Option<Soft>)> {
    let mut edges = Vec::new();
    match waits.of(session) {
        None | Some(Wait::Copy(_)) => {}
        Some(Wait::End(xid)) => edges.extend(owner(*xid).map(|holder| (holder, None))),
        Some(Wait::Lock { tag, .. }) => {
            let (holders, ahead) = waits.locks.blockers(session, tag);
            edges.extend(holders.into_iter().map(|holder| (holder, None)));
            for before in ahead {
                let soft = (session, tag.clone(), before);
                if !turned.contains(&soft) {
                    edges.push((before, Some(soft)));
                }
            }
        }
    }
    for (waiter, _, before) in turned {
        if *before == session {
            edges.push((*waiter, None));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::locks::{Advisory, Mode, Scope};

    const A: SessionId = SessionId(1);
    const B: SessionId = SessionId(2);
    const C: SessionId = SessionId(3);

    fn tag(number: i64) -> Tag {
        Tag::Advisory(Advisory::One(number))
    }

    fn wants(waits: &mut Waits, session: SessionId, number: i64, mode: Mode) {
        if !waits.locks.try_take(session, &tag(number), mode, Scope::Session) {
            waits.wait(session, Wait::Lock { tag: tag(number), mode, scope: Scope::Session });
        }
    }

    #[test]
    fn a_ring_of_holders_is_a_deadlock_and_a_line_is_none() {
        let mut waits = Waits::default();
        wants(&mut waits, A, 1, Mode::Exclusive);
        wants(&mut waits, B, 2, Mode::Exclusive);
        wants(&mut waits, A, 2, Mode::Exclusive);
        assert!(resolve(&mut waits, A, &|_| None));
        wants(&mut waits, C, 1, Mode::Exclusive);
        wants(&mut waits, B, 1, Mode::Exclusive);
        assert!(!resolve(&mut waits, B, &|_| None));
        assert!(resolve(&mut waits, C, &|_| None), "it waits for a deadlock and is no part of it");
    }

    #[test]
    fn a_reader_overtakes_a_writer_that_would_wait_for_it() {
        let mut waits = Waits::default();
        wants(&mut waits, A, 1, Mode::Share);
        wants(&mut waits, C, 2, Mode::Exclusive);
        wants(&mut waits, B, 1, Mode::Exclusive);
        wants(&mut waits, C, 1, Mode::Share);
        wants(&mut waits, A, 2, Mode::Exclusive);
        assert!(resolve(&mut waits, A, &|_| None));
        assert_eq!(waits.next_woken(), Some(C));
    }
}
