//! Clocks, sleeps and timers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::{
    event::{EventfdFlags, eventfd},
    io::Errno,
};
use syscalls::Sysno;

use super::{
    call::{Answer, Cause, Deadline, Held, Late},
    group::Group,
    notify::Notice,
    polling::is_ready,
    table::State,
};

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
}

/// What the kernel calls an event descriptor.
fn event_id(file: BorrowedFd<'_>) -> Option<u64> {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("eventfd-id:")?.trim().parse().ok())
}

fn is_wall(clock: i32) -> bool {
    matches!(
        clock,
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI | libc::CLOCK_REALTIME_ALARM
    )
}

impl Group {
    pub(crate) fn in_time(&self, delay_ns: u64) -> Deadline {
        Deadline::Monotonic(self.clock.monotonic_ns.saturating_add(delay_ns))
    }

    /// The monotonic time of a deadline, as things stand.
    pub(crate) fn monotonic(&self, deadline: Deadline) -> u64 {
        match deadline {
            Deadline::Monotonic(at) => at,
            Deadline::Wall(at) => {
                self.clock.monotonic_ns.saturating_add(at.saturating_sub(self.clock.wall_ns))
            }
        }
    }

    pub(crate) fn is_over(&self, deadline: Deadline) -> bool {
        match deadline {
            Deadline::Monotonic(at) => at <= self.clock.monotonic_ns,
            Deadline::Wall(at) => at <= self.clock.wall_ns,
        }
    }

    /// The next time at which something happens by itself.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let waits = self.table.threads.iter().filter_map(|thread| match &thread.state {
            State::Held(_, held) => held.until,
            _ => None,
        });
        let timers = self.timers.files.iter().filter_map(|timer| timer.next);
        let alarms = self.timers.alarms.iter().map(|alarm| Deadline::Monotonic(alarm.next_ns));
        waits.chain(timers).chain(alarms).map(|deadline| self.monotonic(deadline)).min()
    }

    /// A look at the clock.
    pub(crate) fn look(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let process = self.table.process_of(thread);
        let memory = process.memory();
        let clock = self.clock;
        if notice.call() == Sysno::clock_getres {
            if notice.arg(1) != 0 {
                memory.write_pair(notice.arg(1), 0, 1)?;
            }
            return Ok(Answer::Value(0));
        }
        if let Some(page) = &self.page
            && notice.call() != Sysno::time
        {
            if page.is_exhausted() {
                self.spins += super::group::SPINS;
                page.allow();
            } else {
                // The first look of this process, which mapped the page.
                let _ = process.image.map(memory);
            }
        }
        if self.spins_too_long() {
            self.spins = 0;
            let little = self.little();
            return Ok(Answer::Hold(Held {
                until: Some(self.in_time(little)),
                cause: Cause::Time,
                late: Late::Again,
            }));
        }
        let (seconds, rest) = (clock.wall_ns / SECOND, clock.wall_ns % SECOND);
        match notice.call() {
            Sysno::clock_gettime if is_wall(notice.int(0)) => {
                memory.write_pair(notice.arg(1), seconds, rest)?
            }
            Sysno::clock_gettime => {
                let time = clock.monotonic_ns;
                memory.write_pair(notice.arg(1), time / SECOND, time % SECOND)?;
            }
            Sysno::gettimeofday => {
                if notice.arg(0) != 0 {
                    memory.write_pair(notice.arg(0), seconds, rest / 1000)?;
                }
            }
            _ => {
                if notice.arg(0) != 0 {
                    memory.write(notice.arg(0), &seconds.to_le_bytes())?;
                }
                return Ok(Answer::Value(seconds as i64));
            }
        }
        Ok(Answer::Value(0))
    }

    pub(crate) fn sleep(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let memory = self.table.memory_of(thread);
        let until = if notice.call() == Sysno::nanosleep {
            self.in_time(memory.timespec(notice.arg(0))?.ok_or(Errno::FAULT)?)
        } else {
            let time = memory.timespec(notice.arg(2))?.ok_or(Errno::FAULT)?;
            match (notice.int(1) & libc::TIMER_ABSTIME != 0, is_wall(notice.int(0))) {
                (false, _) => self.in_time(time),
                (true, true) => Deadline::Wall(time),
                (true, false) => Deadline::Monotonic(time),
            }
        };
        Ok(Answer::Hold(Held { until: Some(until), cause: Cause::Time, late: Late::Answer(0) }))
    }

    pub(crate) fn give_way(&mut self) -> Answer {
        let delay = if self.spins_too_long() { self.little() } else { 0 };
        Answer::Hold(Held { until: Some(self.in_time(delay)), cause: Cause::Time, late: Late::Answer(0) })
    }

    /// `alarm` and `setitimer`.
    pub(crate) fn alarm(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let process = self.table.threads[thread].process;
        let memory = self.table.memory_of(thread);
        let now = self.clock.monotonic_ns;
        let old = self.timers.alarms.iter().find(|alarm| alarm.process == process);
        let (left, old_interval) =
            old.map_or((0, 0), |alarm| (alarm.next_ns.saturating_sub(now), alarm.interval));
        let show = |address: u64| {
            memory.write_pair(address, old_interval / SECOND, old_interval % SECOND / 1000)?;
            memory.write_pair(address + 16, left / SECOND, left % SECOND / 1000)
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
                    .saturating_add(memory.u64(at + 8)?.saturating_mul(1000)))
            };
            let new = (pair(notice.arg(1) + 16)?, pair(notice.arg(1))?);
            if notice.arg(2) != 0 {
                show(notice.arg(2))?;
            }
            new
        };
        self.timers.alarms.retain(|alarm| alarm.process != process);
        if delay > 0 {
            self.timers.alarms.push(Alarm { process, next_ns: now.saturating_add(delay), interval });
        }
        Ok(Answer::Value(if is_alarm { left.div_ceil(SECOND) as i64 } else { 0 }))
    }

    /// `timerfd_*`.
    pub(crate) fn timer(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let memory = self.table.memory_of(thread);
        if notice.call() == Sysno::timerfd_create {
            let mut flags = EventfdFlags::CLOEXEC;
            flags.set(EventfdFlags::NONBLOCK, notice.int(1) & libc::TFD_NONBLOCK != 0);
            let file = eventfd(0, flags)?;
            let id = event_id(file.as_fd()).ok_or(Errno::NOSYS)?;
            let closes = notice.int(1) & libc::TFD_CLOEXEC != 0;
            self.listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
            let wall = is_wall(notice.int(0));
            self.timers.files.push(FileTimer { file, id, wall, next: None, interval: 0 });
            return Ok(Answer::Done);
        }
        let file = self.table.file_of(thread, notice.int(0))?;
        let id = event_id(file.as_fd()).ok_or(Errno::INVAL)?;
        let found = self.timers.files.iter().position(|timer| timer.id == id).ok_or(Errno::INVAL)?;
        let timer = &self.timers.files[found];
        let left = timer.next.map_or(0, |next| self.monotonic(next).saturating_sub(self.clock.monotonic_ns));
        let interval = timer.interval;
        let show = |address: u64| {
            memory.write_pair(address, interval / SECOND, interval % SECOND)?;
            memory.write_pair(address + 16, left / SECOND, left % SECOND)
        };
        if notice.call() == Sysno::timerfd_gettime {
            show(notice.arg(1))?;
            return Ok(Answer::Value(0));
        }
        let new_interval = memory.timespec(notice.arg(2))?.ok_or(Errno::FAULT)?;
        let first = memory.timespec(notice.arg(2) + 16)?.ok_or(Errno::FAULT)?;
        let absolute = notice.int(1) & libc::TFD_TIMER_ABSTIME != 0;
        let next = match (first, absolute, timer.wall) {
            (0, ..) => None,
            (_, true, true) => Some(Deadline::Wall(first)),
            (_, true, false) => Some(Deadline::Monotonic(first)),
            (_, false, _) => Some(self.in_time(first)),
        };
        if notice.arg(3) != 0 {
            show(notice.arg(3))?;
        }
        let timer = &mut self.timers.files[found];
        (timer.next, timer.interval) = (next, new_interval);
        // Forgets what rang before: the count is taken out, if there is any.
        let ready = is_ready(&[(timer.file.as_fd(), rustix::event::PollFlags::IN)]);
        if ready {
            let _ = rustix::io::read(&timer.file, &mut [0; 8]);
        }
        self.ring();
        Ok(Answer::Value(0))
    }

    /// Lets the timers ring that are due.
    pub(crate) fn ring(&mut self) {
        for at in 0..self.timers.files.len() {
            let Some(next) = self.timers.files[at].next.filter(|&next| self.is_over(next)) else { continue };
            let now = match next {
                Deadline::Monotonic(_) => self.clock.monotonic_ns,
                Deadline::Wall(_) => self.clock.wall_ns,
            };
            let timer = &mut self.timers.files[at];
            let (Deadline::Monotonic(due) | Deadline::Wall(due)) = next;
            let times = (now - due).checked_div(timer.interval).map_or(1, |more| more + 1);
            let later = due.saturating_add(times.saturating_mul(timer.interval));
            timer.next = (timer.interval > 0).then_some(match next {
                Deadline::Monotonic(_) => Deadline::Monotonic(later),
                Deadline::Wall(_) => Deadline::Wall(later),
            });
            let _ = rustix::io::write(&timer.file, &times.to_le_bytes());
        }
        let now = self.clock.monotonic_ns;
        let due: Vec<usize> = self
            .timers
            .alarms
            .iter()
            .filter(|alarm| alarm.next_ns <= now)
            .map(|alarm| alarm.process)
            .collect();
        for alarm in self.timers.alarms.iter_mut().filter(|alarm| alarm.next_ns <= now) {
            alarm.next_ns = if alarm.interval > 0 { now + alarm.interval } else { u64::MAX };
        }
        self.timers.alarms.retain(|alarm| alarm.next_ns < u64::MAX);
        for process in due {
            self.send_signal(process, libc::SIGALRM);
        }
    }
}
