//! The policy of a client: the choices that it has whatever lock it uses, spelled by the same parameters in every design
//! that can have them, and the arithmetic of deadlines that follows from it.
//!
//! Most arguments about the safety of a lock turn on one of these and not on the algorithm: what the holder relies on,
//! which clock it reads, what it does about a request whose outcome it does not know.

use std::time::Duration;

use picklock_model::time::{Monotonic, WallTime};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Deadline, Retry};
use picklock_sim::param::{Args, Count, Param, Word};
use picklock_sim::params;

/// How the holder comes to believe that it holds; naive unless given.
pub(crate) const BELIEF: Param<Word> = Param {
    name: "belief",
    domain: Word(&["naive", "trusting", "honest"]),
    default: "naive",
    doc: "what the holder relies on: nothing but the grant, the deadline counted from the last reply, or that \
          counted from before the first request less the clock drift",
};

/// As [`BELIEF`], honest unless given.
pub(crate) const BELIEF_HONEST: Param<Word> = Param { default: "honest", ..BELIEF };

/// The clock that deadlines are kept on.
pub(crate) const CLOCK: Param<Word> = Param {
    name: "clock",
    domain: Word(&["monotonic", "wall"]),
    default: "monotonic",
    doc: "the client's clock that deadlines are kept on",
};

/// The time that an honest client subtracts from a lease for clocks that run at different rates.
pub(crate) const DRIFT: Param<Count> = Param {
    name: "drift",
    domain: Count(0, 500),
    default: "10",
    doc: "what an honest holder subtracts from the lease for clock drift, in thousandths of it; 2 ms are added",
};

/// How a refused client waits.
pub(crate) const RETRY: Param<Word> = Param {
    name: "retry",
    domain: Word(&["random", "fixed", "none"]),
    default: "random",
    doc: "how long a refused client waits before it asks again: 20 to 60 ms, 40 ms, or it does not ask again",
};

/// The reaction of a client to an acquire that failed half-way; undone unless given.
pub(crate) const FAILURE: Param<Word> = Param {
    name: "failure",
    domain: Word(&["release", "leave"]),
    default: "release",
    doc: "what becomes of an acquire that failed or whose outcome is not known: it is released, or left to its lease",
};

/// As [`FAILURE`], left alone unless given.
pub(crate) const FAILURE_LEAVE: Param<Word> = Param { default: "leave", ..FAILURE };

/// How long a request to one store may take; half of the lease unless given.
pub(crate) const TIMEOUT: Param<Count> = Param {
    name: "timeout",
    domain: Count(1, 1_000),
    default: "50",
    doc: "how long one store may take to answer, in hundredths of the lease",
};

/// As [`TIMEOUT`], a twentieth of the lease unless given.
pub(crate) const NODE_TIMEOUT: Param<Count> = Param { default: "5", ..TIMEOUT };

/// The renewal of grants in the background; none unless given.
pub(crate) const RENEWAL: Param<Word> = Param {
    name: "renewal",
    domain: Word(&["off", "on", "jittered", "shared", "stopping"]),
    default: "off",
    doc: "renewal in the background: none, every third of the lease, after a sixth to a third of it drawn at random, \
          by one timer for all grants of a client, or every third until the first error, which stops the timer",
};

/// As [`RENEWAL`], on unless given.
pub(crate) const RENEWAL_ON: Param<Word> = Param { default: "on", ..RENEWAL };

/// When a fencing token is taken.
pub(crate) const TOKEN: Param<Word> = Param {
    name: "token",
    domain: Word(&["grant", "after"]),
    default: "grant",
    doc: "where the fencing token comes from: the script that takes the lock, or a second command after it",
};

/// Which operations carry the fencing token.
pub(crate) const FENCE: Param<Word> = Param {
    name: "fence",
    domain: Word(&["all", "writes"]),
    default: "all",
    doc: "which operations on the resource carry the token: all, or writes alone; a write that is late then lands between \
          the next holder's read and its write",
};

/// The kind of store that a design on one store stands on.
pub(crate) const STORE: Param<Word> = Param {
    name: "store",
    domain: Word(&["single", "replicated"]),
    default: "single",
    doc: "one store alone, or a primary with replicas, and Sentinels that promote one of them",
};

/// How the value of a record is compared in the request that changes the record.
pub(crate) const COMPARE: Param<Word> = Param {
    name: "compare",
    domain: Word(&["script", "delex", "delifeq"]),
    default: "script",
    doc: "how a release and a renewal compare the owner: in scripts, or with DELEX (a store of Redis 8.4) or DELIFEQ (of Valkey 9.0) and \
          SET with IFEQ",
};

/// The parameters of a lock with a lease and a value of its own on one store.
pub(crate) const OWNED: &[Param] = params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, STORE];

/// As [`OWNED`], with renewal that is off unless given.
pub(crate) const RENEWABLE: &[Param] =
    params![BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, RENEWAL, COMPARE, STORE];

/// The policy of a client, as its parameters give it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// The kind of belief of the holder.
    pub(crate) belief: Belief,
    /// The clock that its deadlines are kept on.
    pub(crate) clock: Clock,
    /// How it waits when it is refused.
    pub(crate) retry: Retry,
    /// Its reaction to an acquire that failed half-way.
    pub(crate) failure: Failure,
    /// How it renews what it holds.
    pub(crate) renewal: Renewal,
    /// When it takes a fencing token.
    pub(crate) token: TokenTaken,
    /// How it compares the owner of a record.
    pub(crate) compare: Compare,
    /// The part that an honest holder subtracts from a lease, in thousandths.
    drift_permille: u32,
    /// How long a request may take, in hundredths of the lease.
    timeout_percent: u32,
}

/// The reaction of a client to an acquire that failed half-way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It releases what it may have taken.
    Release,
    /// It leaves it to the lease.
    Leave,
}

/// How grants are renewed in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renewal {
    /// Not at all.
    Off,
    /// Each by a task of its own, every third of the lease.
    On,
    /// Each by a task of its own, after a sixth to a third of the lease, drawn anew each time.
    Jittered,
    /// All of a client by one task, every third of the lease.
    Shared,
    /// As `On`, until one fails: then no more.
    Stopping,
}

/// When a fencing token is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenTaken {
    /// In the script that takes the lock.
    WithGrant,
    /// By a second command.
    Afterwards,
}

/// How the owner of a record is compared in the request that changes the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// In a script.
    Script,
    /// With DELEX, and SET with IFEQ: Redis 8.4.
    DelEx,
    /// With DELIFEQ, and SET with IFEQ: Valkey 9.0.
    DelIfEq,
}

impl Policy {
    /// The policy that the parameters give; one that a design does not have is at its default.
    pub(crate) fn of(args: &Args) -> Policy {
        let word = |param: Param<Word>| args.find(param).unwrap_or(param.default);
        let number = |param: Param<Count>| {
            let default = || param.default.parse().expect("a default lies in its domain");
            args.find(param).unwrap_or_else(default) as u32
        };
        Policy {
            belief: match word(BELIEF) {
                "honest" => Belief::Honest,
                "trusting" => Belief::Trusting,
                _ => Belief::Naive,
            },
            clock: if word(CLOCK) == "wall" { Clock::Wall } else { Clock::Monotonic },
            retry: match word(RETRY) {
                "fixed" => Retry::every(Duration::from_millis(40)),
                "none" => Retry::NEVER,
                _ => Retry::default(),
            },
            failure: if word(FAILURE) == "leave" { Failure::Leave } else { Failure::Release },
            renewal: match word(RENEWAL) {
                "on" => Renewal::On,
                "jittered" => Renewal::Jittered,
                "shared" => Renewal::Shared,
                "stopping" => Renewal::Stopping,
                _ => Renewal::Off,
            },
            token: if word(TOKEN) == "after" { TokenTaken::Afterwards } else { TokenTaken::WithGrant },
            compare: match word(COMPARE) {
                "delex" => Compare::DelEx,
                "delifeq" => Compare::DelIfEq,
                _ => Compare::Script,
            },
            drift_permille: number(DRIFT),
            timeout_percent: number(TIMEOUT),
        }
    }

    /// The time that an honest client subtracts from a lease for the difference between its clock and the store's: by default one
    /// part in a hundred, and always 2 ms for the millisecond steps in which Redis counts. The margin of the first
    /// Redlock implementations (redlock-rb: `drift = ttl * 0.01 + 2`).
    pub(crate) fn drift(&self, ttl: Duration) -> Duration {
        ttl * self.drift_permille / 1_000 + Duration::from_millis(2)
    }

    /// The last moment at which a lease of `ttl`, asked for at `start`, can be relied upon: stores began to count it
    /// after that reading, and count at most [`drift`](Policy::drift) faster than this clock.
    pub(crate) fn lease_end(&self, start: Reading, ttl: Duration) -> Reading {
        start.plus(ttl.saturating_sub(self.drift(ttl)))
    }

    /// How long a request to one store may take: at least 10 ms, so that a short lease does not time out on every round
    /// trip.
    pub(crate) fn timeout(&self, ttl: Duration) -> Duration {
        (ttl * self.timeout_percent / 100).max(Duration::from_millis(10))
    }
}

/// The clock that a client keeps its deadlines on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The monotonic clock.
    Monotonic,
    /// The wall clock, which can be stepped.
    Wall,
}

impl Clock {
    /// The present reading of the clock.
    pub(crate) fn read(self, host: &Host) -> Reading {
        match self {
            Clock::Monotonic => Reading::Monotonic(host.monotonic()),
            Clock::Wall => Reading::Wall(host.wall()),
        }
    }
}

/// A reading that a [`Clock`] showed, or will show. Readings compare only with readings of the same clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Reading {
    /// Of the monotonic clock.
    Monotonic(Monotonic),
    /// Of the wall clock.
    Wall(WallTime),
}

impl Reading {
    /// The reading after `span` has passed on the clock.
    pub(crate) fn plus(self, span: Duration) -> Reading {
        match self {
            Reading::Monotonic(at) => Reading::Monotonic(at + span),
            Reading::Wall(at) => Reading::Wall(at + span),
        }
    }

    /// The span from an earlier reading of the same clock to this one; zero if it is not earlier.
    pub(crate) fn after(self, earlier: Reading) -> Duration {
        match (self, earlier) {
            (Reading::Monotonic(at), Reading::Monotonic(earlier)) => at.since(earlier),
            (Reading::Wall(at), Reading::Wall(earlier)) => at.since(earlier),
            _ => Duration::ZERO,
        }
    }

    /// The reading as the deadline of a grant.
    pub(crate) fn deadline(self) -> Deadline {
        match self {
            Reading::Monotonic(at) => Deadline::Monotonic(at),
            Reading::Wall(at) => Deadline::Wall(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    fn policy(drift_permille: u32, timeout_percent: u32) -> Policy {
        Policy {
            belief: Belief::Honest,
            clock: Clock::Monotonic,
            retry: Retry::default(),
            failure: Failure::Release,
            renewal: Renewal::Off,
            token: TokenTaken::WithGrant,
            compare: Compare::Script,
            drift_permille,
            timeout_percent,
        }
    }

    #[test]
    fn a_lease_is_relied_upon_from_before_the_request_less_a_hundredth_and_two_milliseconds() {
        let start = Reading::Monotonic(Monotonic(5_000_000_000));
        let honest = policy(10, 50);
        assert_eq!(honest.drift(TTL), Duration::from_millis(102));
        assert_eq!(honest.lease_end(start, TTL), Reading::Monotonic(Monotonic(14_898_000_000)));
        let end = honest.lease_end(start, TTL).deadline();
        assert_eq!(end, Deadline::Monotonic(Monotonic(14_898_000_000)));
        assert_eq!(policy(0, 50).drift(TTL), Duration::from_millis(2));
    }

    #[test]
    fn a_deadline_on_the_wall_clock_stays_on_the_wall_clock() {
        let start = Reading::Wall(WallTime(1_000_000_000));
        assert_eq!(start.plus(TTL).deadline(), Deadline::Wall(WallTime(11_000_000_000)));
    }

    #[test]
    fn a_lease_shorter_than_the_drift_is_over_at_once() {
        let start = Reading::Monotonic(Monotonic(7));
        assert_eq!(policy(10, 50).lease_end(start, Duration::from_millis(1)), start);
    }

    #[test]
    fn a_store_has_its_share_of_the_lease_to_answer_but_at_least_ten_milliseconds() {
        assert_eq!(policy(10, 5).timeout(Duration::from_secs(2)), Duration::from_millis(100));
        assert_eq!(policy(10, 5).timeout(Duration::from_millis(50)), Duration::from_millis(10));
    }
}
