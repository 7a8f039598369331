//! Changes of the cluster by hand: slots, roles, failovers.

use super::args::{known, of, ranges as ranges_of, slot};
use crate::protocol::resp::{self, Reply};
use crate::server::cluster::{BUS_PORT_ABOVE, Cluster, NodeId};
use crate::server::commands::SYNTAX;
use crate::server::node::Node;

/// A node that is named in CLUSTER SETSLOT.
fn named(cluster: &Cluster, name: &[u8]) -> Result<NodeId, Reply> {
    let id = NodeId::parse(name).filter(|id| cluster.peers.contains_key(id)).ok_or_else(|| {
        Reply::Error(format!("ERR I don't know about node {}", String::from_utf8_lossy(name)).into())
    })?;
    is_primary(cluster, id)?;
    Ok(id)
}

fn is_primary(cluster: &Cluster, id: NodeId) -> Result<(), Reply> {
    match cluster.peers[&id].is_replica {
        true => Err(Reply::error("ERR Target node is not a master")),
        false => Ok(()),
    }
}

/// CLUSTER SETSLOT slot (IMPORTING node | MIGRATING node | STABLE | NODE node).
pub(super) fn set_slot(node: &mut Node, args: &[&[u8]]) -> Result<Reply, Reply> {
    let cluster = of(node)?;
    if cluster.is_replica() {
        return Err(Reply::error("ERR Please use SETSLOT only with masters."));
    }
    let slot = slot(args[2])?;
    let is = |word: &[u8]| args[3].eq_ignore_ascii_case(word);
    let (owner, me) = (cluster.owner(slot), cluster.me);
    match args.len() {
        5 if is(b"MIGRATING") => {
            if owner != Some(me) {
                return Err(Reply::Error(format!("ERR I'm not the owner of hash slot {slot}").into()));
            }
            let to = named(cluster, args[4])?;
            cluster.migrating.insert(slot, to);
        }
        5 if is(b"IMPORTING") => {
            if owner == Some(me) {
                return Err(Reply::Error(format!("ERR I'm already the owner of hash slot {slot}").into()));
            }
            let from = named(cluster, args[4])?;
            cluster.importing.insert(slot, from);
        }
        4 if is(b"STABLE") => {
            cluster.migrating.remove(&slot);
            cluster.importing.remove(&slot);
        }
        5 if is(b"NODE") => {
            let to = known(cluster, args[4])?;
            is_primary(cluster, to)?;
            give(node, slot, to)?;
        }
        _ => {
            return Err(Reply::error(
                "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP",
            ));
        }
    }
    of(node)?.was_changed();
    Ok(Reply::OK)
}

/// Gives a slot to a node, at the end of its move.
fn give(node: &mut Node, slot: u16, to: NodeId) -> Result<(), Reply> {
    let holds_keys = !node.keys_in(slot, 1).is_empty();
    let cluster = of(node)?;
    let me = cluster.me;
    let was_mine = cluster.owner(slot) == Some(me);
    if was_mine && to != me && holds_keys {
        return Err(Reply::Error(
            format!(
                "ERR Can't assign hashslot {slot} to a different node while I still hold keys for this hash slot."
            )
            .into(),
        ));
    }
    if !holds_keys {
        cluster.migrating.remove(&slot);
    }
    cluster.assign(slot, Some(to));
    if was_mine && to != me && cluster.myself().slots.is_empty() && cluster.settings.replicas_move {
        cluster.follow(to);
    }
    if to == me && cluster.importing.remove(&slot).is_some() {
        cluster.bump_epoch();
        cluster.announce(false);
    }
    Ok(())
}

/// CLUSTER ADDSLOTS and its kin: slots, or pairs of first and last ones.
pub(super) fn add_slots(
    cluster: &mut Cluster,
    args: &[&[u8]],
    ranges: bool,
    removes: bool,
) -> Result<Reply, Reply> {
    let numbers = args.iter().map(|arg| slot(arg)).collect::<Result<Vec<u16>, Reply>>()?;
    let mut slots: Vec<u16> = Vec::new();
    if ranges {
        if !numbers.len().is_multiple_of(2) {
            let name = if removes { "cluster|delslotsrange" } else { "cluster|addslotsrange" };
            return Err(crate::server::commands::wrong_arity(name));
        }
        slots.extend(ranges_of(&numbers)?.into_iter().flat_map(|(first, last)| first..=last));
    } else {
        slots = numbers;
    }
    for (at, slot) in slots.iter().enumerate() {
        let text = match (cluster.owner(*slot), removes) {
            (None, true) => format!("ERR Slot {slot} is already unassigned"),
            (Some(_), false) => format!("ERR Slot {slot} is already busy"),
            _ if slots[..at].contains(slot) => format!("ERR Slot {slot} specified multiple times"),
            _ => continue,
        };
        return Err(Reply::Error(text.into()));
    }
    let to = (!removes).then_some(cluster.me);
    for slot in slots {
        cluster.importing.remove(&slot);
        cluster.assign(slot, to);
    }
    cluster.was_changed();
    Ok(Reply::OK)
}

pub(super) fn flush_slots(node: &mut Node) -> Result<Reply, Reply> {
    if node.store.all().any(|(database, ..)| database == 0) {
        return Err(Reply::error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS."));
    }
    let cluster = of(node)?;
    let slots: Vec<u16> = cluster.myself().slots.iter().collect();
    slots.into_iter().for_each(|slot| cluster.assign(slot, None));
    cluster.was_changed();
    Ok(Reply::OK)
}

pub(super) fn forget(cluster: &mut Cluster, id: NodeId) -> Result<Reply, Reply> {
    if id == cluster.me {
        return Err(Reply::error("ERR I tried hard but I can't forget myself..."));
    }
    if cluster.is_replica() && cluster.myself().primary == Some(id) {
        return Err(Reply::error("ERR Can't forget my master!"));
    }
    cluster.forget(id);
    Ok(Reply::OK)
}

/// CLUSTER MEET address port [bus port].
pub(super) fn meet(cluster: &mut Cluster, args: &[&[u8]]) -> Result<Reply, Reply> {
    let number = |nth: usize, what: &str| match args.get(nth) {
        None => Ok(None),
        Some(text) => resp::integer(text).map(Some).ok_or_else(|| {
            let text = String::from_utf8_lossy(text);
            Reply::Error(format!("ERR Invalid TCP {what} port specified: {text}").into())
        }),
    };
    let port = number(1, "base")?.unwrap_or(0);
    let bus = number(2, "bus")?.unwrap_or(port.saturating_add(BUS_PORT_ABOVE.into()));
    let is_valid = |port: i64| (1..=i64::from(u16::MAX)).contains(&port);
    let address = String::from_utf8_lossy(args[0]);
    let meets = u16::try_from(port)
        .is_ok_and(|port| is_valid(port.into()) && is_valid(bus) && cluster.meet(&address, port));
    if !meets {
        let text =
            format!("ERR Invalid node address specified: {address}:{}", String::from_utf8_lossy(args[1]));
        return Err(Reply::Error(text.into()));
    }
    Ok(Reply::OK)
}

/// CLUSTER RESET [HARD | SOFT]. A replica loses its keys, a primary must have none.
pub(super) fn reset(node: &mut Node, how: Option<&[u8]>) -> Result<Reply, Reply> {
    let hard = match how {
        None => false,
        Some(word) if word.eq_ignore_ascii_case(b"HARD") => true,
        Some(word) if word.eq_ignore_ascii_case(b"SOFT") => false,
        Some(_) => return Err(SYNTAX),
    };
    let holds_keys = node.store.all().any(|(database, ..)| database == 0);
    let cluster = of(node)?;
    if !cluster.is_replica() && holds_keys {
        return Err(Reply::error("ERR CLUSTER RESET can't be called with master nodes containing keys"));
    }
    let was_replica = cluster.is_replica();
    cluster.reset(hard);
    if was_replica {
        node.store.clear();
    }
    Ok(Reply::OK)
}

pub(super) fn replicate(node: &mut Node, id: NodeId) -> Result<Reply, Reply> {
    let is_empty = node.store.all().all(|(database, ..)| database != 0);
    let cluster = of(node)?;
    if id == cluster.me {
        return Err(Reply::error("ERR Can't replicate myself"));
    }
    if cluster.peers[&id].is_replica {
        return Err(Reply::error("ERR I can only replicate a master, not a replica."));
    }
    let has_nothing = is_empty && cluster.myself().slots.is_empty();
    if !cluster.is_replica() && !has_nothing {
        return Err(Reply::error("ERR To set a master the node must be empty and without assigned slots."));
    }
    cluster.follow(id);
    cluster.was_changed();
    Ok(Reply::OK)
}

/// CLUSTER FAILOVER [FORCE | TAKEOVER].
pub(super) fn failover(cluster: &mut Cluster, how: Option<&[u8]>) -> Result<Reply, Reply> {
    let (forces, takes_over) = match how {
        None => (false, false),
        Some(word) if word.eq_ignore_ascii_case(b"FORCE") => (true, false),
        Some(word) if word.eq_ignore_ascii_case(b"TAKEOVER") => (true, true),
        Some(_) => return Err(SYNTAX),
    };
    if !cluster.is_replica() {
        return Err(Reply::error("ERR You should send CLUSTER FAILOVER to a replica"));
    }
    let primary = cluster.myself().primary.and_then(|id| cluster.peers.get(&id));
    let Some(primary) = primary else {
        return Err(Reply::error("ERR I'm a replica but my master is unknown to me"));
    };
    if !forces && (primary.is_failed || primary.link.is_none()) {
        return Err(Reply::error("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE"));
    }
    cluster.begin_manual(forces, takes_over);
    Ok(Reply::OK)
}

pub(super) fn set_epoch(cluster: &mut Cluster, epoch: i64) -> Result<Reply, Reply> {
    match u64::try_from(epoch) {
        Err(_) => Err(Reply::Error(format!("ERR Invalid config epoch specified: {epoch}").into())),
        Ok(_) if cluster.peers.len() > 1 => Err(Reply::error(
            "ERR The user can assign a config epoch only when the node does not know any other node.",
        )),
        Ok(_) if cluster.myself().config_epoch != 0 => {
            Err(Reply::error("ERR Node config epoch is already non-zero"))
        }
        Ok(epoch) => {
            cluster.current_epoch = cluster.current_epoch.max(epoch);
            if let Some(me) = cluster.peers.get_mut(&cluster.me) {
                me.config_epoch = epoch;
            }
            cluster.was_changed();
            Ok(Reply::OK)
        }
    }
}
