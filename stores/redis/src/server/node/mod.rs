//! The state of a node: it touches nothing else, neither clock nor socket nor disk.
//!
//! It knows all its sessions, since a command of one may concern others: those are sent deliveries, which the server
//! takes and sends. The reply to the session itself is appended to what the server hands in.
//!
//! It knows no command. What it has to do with one, a session hands in with its wish: what it takes from a key once
//! there is something, and how a command is executed that is kept during a pause.

mod answers;
mod caching;
mod channels;
mod config;
mod delivery;
mod failover;
mod ids;
mod listening;
mod migration;
mod outcome;
mod place;
mod queues;
mod replication;
mod scripts;
mod sent;
mod session;
mod settings;
mod slot_task;
mod slots;
mod state;
mod stats;
mod tracking;
mod waiting;
mod watch;

pub(crate) use caching::Caching;
pub(crate) use channels::Kind as ChannelKind;
pub use config::PORT;
pub(crate) use config::{IsOver, Mover, OutputLimit, Watch};
pub use delivery::{Delivery, Then};
pub(crate) use failover::{Failover, Stage};
pub(crate) use ids::KeptCommand;
pub use ids::SessionId;
pub(crate) use migration::Migration;
pub(crate) use outcome::{Answer, MASTER_DOWN, NOT_ENOUGH_REPLICAS, OUT_OF_MEMORY, READ_ONLY};
pub use outcome::{Next, Outcome, Save};
pub(crate) use queues::{Cause, Take};
pub(crate) use replication::{FedReplica, Feeding, Introduced, LinkState, Upstream};
pub(crate) use scripts::{Running, Script, Sha};
pub use sent::sent;
pub use session::Session;
pub(crate) use session::{Answers, Transaction, only_listens};
pub(crate) use slot_task::{SlotRanges, SlotState, SlotTask};
pub use state::Node;
pub(crate) use state::{Busy, Pause};
pub(crate) use stats::Stats;
pub(crate) use waiting::{acknowledged, synced};
