//! The subcommands of SENTINEL, as a table: name, arity, and the function that does it.
//!
//! Names, arities and texts are those of Redis 7.0.15.

mod set;
mod show;

use super::config;
use super::ids::InstanceId;
use super::instance::Address;
use super::primary::Watch;
use super::state::Sentinel;
use crate::protocol::resp::{self, Reply};
use crate::server::commands::wrong_arity;
use crate::server::glob::fits;

type Run = fn(&mut Sentinel, &[&[u8]]) -> Result<Reply, Reply>;

/// Name, number of arguments with SENTINEL and the name (at least so many if negative), what executes it, and what
/// HELP says about it.
type Row = (&'static str, i32, Run, &'static [&'static str]);

/// All subcommands, in the order of HELP.
const TABLE: [Row; 21] = [
    ("ckquorum", 3, ckquorum, &["<master-name>"]),
    ("config", -3, set::config, &["SET <param> <value>", "GET <param>"]),
    ("debug", -2, set::debug, &["[<param> <value> ...]"]),
    ("get-master-addr-by-name", 3, address, &["<master-name>"]),
    ("failover", 3, failover, &["<master-name>"]),
    ("flushconfig", 2, flush, &[""]),
    ("info-cache", -3, show::info_cache, &["<master-name>"]),
    ("is-master-down-by-addr", 6, is_down, &["<ip> <port> <current-epoch> <runid>"]),
    ("master", 3, show::primary, &["<master-name>"]),
    ("masters", 2, show::primaries, &[""]),
    ("monitor", 6, monitor, &["<name> <ip> <port> <quorum>"]),
    ("myid", 2, my_id, &[""]),
    ("pending-scripts", 2, pending_scripts, &[""]),
    ("remove", 3, remove, &["<master-name>"]),
    ("replicas", 3, show::replicas, &["<master-name>"]),
    ("slaves", 3, show::replicas, &[]),
    ("reset", 3, reset, &["<pattern>"]),
    ("sentinels", 3, show::sentinels, &["<master-name>"]),
    ("set", -5, set::set, &["<master-name> <option> <value> [<option> <value> ...]"]),
    ("simulate-failure", -3, simulate_failure, &["[CRASH-AFTER-ELECTION] [CRASH-AFTER-PROMOTION] [HELP]"]),
    ("help", 2, help, &[""]),
];

impl Sentinel {
    /// Executes SENTINEL for a client; there are at least two arguments.
    pub(super) fn command_of_client(&mut self, args: &[&[u8]]) -> Reply {
        let sub = args[1];
        let row = TABLE.iter().find(|(name, ..)| sub.eq_ignore_ascii_case(name.as_bytes()));
        let Some((name, arity, run, _)) = row else {
            let sub = String::from_utf8_lossy(&sub[..sub.len().min(128)]).into_owned();
            return Reply::Error(format!("ERR unknown subcommand '{sub}'. Try SENTINEL HELP.").into());
        };
        let count = i32::try_from(args.len()).unwrap_or(i32::MAX);
        let fits = if *arity < 0 { count >= -arity } else { count == *arity };
        if !fits {
            return wrong_arity(&format!("sentinel|{name}"));
        }
        run(self, args).unwrap_or_else(|error| error)
    }

    /// The primary that a client names.
    fn asked(&self, name: &[u8]) -> Result<InstanceId, Reply> {
        self.named(name).ok_or(Reply::error("ERR No such master with that name"))
    }
}

/// The answer to an integer that is none.
const NO_INTEGER: Reply = Reply::error("ERR value is not an integer or out of range");

fn integer(text: &[u8], error: Reply) -> Result<i64, Reply> {
    resp::integer(text).ok_or(error)
}

fn address(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(sentinel.named(args[2]).map_or(Reply::NilArray, |id| {
        let Address { host, port } = sentinel.current_address(id);
        Reply::Array(vec![Reply::text(host), Reply::text(&port.to_string())])
    }))
}

fn ckquorum(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    let usable = 1 + sentinel.sentinels_of(id).filter(|(instance, _)| !instance.is_down).count();
    let voters = 1 + sentinel.sentinels_of(id).count();
    let mut lacks = Vec::new();
    if usable < sentinel.primary(id).watch.quorum {
        lacks.push("Not enough available Sentinels to reach the specified quorum for this master");
    }
    if usable < voters / 2 + 1 {
        lacks.push("Not enough available Sentinels to reach the majority and authorize a failover");
    }
    if lacks.is_empty() {
        let text = format!("OK {usable} usable Sentinels. Quorum and failover authorization can be reached");
        return Ok(Reply::Status(text.into()));
    }
    Err(Reply::Error(format!("NOQUORUM {usable} usable Sentinels. {}", lacks.join(". ")).into()))
}

fn failover(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    if sentinel.primary(id).fails_over() {
        return Err(Reply::error("INPROG Failover already in progress"));
    }
    if sentinel.best_replica(id).is_none() {
        return Err(Reply::error("NOGOODSLAVE No suitable replica to promote"));
    }
    sentinel.start_failover(id);
    sentinel.primary_mut(id).is_forced = true;
    Ok(Reply::OK)
}

fn flush(sentinel: &mut Sentinel, _: &[&[u8]]) -> Result<Reply, Reply> {
    sentinel.save();
    Ok(Reply::OK)
}

/// The question of another Sentinel: whether this one finds a primary down, and for its vote.
fn is_down(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let port = integer(args[3], NO_INTEGER)?;
    let epoch = integer(args[4], NO_INTEGER)?;
    let at = u16::try_from(port).ok().map(|port| Address::new(String::from_utf8_lossy(args[2]), port));
    let id = sentinel.primaries().into_iter().find(|id| Some(&sentinel.instance(*id).address) == at.as_ref());
    let down = sentinel.tilt_since.is_none() && id.is_some_and(|id| sentinel.instance(id).is_down);
    let (leader, voted) = match id {
        Some(id) if args[5] != b"*" => {
            let candidate = String::from_utf8_lossy(args[5]).into_owned();
            sentinel.vote(id, u64::try_from(epoch).unwrap_or(0), &candidate)
        }
        _ => (None, 0),
    };
    Ok(Reply::Array(vec![
        Reply::Integer(i64::from(down)),
        Reply::text(leader.as_deref().unwrap_or("*")),
        Reply::Integer(voted.cast_signed()),
    ]))
}

fn monitor(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let quorum = integer(args[5], Reply::error("ERR Invalid quorum"))?;
    let port = integer(args[4], Reply::error("ERR Invalid port"))?;
    let quorum = usize::try_from(quorum).ok().filter(|quorum| *quorum > 0);
    let quorum = quorum.ok_or(Reply::error("ERR Quorum must be 1 or greater."))?;
    let (Some(name), Some(host)) = (config::word(args[2]), config::word(args[3])) else {
        return Err(Reply::error("ERR Invalid IP address or hostname specified"));
    };
    let port = u16::try_from(port).map_err(|_| Reply::error("ERR Invalid port number."))?;
    if sentinel.named(args[2]).is_some() {
        return Err(Reply::error("ERR Duplicate master name."));
    }
    let (down_after_ms, failover_timeout_ms) = (sentinel.periods.down_after, sentinel.periods.failover);
    let watch = Watch { quorum, down_after_ms, failover_timeout_ms, ..Watch::default() };
    let id = sentinel.monitor(name, Address::new(host, port), watch);
    sentinel.save();
    sentinel.event_of_monitoring(id);
    Ok(Reply::OK)
}

fn my_id(sentinel: &mut Sentinel, _: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::text(&sentinel.my_id))
}

/// No scripts are run, so none are pending.
fn pending_scripts(_: &mut Sentinel, _: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Array(Vec::new()))
}

fn remove(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    sentinel.event("-monitor", id, "");
    for other in sentinel.of(id) {
        sentinel.remove(other);
    }
    sentinel.remove(id);
    sentinel.save();
    Ok(Reply::OK)
}

fn reset(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let mut count = 0;
    for id in sentinel.primaries() {
        if fits(args[2], sentinel.instance(id).name.as_bytes()) {
            sentinel.reset(id, true);
            sentinel.event("+reset-master", id, "");
            count += 1;
        }
    }
    Ok(Reply::Integer(count))
}

fn simulate_failure(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    sentinel.failures = super::state::Failures::default();
    for word in &args[2..] {
        let is = |text: &[u8]| word.eq_ignore_ascii_case(text);
        match () {
            () if is(b"crash-after-election") => sentinel.failures.after_election = true,
            () if is(b"crash-after-promotion") => sentinel.failures.after_promotion = true,
            () if is(b"help") => {
                let words = ["crash-after-election", "crash-after-promotion"];
                return Ok(Reply::Array(words.into_iter().map(Reply::text).collect()));
            }
            () => return Err(Reply::error("ERR Unknown failure simulation specified")),
        }
    }
    Ok(Reply::OK)
}

/// The forms of all subcommands; what Redis says about each is left out.
fn help(_: &mut Sentinel, _: &[&[u8]]) -> Result<Reply, Reply> {
    let head = "SENTINEL <subcommand> [<arg> [value] [opt] ...]. Subcommands are:".to_owned();
    let lines = TABLE.iter().flat_map(|(name, _, _, forms)| {
        let name = name.to_ascii_uppercase();
        forms.iter().map(move |form| format!("{name} {form}").trim_end().to_owned())
    });
    Ok(Reply::Array(std::iter::once(head).chain(lines).map(|line| Reply::Status(line.into())).collect()))
}
