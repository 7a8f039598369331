//! A client of a design, whichever way it works.

use super::autonomous::AutonomousClient;
use super::lock::{Direct, ErasedDirect, ErasedLock, Lock};

/// A client of a design: most hold a lock around a section, some need none or do all of it by themselves.
pub enum Client {
    /// Acquire, run the section, release.
    Lock(Box<dyn ErasedLock>),
    /// Change the resource directly.
    Direct(Box<dyn ErasedDirect>),
    /// Do everything by itself, and say when it holds the lock.
    Autonomous(Box<dyn AutonomousClient>),
}

impl Client {
    /// A client that locks.
    pub fn lock(lock: impl Lock) -> Client {
        Client::Lock(Box::new(lock))
    }

    /// A client that does without.
    pub fn direct(direct: impl Direct) -> Client {
        Client::Direct(Box::new(direct))
    }

    /// A client that does everything by itself.
    pub fn autonomous(client: impl AutonomousClient + 'static) -> Client {
        Client::Autonomous(Box::new(client))
    }
}
