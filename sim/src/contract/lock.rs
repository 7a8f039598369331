//! The contract of a lock: what a design's client must be able to do, and nothing about how it is tested.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::data::{Applied, Operation, ResourceError};
use crate::host::Host;
use picklock_model::ids::{Key, Token};

pub use super::client::Client;
pub use crate::base::deadline::Deadline;
pub use crate::base::future::BoxFuture;
pub use picklock_model::trace::{Belief, Exclusion};

/// One successful acquire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The key granted.
    pub key: Key,
    /// The value by which the store knows the holder.
    pub owner: String,
    /// The fencing token; every operation on the resource carries it.
    pub token: Option<Token>,
    /// Until when the holder may rely on the grant; `None` if the design advertises nothing.
    pub deadline: Option<Deadline>,
    /// True if others that share it may hold the key at the same time; see [`Exclusion`].
    pub shared: bool,
}

impl Grant {
    /// A grant without token and deadline.
    #[must_use]
    pub fn new(key: &Key, owner: impl Into<String>) -> Grant {
        Grant { key: key.clone(), owner: owner.into(), token: None, deadline: None, shared: false }
    }

    /// The same grant with a fencing token.
    #[must_use]
    pub fn with_token(mut self, token: Token) -> Grant {
        self.token = Some(token);
        self
    }

    /// The same, shared with others that share it.
    #[must_use]
    pub fn shared(mut self) -> Grant {
        self.shared = true;
        self
    }

    /// The same grant with an advertised deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Deadline) -> Grant {
        self.deadline = Some(deadline);
        self
    }
}

/// The error of a lock operation. Any error converts into it with `?`.
///
/// One made by [`LockError::new`] says that the operation did not take effect: `not the owner`. Where that is not known, because
/// no answer came, it is to be [in doubt](LockError::in_doubt); an error that was converted is.
pub struct LockError {
    source: Box<dyn Error + Send + Sync>,
    denies: bool,
    undone: bool,
}

impl LockError {
    /// The operation did not take effect, for this reason: a lowercase fragment that fits "failed to acquire: {error}".
    #[must_use]
    pub fn new(message: impl Into<String>) -> LockError {
        LockError { source: message.into().into(), denies: true, undone: false }
    }

    /// It is not known if the operation took effect.
    #[must_use]
    pub fn in_doubt(message: impl Into<String>) -> LockError {
        LockError { source: message.into().into(), denies: false, undone: false }
    }

    /// True if it says that the operation did not take effect.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        self.denies
    }

    /// The same error, of a release that surely made none of the changes that were to be made with it
    /// ([`Applied::AtRelease`]). Without it nobody knows whether they were made.
    #[must_use]
    pub fn undone(mut self) -> LockError {
        self.undone = true;
        self
    }

    /// True if it is known that nothing was changed.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        self.undone
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for LockError {
    fn from(error: E) -> LockError {
        LockError { source: Box::new(error), denies: false, undone: false }
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.source, f)
    }
}

/// How long a refused client waits before it asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The shortest wait.
    pub min: Duration,
    /// The longest wait; the wait is uniform between the two.
    pub max: Duration,
}

impl Retry {
    /// Ask once, and never again.
    pub const NEVER: Retry = Retry { min: Duration::MAX, max: Duration::MAX };

    /// Always the same wait.
    #[must_use]
    pub const fn every(span: Duration) -> Retry {
        Retry { min: span, max: span }
    }
}

impl Default for Retry {
    /// 20 to 60 ms, random so that waiters do not march in step.
    fn default() -> Retry {
        Retry { min: Duration::from_millis(20), max: Duration::from_millis(60) }
    }
}

/// A lock. Everything it knows of time and of the network goes through the [`Host`] it was made with.
pub trait Lock: Send + Sync + 'static {
    /// Asks once. `Ok(None)` means that somebody else holds the lock.
    ///
    /// # Errors
    /// When the outcome is a failure other than a refusal: a broken connection, an error reply, a timeout.
    fn try_acquire(&self, key: &Key) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send;

    /// Gives the grant back.
    ///
    /// # Errors
    /// When the release could not be carried out or its outcome is not known.
    fn release(&self, grant: Grant) -> impl Future<Output = Result<(), LockError>> + Send;

    /// How long to wait between two tries; used by the default [`acquire`](Lock::acquire).
    fn retry(&self) -> Retry {
        Retry::default()
    }

    /// How often a holder is to call [`renew`](Lock::renew) while it works; `None` for a lock that its holders do not
    /// renew by themselves.
    fn checkpoint(&self) -> Option<Duration> {
        None
    }

    /// Extends the lease of a grant at a checkpoint of the holder, and moves the deadline that it advertises.
    /// `Ok(false)` means that the grant is lost.
    ///
    /// # Errors
    /// When it is not known whether the lease was extended.
    fn renew(&self, grant: &mut Grant) -> impl Future<Output = Result<bool, LockError>> + Send {
        let _ = grant;
        async { Ok(true) }
    }

    /// True if [`renew`](Lock::renew) asks no store: the lock renews in the background, and a holder only looks at its checkpoints what came of
    /// that.
    fn renews_in_background(&self) -> bool {
        false
    }

    /// Completes when the lock learns that a grant is lost: its session has ended, or its watchdog was denied. The holder is then notified, and
    /// gives up its section at that instant, whatever it waits for. Never, for a lock that notifies nobody, or only the
    /// outcome of a [`renew`](Lock::renew) that they ask for.
    fn lost(&self, grant: &Grant) -> impl Future<Output = ()> + Send {
        let _ = grant;
        std::future::pending()
    }

    /// Carries out one operation on the guarded data in the service of a grant, where these lie in the lock's own store
    /// instead of the resource: only for a design that says so with
    /// [`guarding_own_data`](crate::contract::design::Design::guarding_own_data). The store records what it does as the
    /// resource would, with [`What::ResourceRead`](picklock_model::trace::What::ResourceRead) and its kin.
    ///
    /// # Errors
    /// See [`ResourceError`].
    fn apply(
        &self,
        grant: &Grant,
        operation: Operation,
    ) -> impl Future<Output = Result<Applied, ResourceError>> + Send {
        let _ = (grant, operation);
        async { Err(ResourceError::NotSent) }
    }

    /// Asks until the lock is granted or `wait` has passed on the host's monotonic clock (`Ok(None)`). How to wait is
    /// part of a design: override it for anything but polling. Errors of single tries count as refusals.
    ///
    /// # Errors
    /// When the last try before the end of the wait failed with an error.
    fn acquire(
        &self,
        host: &Host,
        key: &Key,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send {
        async move {
            let give_up = host.monotonic() + wait;
            loop {
                host.begin_attempt();
                let outcome = self.try_acquire(key).await;
                if let Ok(Some(grant)) = outcome {
                    return Ok(Some(grant));
                }
                let pause = self.retry();
                let pause = host.rng().span(pause.min, pause.max);
                if host.monotonic() + pause >= give_up {
                    return outcome;
                }
                host.sleep(pause).await;
            }
        }
    }

    /// Acquires together with others that share, as a reader does; what is granted is to be [shared](Grant::shared). As
    /// [`acquire`](Lock::acquire), unless a design has such a mode.
    fn acquire_shared(
        &self,
        host: &Host,
        key: &Key,
        wait: Duration,
    ) -> impl Future<Output = Result<Option<Grant>, LockError>> + Send {
        self.acquire(host, key, wait)
    }
}

/// A design without a lock: it changes the resource directly and makes that safe by itself.
pub trait Direct: Send + Sync + 'static {
    /// Adds `delta` to the register or stock `key`, doing `work` between reading and changing it.
    ///
    /// # Errors
    /// When the change was not made, or its outcome is not known.
    fn change(
        &self,
        key: &Key,
        delta: i64,
        work: Duration,
    ) -> impl Future<Output = Result<(), LockError>> + Send;

    /// Sells `amount` from the stock `key`, doing `work` between looking and selling. `Ok(false)`: too little is left, and
    /// nothing was sold. Only for a design that says that it [sells](crate::contract::design::Design::sells).
    ///
    /// # Errors
    /// When it is not known whether it was sold, or the design does not sell.
    fn sell(
        &self,
        key: &Key,
        amount: i64,
        work: Duration,
    ) -> impl Future<Output = Result<bool, LockError>> + Send {
        let _ = (key, amount, work);
        async { Err(LockError::new("the design does not sell from a stock")) }
    }
}

/// [`Lock`] with boxed futures, so that designs of different types can stand in one list.
pub trait ErasedLock: Send + Sync {
    /// See [`Lock::acquire`].
    fn acquire<'a>(
        &'a self,
        host: &'a Host,
        key: &'a Key,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<Grant>, LockError>>;

    /// See [`Lock::acquire_shared`].
    fn acquire_shared<'a>(
        &'a self,
        host: &'a Host,
        key: &'a Key,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<Grant>, LockError>>;

    /// See [`Lock::release`].
    fn release(&self, grant: Grant) -> BoxFuture<'_, Result<(), LockError>>;

    /// See [`Lock::checkpoint`].
    fn checkpoint(&self) -> Option<Duration>;

    /// See [`Lock::renews_in_background`].
    fn renews_in_background(&self) -> bool;

    /// See [`Lock::renew`].
    fn renew<'a>(&'a self, grant: &'a mut Grant) -> BoxFuture<'a, Result<bool, LockError>>;

    /// See [`Lock::lost`].
    fn lost<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, ()>;

    /// See [`Lock::apply`].
    fn apply<'a>(
        &'a self,
        grant: &'a Grant,
        operation: Operation,
    ) -> BoxFuture<'a, Result<Applied, ResourceError>>;
}

impl<L: Lock> ErasedLock for L {
    fn acquire<'a>(
        &'a self,
        host: &'a Host,
        key: &'a Key,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<Grant>, LockError>> {
        Box::pin(Lock::acquire(self, host, key, wait))
    }

    fn acquire_shared<'a>(
        &'a self,
        host: &'a Host,
        key: &'a Key,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<Grant>, LockError>> {
        Box::pin(Lock::acquire_shared(self, host, key, wait))
    }

    fn release(&self, grant: Grant) -> BoxFuture<'_, Result<(), LockError>> {
        Box::pin(Lock::release(self, grant))
    }

    fn checkpoint(&self) -> Option<Duration> {
        Lock::checkpoint(self)
    }

    fn renews_in_background(&self) -> bool {
        Lock::renews_in_background(self)
    }

    fn renew<'a>(&'a self, grant: &'a mut Grant) -> BoxFuture<'a, Result<bool, LockError>> {
        Box::pin(Lock::renew(self, grant))
    }

    fn lost<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, ()> {
        Box::pin(Lock::lost(self, grant))
    }

    fn apply<'a>(
        &'a self,
        grant: &'a Grant,
        operation: Operation,
    ) -> BoxFuture<'a, Result<Applied, ResourceError>> {
        Box::pin(Lock::apply(self, grant, operation))
    }
}

/// [`Direct`] with boxed futures.
pub trait ErasedDirect: Send + Sync {
    /// See [`Direct::change`].
    fn change<'a>(&'a self, key: &'a Key, delta: i64, work: Duration)
    -> BoxFuture<'a, Result<(), LockError>>;

    /// See [`Direct::sell`].
    fn sell<'a>(
        &'a self,
        key: &'a Key,
        amount: i64,
        work: Duration,
    ) -> BoxFuture<'a, Result<bool, LockError>>;
}

impl<D: Direct> ErasedDirect for D {
    fn change<'a>(
        &'a self,
        key: &'a Key,
        delta: i64,
        work: Duration,
    ) -> BoxFuture<'a, Result<(), LockError>> {
        Box::pin(Direct::change(self, key, delta, work))
    }

    fn sell<'a>(
        &'a self,
        key: &'a Key,
        amount: i64,
        work: Duration,
    ) -> BoxFuture<'a, Result<bool, LockError>> {
        Box::pin(Direct::sell(self, key, amount, work))
    }
}
