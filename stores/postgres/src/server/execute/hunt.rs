//! Locking one row, which may be locked by others, change or vanish meanwhile.
//!
//! Who has to wait first takes the right to be the next for this version of the row, then waits for the transactions that
//! are in its way. A version that was replaced is followed to the one that is there now.
//!
//! Source: PostgreSQL 15, `heapam_tuple_lock` in `access/heap/heapam_handler.c`, `heap_lock_tuple` in
//! `access/heap/heapam.c`.

use super::scene::{Scene, Stop};
use crate::protocol::SqlError;
use crate::server::data::{Attempt, Place, Xid};
use crate::server::locks::{Mode, Scope, Tag, Wait};
use crate::server::sql::{Patience, Strength};

/// A row that is to be locked.
#[derive(Clone, Debug)]
pub(super) struct Hunt {
    place: Place,
    /// True if the session is the next for this version.
    queued: bool,
    /// True once the row has another version than the statement has found.
    moved: bool,
}

/// How a row is to be locked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    pub(super) strength: Strength,
    pub(super) patience: Patience,
    /// True if the row is locked where it has moved to.
    pub(super) follows: bool,
    /// True if a mark is left; who changes the row at once leaves none.
    pub(super) marks: bool,
    /// The word of the error for a deleted row, if the snapshot is that of the transaction.
    pub(super) deleted: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Caught {
    /// It is locked; true if it has moved.
    Locked(Place, bool),
    /// It has moved there.
    Moved(Place),
    /// It is not there any more, or to be left out.
    Gone,
}

/// Locks the row that is, or was, in a place; `state` is none before the first attempt and after the last.
pub(super) fn hunt(
    scene: &mut Scene<'_>,
    state: &mut Option<Hunt>,
    from: &Place,
    moved: bool,
    aim: Aim,
) -> Result<Caught, Stop> {
    let mut hunt = state.take().unwrap_or_else(|| Hunt { place: from.clone(), queued: false, moved });
    loop {
        if hunt.moved
            && !hunt.queued
            && let Some(xid) = scene.heap.changer(scene.actor.top, &hunt.place)
        {
            match patient(aim, &hunt.place)? {
                false => return Ok(Caught::Gone),
                true => return Err(suspend(state, hunt, Wait::End(xid))),
            }
        }
        let attempt = scene.heap.attempt(scene.actor.top, &hunt.place, aim.strength);
        match attempt {
            Attempt::Busy { xid, member } => {
                if !hunt.queued && !member {
                    if let Some(wait) = queue(scene, &hunt.place, aim) {
                        match patient(aim, &hunt.place)? {
                            false => return Ok(Caught::Gone),
                            true => {
                                hunt.queued = true;
                                return Err(suspend(state, hunt, wait));
                            }
                        }
                    }
                    hunt.queued = true;
                }
                return busy(scene, state, hunt, xid, aim);
            }
            Attempt::Ready => {
                if aim.marks {
                    scene.heap.mark(scene.actor, &hunt.place, aim.strength);
                }
                leave(scene, &mut hunt, aim);
                return Ok(Caught::Locked(hunt.place, hunt.moved));
            }
            Attempt::Own => {
                leave(scene, &mut hunt, aim);
                return Ok(Caught::Gone);
            }
            Attempt::Updated(tid) => {
                leave(scene, &mut hunt, aim);
                if scene.frozen {
                    return Err(serialization("update").into());
                }
                hunt.place.tid = tid;
                hunt.moved = true;
                if !aim.follows {
                    return Ok(Caught::Moved(hunt.place));
                }
            }
            Attempt::Deleted => {
                leave(scene, &mut hunt, aim);
                if scene.frozen {
                    return Err(serialization(aim.deleted).into());
                }
                return Ok(Caught::Gone);
            }
        }
    }
}

/// Waits for a transaction that is in the way.
fn busy(
    scene: &mut Scene<'_>,
    state: &mut Option<Hunt>,
    mut hunt: Hunt,
    xid: Xid,
    aim: Aim,
) -> Result<Caught, Stop> {
    match patient(aim, &hunt.place) {
        Ok(true) => Err(suspend(state, hunt, Wait::End(xid))),
        outcome => {
            leave(scene, &mut hunt, aim);
            outcome?;
            Ok(Caught::Gone)
        }
    }
}

/// True if the statement waits, false if it leaves the row out.
fn patient(aim: Aim, place: &Place) -> Result<bool, SqlError> {
    match aim.patience {
        Patience::Wait => Ok(true),
        Patience::Skip => Ok(false),
        Patience::NoWait => {
            let text = format!("could not obtain lock on row in relation \"{}\"", place.table);
            Err(SqlError::new("55P03", text))
        }
    }
}

fn suspend(state: &mut Option<Hunt>, hunt: Hunt, wait: Wait) -> Stop {
    *state = Some(hunt);
    Stop::Wait(wait)
}

fn mode(aim: Aim) -> Mode {
    if aim.strength == Strength::Share { Mode::Share } else { Mode::Exclusive }
}

/// Takes the right to be the next for a version; the wait for it if another session has it.
fn queue(scene: &mut Scene<'_>, place: &Place, aim: Aim) -> Option<Wait> {
    let (tag, mode, scope) = (Tag::Row(place.clone()), mode(aim), Scope::Transaction(scene.actor.xid));
    let taken = scene.waits.locks.try_take(scene.session, &tag, mode, scope);
    (!taken).then_some(Wait::Lock { tag, mode, scope })
}

/// Gives the right back.
fn leave(scene: &mut Scene<'_>, hunt: &mut Hunt, aim: Aim) {
    if std::mem::take(&mut hunt.queued) {
        let (tag, scope) = (Tag::Row(hunt.place.clone()), Scope::Transaction(scene.actor.xid));
        let woken = scene.waits.locks.give_back(scene.session, &tag, mode(aim), scope);
        scene.waits.wake(woken.unwrap_or_default());
    }
}

/// The error of a transaction whose snapshot is too old.
pub(super) fn serialization(deed: &str) -> SqlError {
    SqlError::new("40001", format!("could not serialize access due to concurrent {deed}"))
}
