//! Parameters that several faults have, and what they permit.

use picklock_model::plan::Phase;
use picklock_model::points::{Points, Reached};
use picklock_sim::resource;

use picklock_sim::param::{Args, Counts, Param, Spans, Word, YesNoRandom};
use picklock_sim::store::Member;

/// How often a fault hits.
pub const TIMES: Param<Counts> =
    Param { name: "times", domain: Counts(0, 20), default: "1", doc: "how often it hits" };

/// How often a fault hits that would undo its own arithmetic if it hit twice.
pub(crate) const TIMES_AT_MOST_ONCE: Param<Counts> =
    Param { domain: Counts(0, 1), doc: "how often it hits: once, or not", ..TIMES };

/// How long a fault of a client lasts.
pub(crate) const FOR: Param<Spans> =
    Param { name: "for", domain: Spans::UP_TO_HOUR, default: "0.5 x ttl..2 x ttl", doc: "how long it lasts" };

/// In which phase of a section a fault hits.
pub(crate) const PHASE: Param<Word> = Param {
    name: "phase",
    domain: Word(&["any", "acquire", "read", "work", "write", "release"]),
    default: "any",
    doc: "the phase of a section in which it hits",
};

/// Which clients it may hit.
pub(crate) const CLIENT: Param<Counts> = Param {
    name: "client",
    domain: Counts(1, MANY),
    default: "1..1000",
    doc: "which clients it may hit, by number",
};

/// Which sections of a client it may hit.
pub(crate) const SECTION: Param<Counts> = Param {
    name: "section",
    domain: Counts(1, MANY),
    default: "1..1000",
    doc: "which sections of the client it may hit, by number",
};

/// Which of several accesses of one kind it may hit.
pub(crate) const NTH: Param<Counts> = Param {
    name: "nth",
    domain: Counts(1, MANY),
    default: "1..1000",
    doc: "which of the reads, writes or clock reads of one phase it may hit, counted for each peer from 1",
};

/// Which servers it may hit a message to or from.
pub(crate) const PEER: Param<Counts> = Param {
    name: "peer",
    domain: Counts(0, MANY),
    default: "0..1000",
    doc: "which servers of the lock it may hit, in the order of `picklock replay --full`, from 1; 0: the resource; with \
          some of them, only where a client reads from one or writes to it",
};

/// The default of [`PEER`], which stands for any peer: there a client need not talk to anybody.
const ANY_PEER: (u64, u64) = (0, MANY);

/// The fault within which it is to fall.
pub(crate) const DURING: Param<Word> = Param {
    name: "during",
    domain: Word(TIES),
    default: "nothing",
    doc: "it hits while this other fault of the scenario lasts, and the same client",
};

/// The fault after which it is to come.
pub(crate) const FOLLOWING: Param<Word> = Param {
    name: "following",
    domain: Word(TIES),
    default: "nothing",
    doc: "it hits when this other fault of the scenario has ended, and the same client",
};

const MANY: u64 = 1_000;

/// The faults to which a fault can be tied.
const TIES: &[&str] = &[
    "nothing",
    "pause",
    "stall",
    "suspend",
    "delay",
    "partition",
    "failover",
    "replication-lag",
    "node-restart",
    "clock-step",
];

/// For a fault that lasts as long as its parameter `for` says.
pub(crate) fn for_its_time(_: &Args) -> Option<Param<Spans>> {
    Some(FOR)
}

/// For a fault of an instant.
pub(crate) fn no_time(_: &Args) -> Option<Param<Spans>> {
    None
}

/// For a fault that may hit in any section, or at any time.
pub(crate) fn any_section(_: &Args) -> Option<u32> {
    None
}

/// Where a fault's parameters have it hit, as far as it has them.
pub(crate) struct Place<'a> {
    probe: &'a Points,
    servers: &'a [Member],
    phase: Option<Phase>,
    client: Option<(u64, u64)>,
    section: Option<(u64, u64)>,
    nth: Option<(u64, u64)>,
    peer: Option<(u64, u64)>,
}

impl<'a> Place<'a> {
    /// Of a fault with these parameters, among the points of a run with these servers.
    pub(crate) fn of(args: &Args, probe: &'a Points, servers: &'a [Member]) -> Place<'a> {
        Place {
            probe,
            servers,
            phase: args.find(PHASE).and_then(phase),
            client: args.find(CLIENT),
            section: args.find(SECTION),
            nth: args.find(NTH),
            peer: args.find(PEER),
        }
    }

    /// True if the point lies there.
    pub(crate) fn has(&self, passed: &Reached) -> bool {
        let within = |numbers: Option<(u64, u64)>, number: &dyn Fn() -> u64| {
            numbers.is_none_or(|(from, to)| (from..=to).contains(&number()))
        };
        let client = || {
            let number = self.probe.host(passed).strip_prefix("client-");
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        let name = self.probe.peer(passed);
        let peer =
            || self.servers.iter().position(|member| member.name == name).map_or(0, |at| at as u64 + 1);
        self.phase.is_none_or(|phase| passed.phase == phase)
            && within(self.section, &|| u64::from(passed.section))
            && within(self.nth, &|| u64::from(passed.nth) + 1)
            && within(self.client, &client)
            && if name.is_empty() {
                self.peer.is_none_or(|peers| peers == ANY_PEER)
            } else {
                within(self.peer, &peer)
            }
    }
}

/// The phase of this name; none for a word that means any of them.
fn phase(name: &str) -> Option<Phase> {
    match name {
        "acquire" => Some(Phase::Acquire),
        "read" => Some(Phase::Read),
        "work" => Some(Phase::Work),
        "write" => Some(Phase::Write),
        "release" => Some(Phase::Release),
        _ => None,
    }
}

/// Which links a network fault touches.
pub(crate) const LINKS: Param<Word> = Param {
    name: "links",
    domain: Word(&["all", "lock", "resource"]),
    default: "all",
    doc: "which links of a client it touches: those to the servers of the lock, to the resource, or all",
};

/// The kind of a crash: with a power loss, without, or drawn.
pub(crate) const POWER_LOSS: Param<YesNoRandom> = Param {
    name: "power_loss",
    domain: YesNoRandom,
    default: "random",
    doc: "yes: connections are not closed, and disk writes that are not synced are lost",
};

/// How far into the work of a section a fault of servers hits.
pub(crate) const AFTER: Param<Spans> = Param {
    name: "after",
    domain: Spans::UP_TO_HOUR,
    default: "0ms..20ms",
    doc: "how far into the section's work it hits",
};

/// True if `links` permits a fault on the link to this host.
pub(crate) fn permits(links: &str, peer: &str) -> bool {
    match links {
        "lock" => !peer.is_empty() && peer != resource::HOST,
        "resource" => peer == resource::HOST,
        _ => !peer.is_empty(),
    }
}
