//! The reports of a workload about a client's sections: the facts from which beliefs are measured.
//!
//! A design is not asked what it believes. The workload says when acquire returned, when the release call began and
//! which deadline came with the grant; the simulator stamps these in true time.

use crate::contract::lock::{Deadline, Grant, LockError};
use crate::host::Host;
pub use crate::host::Wanted;
use picklock_model::ids::Key;
use picklock_model::plan::Phase;
use picklock_model::trace::What;

/// The recorder of one client: only the run hands it out, with the client's context.
#[derive(Clone, Debug)]
pub struct BeliefRecorder {
    host: Host,
}

impl BeliefRecorder {
    pub(crate) fn of(host: &Host) -> BeliefRecorder {
        BeliefRecorder { host: host.clone() }
    }

    /// The section asks for the lock now.
    pub fn waiting(&self, section: u32, key: &Key) {
        self.asks(section, key, false);
    }

    /// The section asks now for a grant that is shared, as a reader does.
    pub fn waiting_to_share(&self, section: u32, key: &Key) {
        self.asks(section, key, true);
    }

    fn asks(&self, section: u32, key: &Key, shared: bool) {
        let mut state = self.host.world.state();
        state.begin_section(self.host.id(), section);
        state.open_section(self.host.id(), section, key);
        state.decide(self.host.id(), What::Waiting { key: key.clone(), shared });
        state.enter_phase(self.host.id(), section, Phase::Acquire);
    }

    /// The client's code has the grant in its hands: belief begins.
    pub fn acquired(&self, grant: &Grant) {
        let id = self.host.id();
        let mut state = self.host.world.state();
        let deadline = grant.deadline.map(|deadline| state.true_deadline(id, deadline));
        if grant.shared {
            state.decide(id, What::Shares { key: grant.key.clone() });
        }
        let (key, owner) = (grant.key.clone(), grant.owner.clone());
        state.decide(id, What::Acquired { key, owner, token: grant.token, deadline });
        if let Some(deadline) = grant.deadline {
            state.watch_deadline(id, grant.key.clone(), deadline);
        }
    }

    /// The section did not get the lock.
    pub fn not_acquired(&self, key: &Key, why: &str) {
        self.note(What::NotAcquired { key: key.clone(), why: why.to_owned() });
    }

    /// The section goes on to another phase.
    pub fn phase(&self, section: u32, phase: Phase) {
        self.host.world.state().enter_phase(self.host.id(), section, phase);
    }

    /// True if the deadline has passed on the clock it was computed for; reads that clock.
    #[must_use]
    pub fn has_passed(&self, deadline: Deadline) -> bool {
        match deadline {
            Deadline::Monotonic(at) => self.host.monotonic() >= at,
            Deadline::Wall(at) => self.host.wall() >= at,
        }
    }

    /// The holder has renewed its grant at a checkpoint: belief lasts until the new deadline.
    pub fn renewed(&self, grant: &Grant) {
        let id = self.host.id();
        let mut state = self.host.world.state();
        let deadline = grant.deadline.map(|deadline| state.true_deadline(id, deadline));
        state.decide(id, What::Renewed { key: grant.key.clone(), deadline });
        if let Some(deadline) = grant.deadline {
            state.watch_deadline(id, grant.key.clone(), deadline);
        }
    }

    /// The holder learned that its grant could not be renewed because it is lost.
    pub fn renewal_denied(&self, key: &Key) {
        self.note(What::RenewalDenied { key: key.clone() });
    }

    /// The holder has acquired once more what it holds: `depth` times now.
    pub fn reentered(&self, key: &Key, depth: u32) {
        self.note(What::Reentered { key: key.clone(), depth });
    }

    /// The holder was refused what it holds.
    pub fn not_reentered(&self, key: &Key, why: &str) {
        self.note(What::NotReentered { key: key.clone(), why: why.to_owned() });
    }

    /// The holder has released once, and holds `depth` times still.
    pub fn left(&self, key: &Key, depth: u32, error: Option<String>) {
        self.note(What::Left { key: key.clone(), depth, error });
    }

    /// The holder gives the section up because its deadline has passed, or because a renewal found the grant lost.
    pub fn aborted(&self, key: &Key) {
        self.note(What::Aborted { key: key.clone() });
    }

    /// The release call begins: belief ends.
    pub fn releasing(&self, section: u32, key: &Key) {
        let id = self.host.id();
        let mut state = self.host.world.state();
        state.decide(id, What::Releasing { key: key.clone() });
        state.forget_deadline(id);
        state.enter_phase(id, section, Phase::Release);
    }

    /// The release call returned.
    pub fn released(&self, section: u32, key: &Key, error: Option<&LockError>) {
        let denied = error.is_some_and(LockError::is_denial);
        self.let_go(section, key, error.map(ToString::to_string), denied);
    }

    /// The release call was cancelled: nobody learns what became of it.
    pub fn release_cancelled(&self, section: u32, key: &Key) {
        self.let_go(section, key, Some("its caller was cancelled".to_owned()), false);
    }

    fn let_go(&self, section: u32, key: &Key, error: Option<String>, denied: bool) {
        let id = self.host.id();
        let mut state = self.host.world.state();
        if error.is_none() {
            state.close_section(id, section);
        }
        state.decide(id, What::Released { key: key.clone(), error, denied });
        state.enter_phase(id, section, Phase::Idle);
    }

    /// The client learned what became of its change, or that it never will.
    pub fn change(&self, outcome: What) {
        self.note(outcome);
    }

    /// The section is over without a release: there was nothing to release.
    pub fn idle(&self, section: u32) {
        self.host.world.state().enter_phase(self.host.id(), section, Phase::Idle);
    }

    /// All sections of the client are over.
    pub fn finished(&self) {
        let id = self.host.id();
        let mut state = self.host.world.state();
        state.decide(id, What::Finished);
        state.process(id).finished = true;
    }

    /// The client has done its own sections: from now on it stands by as a background client.
    pub fn stand_by(&self) {
        self.host.world.state().stand_by(self.host.id());
    }

    /// Asks if it is wanted as one.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        self.host.world.state().wanted(self.host.id())
    }

    /// True once the run is past its horizon and goes on for the present waiters: this client begins no other section.
    #[must_use]
    pub fn is_past_the_horizon(&self) -> bool {
        self.host.world.state().is_past_the_horizon(self.host.id())
    }

    /// The ordinal of the last section that this client began, 0 before the first: a restarted client goes on after it.
    #[must_use]
    pub fn last_section(&self) -> u32 {
        self.host.world.state().grant_of(self.host.id()).map_or(0, |grant| grant.section)
    }

    fn note(&self, what: What) {
        self.host.world.state().decide(self.host.id(), what);
    }
}
