//! Designs without a lock: the data compare, an index refuses, or a queue has one consumer.

pub(crate) mod optimistic;
pub(crate) mod queue;
pub(crate) mod queue_server;
pub(crate) mod unique_index;
