//! The place of a command in a cluster: here, at another node, or nowhere (Redis 7.0 `getNodeByQuery`).

use super::command::keys;
use super::row::Command;
use super::table::TABLE;
use crate::protocol::resp::Reply;
use crate::server::catalogue::flags;
use crate::server::cluster::{Cluster, NodeId, slot_of};
use crate::server::node::{Node, Running, SessionId};

/// Why a command is not executed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elsewhere {
    CrossSlot,
    TryAgain,
    Down,
    DownForWrites,
    Unbound,
    Ask(u16, NodeId),
    Moved(u16, NodeId),
}

/// The commands whose arguments are channels with slots.
const ON_CHANNELS: [&str; 3] = ["spublish", "ssubscribe", "sunsubscribe"];

/// The keys of a command, or the channels that have slots as keys have.
fn keys_of<'a>(command: &Command, args: &[&'a [u8]], node: &Node) -> Vec<&'a [u8]> {
    match command.name {
        "spublish" => args[1..2].to_vec(),
        "ssubscribe" | "sunsubscribe" => args[1..].to_vec(),
        _ => {
            let keys = keys(&TABLE, args, node.store.version).unwrap_or_default();
            keys.into_iter().map(|(key, _)| key).collect()
        }
    }
}

/// What is known of a command before it is asked where it belongs.
struct Query<'a> {
    keys: Vec<&'a [u8]>,
    on_channels: bool,
    writes: bool,
    /// It needs no ASKING before it.
    asks: bool,
    migrates: bool,
    session: SessionId,
}

impl Node {
    /// The reply to a command that is not executed here, since its keys are at another node or at none.
    pub(super) fn redirection(
        &mut self,
        id: SessionId,
        command: &Command,
        command_flags: u32,
        args: &[&[u8]],
    ) -> Option<Reply> {
        let cluster = self.cluster.as_deref()?;
        let session = self.session(id);
        let is_exec = command.name == "exec";
        let mut writes = command_flags & flags::WRITE != 0;
        let keys: Vec<&[u8]> = if is_exec {
            let transaction = session.transaction.as_deref()?;
            writes |= transaction.flags & flags::WRITE != 0;
            let mut all = Vec::new();
            for kept in &transaction.commands {
                let args: Vec<&[u8]> = kept.iter().map(Vec::as_slice).collect();
                if let Ok(command) = TABLE.resolve(args[0], &args, self.store.version) {
                    all.extend(keys_of(&command, &args, self));
                }
            }
            all
        } else {
            keys_of(command, args, self)
        };
        let query = Query {
            keys,
            on_channels: ON_CHANNELS.contains(&command.name),
            writes,
            asks: command.is(flags::ASKING),
            migrates: command.name == "migrate",
            session: id,
        };
        let place = self.place_of(cluster, &query);
        let reply = place.err().map(|elsewhere| reply(cluster, elsewhere));
        self.session_mut(id).slot = place.ok().flatten();
        reply
    }

    /// The slot of a command that is executed here; `None` if it has no key.
    fn place_of(&self, cluster: &Cluster, query: &Query<'_>) -> Result<Option<u16>, Elsewhere> {
        let Some((first, others)) = query.keys.split_first() else { return Ok(None) };
        let slot = slot_of(first);
        let owner = cluster.owner(slot).ok_or(Elsewhere::Unbound)?;
        if others.iter().any(|key| slot_of(key) != slot) {
            return Err(Elsewhere::CrossSlot);
        }
        let several = others.iter().any(|key| key != first);
        let migrating = cluster.migrating.get(&slot).filter(|_| owner == cluster.me);
        let importing = migrating.is_none() && cluster.importing.contains_key(&slot);
        let moves = migrating.is_some() || importing;
        let here = |key: &&&[u8]| self.store.is_dead(0, key) == Some(false);
        let present = if moves && !query.on_channels {
            query.keys.iter().filter(here).count()
        } else {
            query.keys.len()
        };
        let missing = query.keys.len() - present;
        if !cluster.is_up {
            let settings = &cluster.settings;
            match () {
                () if query.on_channels && settings.messages_when_down => {}
                () if query.on_channels || !settings.reads_when_down => return Err(Elsewhere::Down),
                () if query.writes => return Err(Elsewhere::DownForWrites),
                () => {}
            }
        }
        if moves && query.migrates {
            return Ok(Some(slot));
        }
        if let Some(to) = migrating.filter(|_| missing > 0) {
            return Err(if present > 0 { Elsewhere::TryAgain } else { Elsewhere::Ask(slot, *to) });
        }
        let session = self.session(query.session);
        if importing && (session.asking || query.asks) {
            return if several && missing > 0 { Err(Elsewhere::TryAgain) } else { Ok(Some(slot)) };
        }
        let reads = (session.reads_replicas || query.on_channels) && !query.writes;
        let is_here = owner == cluster.me || reads && cluster.myself().primary == Some(owner);
        if is_here { Ok(Some(slot)) } else { Err(Elsewhere::Moved(slot, owner)) }
    }

    /// An error reply if a script may not execute a command here.
    pub(super) fn admit_place_from_script(
        &mut self,
        running: &Running,
        command: &Command,
        args: &[&[u8]],
    ) -> Result<(), Reply> {
        let (Some(cluster), Some(id)) = (self.cluster.as_deref(), self.current) else { return Ok(()) };
        let query = Query {
            keys: keys_of(command, args, self),
            on_channels: ON_CHANNELS.contains(&command.name),
            writes: command.is(flags::WRITE),
            asks: command.is(flags::ASKING),
            migrates: false,
            session: id,
        };
        let slot = self.place_of(cluster, &query).map_err(|elsewhere| {
            Reply::error(match elsewhere {
                Elsewhere::DownForWrites => {
                    "ERR Script attempted to execute a write command while the cluster is down and readonly"
                }
                Elsewhere::Down => "ERR Script attempted to execute a command while the cluster is down",
                _ => "ERR Script attempted to access a non local key in a cluster node",
            })
        })?;
        let known = self.session(id).slot;
        match (slot, known) {
            (Some(slot), Some(known)) if slot != known && !running.crosses_slots => {
                Err(Reply::error("ERR Script attempted to access keys that do not hash to the same slot"))
            }
            (Some(slot), None) if !running.crosses_slots => {
                self.session_mut(id).slot = Some(slot);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sends away those who wait for keys that are not served here any more.
    pub(crate) fn redirect_blocked(&mut self) {
        let Some(cluster) = self.cluster.as_deref() else { return };
        let mut replies = Vec::new();
        for (id, keys) in self.waiting_for_keys() {
            let Some(key) = keys.first() else { continue };
            let slot = slot_of(key);
            let elsewhere = match cluster.owner(slot) {
                _ if !cluster.is_up => Elsewhere::Down,
                None => Elsewhere::Unbound,
                Some(owner) if owner == cluster.me || cluster.importing.contains_key(&slot) => continue,
                Some(owner) => Elsewhere::Moved(slot, owner),
            };
            replies.push((id, reply(cluster, elsewhere)));
        }
        for (id, reply) in replies {
            self.unblock(id, &reply);
        }
    }
}

fn reply(cluster: &Cluster, elsewhere: Elsewhere) -> Reply {
    let (word, slot, id) = match elsewhere {
        Elsewhere::CrossSlot => {
            return Reply::error("CROSSSLOT Keys in request don't hash to the same slot");
        }
        Elsewhere::TryAgain => {
            return Reply::error("TRYAGAIN Multiple keys request during rehashing of slot");
        }
        Elsewhere::Down => return Reply::error("CLUSTERDOWN The cluster is down"),
        Elsewhere::DownForWrites => {
            return Reply::error("CLUSTERDOWN The cluster is down and only accepts read commands");
        }
        Elsewhere::Unbound => return Reply::error("CLUSTERDOWN Hash slot not served"),
        Elsewhere::Ask(slot, id) => ("ASK", slot, id),
        Elsewhere::Moved(slot, id) => ("MOVED", slot, id),
    };
    let place = cluster.peers.get(&id).map(|peer| &peer.place);
    let (address, port) = place.map_or(("", 0), |place| (place.address.as_str(), place.port));
    Reply::Error(format!("{word} {slot} {address}:{port}").into())
}
