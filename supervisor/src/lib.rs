//! The supervisor: unmodified programs in virtual time.
//!
//! A [`Group`] is the program of one simulated host: a process, its threads, its children. It runs on the real machine, but owns neither
//! time, nor a network, nor randomness: its calls are reported to a supervisor (seccomp user notification), which answers them, lets the
//! kernel do them, or makes them wait. The same [`Setup`] and the same answers give the same [`Step`]s, bit for bit.
//!
//! **Entry point:** [`Group::start`] and [`Group::step`]. The caller owns time, the network and the faults. Its loop looks like this:
//!
//! ```no_run
//! use picklock_supervisor::{Clock, Group, Setup, Step};
//!
//! let setup = Setup::new(["python3", "adapter.py"], "client-1", [10, 0, 0, 1].into(), 7);
//! let mut group = Group::start(&setup).expect("start the program");
//! let mut clock = Clock { monotonic_ns: 1_000_000_000, wall_ns: 1_700_000_000_000_000_000 };
//! group.line("acquire lock:1 5000");
//! loop {
//!     match group.step(clock).expect("step the program") {
//!         Step::Point(_) => {}                                       // a pause may hit here
//!         Step::Connect { socket, .. } => group.connected(socket, Ok(())), // at once, or after a latency
//!         Step::Sent { socket, bytes } => group.deliver(socket, &bytes), // an echo, without latency
//!         Step::Printed(line) => println!("{line}"),
//!         Step::Waits { until_ns: Some(until) } => {
//!             clock.wall_ns += until.saturating_sub(clock.monotonic_ns);
//!             clock.monotonic_ns = clock.monotonic_ns.max(until);
//!         }
//!         Step::Waits { until_ns: None } => group.end_input(),       // it waits for us
//!         Step::Exited(status) => break println!("{status}"),
//!         _ => {}
//!     }
//! }
//! ```
//!
//! Computation costs no virtual time. A program that only reads the clock, or asks again and again whether something happened,
//! is made to wait a little ([`Step::Waits`] with a time just ahead), so that time passes for it.
//!
//! Most of the time of a run goes into the start of its programs. A [`Pool`] lets each start up once, and copies it from then on, with the
//! same steps. What a program does besides before it is of use can be done once, too: [`Pool::start_warmed`].
//!
//! # Where things are
//!
//! - *The interface*: `setup` (what a program is started with), `step` (what is reported to the caller), `syncs` (files after a loss of power),
//!   [`ready`] (what this machine offers), [`instructions`] (instructions that no filter sees); `elsewhere` refuses on other systems.
//! - *The loop*: `linux/group` (which thread continues, and which part of the group answers its call). Below it are these folders of `linux`, each of
//!   which uses only folders below its own line:
//!
//! | folder | files |
//! | --- | --- |
//! | `copies` | copies of a started program: `parked`, `life`, its threads (`sibling`), descriptors (`holdings`) and memory (`regions`) |
//! | `schedule` | the next thread: `turns`, `notifications`, `startup`, `points` (calls of which the driver is notified first), `effort` (loops that wait for nothing) |
//! | `streams` | reads, writes and waits: `waiting`, `pipes`, `output` |
//! | `network` | `families`, `sockets`, `connections`, `unix`, `datagrams`, `netlink`, `interfaces` |
//! | `files` | `file_system`, `paths`, `answers` (`/proc`), `sysfs`, `stamps`, `locks` |
//! | `process` | `creation`, `deaths`, `signals`, `futex`, `shared_memory`, `guards`, `surroundings` |
//! | `clocks` | `reads`, `timers`, `made_timers`, `axis` |
//! | `stack` | the stacks of threads (CPython, compiled programs), as [`Frame`]s |
//! | `start` | the start of a program: `spawn`, `child`, `filter` (which calls are reported), `namespace`, `mounts`, `identity`, `privileges` |
//! | `state` | the state of a program: `table`, `process`, `time`, `call`; `context` is what the answer to a call may change |
//! | `kernel` | the kernel's side: `notify`, `tracing`, `memory`, `clock_page` (clock reads without a call), `entry`, `polling` |
//!
//! - *Above the loop*: `pool` and `template` start a program once and copy it; `instructions` and `readiness` start one to look at the machine.
//!
//! # What is not here
//!
//! No simulated world: this crate depends on no other of the project, and `picklock_programs` makes a program the process of a host.
//!
//! Left out on purpose: IPv6 (refused, so that libraries carry on without), what datagrams carry, netlink but for interfaces, the times of
//! files. Linux on x86-64 only; elsewhere [`Group::start`] refuses.

mod finding;
mod frame;
mod instruction;
mod setup;
mod step;
mod syncs;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;

pub mod instructions;
pub mod ready;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::{Group, Pool, Template};
pub use frame::Frame;
pub use instruction::Instruction;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use linux::{Group, Pool, Template};
pub use setup::{Clock, ClockReads, Files, HOME, Limits, Setup};
pub use step::{Broken, Call, ConnectError, Ending, SocketId, StartError, Status, Step, What};
pub use syncs::Syncs;
