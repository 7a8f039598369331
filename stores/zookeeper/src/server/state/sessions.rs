//! The sessions as the member that leads keeps them, by its monotonic clock: when each runs out, and through which member its client speaks.
//!
//! A session runs out at the first whole tick after its time has passed. All that run out at the same tick are ended together.
//!
//! *Source:* `SessionTrackerImpl`, `ExpiryQueue` of ZooKeeper 3.8.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_raft::MemberId;

/// A session.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    timeout: Duration,
    /// When its client was last heard of.
    heard: Monotonic,
    /// The tick at which it runs out, in milliseconds of the clock.
    expiry: u64,
    /// Its end is on its way.
    closing: bool,
    /// The member through which its client speaks; none until it is seen to.
    owner: Option<MemberId>,
}

/// Why a request of a session is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no such session.
    Unknown,
    /// Its end is on its way.
    Expired,
    /// Its client speaks through another member.
    Moved,
}

/// The sessions of a leader.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    tick: u64,
    all: BTreeMap<i64, Tracked>,
    /// The next tick at which some may run out, in milliseconds of the clock.
    next: u64,
}

/// The first whole tick after this.
fn after(tick: u64, time: u64) -> u64 {
    (time / tick + 1) * tick
}

impl Sessions {
    /// A new leader gives each session its full time from now on.
    pub(crate) fn new(
        tick: Duration,
        all: impl Iterator<Item = (i64, Duration)>,
        now: Monotonic,
    ) -> Sessions {
        let tick = (tick.as_millis() as u64).max(1);
        let mut sessions = Sessions { tick, all: BTreeMap::new(), next: after(tick, now.as_millis()) };
        for (id, timeout) in all {
            sessions.add(id, timeout, now);
        }
        sessions
    }

    /// A new session, which may be there already.
    pub(crate) fn add(&mut self, id: i64, timeout: Duration, now: Monotonic) {
        let expiry = self.expiry(timeout, now);
        let new = Tracked { timeout, heard: now, expiry, closing: false, owner: None };
        self.all.entry(id).or_insert(new).expiry = expiry;
    }

    fn expiry(&self, timeout: Duration, now: Monotonic) -> u64 {
        after(self.tick, now.as_millis() + timeout.as_millis() as u64)
    }

    /// The client was heard of at `heard`, and it is counted from now. False if the session is over.
    pub(crate) fn touch(&mut self, id: i64, timeout: Duration, heard: Monotonic, now: Monotonic) -> bool {
        let expiry = self.expiry(timeout, now);
        let Some(session) = self.all.get_mut(&id).filter(|session| !session.closing) else { return false };
        session.heard = session.heard.max(heard);
        (session.timeout, session.expiry) = (timeout, expiry);
        true
    }

    /// Its client speaks through this member from now on.
    pub(crate) fn move_to(&mut self, id: i64, member: MemberId) {
        if let Some(session) = self.all.get_mut(&id).filter(|session| !session.closing) {
            session.owner = Some(member);
        }
    }

    /// Whether a request of a session may come from this member.
    ///
    /// # Errors
    /// When it may not.
    pub(crate) fn check(&mut self, id: i64, member: MemberId) -> Result<(), Refused> {
        let session = self.all.get_mut(&id).ok_or(Refused::Unknown)?;
        if session.closing {
            return Err(Refused::Expired);
        }
        if *session.owner.get_or_insert(member) == member { Ok(()) } else { Err(Refused::Moved) }
    }

    /// The end of a session is on its way.
    pub(crate) fn close(&mut self, id: i64) {
        if let Some(session) = self.all.get_mut(&id) {
            session.closing = true;
        }
    }

    pub(crate) fn remove(&mut self, id: i64) {
        self.all.remove(&id);
    }

    /// The sessions that have run out by now, and for how long they had.
    pub(crate) fn run_out(&mut self, now: Monotonic) -> Vec<(i64, Duration)> {
        let mut over = Vec::new();
        while self.next <= now.as_millis() {
            for (id, session) in &mut self.all {
                if session.expiry == self.next && !session.closing {
                    session.closing = true;
                    let ended = session.heard + session.timeout;
                    over.push((*id, if now > ended { now.since(ended) } else { Duration::ZERO }));
                }
            }
            self.next += self.tick;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TICK: Duration = Duration::from_secs(2);
    const TIMEOUT: Duration = Duration::from_secs(4);

    fn at(milliseconds: u64) -> Monotonic {
        Monotonic::default() + Duration::from_millis(milliseconds)
    }

    proptest! {
        #[test]
        fn a_session_ends_up_to_a_tick_after_its_time_and_never_before(began in 0..100_000_u64, last in 0..20_000_u64) {
            let mut sessions = Sessions::new(TICK, std::iter::empty(), at(began));
            sessions.add(7, TIMEOUT, at(began));
            let mut touched = began;
            while touched < began + last {
                touched += 1_333;
                prop_assert!(sessions.touch(7, TIMEOUT, at(touched), at(touched)));
                prop_assert!(sessions.run_out(at(touched)).is_empty());
            }
            let mut now = touched;
            let overdue = loop {
                now += 1;
                if let Some((7, overdue)) = sessions.run_out(at(now)).first().copied() {
                    break overdue;
                }
            };
            prop_assert!((4_001..=6_000).contains(&(now - touched)), "{} ms", now - touched);
            prop_assert_eq!(overdue, Duration::from_millis(now - touched - 4_000));
        }
    }

    #[test]
    fn a_new_leader_gives_the_full_time() {
        let mut sessions = Sessions::new(TICK, [(7, TIMEOUT)].into_iter(), at(1_000));
        assert!(sessions.run_out(at(5_999)).is_empty());
        assert_eq!(sessions.run_out(at(6_000)), [(7, Duration::from_secs(1))]);
        assert!(!sessions.touch(7, TIMEOUT, at(6_001), at(6_001)), "its end is on its way");
    }

    #[test]
    fn a_client_speaks_through_one_member() {
        let mut sessions = Sessions::new(TICK, [(7, TIMEOUT)].into_iter(), at(0));
        assert_eq!(sessions.check(7, 1), Ok(()));
        assert_eq!(sessions.check(7, 2), Err(Refused::Moved));
        sessions.move_to(7, 2);
        assert_eq!(sessions.check(7, 1), Err(Refused::Moved));
        assert_eq!(sessions.check(8, 1), Err(Refused::Unknown));
        sessions.close(7);
        assert_eq!(sessions.check(7, 2), Err(Refused::Expired));
    }
}
