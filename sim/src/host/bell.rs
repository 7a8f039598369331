//! The turn of a client that stands by: at the end of a run, or in the background while a fault lasts.

use std::future::poll_fn;
use std::task::Poll;

use super::host::Host;
pub use crate::world::Wanted;
use picklock_model::ids::Key;

impl Host {
    /// Waits until all other clients are done and all faults have healed; the keys that were not released without an error
    /// by then.
    pub(crate) async fn let_in(&self) -> Vec<Key> {
        poll_fn(|cx| {
            let mut state = self.world.state();
            match state.came(cx.waker()) {
                Some(_) => Poll::Ready(state.keys_left_open()),
                None => Poll::Pending,
            }
        })
        .await
    }
}
