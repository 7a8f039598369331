//! CLUSTER, ASKING, READONLY and READWRITE (Redis 7.0 `cluster.c`).

mod args;
mod change;
mod migrate;
mod migration;
mod show;

pub(crate) use migrate::migrate;

use self::args::{known, of, valid};
use super::{count, number};
use crate::protocol::resp::Reply;
use crate::server::cluster::{Cluster, slot_of};
use crate::server::node::{Answer, Node, SessionId};

pub(crate) fn asking(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    of(node)?;
    node.session_mut(id).asking = true;
    Ok(Reply::OK.into())
}

pub(crate) fn readonly(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    of(node)?;
    node.session_mut(id).reads_replicas = true;
    Ok(Reply::OK.into())
}

pub(crate) fn readwrite(node: &mut Node, id: SessionId, _: &[&[u8]]) -> Result<Answer, Reply> {
    of(node)?;
    node.session_mut(id).reads_replicas = false;
    Ok(Reply::OK.into())
}

pub(crate) fn cluster(node: &mut Node, id: SessionId, args: &[&[u8]]) -> Result<Answer, Reply> {
    let local = node.local();
    let cluster = of(node)?;
    cluster.at(local);
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let ids = |cluster: &Cluster| known(cluster, args[2]);
    let reply = match args.len() {
        2 if is(b"NODES") => Reply::Verbatim("txt", cluster.lines().into_bytes()),
        2 if is(b"MYID") => Reply::text(&cluster.me.to_string()),
        2 if is(b"SLOTS") => show::slots(cluster, local.offset),
        2 if is(b"SHARDS") => show::shards(cluster, local.offset),
        2 if is(b"INFO") => Reply::Verbatim("txt", show::info(cluster).into_bytes()),
        2 if is(b"LINKS") => show::links(cluster),
        2 if is(b"HELP") => super::help("cluster", node.store.version),
        2 if is(b"SAVECONFIG") => {
            cluster.save();
            Reply::OK
        }
        2 if is(b"BUMPEPOCH") => {
            let word = if cluster.bump_epoch() { "BUMPED" } else { "STILL" };
            Reply::Status(format!("{word} {}", cluster.myself().config_epoch).into())
        }
        3 if is(b"KEYSLOT") => Reply::Integer(slot_of(args[2]).into()),
        3 if is(b"COUNTKEYSINSLOT") => {
            let slot = number(args[2])?;
            let slot = valid(slot).ok_or(Reply::error("ERR Invalid slot"))?;
            count(node.keys_in(slot, usize::MAX).len())
        }
        4 if is(b"GETKEYSINSLOT") => {
            let (slot, most) = (number(args[2])?, number(args[3])?);
            let most = usize::try_from(most).ok();
            let invalid = Reply::error("ERR Invalid slot or number of keys");
            let (Some(slot), Some(most)) = (valid(slot), most) else { return Err(invalid) };
            Reply::Array(node.keys_in(slot, most).into_iter().map(Reply::Bulk).collect())
        }
        3 if is(b"SLAVES") || is(b"REPLICAS") => {
            let id = ids(cluster)?;
            if cluster.peers[&id].is_replica {
                return Err(Reply::error("ERR The specified node is not a master"));
            }
            let lines = cluster.replicas_of(id).map(|(id, _)| Reply::text(&cluster.line(*id)));
            Reply::Array(lines.collect())
        }
        3 if is(b"COUNT-FAILURE-REPORTS") => {
            let id = ids(cluster)?;
            count(cluster.reports(id))
        }
        3 if is(b"FORGET") => change::forget(cluster, ids(cluster)?)?,
        3 if is(b"REPLICATE") => {
            let id = ids(cluster)?;
            change::replicate(node, id)?
        }
        4.. if is(b"SETSLOT") => change::set_slot(node, args)?,
        3.. if is(b"ADDSLOTS") => change::add_slots(cluster, &args[2..], false, false)?,
        3.. if is(b"DELSLOTS") => change::add_slots(cluster, &args[2..], false, true)?,
        4.. if is(b"ADDSLOTSRANGE") => change::add_slots(cluster, &args[2..], true, false)?,
        4.. if is(b"DELSLOTSRANGE") => change::add_slots(cluster, &args[2..], true, true)?,
        2 if is(b"FLUSHSLOTS") => change::flush_slots(node)?,
        2 | 3 if is(b"FAILOVER") => change::failover(cluster, args.get(2).copied())?,
        2 | 3 if is(b"RESET") => change::reset(node, args.get(2).copied())?,
        4 | 5 if is(b"MEET") => change::meet(cluster, &args[2..])?,
        4.. if is(b"MIGRATION") => migration::migration(node, args)?,
        3.. if is(b"SYNCSLOTS") => return migration::sync_slots(node, id, args),
        3 if is(b"SET-CONFIG-EPOCH") => change::set_epoch(cluster, number(args[2])?)?,
        _ => return Err(super::subcommand_syntax("CLUSTER", args[1])),
    };
    Ok(reply.into())
}
