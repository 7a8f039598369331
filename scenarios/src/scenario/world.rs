//! The parameters of the world that a scenario may fix: what every workload and fault shares.

use std::time::Duration;

use picklock_model::plan::{ClientPolicy, Latency, Settings, WorldSpec};

use picklock_sim::param::{Args, Domain, HOUR, Param};

const MILLISECOND: Duration = Duration::from_millis(1);

/// The parameters of the world.
pub const PARAMS: &[Param] = &[
    Param {
        name: "store",
        domain: Domain::Word(&["single", "replicated"]),
        default: "single",
        doc: "replicated: a design on a single store gets one with replicas",
    },
    Param {
        name: "ttl",
        domain: Domain::Span { min: Duration::from_millis(10), max: Duration::from_secs(300) },
        default: "1s",
        doc: "the lease time that clients ask for",
    },
    Param {
        name: "wait",
        domain: Domain::Span { min: Duration::ZERO, max: HOUR },
        default: "10 x ttl",
        doc: "how long a section waits for the lock",
    },
    Param {
        name: "horizon",
        domain: Domain::Span { min: MILLISECOND, max: HOUR },
        default: "5 x ttl",
        doc: "the run ends here at the latest",
    },
    Param {
        name: "latency",
        domain: Domain::Spans { min: Duration::from_micros(1), max: Duration::from_secs(10), or: None },
        default: "200us..1ms",
        doc: "one-way latency of a message",
    },
    Param {
        name: "tcp_timeout",
        domain: Domain::Span { min: MILLISECOND, max: HOUR },
        default: "15s",
        doc: "an unacknowledged segment breaks its connection after this long",
    },
    Param {
        name: "stock",
        domain: Domain::Count(0, 1_000_000_000),
        default: "100",
        doc: "the stock that the guarded resource starts with",
    },
    Param {
        name: "heedless",
        domain: Domain::Word(&["no", "yes"]),
        default: "no",
        doc: "yes: a section goes on when its lock tells it that the grant is lost",
    },
    Param {
        name: "releases",
        domain: Domain::Count(1, 10),
        default: "1",
        doc: "how often a release is tried until it succeeds",
    },
];

/// The lease time.
pub(super) fn ttl(args: &Args) -> Duration {
    // A lease time given as a multiple of itself is refused before anything is resolved with it.
    args.span("ttl", Duration::ZERO)
}

/// The world as a plan has it.
pub(super) fn spec(args: &Args) -> WorldSpec {
    let ttl = ttl(args);
    let (min, max) = args.spans("latency", ttl).unwrap_or_default();
    WorldSpec {
        ttl,
        wait: args.span("wait", ttl),
        horizon: args.span("horizon", ttl),
        latency: Latency { min, max },
        tcp_timeout: args.span("tcp_timeout", ttl),
        stock: i64::try_from(args.count("stock")).unwrap_or(i64::MAX),
        final_client: true,
        policy: ClientPolicy {
            ignores_loss: args.word("heedless") == "yes",
            releases: args.count("releases") as u32,
        },
        store: Settings::default(),
    }
}
