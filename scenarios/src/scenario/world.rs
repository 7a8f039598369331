//! The parameters of the world that a scenario may fix: what every workload and fault shares.

use std::time::Duration;

use picklock_model::plan::{ClientPolicy, Latency, ReadyOrder, Settings, WorldSpec};

use picklock_sim::param::{Args, Count, HOUR, OneSpan, Param, Spans, Word, YesNo};
use picklock_sim::params;

const MILLISECOND: Duration = Duration::from_millis(1);

pub(super) const STORE: Param<Word> = Param {
    name: "store",
    domain: Word(&["single", "replicated"]),
    default: "single",
    doc: "replicated: a design on a single store gets one with replicas",
};

pub(super) const TTL: Param<OneSpan> = Param {
    name: "ttl",
    domain: OneSpan { min: Duration::from_millis(10), max: Duration::from_secs(300) },
    default: "1s",
    doc: "the lease time that clients ask for",
};

/// The longest run: longer than a server needs by its defaults to notice that a client is gone (PostgreSQL: 7875 s).
const LONGEST: Duration = Duration::from_secs(3 * 3_600);

pub(super) const WAIT: Param<OneSpan> = Param {
    name: "wait",
    domain: OneSpan { min: Duration::ZERO, max: LONGEST },
    default: "10 x ttl",
    doc: "how long a section waits for the lock",
};

pub(super) const HORIZON: Param<OneSpan> = Param {
    name: "horizon",
    domain: OneSpan { min: MILLISECOND, max: LONGEST },
    default: "5 x ttl",
    doc: "the run ends here at the latest",
};

pub(super) const DECIDE: Param<OneSpan> = Param {
    name: "decide",
    domain: OneSpan { min: Duration::ZERO, max: LONGEST },
    default: "60s",
    doc: "how long the run goes on past its horizon at most while somebody waits for a lock that nobody holds, until progress is decided",
};

const LATENCY: Param<Spans> = Param {
    name: "latency",
    domain: Spans { min: Duration::from_micros(1), max: Duration::from_secs(10) },
    default: "200us..1ms",
    doc: "one-way latency of a message",
};

const TCP_TIMEOUT: Param<OneSpan> = Param {
    name: "tcp_timeout",
    domain: OneSpan { min: MILLISECOND, max: HOUR },
    default: "15s",
    doc: "an unacknowledged segment breaks its connection after this long",
};

pub(super) const STOCK: Param<Count> = Param {
    name: "stock",
    domain: Count(0, 1_000_000_000),
    default: "100",
    doc: "the stock that the guarded resource starts with",
};

pub(super) const IGNORES_LOSS: Param<YesNo> = Param {
    name: "ignores_loss",
    domain: YesNo,
    default: "no",
    doc: "yes: a section goes on when it learns from its lock that the grant is lost",
};

pub(super) const RELEASES: Param<Count> = Param {
    name: "releases",
    domain: Count(1, 10),
    default: "1",
    doc: "how often a release is tried until it succeeds",
};

pub(super) const READY_ORDER: Param<Word> = Param {
    name: "ready_order",
    domain: Word(&["woken", "drawn"]),
    default: "woken",
    doc: "drawn: the seed draws which of the tasks that are ready runs next, instead of the one that was woken first",
};

/// The parameters of the world.
pub const PARAMS: &[Param] = params![
    STORE,
    TTL,
    WAIT,
    HORIZON,
    DECIDE,
    LATENCY,
    TCP_TIMEOUT,
    STOCK,
    IGNORES_LOSS,
    RELEASES,
    READY_ORDER
];

/// The lease time.
pub(super) fn ttl(args: &Args) -> Duration {
    // A lease time given as a multiple of itself is refused before anything is resolved with it.
    args.get(TTL).resolve(Duration::ZERO)
}

/// The world as a plan has it, with this lease.
pub(super) fn spec(args: &Args, ttl: Duration) -> WorldSpec {
    let (min, max) = args.get(LATENCY).resolve(ttl);
    WorldSpec {
        ttl,
        wait: args.get(WAIT).resolve(ttl),
        horizon: args.get(HORIZON).resolve(ttl),
        decide: args.get(DECIDE).resolve(ttl),
        latency: Latency { min, max },
        tcp_timeout: args.get(TCP_TIMEOUT).resolve(ttl),
        stock: i64::try_from(args.get(STOCK)).unwrap_or(i64::MAX),
        final_client: true,
        ready_order: if args.get(READY_ORDER) == "drawn" { ReadyOrder::Drawn } else { ReadyOrder::Woken },
        policy: ClientPolicy { ignores_loss: args.get(IGNORES_LOSS), releases: args.get(RELEASES) as u32 },
        store: Settings::default(),
    }
}
