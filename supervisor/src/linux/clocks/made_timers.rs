//! Timers that a process has made by `timer_create`: they send it a signal.
//!
//! Left out on purpose: a signal to one thread of the process goes to the process, and says that a process has sent it, not a timer; what it
//! carries (`sigev_value`) is lost.

use rustix::io::Errno;
use syscalls::Sysno;

use crate::linux::kernel::notify::Notice;
use crate::linux::state::call::{Answer, Deadline};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;
use crate::linux::state::time::{Time, is_wall};

const SECOND: u64 = 1_000_000_000;

/// So many timers a group may have.
const MOST: usize = 1_000;

/// The timers of a group that its processes have made.
#[derive(Clone, Default)]
pub(crate) struct MadeTimers {
    timers: Vec<MadeTimer>,
}

#[derive(Clone)]
struct MadeTimer {
    process: usize,
    /// Its number in its process.
    number: i32,
    /// What it sends; none if nobody is to hear of it.
    signal: Option<i32>,
    /// True if it follows the wall clock.
    wall: bool,
    /// False for one of processor time, which costs nothing here: it never rings.
    runs: bool,
    next: Option<Deadline>,
    interval: u64,
    /// How often it has rung beyond the signal that was sent last.
    missed: u64,
}

impl MadeTimers {
    /// True if none of them runs.
    pub(crate) fn are_quiet(&self) -> bool {
        self.timers.iter().all(|timer| timer.next.is_none())
    }

    /// The process has another program, or none any more.
    pub(crate) fn forget(&mut self, process: usize) {
        self.timers.retain(|timer| timer.process != process);
    }

    /// When they ring next.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = Deadline> {
        self.timers.iter().filter_map(|timer| timer.next)
    }

    /// Lets those ring that are due: the processes that are to be sent signals, and which.
    pub(crate) fn ring(&mut self, time: &Time) -> Vec<(usize, i32)> {
        let mut due = Vec::new();
        for timer in &mut self.timers {
            let Some(next) = timer.next.filter(|&next| time.is_over(next)) else { continue };
            let (times, later) = time.rung(next, timer.interval);
            (timer.next, timer.missed) = (later, times - 1);
            due.extend(timer.signal.map(|signal| (timer.process, signal)));
        }
        due
    }

    /// `timer_*`.
    pub(crate) fn call(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, time, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        let process = caller.thread().process;
        let memory = caller.memory();
        if notice.call() == Sysno::timer_create {
            return self.make(caller, notice);
        }
        let number = notice.int(0);
        let is_meant = |timer: &MadeTimer| (timer.process, timer.number) == (process, number);
        let at = self.timers.iter().position(is_meant).ok_or(Errno::INVAL)?;
        let timer = &mut self.timers[at];
        let left = timer.next.map_or(0, |next| time.monotonic(next).saturating_sub(time.clock.monotonic_ns));
        let interval = timer.interval;
        let show = |address: u64| {
            memory.write_pair(address, interval / SECOND, interval % SECOND)?;
            memory.write_pair(address.wrapping_add(16), left / SECOND, left % SECOND)
        };
        match notice.call() {
            Sysno::timer_gettime => show(notice.arg(1))?,
            Sysno::timer_getoverrun => return Ok(Answer::Value(timer.missed.min(i32::MAX as u64) as i64)),
            Sysno::timer_delete => drop(self.timers.remove(at)),
            _ => {
                let interval = memory.timespec(notice.arg(2))?.ok_or(Errno::INVAL)?;
                let first = memory.timespec(notice.arg(2).wrapping_add(16))?.ok_or(Errno::INVAL)?;
                if notice.arg(3) != 0 {
                    show(notice.arg(3))?;
                }
                let is_absolute = notice.int(1) & libc::TIMER_ABSTIME != 0;
                timer.next = match (first, is_absolute, timer.wall) {
                    _ if !timer.runs => None,
                    (0, ..) => None,
                    (_, true, true) => Some(Deadline::Wall(first)),
                    (_, true, false) => Some(Deadline::Monotonic(first)),
                    (_, false, _) => Some(time.in_time(first)),
                };
                (timer.interval, timer.missed) = (interval, 0);
            }
        }
        Ok(Answer::Value(0))
    }

    fn make(&mut self, caller: Caller<'_>, notice: &Notice) -> Result<Answer, Errno> {
        let process = caller.thread().process;
        let memory = caller.memory();
        if self.timers.len() >= MOST {
            return Err(Errno::AGAIN);
        }
        let clock = notice.int(0);
        let wall = is_wall(clock);
        let runs = wall || matches!(clock, libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME);
        let signal = match notice.arg(1) {
            0 => Some(libc::SIGALRM),
            event => {
                // The number of the signal and how to send it follow the value that it carries.
                let pair = memory.u64(event.wrapping_add(8))?;
                let (signal, how) = (pair as i32, (pair >> 32) as i32);
                match how {
                    libc::SIGEV_NONE => None,
                    libc::SIGEV_SIGNAL | libc::SIGEV_THREAD_ID if (1..=64).contains(&signal) => Some(signal),
                    _ => return Err(Errno::INVAL),
                }
            }
        };
        let own = self.timers.iter().filter(|timer| timer.process == process);
        let number = own.map(|timer| timer.number + 1).max().unwrap_or(0);
        memory.write(notice.arg(2), &number.to_ne_bytes())?;
        self.timers.push(MadeTimer {
            process,
            number,
            signal,
            wall,
            runs,
            next: None,
            interval: 0,
            missed: 0,
        });
        Ok(Answer::Value(0))
    }
}
