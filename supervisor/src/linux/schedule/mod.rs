//! The thread that runs next, and what the supervisor learns while it runs.

pub(super) mod effort;
pub(super) mod notifications;
pub(super) mod points;
pub(super) mod startup;
pub(super) mod turns;
