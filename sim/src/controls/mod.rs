//! The controls of a run: the resource that the lock guards, and a perfect lock to compare with.

pub mod oracle;
pub mod resource;
