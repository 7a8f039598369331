//! CLIENT and MONITOR (Redis 7.0 `networking.c`).
//!
//! Left out on purpose: the sizes of buffers, which are zero in CLIENT LIST but for what the client itself has sent.

use std::fmt::Write as _;

use super::{SYNTAX, count, number, tracking};
use crate::protocol::resp::{self, Protocol, Reply};
use crate::server::node::{Answer, Answers, LinkState, Next, Node, PORT, Pause, Session, SessionId};
use crate::server::version::Version;

pub(crate) fn client(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let reply = match () {
        () if is(b"ID") => Reply::Integer(id.number()),
        () if is(b"GETNAME") => {
            let name = &node.session(id).name;
            if name.is_empty() { Reply::Nil } else { Reply::Bulk(name.clone()) }
        }
        () if is(b"SETNAME") => {
            set_name(node.session_mut(id), args[2])?;
            Reply::OK
        }
        () if is(b"SETINFO") => set_info(node.session_mut(id), args)?,
        () if is(b"INFO") => Reply::Verbatim("txt", line(node, node.session(id)).into_bytes()),
        () if is(b"LIST") => list(node, args)?,
        () if is(b"KILL") => kill(node, id, args)?,
        () if is(b"PAUSE") => pause(node, args)?,
        () if is(b"UNPAUSE") => {
            node.end_pause();
            Reply::OK
        }
        () if is(b"REPLY") => return answers(node, id, args),
        () if is(b"UNBLOCK") => unblock(node, args)?,
        () if is(b"NO-EVICT") => {
            node.session_mut(id).spared = switch(args[2])?;
            Reply::OK
        }
        () if is(b"NO-TOUCH") => {
            node.session_mut(id).leaves_untouched = switch(args[2])?;
            Reply::OK
        }
        () if is(b"GETREDIR") => tracking::redirection(node.session(id)),
        () if is(b"TRACKING") => tracking::tracking(node, id, args)?,
        () if is(b"CACHING") => tracking::caching(node.session_mut(id), args[2])?,
        () if is(b"TRACKINGINFO") => tracking::info(node.session(id)),
        () => super::help("client", node.store.version),
    };
    Ok(reply.into())
}

pub(crate) fn set_name(session: &mut Session, name: &[u8]) -> Result<(), Reply> {
    if !is_plain(name) {
        return Err(Reply::error("ERR Client names cannot contain spaces, newlines or special characters."));
    }
    session.name = name.to_vec();
    Ok(())
}

fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

fn set_info(session: &mut Session, args: &[&[u8]]) -> Result<Reply, Reply> {
    let option = String::from_utf8_lossy(args[2]);
    let at = match () {
        () if args[2].eq_ignore_ascii_case(b"lib-name") => 0,
        () if args[2].eq_ignore_ascii_case(b"lib-ver") => 1,
        () => {
            return Err(Reply::Error(format!("ERR Unrecognized option '{option}'").into()));
        }
    };
    if !is_plain(args[3]) {
        let text = format!("ERR {option} cannot contain spaces, newlines or special characters.");
        return Err(Reply::Error(text.into()));
    }
    session.library[at] = args[3].to_vec();
    Ok(Reply::OK)
}

fn switch(word: &[u8]) -> Result<bool, Reply> {
    match () {
        () if word.eq_ignore_ascii_case(b"ON") => Ok(true),
        () if word.eq_ignore_ascii_case(b"OFF") => Ok(false),
        () => Err(SYNTAX),
    }
}

fn answers(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let session = node.session_mut(id);
    let word = args[2];
    let reply = match () {
        () if word.eq_ignore_ascii_case(b"ON") => {
            session.answers = Answers::On;
            Some(Reply::OK)
        }
        () if word.eq_ignore_ascii_case(b"OFF") => {
            session.answers = Answers::Off;
            None
        }
        () if word.eq_ignore_ascii_case(b"SKIP") => {
            if session.answers != Answers::Off {
                session.answers = Answers::SkipNext;
            }
            None
        }
        () => return Err(SYNTAX),
    };
    Ok(Answer { reply, ..Answer::silent(Next::Continue) })
}

fn pause(node: &mut Node, args: &[&[u8]]) -> Result<Reply, Reply> {
    let all = match args.get(3) {
        None => true,
        Some(word) if word.eq_ignore_ascii_case(b"ALL") => true,
        Some(word) if word.eq_ignore_ascii_case(b"WRITE") => false,
        Some(_) => return Err(Reply::error("ERR CLIENT PAUSE mode must be WRITE or ALL")),
    };
    let span = resp::integer(args[2]).ok_or(Reply::error("ERR timeout is not an integer or out of range"))?;
    if span < 0 {
        return Err(Reply::error("ERR timeout is negative"));
    }
    let until = node.store.now_ms().checked_add(span).ok_or(Reply::error("ERR timeout is out of range"))?;
    // A pause is never shortened nor weakened by another.
    let old = node.pause.unwrap_or(Pause { until_ms: until, all });
    node.pause = Some(Pause { until_ms: old.until_ms.max(until), all: old.all || all });
    Ok(Reply::OK)
}

fn unblock(node: &mut Node, args: &[&[u8]]) -> Result<Reply, Reply> {
    let fails = match args.get(3) {
        None => false,
        Some(word) if word.eq_ignore_ascii_case(b"TIMEOUT") => false,
        Some(word) if word.eq_ignore_ascii_case(b"ERROR") => true,
        Some(_) => return Err(Reply::error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let target = SessionId(u64::try_from(number(args[2])?).unwrap_or(0));
    let unblocked = if fails { node.unblock(target, &UNBLOCKED) } else { node.time_out(target) };
    Ok(Reply::Integer(i64::from(unblocked)))
}

const UNBLOCKED: Reply = Reply::error("UNBLOCKED client unblocked via CLIENT UNBLOCK");

/// The kinds of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Normal,
    Replica,
    Listener,
    Primary,
}

impl Kind {
    fn parse(name: &[u8]) -> Result<Kind, Reply> {
        match () {
            () if name.eq_ignore_ascii_case(b"normal") => Ok(Kind::Normal),
            () if name.eq_ignore_ascii_case(b"replica") || name.eq_ignore_ascii_case(b"slave") => {
                Ok(Kind::Replica)
            }
            () if name.eq_ignore_ascii_case(b"pubsub") => Ok(Kind::Listener),
            () if name.eq_ignore_ascii_case(b"master") => Ok(Kind::Primary),
            () => {
                let name = String::from_utf8_lossy(name);
                Err(Reply::Error(format!("ERR Unknown client type '{name}'").into()))
            }
        }
    }

    fn of(node: &Node, session: &Session) -> Kind {
        match () {
            () if node.is_fed(session.id) => Kind::Replica,
            () if session.listens() => Kind::Listener,
            () => Kind::Normal,
        }
    }
}

fn list(node: &Node, args: &[&[u8]]) -> Result<Reply, Reply> {
    let mut kind = None;
    let mut ids = None;
    match &args[2..] {
        [] => {}
        [word, name] if word.eq_ignore_ascii_case(b"TYPE") => kind = Some(Kind::parse(name)?),
        [word, rest @ ..] if word.eq_ignore_ascii_case(b"ID") && !rest.is_empty() => {
            let parsed: Option<Vec<i64>> = rest.iter().map(|id| resp::integer(id)).collect();
            ids = Some(parsed.ok_or(Reply::error("ERR Invalid client ID"))?);
        }
        _ => return Err(SYNTAX),
    }
    let wanted = |session: &&Session| {
        kind.is_none_or(|kind| Kind::of(node, session) == kind)
            && ids.as_ref().is_none_or(|ids| ids.contains(&session.id.number()))
    };
    let mut text = String::new();
    for session in node.sessions().filter(wanted) {
        text.push_str(&line(node, session));
    }
    Ok(Reply::Verbatim("txt", text.into_bytes()))
}

/// The address of a client: hosts here have names, and a connection is known by its number.
fn address(session: &Session) -> String {
    if session.peer.contains(':') {
        session.peer.clone()
    } else {
        format!("{}:{}", session.peer, session.id.0)
    }
}

/// Where a client came in: the hosts of a simulated world have one way in, which is known by the address that the node announces.
fn door(node: &Node, session: &Session) -> String {
    let announced = &node.replication.settings;
    match &session.door {
        Some(door) => door.clone(),
        None if announced.announced_address.is_empty() => format!("node:{PORT}"),
        None => {
            let address = String::from_utf8_lossy(&announced.announced_address);
            format!("{address}:{}", announced.announced_port)
        }
    }
}

/// How much room Redis makes for what a client sends.
const QUERY_ROOM: usize = 20_474;

/// A client as CLIENT LIST shows it.
fn line(node: &Node, session: &Session) -> String {
    let (now, id) = (node.store.now_ms(), session.id.0);
    let seconds = |since: i64| now.saturating_sub(since) / 1000;
    let (channels, patterns, shards) = session
        .heard
        .as_ref()
        .map_or((0, 0, 0), |heard| (heard.channels.len(), heard.patterns.len(), heard.shards.len()));
    let queued = session.transaction.as_ref().map(|transaction| transaction.commands.len());
    let multi = queued.or(session.executes).and_then(|len| i64::try_from(len).ok()).unwrap_or(-1);
    let mut flags = String::new();
    for (set, flag) in [
        (Kind::of(node, session) == Kind::Replica, 'S'),
        (session.monitors, 'O'),
        (channels + patterns + shards > 0, 'P'),
        (multi >= 0, 'x'),
        (session.is_blocked(), 'b'),
        (session.caching.is_some(), 't'),
        (session.caching.as_ref().is_some_and(|caching| caching.broken), 'R'),
        (session.caching.as_ref().is_some_and(|caching| caching.broadcast), 'B'),
        (session.overtaken, 'd'),
        (session.spared, 'e'),
        (session.leaves_untouched, 'T'),
    ] {
        if set {
            flags.push(flag);
        }
    }
    if flags.is_empty() {
        flags.push('N');
    }
    let query = if node.current == Some(session.id) { node.query } else { 0 };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "id={id} addr={} laddr={} fd={} name={} age={} idle={} flags={flags} db={} sub={channels} \
         psub={patterns} ssub={shards} multi={multi} qbuf={query} qbuf-free={} argv-mem=0 multi-mem=0 rbs=1024 rbp=0 obl=0 \
         oll=0 omem=0 tot-mem=0 events=r cmd={} user=default redir={} resp={}",
        address(session),
        door(node, session),
        id + 7,
        String::from_utf8_lossy(&session.name),
        seconds(session.since_ms),
        seconds(session.active_ms),
        session.database,
        if query > 0 { QUERY_ROOM.saturating_sub(query) } else { 0 },
        session.last,
        tracking::redirect_of(session),
        if session.protocol == Protocol::Three { 3 } else { 2 },
    );
    if node.store.version >= Version::V7_2 {
        let [name, version] = session.library.each_ref().map(|text| String::from_utf8_lossy(text));
        let _ = write!(text, " lib-name={name} lib-ver={version}");
    }
    text.push('\n');
    text
}

/// Which clients CLIENT KILL is about.
#[derive(Default)]
struct Victims<'a> {
    id: Option<i64>,
    address: Option<&'a [u8]>,
    kind: Option<Kind>,
    door: Option<&'a [u8]>,
    keeps_itself: bool,
}

fn kill(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Reply, Reply> {
    if let [_, _, wanted] = args {
        let victim = node.sessions().find(|session| address(session).as_bytes() == *wanted);
        let victim = victim.map(|session| session.id).ok_or(Reply::error("ERR No such client"))?;
        node.kill(victim);
        return Ok(Reply::OK);
    }
    if args.len() % 2 == 1 {
        return Err(SYNTAX);
    }
    let mut victims = Victims { keeps_itself: true, ..Victims::default() };
    for pair in args[2..].chunks_exact(2) {
        let (word, value) = (pair[0], pair[1]);
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        match () {
            () if is(b"ID") => {
                let id = resp::integer(value).filter(|id| *id > 0);
                victims.id = Some(id.ok_or(Reply::error("ERR client-id should be greater than 0"))?);
            }
            () if is(b"TYPE") => victims.kind = Some(Kind::parse(value)?),
            () if is(b"ADDR") => victims.address = Some(value),
            () if is(b"LADDR") => victims.door = Some(value),
            () if is(b"USER") && value == b"default" => {}
            () if is(b"USER") => {
                let name = String::from_utf8_lossy(value);
                return Err(Reply::Error(format!("ERR No such user '{name}'").into()));
            }
            () if is(b"SKIPME") && value.eq_ignore_ascii_case(b"yes") => victims.keeps_itself = true,
            () if is(b"SKIPME") && value.eq_ignore_ascii_case(b"no") => victims.keeps_itself = false,
            () => return Err(SYNTAX),
        }
    }
    let Victims { id: wanted, address: place, kind, door: came_in, keeps_itself } = victims;
    let is_one = |session: &&Session| {
        wanted.is_none_or(|wanted| session.id.number() == wanted)
            && came_in.is_none_or(|place| door(node, session).as_bytes() == place)
            && place.is_none_or(|place| address(session).as_bytes() == place)
            && kind.is_none_or(|kind| Kind::of(node, session) == kind)
            && !(keeps_itself && session.id == id)
    };
    let found: Vec<SessionId> = node.sessions().filter(is_one).map(|session| session.id).collect();
    for victim in &found {
        node.kill(*victim);
    }
    // The link to its primary is no session of a node, but it is one of its clients.
    let linked = node.upstream().is_some_and(|upstream| upstream.link == LinkState::Up);
    let cuts =
        kind == Some(Kind::Primary) && wanted.is_none() && place.is_none() && came_in.is_none() && linked;
    node.replication.role_changed |= cuts;
    Ok(count(found.len() + usize::from(cuts)))
}

pub(crate) fn monitor(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    if node.is_nested() {
        return Err(Reply::error("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    if !std::mem::replace(&mut node.session_mut(id).monitors, true) {
        node.monitors.push(id);
    }
    Ok(Reply::OK.into())
}

/// True for an argument that names a user or gives a password.
fn is_secret(args: &[&[u8]], at: usize) -> bool {
    let is = |at: usize, word: &[u8]| args.get(at).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
    let follows = |back: usize| at > back + 1 && is(at - back, b"AUTH");
    is(0, b"AUTH") && at > 0 || is(0, b"HELLO") && (follows(1) || follows(2))
}

impl Node {
    /// Shows a command, of a session or of the script that it runs, to those who monitor.
    pub(crate) fn show(&mut self, id: SessionId, by_script: bool, args: &[&[u8]]) {
        let micros = self.store.clock().as_nanos() / 1_000;
        let session = self.session(id);
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        let (database, source) = if by_script {
            (self.store.selected, "lua".to_owned())
        } else {
            (session.database, address(session))
        };
        let mut text = format!("+{seconds}.{rest:06} [{database} {source}]");
        for (at, arg) in args.iter().enumerate() {
            let arg: &[u8] = if is_secret(args, at) { b"(redacted)" } else { arg };
            text.push_str(" \"");
            for byte in arg {
                match byte {
                    b'\\' | b'"' => text.extend(['\\', char::from(*byte)]),
                    b'\n' => text.push_str("\\n"),
                    b'\r' => text.push_str("\\r"),
                    b'\t' => text.push_str("\\t"),
                    7 => text.push_str("\\a"),
                    8 => text.push_str("\\b"),
                    b' '..=b'~' => text.push(char::from(*byte)),
                    other => text.push_str(&format!("\\x{other:02x}")),
                }
            }
            text.push('"');
        }
        text.push_str("\r\n");
        for id in self.monitors.clone() {
            self.send(id, text.as_bytes());
        }
    }
}
