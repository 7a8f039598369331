//! Calls that wait for descriptors.
//!
//! Nobody sleeps in the kernel: a call that would is held, and the supervisor asks for the readiness of the same files.
//! When one is ready the kernel does the call, which returns at once.

use std::os::fd::OwnedFd;

use rustix::{event::PollFlags, io::Errno, net::sockopt};
use syscalls::Sysno;

use crate::What;
use crate::linux::kernel::polling::may_wait;
use crate::linux::network::connections::Sockets;
use crate::linux::process::signals::has_signal;
use crate::linux::state::awaited::Awaited;
use crate::linux::state::call::{Answer, Cause, Deadline, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Table;
use crate::linux::state::time::Time;

const MILLISECOND: u64 = 1_000_000;

/// True if what a thread waits for is there.
pub(crate) fn has_cause(table: &Table, sockets: &Sockets, thread: usize, held: &Held) -> bool {
    if table.threads[thread].blocks.is_some_and(|blocked| has_signal(table, thread, !blocked)) {
        return true;
    }
    match &held.cause {
        Cause::Time => false,
        Cause::Files(awaited) => awaited.has_file() || has_signal(table, thread, awaited.signals),
        Cause::Signals(set) => has_signal(table, thread, *set),
        Cause::Again(since) => table.heard != *since,
        Cause::Fifo(opening) => table.heard != opening.since,
        Cause::Futex(wait) => wait.woken,
        Cause::Child(which) => table.has_dead_child(table.threads[thread].process, *which),
        Cause::Connect(socket) => sockets.is_answered(*socket),
    }
}

/// Holds a call until a file is ready, or lets the kernel do it at once.
fn hold_for(table: &Table, thread: usize, awaited: Awaited, until: Option<Deadline>, late: Late) -> Answer {
    if awaited.has_file() || has_signal(table, thread, awaited.signals) {
        return Answer::Go;
    }
    Answer::Hold(Held { until, cause: Cause::Files(awaited), late })
}

/// Adds what a thread waits for at one of its descriptors.
fn add(table: &Table, thread: usize, fd: i32, events: PollFlags, awaited: &mut Awaited) -> Result<(), Errno> {
    let process = table.process_of(thread);
    let file = process.file(fd)?;
    let tid = table.threads[thread].tid;
    if !table.has_signal_files || !awaited.adds_signals(process, tid, fd, events) {
        awaited.files.push((file, events));
    }
    Ok(())
}

/// Notes the set of signals that a call blocks while it waits.
fn note_blocked(table: &mut Table, thread: usize, set_at: u64) -> Result<(), Errno> {
    if set_at != 0 {
        table.threads[thread].blocks = Some(table.memory_of(thread).u64(set_at)?);
    }
    Ok(())
}

fn in_ms(time: &Time, ms: i32) -> Option<Deadline> {
    u64::try_from(ms).ok().map(|ms| time.in_time(ms * MILLISECOND))
}

pub(crate) fn poll(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let memory = table.memory_of(thread);
    let timeout = if notice.call() == Sysno::poll {
        u64::try_from(notice.int(2)).ok().map(|ms| ms * MILLISECOND)
    } else {
        memory.timespec(notice.arg(2))?
    };
    if timeout == Some(0) {
        return Ok(time.glance(Late::Answer(0)));
    }
    let count = notice.arg(1);
    if count > table.limits.descriptors {
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
            if add(table, thread, fd, events, &mut awaited).is_err() {
                return Ok(Answer::Go);
            }
        }
    }
    if notice.call() == Sysno::ppoll {
        note_blocked(table, thread, notice.arg(3))?;
    }
    let until = timeout.map(|timeout| time.in_time(timeout));
    Ok(hold_for(table, thread, awaited, until, Late::Answer(0)))
}

pub(crate) fn select(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let memory = table.memory_of(thread);
    let timeout = if notice.call() == Sysno::pselect6 {
        memory.timespec(notice.arg(4))?
    } else if notice.arg(4) == 0 {
        None
    } else {
        let (seconds, micros) = (memory.u64(notice.arg(4))?, memory.u64(notice.arg(4) + 8)?);
        Some(seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000)))
    };
    let count =
        usize::try_from(notice.int(0)).map_err(|_| Errno::INVAL)?.min(table.limits.descriptors as usize);
    let bytes = count.div_ceil(64) * 8;
    let sets = [notice.arg(1), notice.arg(2), notice.arg(3)];
    let late = Late::Empty { bytes, sets };
    if timeout == Some(0) {
        return Ok(time.glance(late));
    }
    let mut awaited = Awaited::default();
    // The events for which the select of the kernel looks in each of its sets.
    let events = [PollFlags::IN | PollFlags::HUP, PollFlags::OUT, PollFlags::PRI];
    for (set, events) in sets.into_iter().zip(events).filter(|(set, _)| *set != 0) {
        let bits = memory.read(set, bytes)?;
        for fd in (0..count).filter(|fd| bits[fd / 8] >> (fd % 8) & 1 == 1) {
            if add(table, thread, fd as i32, events, &mut awaited).is_err() {
                return Ok(Answer::Go);
            }
        }
    }
    if notice.call() == Sysno::pselect6 && notice.arg(5) != 0 {
        note_blocked(table, thread, memory.u64(notice.arg(5))?)?;
    }
    let until = timeout.map(|timeout| time.in_time(timeout));
    Ok(hold_for(table, thread, awaited, until, late))
}

pub(crate) fn epoll(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let until = if notice.call() == Sysno::epoll_pwait2 {
        table.memory_of(thread).timespec(notice.arg(3))?.map(|timeout| time.in_time(timeout))
    } else {
        in_ms(time, notice.int(3))
    };
    if until.is_some_and(|until| time.is_over(until)) {
        return Ok(time.glance(Late::Answer(0)));
    }
    let mut awaited = Awaited::default();
    if add(table, thread, notice.int(0), PollFlags::IN, &mut awaited).is_err() {
        return Ok(Answer::Go);
    }
    if notice.call() != Sysno::epoll_wait {
        note_blocked(table, thread, notice.arg(4))?;
    }
    Ok(hold_for(table, thread, awaited, until, Late::Answer(0)))
}

/// Reads from what may have nothing to read yet.
pub(crate) fn read(ctx: Ctx<'_>, file: &OwnedFd) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let flags = match notice.call() {
        Sysno::recvfrom | Sysno::recvmmsg => notice.int(3),
        Sysno::recvmsg => notice.int(2),
        _ => 0,
    };
    if flags & libc::MSG_DONTWAIT != 0 || !may_wait(file)? {
        return Ok(Answer::Go);
    }
    if notice.call() == Sysno::read && !table.threads[thread].announced {
        return Ok(Answer::Notify(What::Read));
    }
    let limit = sockopt::socket_timeout(file, sockopt::Timeout::Recv).ok().flatten();
    let until = limit.map(|limit| time.in_time(limit.as_nanos() as u64));
    let mut awaited = Awaited::default();
    add(table, thread, notice.int(0), PollFlags::IN, &mut awaited)?;
    Ok(hold_for(table, thread, awaited, until, Late::Fail(Errno::AGAIN)))
}
