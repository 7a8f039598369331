//! Locks and waits: queues of what sessions hold, and waits for the ends of transactions.

mod deadlock;
mod table;
mod waits;

pub(crate) use deadlock::resolve;
pub use table::SessionId;
pub(crate) use table::{Advisory, Mode, Scope, Tag};
pub(crate) use waits::{Wait, Waits};
