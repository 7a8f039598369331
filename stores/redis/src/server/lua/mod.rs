//! Scripts: Lua 5.1 with Redis's conversions (Redis 7.0 `script_lua.c`).
//!
//! One interpreter serves all nodes of a thread, one script at a time, and is kept from run to run with its compiled
//! scripts: making one takes about as long as a whole short run. Nothing can leak from script to script, since they
//! cannot write to anything that outlives them: globals and libraries are read-only.
//!
//! A key's validity is frozen at the script's start; what else a script reads of the clock goes on in 7.0, for scripts
//! that sleep or ask over and over ([`store`](crate::server::store) says how), and is frozen too in 7.2. A script that takes more than a fixed number of
//! instructions is taken for an endless one: it is stopped there, and the node keeps up the appearance that it runs on,
//! with BUSY for everybody, until SCRIPT KILL. What it wrote until then is written, as in Redis.
//!
//! Left out on purpose: whatever shows a memory address or the collector's state, which differ from run to run: all
//! addresses are zero, and the collector's memory is always the same.

mod admission;
mod api;
mod call;
mod convert;
mod engine;
mod errors;
mod libs;
mod meter;
mod task;

pub(crate) use engine::{Ending, compile, run};
pub(crate) use task::Commands;
