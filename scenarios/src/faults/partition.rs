//! F7, a partition between one client and some of the servers it talks to, in both directions or in one.
//!
//! Segments wait for its end as TCP's do; one that outlasts the TCP timeout breaks its connections. Partitions among
//! the servers themselves belong to the failover fault.

use std::time::Duration;

use picklock_model::plan::{Action, Injection, Phase, Point, Target, When};
use picklock_model::time::TrueTime;
use picklock_sim::store::Topology;

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::{needs_permitted_links, needs_stores};
use super::params::{CLIENT, FOR, LINKS, PHASE, SECTION, TIMES, any_section, for_its_time};
use super::served::{Served, Words};
use super::site::{AtSite, Stage, Where, clients, here};
use picklock_sim::param::{Args, Param, Spans, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "partition",
    also: &["cut", "cut-off"],
    number: "F7",
    doc: "a client is cut off from some of the servers, both ways or one way",
    params: params![TIMES, FOR, LINKS, SERVERS, WAY, START, CUT_AFTER, PHASE, CLIENT, SECTION],
    from_points: true,
    last_section: any_section,
    applies,
    schedule,
    at_sites: &[
        AtSite {
            name: "partition",
            doc: "one link is cut in both directions",
            scenario: "client-partition",
            at: Where::Link,
            actions: |stage, point| from_here(stage, point, Target::host(&*point.peer)),
        },
        AtSite {
            name: "cut-off",
            doc: "a client is cut off from all servers in both directions",
            scenario: "client-partition",
            at: Where::Before(clients),
            actions: |stage, point| from_here(stage, point, Target::Hosts(stage.servers())),
        },
    ],
    own_action: None,
    hits: Hits::Hosts,
    lasts: for_its_time,
    served: &[Served { form: "cut HOST [to|from|and] HOST at TIME for TIME", read: cut }],
};

/// The host at the point is cut off from these, in both directions.
fn from_here(stage: &Stage, point: &Point, to: Target) -> Vec<(Target, Action)> {
    vec![(here(point), Action::Cut { to, both: true, lasts: stage.lasts })]
}

const SERVERS: Param<Word> = Param {
    name: "servers",
    domain: Word(&["some", "all", "minority", "majority"]),
    default: "some",
    doc: "which of the permitted hosts: any part, all, or a minority or majority of the stores alone",
};

const WAY: Param<Word> = Param {
    name: "way",
    domain: Word(&["both", "out", "in", "random"]),
    default: "random",
    doc: "which messages do not pass: those from the client (out), to it (in), or both",
};

const START: Param<Word> = Param {
    name: "start",
    domain: Word(&["phase", "instant"]),
    default: "phase",
    doc: "when it starts: as a section comes to one of its phases, or at any instant",
};

const CUT_AFTER: Param<Spans> = Param {
    name: "cut_after",
    domain: Spans::UP_TO_HOUR,
    default: "0ms",
    doc: "how long after that phase has begun it starts",
};

fn applies(args: &Args, topology: Topology) -> Result<(), String> {
    needs_permitted_links(args, topology)?;
    let any = Args::defaults(FAULT.params);
    let chooses = args.get(PHASE) != any.get(PHASE)
        || args.get(CLIENT) != any.get(CLIENT)
        || args.get(SECTION) != any.get(SECTION);
    if chooses && args.get(START) == "instant" {
        return Err(
            "`phase`, `client` and `section` choose a phase to start at, and `start` is an instant".into()
        );
    }
    if args.get(CUT_AFTER) != any.get(CUT_AFTER) && args.get(START) == "instant" {
        return Err("`cut_after` counts from the beginning of a phase, and `start` is an instant".into());
    }
    match args.get(SERVERS) {
        "minority" if topology.stores == topology.quorum() => {
            Err(format!("{} stores have no minority to cut off", topology.stores))
        }
        "minority" | "majority" if args.get(LINKS) == "resource" => {
            Err("`servers` asks for stores and `links` permits the resource alone".into())
        }
        "majority" => needs_stores(args, topology),
        _ => Ok(()),
    }
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let lasts = draw.get(FOR);
    let Some((client, start)) = start(draw) else { return Vec::new() };
    let servers = servers(draw);
    if servers.is_empty() {
        return Vec::new();
    }
    let drawn = draw.rng().below(4);
    // A cut both ways is what most outages are: half of the drawn ones.
    let way = match (draw.get(WAY), drawn) {
        ("random", 0) => "out",
        ("random", 1) => "in",
        ("random", _) => "both",
        (given, _) => given,
    };
    let when = match start {
        Start::At(at) => When::At { at_ns: at },
        Start::Phase(point) => When::Point { point, after: draw.get(CUT_AFTER) },
    };
    let (client, servers) = (Target::host(client), Target::Hosts(servers));
    let (from, to) = if way == "in" { (servers, client) } else { (client, servers) };
    vec![draw.inject(when, from, Action::Cut { to, both: way == "both", lasts })]
}

/// When a cut starts: at an instant, or so long after a phase has begun.
enum Start {
    At(TrueTime),
    Phase(Point),
}

/// Which client is cut off, and when.
fn start(draw: &mut Draw<'_>) -> Option<(String, Start)> {
    if draw.get(START) == "instant" {
        let clients = draw.clients();
        let client = draw.rng().pick(&clients)?.clone();
        return Some((client, Start::At(draw.instant())));
    }
    let phases = [Phase::Acquire, Phase::Read, Phase::Work, Phase::Write, Phase::Release];
    let point = draw.entry(&phases)?;
    Some((point.host.to_string(), Start::Phase(point)))
}

fn servers(draw: &mut Draw<'_>) -> Vec<String> {
    let (stores, quorum) = (draw.topology().stores as usize, draw.topology().quorum() as usize);
    let count = |draw: &mut Draw<'_>, least: usize, most: usize| {
        least + draw.rng().below((most - least + 1) as u64) as usize
    };
    match draw.get(SERVERS) {
        "all" => draw.permitted_peers(),
        "minority" => {
            let count = count(draw, 1, stores - quorum);
            draw.some(draw.stores(), count)
        }
        "majority" => {
            let count = count(draw, quorum, stores);
            draw.some(draw.stores(), count)
        }
        _ => draw.any_part(draw.permitted_peers()),
    }
}

/// Two hosts alone are cut off from each other.
fn cut(words: &mut Words<'_>) -> Result<(Target, Action), String> {
    let one = words.host()?;
    let way = if words.names_a_host() { "and" } else { words.next("`to`, `from` or `and`")? }.to_owned();
    let other = words.other_than(&one)?;
    let lasts = Duration::ZERO;
    match way.as_str() {
        "to" => Ok((one, Action::Cut { to: other, both: false, lasts })),
        "from" => Ok((other, Action::Cut { to: one, both: false, lasts })),
        "and" => Ok((one, Action::Cut { to: other, both: true, lasts })),
        _ => Err(format!("`{way}` should be `to`, `from` or `and`")),
    }
}
