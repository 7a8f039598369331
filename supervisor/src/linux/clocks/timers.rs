//! Timers: descriptors that ring, alarms, and those that a process has made.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::{
    event::{EventfdFlags, PollFlags, eventfd},
    io::Errno,
};
use syscalls::Sysno;

use super::made_timers::MadeTimers;
use crate::linux::kernel::polling::is_ready;
use crate::linux::kernel::text::text_of;
use crate::linux::state::call::{Answer, Deadline};
use crate::linux::state::context::Ctx;
use crate::linux::state::time::{Time, is_wall};

const SECOND: u64 = 1_000_000_000;

/// A timer that a program reads: an event descriptor, which counts as the kernel's timers do.
struct FileTimer {
    file: OwnedFd,
    id: u64,
    wall: bool,
    next: Option<Deadline>,
    interval: u64,
}

/// A timer that sends `SIGALRM`.
struct Alarm {
    process: usize,
    next_ns: u64,
    interval: u64,
}

/// The timers of a group.
#[derive(Default)]
pub(crate) struct Timers {
    files: Vec<FileTimer>,
    alarms: Vec<Alarm>,
    pub(crate) made: MadeTimers,
}

/// The kernel's number of an event descriptor.
fn event_id(file: BorrowedFd<'_>) -> Option<u64> {
    let info = text_of(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("eventfd-id:")?.trim().parse().ok())
}

impl Timers {
    /// True if none of them runs, and none is a descriptor.
    pub(crate) fn are_quiet(&self) -> bool {
        self.files.is_empty() && self.alarms.is_empty() && self.made.are_quiet()
    }

    /// `alarm` and `setitimer`.
    pub(crate) fn alarm(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, time, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        let process = caller.thread().process;
        let memory = caller.memory();
        let now = time.clock.monotonic_ns;
        let old = self.alarms.iter().find(|alarm| alarm.process == process);
        let (left, old_interval) =
            old.map_or((0, 0), |alarm| (alarm.next_ns.saturating_sub(now), alarm.interval));
        let show = |address: u64| {
            memory.write_pair(address, old_interval / SECOND, old_interval % SECOND / 1000)?;
            memory.write_pair(address.wrapping_add(16), left / SECOND, left % SECOND / 1000)
        };
        let is_alarm = notice.call() == Sysno::alarm;
        if !is_alarm && notice.int(0) != libc::ITIMER_REAL {
            // Timers of processor time, which costs nothing here: they never ring.
            return Ok(Answer::Value(0));
        }
        let (delay, interval) = if is_alarm {
            (notice.arg(0).saturating_mul(SECOND), 0)
        } else if notice.call() == Sysno::getitimer {
            show(notice.arg(1))?;
            return Ok(Answer::Value(0));
        } else {
            let pair = |at: u64| -> Result<u64, Errno> {
                Ok(memory
                    .u64(at)?
                    .saturating_mul(SECOND)
                    .saturating_add(memory.u64(at.wrapping_add(8))?.saturating_mul(1000)))
            };
            let new = (pair(notice.arg(1).wrapping_add(16))?, pair(notice.arg(1))?);
            if notice.arg(2) != 0 {
                show(notice.arg(2))?;
            }
            new
        };
        self.alarms.retain(|alarm| alarm.process != process);
        if delay > 0 {
            self.alarms.push(Alarm { process, next_ns: now.saturating_add(delay), interval });
        }
        Ok(Answer::Value(if is_alarm { left.div_ceil(SECOND) as i64 } else { 0 }))
    }

    /// `timerfd_*`.
    pub(crate) fn timer(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, time, listener, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        let memory = caller.memory();
        if notice.call() == Sysno::timerfd_create {
            let mut flags = EventfdFlags::CLOEXEC;
            flags.set(EventfdFlags::NONBLOCK, notice.int(1) & libc::TFD_NONBLOCK != 0);
            let file = eventfd(0, flags)?;
            let id = event_id(file.as_fd()).ok_or(Errno::NOSYS)?;
            let closes = notice.int(1) & libc::TFD_CLOEXEC != 0;
            listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
            let wall = is_wall(notice.int(0));
            self.files.push(FileTimer { file, id, wall, next: None, interval: 0 });
            return Ok(Answer::Done);
        }
        let file = caller.file(notice.int(0))?;
        let id = event_id(file.as_fd()).ok_or(Errno::INVAL)?;
        let found = self.files.iter().position(|timer| timer.id == id).ok_or(Errno::INVAL)?;
        let timer = &self.files[found];
        let left = timer.next.map_or(0, |next| time.monotonic(next).saturating_sub(time.clock.monotonic_ns));
        let interval = timer.interval;
        let show = |address: u64| {
            memory.write_pair(address, interval / SECOND, interval % SECOND)?;
            memory.write_pair(address.wrapping_add(16), left / SECOND, left % SECOND)
        };
        if notice.call() == Sysno::timerfd_gettime {
            show(notice.arg(1))?;
            return Ok(Answer::Value(0));
        }
        let new_interval = memory.timespec(notice.arg(2))?.ok_or(Errno::FAULT)?;
        let first = memory.timespec(notice.arg(2).wrapping_add(16))?.ok_or(Errno::FAULT)?;
        let absolute = notice.int(1) & libc::TFD_TIMER_ABSTIME != 0;
        let next = match (first, absolute, timer.wall) {
            (0, ..) => None,
            (_, true, true) => Some(Deadline::Wall(first)),
            (_, true, false) => Some(Deadline::Monotonic(first)),
            (_, false, _) => Some(time.in_time(first)),
        };
        if notice.arg(3) != 0 {
            show(notice.arg(3))?;
        }
        let timer = &mut self.files[found];
        (timer.next, timer.interval) = (next, new_interval);
        // Forgets what rang before: the count is taken out, if there is any.
        let ready = is_ready(&[(timer.file.as_fd(), PollFlags::IN)]);
        if ready {
            let _ = rustix::io::read(&timer.file, &mut [0; 8]);
        }
        self.ring_files(time);
        Ok(Answer::Value(0))
    }

    /// When they ring next.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = Deadline> {
        let alarms = self.alarms.iter().map(|alarm| Deadline::Monotonic(alarm.next_ns));
        self.files.iter().filter_map(|timer| timer.next).chain(alarms).chain(self.made.deadlines())
    }

    /// Lets the timers ring that are due; the processes that are to be sent signals, and which.
    pub(crate) fn ring(&mut self, time: &Time) -> Vec<(usize, i32)> {
        self.ring_files(time);
        let now = time.clock.monotonic_ns;
        let due = self.alarms.iter().filter(|alarm| alarm.next_ns <= now);
        let mut due: Vec<_> = due.map(|alarm| (alarm.process, libc::SIGALRM)).collect();
        due.extend(self.made.ring(time));
        for alarm in self.alarms.iter_mut().filter(|alarm| alarm.next_ns <= now) {
            alarm.next_ns = if alarm.interval > 0 { now + alarm.interval } else { u64::MAX };
        }
        self.alarms.retain(|alarm| alarm.next_ns < u64::MAX);
        due
    }

    fn ring_files(&mut self, time: &Time) {
        for at in 0..self.files.len() {
            let Some(next) = self.files[at].next.filter(|&next| time.is_over(next)) else { continue };
            let timer = &mut self.files[at];
            let (times, later) = time.rung(next, timer.interval);
            timer.next = later;
            let _ = rustix::io::write(&timer.file, &times.to_le_bytes());
        }
    }
}
