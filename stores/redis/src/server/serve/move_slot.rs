//! The action that moves slots: what `redis-cli --cluster reshard` does, from the node that has them.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::{AppliedAction, Origin};

use super::caller::Caller;
use super::server::Server;
use crate::protocol::resp::Reply;
use crate::server::cluster::{NodeId, Peer, Place, slot_of};
use crate::server::node::{Next, PORT};

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Moves the slots of the first keys to the next shard in the order of the names of primaries, as many as the action says.
pub(super) async fn move_slots(server: Arc<Server>, action: AppliedAction) {
    let Some((me, target, place, slots)) = plan(&server, action.count as usize) else { return };
    let mut reported = false;
    for slot in slots {
        // The action takes effect when the first key is about to go. A step that fails leaves the slot as it is then, as the tool does.
        let about_to_move = || {
            if !std::mem::replace(&mut reported, true) {
                server.host.action_took_effect(&action);
            }
        };
        let _ = move_slot(&server, slot, me, target, &place, about_to_move).await;
    }
}

/// This node, the one that gets slots and where it is, and the slots; `None` if this node has none.
fn plan(server: &Server, most: usize) -> Option<(NodeId, NodeId, Place, Vec<u16>)> {
    let shared = server.shared();
    let cluster = shared.node.cluster.as_deref()?;
    let me = cluster.me;
    let mut slots = BTreeSet::new();
    for (database, key, _) in shared.node.store.all() {
        let slot = slot_of(key);
        if database == 0 && slots.len() < most && cluster.myself().slots.contains(slot) {
            slots.insert(slot);
        }
    }
    let is_other = |(id, peer): &(&NodeId, &Peer)| **id != me && !peer.is_replica && !peer.is_failed;
    let mut others: Vec<_> = cluster.peers.iter().filter(is_other).collect();
    others.sort_by(|(_, one), (_, other)| one.place.host.cmp(&other.place.host));
    let mine = &cluster.myself().place.host;
    let next = others.iter().find(|(_, peer)| peer.place.host > *mine).or(others.first());
    let (target, peer) = next?;
    Some((me, **target, peer.place.clone(), slots.into_iter().collect()))
}

/// Moves a slot with its keys.
async fn move_slot(
    server: &Server,
    slot: u16,
    me: NodeId,
    target: NodeId,
    place: &Place,
    mut about_to_move: impl FnMut(),
) -> io::Result<()> {
    let host = &server.host;
    let mut theirs = Caller::connect(host, &place.host, PORT, PATIENCE).await?;
    let (number, me, target) = (slot.to_string(), me.to_string(), target.to_string());
    let set_slot = |word, id| -> [&[u8]; 5] { [b"CLUSTER", b"SETSLOT", number.as_bytes(), word, id] };
    theirs.ask(&set_slot(b"IMPORTING", me.as_bytes())).await?;
    server.ask(&set_slot(b"MIGRATING", target.as_bytes())).await?;
    loop {
        let Reply::Array(keys) =
            server.ask(&[b"CLUSTER", b"GETKEYSINSLOT", number.as_bytes(), b"10"]).await?
        else {
            break;
        };
        if keys.is_empty() {
            break;
        }
        let port = place.port.to_string();
        let mut migrate: Vec<&[u8]> =
            vec![b"MIGRATE", place.address.as_bytes(), port.as_bytes(), b"", b"0", b"60000", b"KEYS"];
        migrate.extend(keys.iter().filter_map(|key| match key {
            Reply::Bulk(key) => Some(key.as_slice()),
            _ => None,
        }));
        about_to_move();
        server.ask(&migrate).await?;
    }
    theirs.ask(&set_slot(b"NODE", target.as_bytes())).await?;
    server.ask(&set_slot(b"NODE", target.as_bytes())).await?;
    Ok(())
}

impl Server {
    /// The reply of this node itself to a request; an error reply is an error.
    async fn ask(&self, words: &[&[u8]]) -> io::Result<Reply> {
        self.awake().await;
        let mut out = Vec::new();
        let (id, migrates) = {
            let now = self.host.wall();
            let mut shared = self.shared();
            let id = shared.node.connect(&self.host.name());
            shared.node.session_mut(id).authenticated = true;
            let outcome = shared.node.execute(now, id, words, &mut out);
            self.publish(&mut shared, Origin::default(), outcome.effects);
            (id, outcome.next == Next::Migrate)
        };
        if migrates {
            self.migrate(Origin::default(), id, &mut out).await;
        }
        self.shared().node.disconnect(id);
        match Reply::decode(&out).map_err(io::Error::other)? {
            Some((Reply::Error(text), _)) => Err(io::Error::other(text)),
            Some((reply, _)) => Ok(reply),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
