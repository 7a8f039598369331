//! A node's part in a cluster as text: the lines of CLUSTER NODES, and the file from which a node that restarts knows the others.

use picklock_model::seed::Seed;

use super::ids::NodeId;
use super::peer::{BUS_PORT_ABOVE, Peer, Place};
use super::slot::{SLOTS, Slots};
use super::state::{Cluster, Settings};

impl Cluster {
    /// A node's line.
    pub(crate) fn line(&self, id: NodeId) -> String {
        let Some(peer) = self.peers.get(&id) else { return String::new() };
        let is_me = id == self.me;
        let Place { address, port, .. } = &peer.place;
        let primary = peer.primary.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let of_primary = peer.primary.filter(|_| peer.is_replica).and_then(|id| self.peers.get(&id));
        let epoch = of_primary.unwrap_or(peer).config_epoch;
        let linked = if is_me || peer.link.is_some() { "connected" } else { "disconnected" };
        let mut line = format!(
            "{id} {address}:{port}@{} {} {primary} {} {} {epoch} {linked}",
            port.wrapping_add(BUS_PORT_ABOVE),
            peer.flags(is_me),
            peer.ping_sent,
            peer.pong_received,
        );
        for (first, last) in peer.slots.ranges() {
            line += &if first == last { format!(" {first}") } else { format!(" {first}-{last}") };
        }
        if is_me {
            for slot in 0..SLOTS {
                if let Some(to) = self.migrating.get(&slot) {
                    line += &format!(" [{slot}->-{to}]");
                } else if let Some(from) = self.importing.get(&slot) {
                    line += &format!(" [{slot}-<-{from}]");
                }
            }
        }
        line
    }

    /// The lines of all nodes.
    pub(crate) fn lines(&self) -> String {
        self.peers.keys().map(|id| self.line(*id) + "\n").collect()
    }

    /// The content of the file.
    pub(crate) fn file(&self) -> String {
        format!(
            "{}vars currentEpoch {} lastVoteEpoch {}\n",
            self.lines(),
            self.current_epoch,
            self.last_vote_epoch
        )
    }

    /// The node of a file that was kept over a restart; `None` if this node is not in it. It refuses until it has found out what it
    /// has missed.
    pub(crate) fn restore(
        file: &str,
        me: NodeId,
        places: &[(NodeId, Place)],
        settings: Settings,
        seed: Seed,
    ) -> Option<Cluster> {
        let mut cluster = Cluster::new(me, Vec::new(), settings, seed);
        cluster.places = places.iter().cloned().collect();
        for line in file.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["vars", "currentEpoch", current, "lastVoteEpoch", voted] => {
                    cluster.current_epoch = current.parse().unwrap_or(0);
                    cluster.last_vote_epoch = voted.parse().unwrap_or(0);
                }
                [id, _, flags, primary, _, _, epoch, _, slots @ ..] => {
                    let id = NodeId::parse(id.as_bytes())?;
                    let Some(place) = cluster.places.get(&id).cloned() else { continue };
                    let has = |flag: &str| flags.split(',').any(|word| word == flag);
                    let primary = NodeId::parse(primary.as_bytes());
                    let mut peer = Peer { is_replica: has("slave"), ..Peer::new(place, primary) };
                    peer.is_failed = has("fail");
                    peer.is_suspected = has("fail?");
                    peer.config_epoch = if peer.is_replica { 0 } else { epoch.parse().unwrap_or(0) };
                    peer.slots = slots.iter().filter_map(|word| range(word)).flatten().collect::<Slots>();
                    for (slot, other, leaves) in slots.iter().filter_map(|word| on_the_move(word)) {
                        let moving = if leaves { &mut cluster.migrating } else { &mut cluster.importing };
                        moving.insert(slot, other);
                    }
                    cluster.peers.insert(id, peer);
                }
                _ => {}
            }
        }
        let followed: Vec<NodeId> = cluster.peers.values().filter_map(|peer| peer.primary).collect();
        for id in followed {
            if let Some(primary) = cluster.peers.get_mut(&id) {
                primary.takes_replicas = true;
            }
        }
        cluster.size = cluster.peers.values().filter(|peer| peer.votes()).count();
        cluster.is_up = false;
        cluster.began = None;
        let highest = cluster.highest_epoch();
        cluster.current_epoch = highest;
        cluster.peers.contains_key(&me).then_some(cluster)
    }
}

/// The slots of a word such as `17` or `0-5460`.
fn range(word: &str) -> Option<std::ops::RangeInclusive<u16>> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    (last < SLOTS).then_some(first..=last)
}

/// The slot of a word such as `[17->-<node>]`, where it goes to or comes from, and whether it goes.
fn on_the_move(word: &str) -> Option<(u16, NodeId, bool)> {
    let word = word.strip_prefix('[')?.strip_suffix(']')?;
    let (slot, id, leaves) = match word.split_once("->-") {
        Some((slot, id)) => (slot, id, true),
        None => word.split_once("-<-").map(|(slot, id)| (slot, id, false))?,
    };
    Some((slot.parse().ok().filter(|slot| *slot < SLOTS)?, NodeId::parse(id.as_bytes())?, leaves))
}
