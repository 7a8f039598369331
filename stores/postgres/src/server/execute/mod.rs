//! Executes a planned statement in a transaction, as far as it comes without waiting.
//!
//! A statement is a state that goes on where it was: it stops at a lock that another session has, and is called again when that
//! is over. Its snapshot is from before the wait.

mod calls;
mod chance;
mod change;
mod define;
mod eval;
mod functions;
mod group;
mod hash;
mod hunt;
mod insert;
mod operators;
mod order;
mod parts;
mod query;
mod run;
mod scan;
mod scene;
mod several;
mod system;
mod wide;
mod work;

pub(crate) use chance::Chance;
pub(crate) use scene::{Effect, Scene, Signal};
pub(crate) use work::{Step, Work};
