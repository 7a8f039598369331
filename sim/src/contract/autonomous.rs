//! The contract of an autonomous client: it takes a lock when it likes, works and gives it back.

use crate::base::future::BoxFuture;
use crate::contract::recorder::BeliefRecorder;

/// A client that nobody asks for anything. It reports to the recorder of its host what it holds and when, as a workload
/// does for a [`Lock`](super::lock::Lock).
pub trait AutonomousClient: Send + Sync {
    /// Works until it has had, and has given back, as many grants as there are rounds; these are the ordinals of its
    /// sections, in order.
    fn work(&self, rounds: Vec<u32>, recorder: BeliefRecorder) -> BoxFuture<'_, ()>;
}
