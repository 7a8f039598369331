//! The levers that only Redis has: what becomes of one on a node, and when it has made a difference.

use picklock_sim::host::{Origin, PulledLever};
use picklock_sim::store::OwnLever;

use super::server::{Server, Shared};

/// The levers of Redis stores.
pub(crate) const LEVERS: &[OwnLever] = &[ERROR_REPLY, EVICT];

const ERROR_REPLY: OwnLever = OwnLever {
    name: "error-reply",
    doc: "the next commands of clients that write are answered with an error, and not executed",
};

const EVICT: OwnLever =
    OwnLever { name: "evict", doc: "the first keys that have a lease are dropped, as if memory were short" };

impl Server {
    /// Does what a lever asks for, as far as that can be done at once.
    pub(super) fn pull(&self, lever: PulledLever) {
        let mut shared = self.shared();
        if lever.name == ERROR_REPLY.name {
            shared.node.refusals += u64::from(lever.count);
            shared.refusing.push_back(lever);
        } else if lever.name == EVICT.name {
            let (dropped, effects) = shared.node.drop_leased(self.host.wall(), lever.count as usize);
            if dropped > 0 {
                self.host.lever_struck(&lever);
            }
            self.publish(&mut shared, Origin::default(), effects);
        }
    }

    /// Says which levers have had commands refused since this was last asked: those that were pulled first.
    pub(super) fn look_for_refusals(&self, shared: &mut Shared) {
        let Shared { node, refusing, .. } = shared;
        let mut refused = refusing.iter().map(|lever| u64::from(lever.count)).sum::<u64>() - node.refusals;
        while refused > 0
            && let Some(lever) = refusing.front_mut()
        {
            if lever.count > 0 {
                self.host.lever_struck(lever);
                lever.count -= 1;
                refused -= 1;
            }
            if lever.count == 0 {
                refusing.pop_front();
            }
        }
    }
}
