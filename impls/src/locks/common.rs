//! What the designs share: the parameters of a client's policy, the arithmetic of deadlines, and the few Redis
//! commands that nearly every lock is made of.
//!
//! Left out on purpose: anything that makes one design different from another.

use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

use picklock_sim::design::{Args, Design, Domain, Param, Seat, Topology};
use picklock_sim::host::Host;
use picklock_sim::ids::{Key, Token};
use picklock_sim::lock::{Belief, Client, Deadline, Grant, Lock, LockError};
use picklock_sim::time::{Monotonic, WallTime};
use redis::{RedisError, RedisResult, Script, cmd};

use crate::connection::Connection;
use crate::servers::serve;

/// How the holder comes to believe that it holds; naive unless given.
pub(super) const BELIEF: Param = Param {
    name: "belief",
    domain: Domain::Word(&["naive", "trusting", "honest"]),
    default: "naive",
    doc: "what the holder relies on: nothing but the grant, the deadline counted from the last reply, or that \
          counted from before the first request less the clock drift",
};

/// As [`BELIEF`], honest unless given.
pub(super) const BELIEF_HONEST: Param = Param { default: "honest", ..BELIEF };

/// The clock that deadlines are kept on.
pub(super) const CLOCK: Param = Param {
    name: "clock",
    domain: Domain::Word(&["monotonic", "wall"]),
    default: "monotonic",
    doc: "the client's clock that deadlines are kept on",
};

/// The kind of store that a design on one store stands on.
pub(super) const STORE: Param = Param {
    name: "store",
    domain: Domain::Word(&["single", "replicated"]),
    default: "single",
    doc: "one store alone, or a primary with replicas, and Sentinels that promote one of them",
};

/// The parameters of every design on one store.
pub(super) const ONE_STORE: &[Param] = &[BELIEF, CLOCK, STORE];

/// The policy of a client, as its parameters give it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// What the holder relies on.
    pub(super) belief: Belief,
    /// The clock that its deadlines are kept on.
    pub(super) clock: Clock,
}

impl Policy {
    /// The policy that [`BELIEF`] and [`CLOCK`] give.
    pub(super) fn of(args: &Args) -> Policy {
        let belief = match args.word("belief") {
            "honest" => Belief::Honest,
            "trusting" => Belief::Trusting,
            _ => Belief::Naive,
        };
        let clock = if args.word("clock") == "wall" { Clock::Wall } else { Clock::Monotonic };
        Policy { belief, clock }
    }
}

/// The clock that a client keeps its deadlines on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The monotonic clock.
    Monotonic,
    /// The wall clock, which can be stepped.
    Wall,
}

impl Clock {
    /// What the clock shows now.
    pub(super) fn read(self, host: &Host) -> Reading {
        match self {
            Clock::Monotonic => Reading::Monotonic(host.monotonic()),
            Clock::Wall => Reading::Wall(host.wall()),
        }
    }
}

/// What a [`Clock`] showed, or will show. Readings compare only with readings of the same clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Reading {
    /// Of the monotonic clock.
    Monotonic(Monotonic),
    /// Of the wall clock.
    Wall(WallTime),
}

impl Reading {
    /// The last moment at which a lease of `ttl`, asked for at this reading, can be relied upon: nodes began to count
    /// it after this reading, and count at most [`drift`] faster than this clock.
    pub(super) fn lease_end(self, ttl: Duration) -> Reading {
        self.plus(ttl.saturating_sub(drift(ttl)))
    }

    /// The reading after `span` has passed on the clock.
    pub(super) fn plus(self, span: Duration) -> Reading {
        match self {
            Reading::Monotonic(at) => Reading::Monotonic(at + span),
            Reading::Wall(at) => Reading::Wall(at + span),
        }
    }

    /// The reading as the deadline of a grant.
    pub(super) fn deadline(self) -> Deadline {
        match self {
            Reading::Monotonic(at) => Deadline::Monotonic(at),
            Reading::Wall(at) => Deadline::Wall(at),
        }
    }
}

/// What a client subtracts from a lease for the difference between its clock and the store's: one part in a hundred,
/// and 2 ms for the millisecond steps in which Redis counts. The allowance of the first Redlock implementations
/// (redlock-rb: `drift = ttl * 0.01 + 2`).
pub(super) fn drift(ttl: Duration) -> Duration {
    ttl / 100 + Duration::from_millis(2)
}

/// The client side of a design on one store: what they all need.
#[derive(Clone)]
pub(super) struct OneStore {
    /// The client's host.
    pub(super) host: Host,
    /// The connection to the store. Its commands time out after half the lease time: a reply that comes later leaves
    /// little of the lease to work in, and half is left to clean up and to try again.
    pub(super) redis: Connection,
    /// The lease time.
    pub(super) ttl: Duration,
    policy: Policy,
}

/// When an acquire began, as far as the client's policy wants to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Began(Option<Reading>);

impl OneStore {
    /// Connects to the seat's only store.
    pub(super) async fn connect(seat: &Seat, policy: Policy) -> Result<OneStore, LockError> {
        let redis = Connection::to(seat, 0)?;
        connect_if_possible(&redis).await;
        Ok(OneStore { host: seat.host.clone(), redis, ttl: seat.ttl, policy })
    }

    /// To be called before the first request of an acquire. Reads the clock only for an honest holder: others do not.
    pub(super) fn begin(&self) -> Began {
        Began((self.policy.belief == Belief::Honest).then(|| self.policy.clock.read(&self.host)))
    }

    /// The grant for an acquire that was just answered with yes, with the deadline that the policy advertises.
    pub(super) fn grant(&self, key: &Key, owner: impl Into<String>, began: Began) -> Grant {
        let grant = Grant::new(key, owner);
        let deadline = match (self.policy.belief, began.0) {
            (Belief::Honest, Some(start)) => start.lease_end(self.ttl),
            (Belief::Trusting, _) => self.policy.clock.read(&self.host).plus(self.ttl),
            _ => return grant,
        };
        grant.with_deadline(deadline.deadline())
    }

    /// After a failed request to take the lock: if it is not known whether the store executed it, takes it back, once
    /// and as well as possible. Right only with an owner value that nobody else uses.
    pub(super) async fn take_back(&self, key: &Key, owner: &str, error: &RedisError) {
        if error.is_io_error() {
            // If this fails as well, the lease runs out by itself; the caller gets the first error.
            let _ = compare_and_delete(&self.redis, key, owner).await;
        }
    }

    /// Gives the grant back by compare-and-delete.
    ///
    /// # Errors
    /// When the request failed, or the store says that somebody else or nobody holds the lock.
    pub(super) async fn give_back(&self, grant: &Grant) -> Result<(), LockError> {
        if compare_and_delete(&self.redis, &grant.key, &grant.owner).await? {
            Ok(())
        } else {
            Err(LockError::new("the lease was lost before the release"))
        }
    }
}

/// The topology that [`STORE`] gives.
pub(super) fn store_of(args: &Args) -> Topology {
    Topology { stores: 1, replicated: args.word("store") == "replicated" }
}

/// A design on Redis stores whose clients are made by `connect` with the policy of the arguments.
pub(super) fn on_stores<L, F, Fut>(args: &Args, topology: Topology, connect: F) -> Design
where
    L: Lock,
    F: Fn(Seat, Policy) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<L, LockError>> + Send + 'static,
{
    let policy = Policy::of(args);
    let client = move |seat| {
        let connecting = connect(seat, policy);
        async move { Ok(Client::lock(connecting.await?)) }
    };
    // The family gives the design its name.
    Design::new("", client).believing(policy.belief).on(topology, serve)
}

/// Connects before the first acquire, as programs do when they start. A store that cannot be reached now may be
/// reached by then, so a failure is not an error yet.
pub(super) async fn connect_if_possible(redis: &Connection) {
    let _ = redis.connect().await;
}

/// `SET key value NX PX ttl`: true if the key is set, false if it existed.
pub(super) async fn set_if_absent(
    redis: &Connection,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<bool> {
    cmd("SET")
        .arg(key.as_str())
        .arg(value)
        .arg("NX")
        .arg("PX")
        .arg(millis(ttl))
        .query_async(&mut redis.clone())
        .await
}

/// As [`set_if_absent`], and on success increments the counter of the key in the same script; its new value is the
/// token. The counter has no lease.
pub(super) async fn set_and_count(
    redis: &Connection,
    key: &Key,
    value: &str,
    ttl: Duration,
) -> RedisResult<Option<Token>> {
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
               return redis.call('incr', KEYS[2])
             else
               return false
             end",
        )
    });
    let counter: Option<u64> = SCRIPT
        .key(key.as_str())
        .key(counter_key(key))
        .arg(value)
        .arg(millis(ttl))
        .invoke_async(&mut redis.clone())
        .await?;
    Ok(counter.map(Token))
}

/// Deletes the key if it holds this value, in one script: false if it does not. The script of the Redis documentation
/// ("Distributed Locks with Redis").
pub(super) async fn compare_and_delete(redis: &Connection, key: &Key, value: &str) -> RedisResult<bool> {
    static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then
               return redis.call('del', KEYS[1])
             else
               return 0
             end",
        )
    });
    SCRIPT.key(key.as_str()).arg(value).invoke_async(&mut redis.clone()).await
}

/// The key of the counter from which the tokens of `key` come. The braces keep both in one slot of a Redis Cluster.
pub(super) fn counter_key(key: &Key) -> String {
    format!("{{{key}}}:token")
}

/// A lease time as Redis takes it: whole milliseconds, at least one.
pub(super) fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    #[test]
    fn a_lease_is_relied_upon_from_before_the_request_less_a_hundredth_and_two_milliseconds() {
        let start = Reading::Monotonic(Monotonic(5_000_000_000));
        assert_eq!(drift(TTL), Duration::from_millis(102));
        assert_eq!(start.lease_end(TTL), Reading::Monotonic(Monotonic(14_898_000_000)));
        assert_eq!(start.lease_end(TTL).deadline(), Deadline::Monotonic(Monotonic(14_898_000_000)));
    }

    #[test]
    fn a_deadline_on_the_wall_clock_stays_on_the_wall_clock() {
        let start = Reading::Wall(WallTime(1_000_000_000));
        assert_eq!(start.plus(TTL).deadline(), Deadline::Wall(WallTime(11_000_000_000)));
    }

    #[test]
    fn a_lease_shorter_than_the_drift_is_over_at_once() {
        let start = Reading::Monotonic(Monotonic(7));
        assert_eq!(start.lease_end(Duration::from_millis(1)), start);
    }

    #[test]
    fn a_lease_of_less_than_a_millisecond_is_asked_for_as_one() {
        assert_eq!(millis(Duration::from_micros(300)), 1);
        assert_eq!(millis(Duration::from_micros(2_900)), 2);
    }

    #[test]
    fn the_counter_of_a_key_lies_in_the_slot_of_the_key() {
        assert_eq!(counter_key(&Key::new("stock")), "{stock}:token");
    }
}
