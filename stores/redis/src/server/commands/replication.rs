//! The node as a member of a replicated store: roles, replication links, waiting for replicas (Redis 7.0
//! `replication.c`).

use super::facts::{self, Value};
use super::{SYNTAX, number};
use crate::protocol::resp::{self, Reply};
use crate::server::node::{
    Answer, Cause, Failover, LinkState, Next, Node, SessionId, Stage, acknowledged, synced,
};
use crate::server::replication::{Fact, shown};

/// The longest address that a replica may give.
const ADDRESS_MAX: usize = 255;

/// The section of INFO.
pub(crate) fn info(node: &Node, text: &mut String) {
    let replication = &node.replication;
    let history = &replication.history;
    let now_s = node.now_s();
    let mut line = |name: &str, value: &dyn Value| facts::line(text, name, value);
    match node.upstream() {
        None => line("role", &"master"),
        Some(up) => {
            let linked = up.link == LinkState::Up;
            line("role", &"slave");
            line("master_host", &up.host);
            line("master_port", &up.port);
            line("master_link_status", &if linked { "up" } else { "down" });
            line("master_last_io_seconds_ago", &if linked { now_s - up.heard_s } else { -1 });
            line("master_sync_in_progress", &u8::from(up.link == LinkState::Transfer));
            let offset = if linked || up.resumable { history.offset().cast_signed() } else { 0 };
            line("slave_read_repl_offset", &offset);
            line("slave_repl_offset", &offset);
            if up.link == LinkState::Transfer {
                line("master_sync_total_bytes", &-1);
                line("master_sync_read_bytes", &0);
                line("master_sync_left_bytes", &-1);
                line("master_sync_perc", &"0.00");
                line("master_sync_last_io_seconds_ago", &(now_s - up.heard_s));
            }
            if !linked {
                let since = up.down_since_s.map_or(-1, |since| now_s - since);
                line("master_link_down_since_seconds", &since);
            }
            line("slave_priority", &replication.settings.priority);
            line("slave_read_only", &u8::from(node.config.replica_read_only));
            line("replica_announced", &1);
        }
    }
    line("connected_slaves", &replication.replicas.len());
    if node.config.min_replicas > 0 && node.config.min_replicas_max_lag > 0 {
        line("min_slaves_good_slaves", &replication.good_replicas);
    }
    for (at, replica) in replication.replicas.iter().enumerate() {
        let (address, port, acked) = (&replica.address, replica.port, replica.acked);
        let lag = now_s - replica.acked_s;
        let (state, lag) = (replica.state(), if replica.has_copy() { lag } else { 0 });
        let value = format!("ip={address},port={port},state={state},offset={acked},lag={lag}");
        line(&format!("slave{at}"), &value);
    }
    let stage = replication.failover.as_ref().map(|failover| failover.stage);
    line(
        "master_failover_state",
        &match stage {
            None => "no-failover",
            Some(Stage::WaitingForSync) => "waiting-for-sync",
            Some(Stage::HandingOver { .. }) => "failover-in-progress",
        },
    );
    line("master_replid", &history.id());
    let (second, second_offset) = shown(history.second());
    line("master_replid2", &second);
    line("master_repl_offset", &history.offset());
    line("second_repl_offset", &second_offset);
    line("repl_backlog_active", &u8::from(history.is_kept()));
    line("repl_backlog_size", &history.backlog_size());
    let (first, len) = history.kept().unwrap_or((0, 0));
    line("repl_backlog_first_byte_offset", &first);
    line("repl_backlog_histlen", &len);
}

pub(crate) fn role(node: &mut Node, _: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    let offset = Reply::Integer(node.offset().cast_signed());
    let reply = match node.upstream() {
        None => {
            let replicas = node.replication.replicas.iter().map(|replica| {
                let texts = [replica.address.clone(), replica.port.to_string(), replica.acked.to_string()];
                Reply::Array(texts.iter().map(|text| Reply::text(text)).collect())
            });
            vec![Reply::text("master"), offset, Reply::Array(replicas.collect())]
        }
        Some(up) => {
            let state = match up.link {
                LinkState::Down => "connect",
                LinkState::Connecting => "connecting",
                LinkState::Handshake => "handshake",
                LinkState::Transfer => "sync",
                LinkState::Up => "connected",
            };
            let offset = if up.link == LinkState::Up { offset } else { Reply::Integer(-1) };
            let port = Reply::Integer(i64::from(up.port));
            vec![Reply::text("slave"), Reply::text(&up.host), port, Reply::text(state), offset]
        }
    };
    Ok(Reply::Array(reply).into())
}

/// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds].
pub(crate) fn failover(node: &mut Node, _: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.cluster.is_some() {
        return Err(Reply::error(
            "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.",
        ));
    }
    let ongoing = node.replication.failover.is_some();
    if args.len() == 2 && args[1].eq_ignore_ascii_case(b"ABORT") {
        if !ongoing {
            return Err(Reply::error("ERR No failover in progress."));
        }
        node.abort_failover();
        return Ok(Reply::OK.into());
    }
    let Planned { target, force, timeout_ms } = Planned::parse(&args[1..])?;
    let refused = |text| Err(Reply::error(text));
    if ongoing {
        return refused("ERR FAILOVER already in progress.");
    }
    if node.is_replica() {
        return refused("ERR FAILOVER is not valid when server is a replica.");
    }
    if node.replication.replicas.is_empty() {
        return refused("ERR FAILOVER requires connected replicas.");
    }
    if force && (timeout_ms.is_none() || target.is_none()) {
        return refused("ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
    }
    let target = target.map(|(host, port)| (host, u16::try_from(port).unwrap_or(0)));
    if let Some((host, port)) = &target {
        match node.replication.replicas.iter().find(|replica| replica.is_at(host, *port)) {
            None => return refused("ERR FAILOVER target HOST and PORT is not a replica."),
            Some(replica) if !replica.has_copy() => {
                return refused("ERR FAILOVER target replica is not online.");
            }
            Some(_) => {}
        }
    }
    let deadline_ms = timeout_ms.map(|timeout| node.store.now_ms().saturating_add(timeout));
    node.begin_failover(Failover { target, force, deadline_ms, stage: Stage::WaitingForSync });
    Ok(Reply::OK.into())
}

/// The arguments of FAILOVER.
#[derive(Default)]
struct Planned {
    target: Option<(String, i64)>,
    force: bool,
    timeout_ms: Option<i64>,
}

impl Planned {
    fn parse(mut words: &[&[u8]]) -> Result<Planned, Reply> {
        let mut planned = Planned::default();
        while let Some((word, rest)) = words.split_first() {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            words = match rest {
                [timeout, rest @ ..] if is(b"TIMEOUT") && planned.timeout_ms.is_none() => {
                    let timeout = number(timeout)?;
                    if timeout <= 0 {
                        return Err(Reply::error("ERR FAILOVER timeout must be greater than 0"));
                    }
                    planned.timeout_ms = Some(timeout);
                    rest
                }
                [host, port, rest @ ..] if is(b"TO") && planned.target.is_none() => {
                    planned.target = Some((String::from_utf8_lossy(host).into_owned(), number(port)?));
                    rest
                }
                _ if is(b"FORCE") && !planned.force => {
                    planned.force = true;
                    rest
                }
                _ => return Err(SYNTAX),
            };
        }
        Ok(planned)
    }
}

pub(crate) fn replicaof(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.cluster.is_some() {
        return Err(Reply::error("ERR REPLICAOF not allowed in cluster mode."));
    }
    if node.replication.failover.is_some() {
        return Err(Reply::error("ERR REPLICAOF not allowed while failing over."));
    }
    if args[1].eq_ignore_ascii_case(b"NO") && args[2].eq_ignore_ascii_case(b"ONE") {
        node.promote();
        return Ok(Reply::OK.into());
    }
    if node.is_fed(id) {
        return Err(Reply::error("ERR Command is not valid when client is a replica."));
    }
    let port = resp::integer(args[2]).and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or(Reply::error("ERR Invalid master port"))?;
    let host = String::from_utf8_lossy(args[1]).into_owned();
    if node.upstream().is_some_and(|up| up.host.eq_ignore_ascii_case(&host) && up.port == port) {
        return Ok(Reply::Status("OK Already connected to specified master".into()).into());
    }
    node.follow(host, port);
    Ok(Reply::OK.into())
}

/// The facts that a replica reports about itself, in pairs of an option and its value; acknowledgements get no answer.
pub(crate) fn replconf(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if args.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    for pair in args[1..].chunks_exact(2) {
        let (option, value) = (pair[0], pair[1]);
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        match () {
            () if is(b"listening-port") => {
                // Redis keeps any number; no port is larger than this.
                node.introduce(id, Fact::Port(u16::try_from(number(value)?).unwrap_or(0)));
            }
            () if is(b"ip-address") => {
                if value.len() > ADDRESS_MAX {
                    let text = "ERR REPLCONF ip-address provided by replica instance is too long:";
                    return Err(Reply::Error(format!("{text} {} bytes", value.len()).into()));
                }
                node.introduce(id, Fact::Address(value));
            }
            () if is(b"capa") => {
                if value.eq_ignore_ascii_case(b"psync2") {
                    node.introduce(id, Fact::Psync2);
                } else if value.eq_ignore_ascii_case(b"eof") {
                    node.introduce(id, Fact::Eof);
                }
            }
            () if is(b"ack") => {
                let offset = resp::integer(value).and_then(|offset| u64::try_from(offset).ok());
                node.acknowledge(id, offset);
                return Ok(Answer::silent(Next::Continue));
            }
            () if is(b"getack") => return Ok(Answer::silent(Next::Continue)),
            () if is(b"rdb-only") => drop(number(value)?),
            () => {
                let option = String::from_utf8_lossy(option);
                return Err(Reply::Error(format!("ERR Unrecognized REPLCONF option: {option}").into()));
            }
        }
    }
    Ok(Reply::OK.into())
}

pub(crate) fn psync(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if args.get(3).is_some_and(|word| word.eq_ignore_ascii_case(b"FAILOVER")) && !node.is_fed(id) {
        if !node.is_replica() {
            return Err(Reply::error("ERR PSYNC FAILOVER can't be sent to a master."));
        }
        if !args[1].eq_ignore_ascii_case(node.replication.history.id().as_bytes()) {
            return Err(Reply::error("ERR PSYNC FAILOVER replid must match my replid."));
        }
        node.promote();
    }
    let from = number(args[2])?;
    node.feed(id, args[1], u64::try_from(from).ok())?;
    Ok(Answer::silent(Next::Feed))
}

pub(crate) fn sync(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    node.feed_from_now(id)?;
    Ok(Answer::silent(Next::Feed))
}

pub(crate) fn wait(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.is_replica() {
        return Err(Reply::error(
            "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is \
             configured to be writable (which is not the default) writes to replicas are just local and are not \
             propagated.",
        ));
    }
    let replicas = number(args[1])?;
    let deadline = deadline(node, args[2])?;
    let count = usize::try_from(replicas).unwrap_or(0);
    let offset = node.session(id).wrote;
    let acked = node.acknowledged(offset);
    if acked >= count || node.is_nested() {
        return Ok(acknowledged(acked).into());
    }
    node.replication.wants_acks = true;
    Ok(node.wait_for(id, Cause::Replicas { count, offset }, deadline))
}

/// The last millisecond of a wait of so many milliseconds; none if it is without limit.
fn deadline(node: &Node, timeout: &[u8]) -> Result<Option<i64>, Reply> {
    let span = resp::integer(timeout).ok_or(Reply::error("ERR timeout is not an integer or out of range"))?;
    match span {
        ..0 => Err(Reply::error("ERR timeout is negative")),
        0 => Ok(None),
        _ => {
            let deadline = node.store.now_ms().checked_add(span);
            deadline.map(Some).ok_or(Reply::error("ERR timeout is out of range"))
        }
    }
}

/// The local append-only file, where there is one, is synced before each reply; replicas do not say when theirs is.
pub(crate) fn waitaof(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    if node.is_replica() {
        return Err(Reply::error(
            "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local \
             and are not propagated.",
        ));
    }
    let local = number(args[1])?;
    if !(0..=1).contains(&local) {
        return Err(Reply::error("ERR value is out of range, value must between 0 and 1"));
    }
    let wanted = number(args[2])?;
    let wanted =
        usize::try_from(wanted).map_err(|_| Reply::error("ERR value is out of range, must be positive"))?;
    let deadline = deadline(node, args[3])?;
    let logs = node.parameter_named("appendonly") == "yes";
    if local == 1 && !logs {
        return Err(Reply::error(
            "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        ));
    }
    if wanted == 0 || node.is_nested() {
        return Ok(synced(logs).into());
    }
    Ok(node.wait_for(id, Cause::Disk { logs }, deadline))
}
