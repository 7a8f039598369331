//! The program of a client that carries its sections out: acquire, read a register, work, write the register plus one, release.
//! Or, with a stock, look at what is left, work, and sell one.
//!
//! Read, work and write are three steps, so that a lost update shows. A holder with a deadline reads its clock before
//! each step and gives up when the deadline has passed; a naive one never does. A holder whose lock notifies it that its grant is
//! lost gives up at that instant, also while it waits for the resource; a change that is on its way may still be made, and is
//! one of this section. A design without a lock makes the same change in its own way. The outcome of a change whose answer
//! never came stays unknown: the client goes on.
//!
//! Where the data lie in the lock's own store, the lock reads and writes them. What it changes may be made with the release
//! only, as a transaction is with its commit; then the outcome of the change is reported when the release has returned.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use picklock_model::ids::Key;
use picklock_model::plan::{Phase, SectionPlan};
use picklock_model::trace::What;
use picklock_sim::data::{Applied, Operation, ResourceError};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, ErasedDirect, ErasedLock, Grant, LockError};
use picklock_sim::recorder::{BeliefRecorder, Wanted};
use picklock_sim::resource::Resource;
use picklock_sim::run::{ClientContext, Workload};

/// The program of a client that carries its sections out one after another.
pub(super) fn program() -> Workload {
    Arc::new(|context| Box::pin(client(context, Kind::Plain)))
}

/// The program of a client whose sections acquire once more what they hold.
pub(super) fn nested_program() -> Workload {
    Arc::new(|context| Box::pin(client(context, Kind::Nested)))
}

/// The program of a client that sells from a stock.
pub(super) fn sell_program() -> Workload {
    Arc::new(|context| Box::pin(client(context, Kind::Sell)))
}

/// No release is tried more often.
const RELEASES_MAX: u32 = 10;

/// The work of sections between acquire and release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Read a register and write it.
    Plain,
    /// The same, holding twice.
    Nested,
    /// Read a stock and sell from it.
    Sell,
}

/// Runs the sections that this client has not begun yet, each task its own, one after another; a restarted client continues with
/// the next ones. Then it asks in the background, so that somebody wants the lock when a fault ends that outlasts the sections.
async fn client(context: ClientContext, kind: Kind) {
    if let Client::Autonomous(client) = &context.client {
        return autonomous(client.as_ref(), &context).await;
    }
    let mut tasks: Vec<u32> = context.plan.sections.iter().map(|section| section.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let (host, context) = (&context.host, &context);
    join_all(tasks.into_iter().map(|task| host.in_task(task, Task::new(context, kind).all_of(task)))).await;
    let mut task = Task::new(context, kind);
    let done = task.recorder.last_section();
    task.recorder.stand_by();
    for section in context.plan.background.iter().filter(|section| section.ordinal > done) {
        if !task.is_wanted(section.think).await {
            break;
        }
        task.carry_out(section).await;
    }
    task.recorder.finished();
    if task.recorder.is_past_the_horizon() {
        // The run goes on to decide a block: the process lives on, and so do the sessions by which it may block others.
        std::future::pending::<()>().await;
    }
}

/// Lets an autonomous client have the rounds that are left, one for each of the plan's sections.
async fn autonomous(client: &dyn picklock_sim::autonomous::AutonomousClient, context: &ClientContext) {
    let (recorder, sections) = (&context.recorder, &context.plan.sections);
    let done = recorder.last_section();
    let left = || sections.iter().filter(|section| section.ordinal > done);
    if let Some(first) = left().next() {
        context.host.sleep(first.think).await;
        client.work(left().map(|section| section.ordinal).collect(), recorder.clone()).await;
    }
    recorder.stand_by();
    recorder.finished();
}

/// One task of a client.
struct Task<'s> {
    context: &'s ClientContext,
    host: &'s Host,
    recorder: BeliefRecorder,
    resource: Resource,
    kind: Kind,
    /// True while it waits for the answer to its change.
    changes: bool,
}

impl<'s> Task<'s> {
    fn new(context: &'s ClientContext, kind: Kind) -> Task<'s> {
        let (host, resource) = (&context.host, context.resource.another());
        Task { context, host, recorder: context.recorder.clone(), resource, kind, changes: false }
    }

    async fn all_of(mut self, task: u32) {
        let done = self.recorder.last_section();
        let own = |section: &&SectionPlan| section.task == task && section.ordinal > done;
        for section in self.context.plan.sections.iter().filter(own) {
            self.host.sleep(section.think).await;
            if self.recorder.is_past_the_horizon() {
                break;
            }
            self.carry_out(section).await;
        }
    }

    /// Waits until a background client is wanted; false once none will be.
    async fn is_wanted(&self, every: Duration) -> bool {
        loop {
            // However short that is in a plan: time must pass.
            self.host.sleep(every.max(Duration::from_millis(1))).await;
            match self.recorder.wanted() {
                Wanted::Now => return true,
                Wanted::Later => {}
                Wanted::NoMore => return false,
            }
        }
    }

    async fn carry_out(&mut self, section: &SectionPlan) {
        match section.shared {
            true => self.recorder.waiting_to_share(section.ordinal, &section.key),
            false => self.recorder.waiting(section.ordinal, &section.key),
        }
        match &self.context.client {
            Client::Lock(lock) => self.locked(lock.as_ref(), section).await,
            Client::Direct(direct) => self.direct(direct.as_ref(), section).await,
            // It has no sections of the workload's.
            Client::Autonomous(_) => {}
        }
        self.recorder.idle(section.ordinal);
    }

    async fn locked(&mut self, lock: &dyn ErasedLock, section: &SectionPlan) {
        let (host, key, wait) = (self.host, &section.key, self.context.wait);
        let call =
            if section.shared { lock.acquire_shared(host, key, wait) } else { lock.acquire(host, key, wait) };
        match host.unless_cancelled(call).await {
            Some(Ok(Some(mut grant))) => {
                self.recorder.acquired(&grant);
                let pending = if self.kind == Kind::Nested {
                    self.nested(lock, &mut grant, section).await
                } else {
                    self.section(lock, &mut grant, section).await
                };
                self.release(lock, grant, section, pending).await;
            }
            Some(Ok(None)) => self.recorder.not_acquired(key, "the wait was over"),
            Some(Err(error)) => self.recorder.not_acquired(key, &error.to_string()),
            None => self.recorder.not_acquired(key, "its caller was cancelled"),
        }
    }

    /// Releases, again if that fails or is cancelled, as often as the client's policy says. `pending`: with it the section's
    /// change is made.
    async fn release(&mut self, lock: &dyn ErasedLock, grant: Grant, section: &SectionPlan, pending: bool) {
        let key = &section.key;
        self.recorder.releasing(section.ordinal, key);
        // A plan may come from a file, and a release that fails at once takes no time.
        let mut left = self.context.policy.releases.clamp(1, RELEASES_MAX);
        loop {
            left -= 1;
            match self.host.unless_cancelled(lock.release(grant.clone())).await {
                None | Some(Err(_)) if left > 0 => {}
                None => {
                    if pending {
                        self.recorder.change(What::WriteUnknown { key: key.clone() });
                    }
                    return self.recorder.release_cancelled(section.ordinal, key);
                }
                Some(outcome) => {
                    if pending {
                        self.recorder.change(made_with(&outcome, key.clone()));
                    }
                    return self.recorder.released(section.ordinal, key, outcome.err().as_ref());
                }
            }
        }
    }

    /// Acquires once more what it holds, does its section, and releases once. True if it changed something that the outer
    /// release makes.
    async fn nested(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, section: &SectionPlan) -> bool {
        let key = &section.key;
        let mut pending = false;
        match lock.acquire(self.host, key, self.context.wait).await {
            Ok(Some(inner)) => {
                self.recorder.reentered(key, 2);
                pending = self.section(lock, grant, section).await;
                let error = lock.release(inner).await.err().map(|error| error.to_string());
                self.recorder.left(key, 1, error);
            }
            Ok(None) => self.recorder.not_reentered(key, "the wait was over"),
            Err(error) => self.recorder.not_reentered(key, &error.to_string()),
        }
        pending
    }

    /// Takes the steps of a section, until the lock notifies its holder that the grant is lost, unless the client ignores that. True if it
    /// changed something that the release makes.
    async fn section(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, plan: &SectionPlan) -> bool {
        if self.context.policy.ignores_loss {
            return self.steps(lock, grant, plan).await;
        }
        let held = grant.clone();
        // The loss is looked at first: it may have come before the grant was known.
        let done = match select(lock.lost(&held), pin!(self.steps(lock, grant, plan))).await {
            Either::Left(_) => None,
            Either::Right((pending, _)) => Some(pending),
        };
        done.unwrap_or_else(|| {
            if std::mem::take(&mut self.changes) {
                self.recorder.change(What::WriteUnknown { key: held.key.clone() });
            }
            self.recorder.renewal_denied(&held.key);
            self.recorder.aborted(&held.key);
            false
        })
    }

    /// Reads, works, writes; stops early when the grant may no longer be relied upon or a step fails. True if it changed
    /// something that the release makes.
    async fn steps(&mut self, lock: &dyn ErasedLock, grant: &mut Grant, plan: &SectionPlan) -> bool {
        self.recorder.phase(plan.ordinal, Phase::Read);
        if self.over(grant) {
            return false;
        }
        let look = if self.kind == Kind::Sell { Operation::ReadStock } else { Operation::Read };
        let Ok(found) = self.apply(lock, grant, &plan.key, look).await else { return false };
        let value = found.value();
        if self.kind == Kind::Sell && value <= 0 {
            return false;
        }
        self.recorder.phase(plan.ordinal, Phase::Work);
        if self.over(grant) {
            return false;
        }
        if !self.work(lock, grant, plan.work).await || plan.shared {
            return false;
        }
        self.recorder.phase(plan.ordinal, Phase::Write);
        if self.over(grant) {
            return false;
        }
        let change = if self.kind == Kind::Sell { Operation::Sell(1) } else { Operation::Write(value + 1) };
        self.changes = true;
        let outcome = self.apply(lock, grant, &plan.key, change).await;
        self.changes = false;
        let key = plan.key.clone();
        match outcome {
            Ok(Applied::AtRelease(_)) => return true,
            Ok(Applied::Now(_)) => self.recorder.change(What::WriteAcknowledged { key }),
            Err(ResourceError::EffectUnknown) => self.recorder.change(What::WriteUnknown { key }),
            Err(
                ResourceError::Refused { .. }
                | ResourceError::SoldOut
                | ResourceError::Differs { .. }
                | ResourceError::Undone,
            ) => self.recorder.change(What::WriteRefused { key }),
            Err(ResourceError::NotSent) => {}
        }
        false
    }

    /// One operation on the guarded data, wherever they lie.
    async fn apply(
        &mut self,
        lock: &dyn ErasedLock,
        grant: &Grant,
        key: &Key,
        operation: Operation,
    ) -> Result<Applied, ResourceError> {
        if self.context.own_data {
            lock.apply(grant, operation).await
        } else {
            let reads = matches!(operation, Operation::Read | Operation::ReadStock);
            let token = grant.token.filter(|_| !reads || self.context.fences_reads);
            self.resource.apply(key, operation, token).await.map(Applied::Now)
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
            let before = grant.deadline;
            match lock.renew(grant).await {
                // Nothing is new: the holder has only looked.
                Ok(true) if lock.renews_in_background() && grant.deadline == before => {}
                Ok(true) => self.recorder.renewed(grant),
                Ok(false) => {
                    self.recorder.renewal_denied(&grant.key);
                    if self.context.policy.ignores_loss {
                        continue;
                    }
                    self.recorder.aborted(&grant.key);
                    return false;
                }
                // The effect of the renewal is not known; the next checkpoint shows it.
                Err(_) => {}
            }
        }
        self.host.sleep(left).await;
        true
    }

    /// True if the advertised deadline has passed. A naive holder does not look, and a grant without one is never over.
    fn over(&self, grant: &Grant) -> bool {
        if self.context.belief == Belief::Naive || self.context.policy.ignores_loss {
            return false;
        }
        let passed = grant.deadline.is_some_and(|deadline| self.recorder.has_passed(deadline));
        if passed {
            self.recorder.aborted(&grant.key);
        }
        passed
    }

    async fn direct(&mut self, direct: &dyn ErasedDirect, section: &SectionPlan) {
        let key = section.key.clone();
        self.recorder.phase(section.ordinal, Phase::Work);
        let outcome = if self.kind == Kind::Sell {
            direct.sell(&section.key, 1, section.work).await
        } else {
            direct.change(&section.key, 1, section.work).await.map(|()| true)
        };
        match outcome {
            Ok(true) => self.recorder.change(What::WriteAcknowledged { key }),
            Ok(false) => self.recorder.change(What::WriteRefused { key }),
            Err(_) => self.recorder.change(What::WriteUnknown { key }),
        }
    }
}

/// The outcome of a change that was to be made with a release.
fn made_with(release: &Result<(), LockError>, key: Key) -> What {
    match release {
        Ok(()) => What::WriteAcknowledged { key },
        Err(error) if error.is_undone() => What::WriteRefused { key },
        Err(_) => What::WriteUnknown { key },
    }
}
