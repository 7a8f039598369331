//! What a run has beside the lock: the resource that it guards, a perfect lock to compare with, and whoever watches.

pub mod oracle;
pub mod resource;
pub mod witness;
