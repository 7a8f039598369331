//! The actions that only Redis has: what becomes of one on a node, and when it has made a difference.

use std::sync::Arc;

use picklock_sim::host::{AppliedAction, Origin};
use picklock_sim::store::OwnAction;

use super::move_slot;
use super::server::{Server, Shared};

/// The actions of Redis stores.
pub(crate) const ACTIONS: &[OwnAction] = &[ERROR_REPLY, EVICT];

/// The actions of clusters.
pub(crate) const CLUSTER_ACTIONS: &[OwnAction] = &[ERROR_REPLY, EVICT, MOVE_SLOT];

const MOVE_SLOT: OwnAction = OwnAction {
    name: "move-slot",
    doc: "the slots of the first keys are moved to another shard, with their keys",
};

const ERROR_REPLY: OwnAction = OwnAction {
    name: "error-reply",
    doc: "the next commands of clients that write are answered with an error, and not executed",
};

const EVICT: OwnAction =
    OwnAction { name: "evict", doc: "the first keys that have a lease are dropped, as if memory were short" };

impl Server {
    /// Does what an action asks for, as far as that can be done at once.
    pub(super) fn apply(server: &Arc<Server>, action: AppliedAction) {
        let mut shared = server.shared();
        if action.name == ERROR_REPLY.name {
            shared.node.refusals += u64::from(action.count);
            shared.refusing.push_back(action);
        } else if action.name == EVICT.name {
            let (dropped, effects) = shared.node.drop_leased(server.host.wall(), action.count as usize);
            if dropped > 0 {
                server.host.action_took_effect(&action);
            }
            server.publish(&mut shared, Origin::default(), effects);
        } else if action.name == MOVE_SLOT.name {
            server.host.spawn(move_slot::move_slots(Arc::clone(server), action));
        }
    }

    /// Says which actions have had commands refused since this was last asked: those that were applied first.
    pub(super) fn look_for_refusals(&self, shared: &mut Shared) {
        let Shared { node, refusing, .. } = shared;
        let mut refused = refusing.iter().map(|action| u64::from(action.count)).sum::<u64>() - node.refusals;
        while refused > 0
            && let Some(action) = refusing.front_mut()
        {
            if action.count > 0 {
                self.host.action_took_effect(action);
                action.count -= 1;
                refused -= 1;
            }
            if action.count == 0 {
                refusing.pop_front();
            }
        }
    }
}
