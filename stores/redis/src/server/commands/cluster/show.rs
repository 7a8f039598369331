//! The cluster as a node shows it: CLUSTER SLOTS, SHARDS, INFO, LINKS.

use crate::protocol::resp::Reply;
use crate::server::cluster::{Body, Cluster, NodeId, Peer};
use crate::server::commands::count;

/// Who serves which slots.
pub(super) fn slots(cluster: &Cluster, offset: u64) -> Reply {
    let mut ranges: Vec<(u16, u16, NodeId)> = Vec::new();
    for (id, peer) in &cluster.peers {
        ranges.extend(peer.slots.ranges().into_iter().map(|(first, last)| (first, last, *id)));
    }
    ranges.sort_unstable();
    let range = |(first, last, id): (u16, u16, NodeId)| {
        let replicas = cluster
            .replicas_of(id)
            .filter(|(id, peer)| !peer.is_failed && of_replica(cluster, **id, peer, offset) != 0);
        let mut reply = vec![Reply::Integer(first.into()), Reply::Integer(last.into())];
        let members =
            std::iter::once((id, &cluster.peers[&id])).chain(replicas.map(|(id, peer)| (*id, peer)));
        reply.extend(members.map(|(id, peer)| member(id, peer)));
        Reply::Array(reply)
    };
    Reply::Array(ranges.into_iter().map(range).collect())
}

/// How much of the stream a node has; of itself it knows it at first hand.
fn of_replica(cluster: &Cluster, id: NodeId, peer: &Peer, offset: u64) -> u64 {
    if id == cluster.me { offset } else { peer.offset }
}

fn member(id: NodeId, peer: &Peer) -> Reply {
    Reply::Array(vec![
        Reply::text(&peer.place.address),
        Reply::Integer(peer.place.port.into()),
        Reply::text(&id.to_string()),
        Reply::Map(Vec::new()),
    ])
}

/// All shards with their nodes.
pub(super) fn shards(cluster: &Cluster, offset: u64) -> Reply {
    let primaries = cluster.peers.iter().filter(|(_, peer)| !peer.is_replica);
    let shard = |(id, peer): (&NodeId, &Peer)| {
        let ranges = peer.slots.ranges().into_iter().flat_map(|(first, last)| [first, last]);
        let slots = ranges.map(|slot| Reply::Integer(slot.into())).collect();
        let nodes = std::iter::once((id, peer)).chain(cluster.replicas_of(*id));
        let nodes = nodes.map(|(id, peer)| details(cluster, *id, peer, offset)).collect();
        Reply::Map(vec![
            (Reply::text("slots"), Reply::Array(slots)),
            (Reply::text("nodes"), Reply::Array(nodes)),
        ])
    };
    Reply::Array(primaries.map(shard).collect())
}

fn details(cluster: &Cluster, id: NodeId, peer: &Peer, offset: u64) -> Reply {
    let offset = of_replica(cluster, id, peer, offset);
    let health = match () {
        () if peer.is_failed => "fail",
        () if peer.is_replica && offset == 0 => "loading",
        () => "online",
    };
    let text = |name: &str, value: &str| (Reply::text(name), Reply::text(value));
    Reply::Map(vec![
        text("id", &id.to_string()),
        (Reply::text("port"), Reply::Integer(peer.place.port.into())),
        text("ip", &peer.place.address),
        text("endpoint", &peer.place.address),
        text("role", if peer.is_replica { "replica" } else { "master" }),
        (Reply::text("replication-offset"), Reply::Integer(offset.cast_signed())),
        text("health", health),
    ])
}

/// The text of CLUSTER INFO.
pub(super) fn info(cluster: &Cluster) -> String {
    let (mut ok, mut suspected, mut failed) = (0, 0, 0);
    for peer in cluster.peers.values() {
        let counter = match () {
            () if peer.is_failed => &mut failed,
            () if peer.is_suspected => &mut suspected,
            () => &mut ok,
        };
        *counter += peer.slots.len();
    }
    let me = cluster.myself();
    let shard = me.primary.and_then(|id| cluster.peers.get(&id)).unwrap_or(me);
    let mut lines = vec![
        ("cluster_state".to_owned(), if cluster.is_up { "ok" } else { "fail" }.to_owned()),
        ("cluster_slots_assigned".to_owned(), (ok + suspected + failed).to_string()),
        ("cluster_slots_ok".to_owned(), ok.to_string()),
        ("cluster_slots_pfail".to_owned(), suspected.to_string()),
        ("cluster_slots_fail".to_owned(), failed.to_string()),
        ("cluster_known_nodes".to_owned(), cluster.peers.len().to_string()),
        ("cluster_size".to_owned(), cluster.size.to_string()),
        ("cluster_current_epoch".to_owned(), cluster.current_epoch.to_string()),
        ("cluster_my_epoch".to_owned(), shard.config_epoch.to_string()),
    ];
    for (word, counts) in [("sent", &cluster.sent), ("received", &cluster.received)] {
        let of_kind = Body::KINDS.iter().zip(counts).filter(|(_, count)| **count > 0);
        let of_kind =
            of_kind.map(|(kind, count)| (format!("cluster_stats_messages_{kind}_{word}"), count.to_string()));
        lines.extend(of_kind);
        lines.push((format!("cluster_stats_messages_{word}"), counts.iter().sum::<u64>().to_string()));
    }
    lines.push(("total_cluster_links_buffer_limit_exceeded".to_owned(), "0".to_owned()));
    lines.into_iter().map(|(name, value)| format!("{name}:{value}\r\n")).collect()
}

/// The links to other nodes, and those that they have made to this one.
pub(super) fn links(cluster: &Cluster) -> Reply {
    let link = |(id, inbound, since): (NodeId, bool, i64)| {
        let text = |name: &str, value: &str| (Reply::text(name), Reply::text(value));
        Reply::Map(vec![
            text("direction", if inbound { "from" } else { "to" }),
            text("node", &id.to_string()),
            (Reply::text("create-time"), Reply::Integer(since)),
            text("events", "r"),
            (Reply::text("send-buffer-allocated"), count(0)),
            (Reply::text("send-buffer-used"), count(0)),
        ])
    };
    Reply::Array(cluster.links().into_iter().map(link).collect())
}
