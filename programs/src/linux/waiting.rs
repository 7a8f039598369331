//! Calls that wait for descriptors.
//!
//! Nobody sleeps in the kernel: a call that would is held, and the supervisor asks for the readiness of the same files.
//! When one is ready the kernel does the call, which returns at once.

use rustix::{event::PollFlags, io::Errno, net::sockopt};
use syscalls::Sysno;

use super::{
    awaited::Awaited,
    call::{Answer, Cause, Deadline, Held, Late},
    group::Group,
    notify::Notice,
    polling::may_wait,
    table::State,
};
use crate::What;

const MILLISECOND: u64 = 1_000_000;

impl Group {
    /// Whether a thread can go on.
    pub(crate) fn is_able(&self, thread: usize) -> bool {
        match &self.table.threads[thread].state {
            State::Called(_) => true,
            State::Held(_, held) => {
                held.until.is_some_and(|until| self.time.is_over(until)) || self.has_cause(thread, held)
            }
            _ => false,
        }
    }

    /// Whether what a thread waits for is there.
    pub(crate) fn has_cause(&self, thread: usize, held: &Held) -> bool {
        if self.table.threads[thread].blocks.is_some_and(|blocked| self.has_signal(thread, !blocked)) {
            return true;
        }
        match &held.cause {
            Cause::Time => false,
            Cause::Files(awaited) => awaited.has_file() || self.has_signal(thread, awaited.signals),
            Cause::Signals(set) => self.has_signal(thread, *set),
            Cause::Again(since) => self.table.heard != *since,
            Cause::Fifo(opening) => self.table.heard != opening.since,
            Cause::Futex(wait) => wait.woken,
            Cause::Child(which) => self.table.has_dead_child(self.table.threads[thread].process, *which),
            Cause::Connect(socket) => self.sockets.is_answered(*socket),
        }
    }

    /// Holds a call until a file is ready, or lets the kernel do it at once.
    fn hold_for(&mut self, thread: usize, awaited: Awaited, until: Option<Deadline>, late: Late) -> Answer {
        if awaited.has_file() || self.has_signal(thread, awaited.signals) {
            return Answer::Go;
        }
        Answer::Hold(Held { until, cause: Cause::Files(awaited), late })
    }

    /// Notes the set of signals that a call blocks while it waits.
    fn note_blocked(&mut self, thread: usize, set_at: u64) -> Result<(), Errno> {
        if set_at != 0 {
            self.table.threads[thread].blocks = Some(self.table.memory_of(thread).u64(set_at)?);
        }
        Ok(())
    }

    fn in_ms(&self, ms: i32) -> Option<Deadline> {
        u64::try_from(ms).ok().map(|ms| self.time.in_time(ms * MILLISECOND))
    }

    pub(crate) fn poll(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let memory = self.table.memory_of(thread);
        let timeout = if notice.call() == Sysno::poll {
            u64::try_from(notice.int(2)).ok().map(|ms| ms * MILLISECOND)
        } else {
            memory.timespec(notice.arg(2))?
        };
        if timeout == Some(0) {
            return Ok(self.time.glance(Late::Answer(0)));
        }
        let count = notice.arg(1);
        if count > self.limits.descriptors {
            return Err(Errno::INVAL);
        }
        let asked = memory.read(notice.arg(0), count as usize * size_of::<libc::pollfd>())?;
        let mut awaited = Awaited::default();
        for entry in asked.chunks_exact(size_of::<libc::pollfd>()) {
            let fd = i32::from_le_bytes(entry[..4].try_into().expect("four bytes"));
            let events = u16::from_le_bytes(entry[4..6].try_into().expect("two bytes"));
            if fd >= 0 {
                // The kernel says at once that a descriptor is not open.
                let events = PollFlags::from_bits_retain(events);
                if self.add_awaited(thread, fd, events, &mut awaited).is_err() {
                    return Ok(Answer::Go);
                }
            }
        }
        if notice.call() == Sysno::ppoll {
            self.note_blocked(thread, notice.arg(3))?;
        }
        let until = timeout.map(|timeout| self.time.in_time(timeout));
        Ok(self.hold_for(thread, awaited, until, Late::Answer(0)))
    }

    pub(crate) fn select(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let memory = self.table.memory_of(thread);
        let timeout = if notice.call() == Sysno::pselect6 {
            memory.timespec(notice.arg(4))?
        } else if notice.arg(4) == 0 {
            None
        } else {
            let (seconds, micros) = (memory.u64(notice.arg(4))?, memory.u64(notice.arg(4) + 8)?);
            Some(seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000)))
        };
        let count =
            usize::try_from(notice.int(0)).map_err(|_| Errno::INVAL)?.min(self.limits.descriptors as usize);
        let bytes = count.div_ceil(64) * 8;
        let sets = [notice.arg(1), notice.arg(2), notice.arg(3)];
        let late = Late::Empty { bytes, sets };
        if timeout == Some(0) {
            return Ok(self.time.glance(late));
        }
        let mut awaited = Awaited::default();
        // What the kernel's select looks for in each of its sets.
        let events = [PollFlags::IN | PollFlags::HUP, PollFlags::OUT, PollFlags::PRI];
        for (set, events) in sets.into_iter().zip(events).filter(|(set, _)| *set != 0) {
            let bits = memory.read(set, bytes)?;
            for fd in (0..count).filter(|fd| bits[fd / 8] >> (fd % 8) & 1 == 1) {
                if self.add_awaited(thread, fd as i32, events, &mut awaited).is_err() {
                    return Ok(Answer::Go);
                }
            }
        }
        if notice.call() == Sysno::pselect6 && notice.arg(5) != 0 {
            self.note_blocked(thread, memory.u64(notice.arg(5))?)?;
        }
        let until = timeout.map(|timeout| self.time.in_time(timeout));
        Ok(self.hold_for(thread, awaited, until, late))
    }

    pub(crate) fn epoll(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let until = if notice.call() == Sysno::epoll_pwait2 {
            self.table.memory_of(thread).timespec(notice.arg(3))?.map(|timeout| self.time.in_time(timeout))
        } else {
            self.in_ms(notice.int(3))
        };
        if until.is_some_and(|until| self.time.is_over(until)) {
            return Ok(self.time.glance(Late::Answer(0)));
        }
        let mut awaited = Awaited::default();
        if self.add_awaited(thread, notice.int(0), PollFlags::IN, &mut awaited).is_err() {
            return Ok(Answer::Go);
        }
        if notice.call() != Sysno::epoll_wait {
            self.note_blocked(thread, notice.arg(4))?;
        }
        Ok(self.hold_for(thread, awaited, until, Late::Answer(0)))
    }

    /// Reads from what may have nothing to read yet.
    pub(crate) fn read(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let Ok(file) = self.table.file_of(thread, notice.int(0)) else { return Ok(Answer::Go) };
        if !self.random_files.is_empty() && matches!(notice.call(), Sysno::read | Sysno::readv) {
            let inode = rustix::fs::fstat(&file)?.st_ino;
            if self.random_files.contains(&inode) {
                return self.read_random(thread, notice);
            }
        }
        let flags = match notice.call() {
            Sysno::recvfrom | Sysno::recvmmsg => notice.int(3),
            Sysno::recvmsg => notice.int(2),
            _ => 0,
        };
        if flags & libc::MSG_DONTWAIT != 0 || !may_wait(&file)? {
            return Ok(Answer::Go);
        }
        if notice.call() == Sysno::read && !self.table.threads[thread].announced {
            return Ok(Answer::Tell(What::Read));
        }
        let limit = sockopt::socket_timeout(&file, sockopt::Timeout::Recv).ok().flatten();
        let until = limit.map(|limit| self.time.in_time(limit.as_nanos() as u64));
        let mut awaited = Awaited::default();
        self.add_awaited(thread, notice.int(0), PollFlags::IN, &mut awaited)?;
        Ok(self.hold_for(thread, awaited, until, Late::Fail(Errno::AGAIN)))
    }
}
