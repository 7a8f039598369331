//! The trace of a run: events in true time, each with its cause, and a running digest over them.

mod applied;
mod belief;
mod condition;
mod content;
mod digest;
mod event;
mod extent;
mod outage;
mod record;
mod vocabulary;

pub use applied::Applied;
pub use belief::{Belief, Exclusion};
pub use condition::{Condition, Conditions, NoSuchCondition};
pub use content::Content;
pub use digest::{Digest, DigestTaker};
pub use event::{Disconnect, Event, Halt, What};
pub use extent::{Extent, Trouble};
pub use outage::{Broken, Outage};
pub use record::{FINAL_CLIENT, FinalClient, Hit, HostInfo, LeaseClock, Role, Trace};
pub use vocabulary::Vocabulary;
