//! F18, the connections between a client and servers of its lock are lost while both are there: something between them resets them, and both ends
//! learn of it at once; or it has forgotten them, and nothing passes on them any more.
//!
//! A firewall or a gateway forgets connections that were idle for a while (350 s and more, usually), as those of a holder are that works. What it
//! gets of a forgotten one it drops without a word, or answers with a reset. A server keeps what such a session holds until it looks whether the
//! other end is there. New connections are not concerned.
//!
//! Source: PostgreSQL 15 documentation, 20.3.2 TCP Settings; Amazon EC2, "Idle connection tracking timeout".

use picklock_model::plan::{Action, Injection, Phase, Target, When};

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{AFTER, TIMES, any_section, no_time};
use super::served::{Served, Words};
use picklock_sim::param::{Param, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "lost-connection",
    also: &["drop", "forget"],
    number: "F18",
    doc: "the connections of a client with its servers are reset or forgotten while it works",
    params: params![TIMES, HOW, WHILE, AFTER],
    from_points: true,
    last_section: any_section,
    applies: needs_stores,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[
        Served {
            form: "drop HOST and HOST at TIME",
            read: |words| both_ends(words).map(|(one, to)| (one, Action::DropConnections { to })),
        },
        Served {
            form: "forget HOST and HOST at TIME",
            read: |words| both_ends(words).map(|(one, to)| (one, Action::ForgetConnections { to })),
        },
    ],
};

/// The hosts at both ends of connections.
fn both_ends(words: &mut Words<'_>) -> Result<(Target, Target), String> {
    let one = words.host()?;
    words.word("and")?;
    let to = words.other_than(&one)?;
    Ok((one, to))
}

const HOW: Param<Word> = Param {
    name: "how",
    domain: Word(&["reset", "forgotten", "random"]),
    default: "random",
    doc: "whether both ends learn of it at once, or nothing passes any more and nobody is notified",
};

const WHILE: Param<Word> = Param {
    name: "while",
    domain: Word(&["work", "acquire", "release"]),
    default: "work",
    doc: "what the client is about when that happens",
};

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let coin = draw.rng().percent(50);
    let phase = match draw.get(WHILE) {
        "acquire" => Phase::Acquire,
        "release" => Phase::Release,
        _ => Phase::Work,
    };
    let Some(point) = draw.entry(&[phase]) else { return Vec::new() };
    let (client, to) = (Target::host(&*point.host), Target::Hosts(draw.servers(|_| true)));
    let action = match draw.get(HOW) {
        "reset" => Action::DropConnections { to },
        "forgotten" => Action::ForgetConnections { to },
        _ if coin => Action::DropConnections { to },
        _ => Action::ForgetConnections { to },
    };
    let when = When::Point { point, after: draw.get(AFTER) };
    vec![draw.inject(when, client, action)]
}
