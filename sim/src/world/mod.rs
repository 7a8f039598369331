//! The world: hosts, clocks, the network and the fault actions, behind one lock, independent of the engine that drives it.
//!
//! An engine does three things: it polls the hosts' tasks, it moves true time from one entry of the queue to the
//! next, and it carries bytes. Everything that decides *when* a message arrives, *whether* a process runs and *what* a
//! clock shows is here, so that both engines see the same network, the same pauses and the same clocks.
//!
//! Left out on purpose: bandwidth, packet sizes and congestion. A segment is what one write hands over; it arrives
//! whole, in order, after a latency. Loss shows as TCP shows it, as lateness or a broken connection.

pub mod choices;
mod code;
mod ending;
mod file;
mod leaders;
mod log;
mod network;
mod oracle;
mod points;
mod process;
mod queue;
mod shared;
mod state;
mod timers;
mod transitions;
mod wire;

pub(crate) use code::CodeLog;
pub use ending::Wanted;
pub(crate) use ending::{Progress, Terms};
pub(crate) use file::File;
pub use network::Probe;
pub(crate) use network::{Chunk, Direction, Flight, Listening, Side, Visit};
pub(crate) use process::Admission;
pub use process::AppliedAction;
pub(crate) use shared::{Outside, Route, WAY_OUT, World};
pub(crate) use state::LifecycleChange;
pub(crate) use timers::TimerKey;
pub use transitions::steering::LiveCommand;
pub use wire::Wire;
pub(crate) use wire::{Keeper, Reading};
