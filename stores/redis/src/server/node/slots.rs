//! The keys of a node by slot.

use super::state::Node;
use crate::server::cluster::slot_of;

impl Node {
    /// The first keys of a slot, in the order of their names; a real node has the newest first.
    pub(crate) fn keys_in(&self, slot: u16, most: usize) -> Vec<Vec<u8>> {
        let keys = self.store.all().filter(|(database, key, _)| *database == 0 && slot_of(key) == slot);
        keys.map(|(_, key, _)| key.to_vec()).take(most).collect()
    }
}
