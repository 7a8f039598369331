//! The perfect lock, as a process asks for it; the control that must hold in every scenario.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::host::Host;
use crate::world::Admission;
use picklock_model::ids::{GrantId, Key};

impl Host {
    /// Asks the simulator's perfect lock for a key in the name of the present section. The future is ready when the
    /// key is this section's; dropping it leaves the queue.
    #[must_use]
    pub fn oracle_acquire(&self, key: &Key) -> OracleTurn {
        OracleTurn::new(self.clone(), key.clone())
    }

    /// Gives a key of the present section back to the perfect lock. Dropping it before it is ready gives the key back as well, as
    /// soon as the process runs.
    #[must_use]
    pub fn oracle_release(&self, key: &Key) -> OracleRelease {
        OracleRelease { host: self.clone(), key: key.clone(), grant: present_grant(self), done: false }
    }
}

/// Waits for the perfect lock; made by [`Host::oracle_acquire`].
pub struct OracleTurn {
    host: Host,
    key: Key,
    grant: GrantId,
    granted: bool,
}

impl OracleTurn {
    pub(crate) fn new(host: Host, key: Key) -> OracleTurn {
        let grant = present_grant(&host);
        OracleTurn { host, key, grant, granted: false }
    }
}

/// A process outside of any section asks in the name of section 0.
fn present_grant(host: &Host) -> GrantId {
    host.world.state().grant_of(host.id()).unwrap_or(GrantId::new(host.id(), 0))
}

impl Future for OracleTurn {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.host.world.state();
        if state.gate(this.host.id(), cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        this.granted = state.oracle_poll(this.grant, &this.key, cx.waker());
        if this.granted { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for OracleTurn {
    fn drop(&mut self) {
        if !self.granted {
            self.host.world.tidy(|state| state.oracle_leave(self.grant, &self.key));
        }
    }
}

/// Gives the key back, once the process really runs; made by [`Host::oracle_release`].
pub struct OracleRelease {
    host: Host,
    key: Key,
    grant: GrantId,
    done: bool,
}

impl Future for OracleRelease {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.host.world.state();
        if state.gate(this.host.id(), cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        state.oracle_leave(this.grant, &this.key);
        this.done = true;
        Poll::Ready(())
    }
}

impl Drop for OracleRelease {
    fn drop(&mut self) {
        if !self.done {
            self.host.world.tidy(|state| state.oracle_leave_running(self.host.id(), self.grant, &self.key));
        }
    }
}
