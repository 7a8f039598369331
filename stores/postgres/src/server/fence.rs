//! A primary that serves only while its controller confirms it: so it has stopped by the time that the controller lets the standby lead.
//!
//! It counts from when it asked, on its own monotonic clock, and for a shorter time than the controller waits. So it is sound as long as that clock
//! runs, and by at most a fifth too slowly; a virtual machine that is suspended needs a watchdog outside of it, which is left out here. It is what
//! Patroni does with a leader key that runs out.

use std::time::Duration;

use picklock_model::time::Monotonic;

use crate::server::locks::SessionId;
use crate::server::machine::{Machine, Now};
use crate::server::pair_state::Fence;

impl Machine {
    /// Has it serve for so long after each confirmation only; `confirmed` is when it was confirmed last.
    pub(crate) fn fence(&mut self, limit: Option<Duration>, confirmed: Option<Monotonic>) {
        self.fence = limit.map(|limit| Fence { limit, until: confirmed.map(|at| at + limit) });
    }

    /// The controller has confirmed what it was asked then.
    pub(crate) fn confirmed(&mut self, asked: Monotonic, now: Now) {
        if let Some(fence) = &mut self.fence {
            fence.until = Some(asked + fence.limit).filter(|until| *until > now.monotonic);
        }
    }

    /// Another server leads.
    pub(crate) fn replaced(&mut self, now: Now) {
        if let Some(fence) = &mut self.fence {
            fence.until = Some(now.monotonic);
        }
        self.heed_fence(now);
    }

    /// Until when it serves, if that comes to an end.
    pub(crate) fn fenced_at(&self) -> Option<Monotonic> {
        self.fence.as_ref()?.until
    }

    /// True if it serves nobody.
    pub(crate) fn is_fenced(&self) -> bool {
        self.fence.is_some_and(|fence| fence.until.is_none())
    }

    /// Ends all sessions if the time is over.
    pub(crate) fn heed_fence(&mut self, now: Now) {
        let Some(fence) = &mut self.fence else { return };
        if fence.until.is_none_or(|until| now.monotonic < until) {
            return;
        }
        fence.until = None;
        let sessions: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in sessions {
            self.terminate(id);
        }
        self.settle(now);
    }
}
