//! How a client carries its sections out: acquire, read a register, work, write the register plus one, release. Or, with
//! a stock, look at what is left, work, and sell one.
//!
//! Read, work and write are three steps, so that a lost update shows. A holder with a deadline looks at its clock before
//! each step and gives up when the deadline has passed; a naive one never looks. A design without a lock makes the same
//! change in its own way. The outcome of a change whose answer never came stays unknown: the client goes on.

use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, ErasedDirect, ErasedLock, Grant};
use picklock_sim::plan::{Phase, SectionPlan};
use picklock_sim::resource::{Operation, Resource, ResourceError};
use picklock_sim::run::{ClientSeat, Workload};
use picklock_sim::trace::What;
use picklock_sim::witness::Witness;

/// The program of a client that carries its sections out one after another.
pub(super) fn program() -> Workload {
    Arc::new(|seat| Box::pin(client(seat, Kind::Plain)))
}

/// The program of a client whose sections acquire once more what they hold.
pub(super) fn nested_program() -> Workload {
    Arc::new(|seat| Box::pin(client(seat, Kind::Nested)))
}

/// The program of a client that sells from a stock.
pub(super) fn sell_program() -> Workload {
    Arc::new(|seat| Box::pin(client(seat, Kind::Sell)))
}

/// What sections do between acquire and release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Read a register and write it.
    Plain,
    /// The same, holding twice.
    Nested,
    /// Look at a stock and sell from it.
    Sell,
}

/// Runs the sections that this client has not begun yet; a restarted client goes on with the next one.
async fn client(seat: ClientSeat, kind: Kind) {
    let ClientSeat { host, client, resource, plan, wait, belief } = seat;
    let witness = host.witness();
    let done = witness.last_section();
    let mut worker = Worker { host, witness, resource, wait, belief, kind };
    for section in plan.sections.iter().filter(|section| section.ordinal > done) {
        worker.host.sleep(section.think).await;
        worker.witness.waiting(section.ordinal, &section.key);
        match &client {
            Client::Lock(lock) => worker.locked(lock.as_ref(), section).await,
            Client::Direct(direct) => worker.direct(direct.as_ref(), section).await,
        }
        worker.witness.idle(section.ordinal);
    }
    worker.witness.finished();
}

struct Worker {
    host: Host,
    witness: Witness,
    resource: Resource,
    wait: Duration,
    belief: Belief,
    kind: Kind,
}

impl Worker {
    async fn locked(&mut self, lock: &dyn ErasedLock, section: &SectionPlan) {
        match lock.acquire(&self.host, &section.key, self.wait).await {
            Ok(Some(mut grant)) => {
                self.witness.acquired(&grant);
                if self.kind == Kind::Nested {
                    self.nested(lock, &mut grant, section).await;
                } else {
                    self.section(lock, &mut grant, section).await;
                }
                self.witness.releasing(section.ordinal, &section.key);
                let error = lock.release(grant).await.err().map(|error| error.to_string());
                self.witness.released(section.ordinal, &section.key, error);
            }
            Ok(None) => self.witness.not_acquired(&section.key, "the wait was over"),
            Err(error) => self.witness.not_acquired(&section.key, &error.to_string()),
        }
    }

    /// Acquires once more what it holds, does its section, and releases once.
    async fn nested(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, section: &SectionPlan) {
        let key = &section.key;
        match lock.acquire(&self.host, key, self.wait).await {
            Ok(Some(inner)) => {
                self.witness.reentered(key, 2);
                self.section(lock, grant, section).await;
                let error = lock.release(inner).await.err().map(|error| error.to_string());
                self.witness.left(key, 1, error);
            }
            Ok(None) => self.witness.not_reentered(key, "the wait was over"),
            Err(error) => self.witness.not_reentered(key, &error.to_string()),
        }
    }

    /// Reads, works, writes; stops early when the grant may no longer be relied upon or a step fails.
    async fn section(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, plan: &SectionPlan) {
        self.witness.phase(plan.ordinal, Phase::Read);
        if self.over(grant) {
            return;
        }
        let look = if self.kind == Kind::Sell { Operation::Look } else { Operation::Read };
        let Ok(value) = self.resource.apply(&plan.key, look, grant.token).await else { return };
        if self.kind == Kind::Sell && value <= 0 {
            return;
        }
        self.witness.phase(plan.ordinal, Phase::Work);
        if self.over(grant) {
            return;
        }
        if !self.work(lock, grant, plan.work).await {
            return;
        }
        self.witness.phase(plan.ordinal, Phase::Write);
        if self.over(grant) {
            return;
        }
        let change = if self.kind == Kind::Sell { Operation::Sell(1) } else { Operation::Write(value + 1) };
        let outcome = self.resource.apply(&plan.key, change, grant.token).await;
        let key = plan.key.clone();
        match outcome {
            Ok(_) => self.witness.change(What::WriteAcknowledged { key }),
            Err(ResourceError::Unknown) => self.witness.change(What::WriteUnknown { key }),
            Err(ResourceError::Refused { .. } | ResourceError::SoldOut | ResourceError::Differs { .. }) => {
                self.witness.change(What::WriteRefused { key });
            }
            Err(ResourceError::NotSent) => {}
        }
    }

    /// Works for so long, renewing the grant at its checkpoints if the lock asks for that. False if a renewal found it lost.
    async fn work(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, work: Duration) -> bool {
        let Some(step) = lock.checkpoint() else {
            self.host.sleep(work).await;
            return true;
        };
        let mut left = work;
        while left > step {
            self.host.sleep(step).await;
            left -= step;
            if self.over(grant) {
                return false;
            }
            match lock.renew(grant).await {
                Ok(true) => self.witness.renewed(grant),
                Ok(false) => {
                    self.witness.aborted(&grant.key);
                    return false;
                }
                // Whether it was renewed is not known: the next checkpoint will tell.
                Err(_) => {}
            }
        }
        self.host.sleep(left).await;
        true
    }

    /// True if the advertised deadline has passed. A naive holder does not look, and a grant without one is never over.
    fn over(&self, grant: &Grant) -> bool {
        if self.belief == Belief::Naive {
            return false;
        }
        let passed = grant.deadline.is_some_and(|deadline| self.witness.has_passed(deadline));
        if passed {
            self.witness.aborted(&grant.key);
        }
        passed
    }

    async fn direct(&mut self, direct: &dyn ErasedDirect, section: &SectionPlan) {
        let key = section.key.clone();
        self.witness.phase(section.ordinal, Phase::Work);
        let outcome = if self.kind == Kind::Sell {
            direct.sell(&section.key, 1, section.work).await
        } else {
            direct.change(&section.key, 1, section.work).await.map(|()| true)
        };
        match outcome {
            Ok(true) => self.witness.change(What::WriteAcknowledged { key }),
            Ok(false) => self.witness.change(What::WriteRefused { key }),
            Err(_) => self.witness.change(What::WriteUnknown { key }),
        }
    }
}
