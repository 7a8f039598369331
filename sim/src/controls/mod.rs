//! What a run has beside the lock: the resource that it guards, and a perfect lock to compare with.

pub mod oracle;
pub mod resource;
