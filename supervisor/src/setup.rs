//! The setup of a program: its command, its surroundings, and how far it may go.

use std::{
    ffi::{CStr, OsString},
    net::Ipv4Addr,
    path::PathBuf,
};

use crate::Syncs;

/// The directory for a program's own files, at the same path each time: its `HOME`.
pub const HOME: &CStr = c"/dev/shm";

/// The setup of one program. The same setup and the same answers give the same steps.
///
/// The start-up of a program is all that it does before its first step: it loads itself and its libraries, and touches nothing of
/// its world. Start-up knows neither the seed nor the time, so that it is the same in each run, and a [`Pool`] can do it
/// once: its randomness is decided by the host's name, its clocks stand at `clock`, and lines come after it.
///
/// [`Pool`]: crate::Pool
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The program and its arguments; a program without a slash is looked for in `PATH`.
    pub command: Vec<OsString>,
    /// Variables beside `PATH`, `LANG`, `HOME`, `TMPDIR` and `HOSTNAME`, which are always there; they win over those.
    pub env: Vec<(OsString, OsString)>,
    /// Where the program starts; where the caller is if none is given.
    pub dir: Option<PathBuf>,
    /// Decides the program's randomness and the order of its threads, from its first step on.
    pub seed: u64,
    /// Its clocks during start-up. Its monotonic clock goes on from there at the first step, whatever the driver's shows; its wall clock is
    /// the driver's from then on.
    pub clock: Clock,
    /// The answers to its clock reads.
    pub clock_reads: ClockReads,
    /// True if [`Step::At`](crate::Step::At) is to say from where in its source it makes the calls that others see. The steps are the same
    /// besides.
    pub stacks: bool,
    /// The directories below which [`Step::At`](crate::Step::At) shows lines of source files. Those of other files are left out: a program
    /// chooses the names of the files that its code is said to come from.
    pub sources: Vec<PathBuf>,
    /// Which files it finds.
    pub files: Files,
    /// The directory that is `HOME` instead of an empty one, where the program has files of its own. It outlives the
    /// program, so that another one finds there what it wrote, as after a restart. Such a program is not copied by a
    /// [`Pool`]: each start is a plain one.
    ///
    /// [`Pool`]: crate::Pool
    pub home: Option<PathBuf>,
    /// Where its syncs of files are noted, if that is wanted: the supervisor is notified of each then.
    pub syncs: Option<Syncs>,
    /// How far it may go.
    pub limits: Limits,
    /// The name of the host that it runs on.
    pub name: String,
    /// The address of the host that it runs on.
    pub address: Ipv4Addr,
    /// The other hosts of its world, by name and address. Connections to any other address are refused.
    pub hosts: Vec<(String, Ipv4Addr)>,
}

impl Setup {
    /// A setup of `command` on the host `name` with the usual limits, alone in its world.
    #[must_use]
    pub fn new(
        command: impl IntoIterator<Item = impl Into<OsString>>,
        name: impl Into<String>,
        address: Ipv4Addr,
        seed: u64,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            dir: None,
            seed,
            clock: Clock::default(),
            clock_reads: ClockReads::Page,
            stacks: false,
            sources: Vec::new(),
            files: Files::Own,
            home: None,
            syncs: None,
            limits: Limits::default(),
            name: name.into(),
            address,
            hosts: Vec::new(),
        }
    }
}

/// The answers to clock reads and sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockReads {
    /// ClockReads read a shared page, sends go unseen until the next call: fast, for sweeps.
    Page,
    /// Each clock read and each send is a point at which a pause can hit: slow, for exhaustive search.
    Notified,
}

/// Which files a program finds beside those of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// `HOME` is an empty directory of its own, at the same path each time and gone at the end. All others can only be
    /// read: what one run writes would be found by the next. `/proc` shows its own processes. Costs some two
    /// milliseconds a start.
    Own,
    /// No others, and those can be written: for programs that write none, or mean to leave some.
    Shared,
}

/// How far a program may go before it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processor time that the program may use between two of its calls, in milliseconds.
    pub silence_ms: u64,
    /// Real time that the program may sleep in the kernel in a call that is not served, in milliseconds.
    pub stuck_ms: u64,
    /// Calls that the program may make within a second of its own time. A call of which the world is notified counts as 3, a
    /// connection as 101, the creation of a thread or process as 300: so much longer they take.
    pub calls: u64,
    /// Threads of all its processes together.
    pub threads: usize,
    /// Memory that each process may write to, in bytes.
    pub memory: u64,
    /// Bytes of the largest file, and of its temporary directory.
    pub file: u64,
    /// Open descriptors of each process.
    pub descriptors: u64,
    /// Bytes of one line of output; a longer one is cut there.
    pub line: usize,
    /// Bytes of output in all.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            silence_ms: 5_000,
            stuck_ms: 3_000,
            calls: 1_000_000,
            threads: 256,
            memory: 4 << 30,
            file: 256 << 20,
            descriptors: 20_000,
            line: 64 << 10,
            output: 16 << 20,
        }
    }
}

/// The clocks of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Nanoseconds of its monotonic clocks; never goes back.
    pub monotonic_ns: u64,
    /// Nanoseconds since 1970 of its wall clock; may be stepped.
    pub wall_ns: u64,
}
