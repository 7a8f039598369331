//! Attempts one after the other until one is granted, for locks whose attempts wait for their turn themselves.

use std::future::Future;
use std::time::Duration;

use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, LockError, Retry};

/// Attempts, each with the time that is left, until one is granted or `wait` has passed; a short pause lies between two.
///
/// # Errors
/// When the last attempt failed.
pub(crate) async fn until_granted<F>(
    host: &Host,
    wait: Duration,
    attempt: impl Fn(Duration) -> F + Send,
) -> Result<Option<Grant>, LockError>
where
    F: Future<Output = Result<Option<Grant>, LockError>> + Send,
{
    until(host, wait, attempt, |_| false).await
}

/// As [`until_granted`], until an attempt fails: the caller is given its error.
///
/// # Errors
/// When an attempt failed.
pub(crate) async fn until_granted_or_failed<F>(
    host: &Host,
    wait: Duration,
    attempt: impl Fn(Duration) -> F + Send,
) -> Result<Option<Grant>, LockError>
where
    F: Future<Output = Result<Option<Grant>, LockError>> + Send,
{
    until(host, wait, attempt, Result::is_err).await
}

/// One outcome of an attempt.
type Outcome = Result<Option<Grant>, LockError>;

async fn until<F>(
    host: &Host,
    wait: Duration,
    attempt: impl Fn(Duration) -> F + Send,
    is_last: impl Fn(&Outcome) -> bool + Send,
) -> Outcome
where
    F: Future<Output = Outcome> + Send,
{
    let until = host.monotonic() + wait;
    let retry = Retry::default();
    loop {
        host.begin_attempt();
        let outcome = attempt(until.since(host.monotonic())).await;
        if matches!(outcome, Ok(Some(_))) || is_last(&outcome) {
            return outcome;
        }
        let pause = host.rng().span(retry.min, retry.max);
        if host.monotonic() + pause >= until {
            return outcome;
        }
        host.sleep(pause).await;
    }
}
