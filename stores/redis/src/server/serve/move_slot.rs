//! The action that moves slots: what `redis-cli --cluster reshard` does, from the node that has them. From 8.4 on the tool has the other
//! node import them at once.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_sim::host::{AppliedAction, Origin};

use super::caller::Caller;
use super::server::Server;
use crate::protocol::resp::Reply;
use crate::server::cluster::{NodeId, Peer, Place, slot_of};
use crate::server::node::{Next, SlotState};

/// How often it is asked how far a migration is.
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Moves the slots of the first keys to the next shard in the order of the names of primaries, as many as the action says.
pub(super) async fn move_slots(server: Arc<Server>, action: AppliedAction) {
    let Some((me, target, place, slots)) = plan(&server, action.count as usize) else { return };
    let mut reported = false;
    // The action takes effect when the first key is about to go, or when another node has begun to import slots. A step that fails leaves the slot as it is then, as the tool does.
    let mut about_to_move = || {
        if !std::mem::replace(&mut reported, true) {
            server.host.action_took_effect(&action);
        }
    };
    let at_once = server.shared().node.store.version.moves_slots_at_once();
    if at_once {
        if !slots.is_empty() {
            let _ = migrate(&server, &slots, &place, about_to_move).await;
        }
        return;
    }
    for slot in slots {
        let _ = move_slot(&server, slot, me, target, &place, &mut about_to_move).await;
    }
}

/// Has the target import slots at once, and waits until it has them. One that has other slots to move is asked again.
async fn migrate(
    server: &Server,
    slots: &[u16],
    place: &Place,
    mut about_to_move: impl FnMut(),
) -> io::Result<()> {
    let mut theirs = Caller::to(server, &place.host, PATIENCE).await?;
    let numbers: Vec<String> = slots.iter().map(u16::to_string).collect();
    let mut import: Vec<&[u8]> = vec![b"CLUSTER", b"MIGRATION", b"IMPORT"];
    import.extend(numbers.iter().flat_map(|slot| [slot.as_bytes(), slot.as_bytes()]));
    let until = server.host.monotonic() + PATIENCE;
    let mut task = None;
    while server.host.monotonic() < until {
        match &task {
            None => match theirs.ask(&import).await {
                Ok(Reply::Bulk(id)) => {
                    about_to_move();
                    task = Some(id);
                }
                Err(error) if error.to_string().contains("another ASM task") => {}
                _ => break,
            },
            Some(id) => {
                let status = theirs.ask(&[b"CLUSTER", b"MIGRATION", b"STATUS", b"ID", id]).await?;
                if names(&status, SlotState::Completed.name()) {
                    break;
                }
                if names(&status, SlotState::Canceled.name()) {
                    task = None;
                }
            }
        }
        server.host.sleep(ASKED_EVERY).await;
    }
    Ok(())
}

/// True if a reply has this text anywhere.
fn names(reply: &Reply, text: &str) -> bool {
    match reply {
        Reply::Bulk(bytes) => bytes == text.as_bytes(),
        Reply::Array(items) => items.iter().any(|item| names(item, text)),
        _ => false,
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
    let mut theirs = Caller::to(server, &place.host, PATIENCE).await?;
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
