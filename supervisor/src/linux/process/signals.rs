//! Signals: who sends them, whose wait they end, and who waits for them.
//!
//! The kernel keeps and delivers them. It does so when a thread leaves a call, and a held call is one that the thread does not leave: so
//! the supervisor ends the wait of a thread that has a signal to take. What is pending, blocked and caught is read from `/proc`, when no
//! thread runs: a signal is there once its sender has come to its next call.

use rustix::io::Errno;
use syscalls::Sysno;

use crate::Step;
use crate::linux::kernel::notify::{Listener, Notice, Restart};
use crate::linux::kernel::text::{status_field, text_of};
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::process::Process;
use crate::linux::state::table::{State, Table, Thread};

/// Signals that were sent, and whose takers were not seen to.
#[derive(Default)]
pub(crate) struct Signals {
    sent: Vec<Sent>,
}

/// A signal that a call has sent, or is about to.
struct Sent {
    process: usize,
    /// The thread that it is for, as its process numbers it.
    thread: Option<u32>,
    number: i32,
}

/// The sets of a thread, a bit for each signal.
#[derive(Clone, Copy, Default)]
struct Sets {
    pending: u64,
    blocked: u64,
    ignored: u64,
    caught: u64,
    /// The thread's number in its own namespace.
    own: Option<u32>,
}

/// The bit of a signal in a set.
pub(crate) fn bit(number: i32) -> u64 {
    1 << ((number - 1) & 63)
}

impl Sets {
    fn of(tid: u32) -> Self {
        let status = text_of(format!("/proc/{tid}/status")).unwrap_or_default();
        let mut sets = Self { own: status_field(&status, "NSpid"), ..Self::default() };
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let set = match name {
                "SigPnd" | "ShdPnd" => &mut sets.pending,
                "SigBlk" => &mut sets.blocked,
                "SigIgn" => &mut sets.ignored,
                "SigCgt" => &mut sets.caught,
                _ => continue,
            };
            *set |= u64::from_str_radix(value.trim(), 16).unwrap_or(0);
        }
        sets
    }

    /// True if nothing comes of a signal: it is ignored, or has no handler and would do nothing.
    fn ignores(&self, number: i32) -> bool {
        let harmless = matches!(number, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT);
        self.ignored & bit(number) != 0 || harmless && self.caught & bit(number) == 0
    }
}

/// How an interrupted call goes on after the signal, as the kernel does it.
fn restart(call: Sysno) -> Restart {
    match call {
        // They wait here only so that time passes, and know no interruption.
        Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time | Sysno::sched_yield => Restart::Always,
        Sysno::poll
        | Sysno::ppoll
        | Sysno::select
        | Sysno::pselect6
        | Sysno::epoll_wait
        | Sysno::epoll_pwait
        | Sysno::epoll_pwait2
        | Sysno::nanosleep
        | Sysno::clock_nanosleep
        | Sysno::pause
        | Sysno::rt_sigsuspend
        | Sysno::rt_sigtimedwait => Restart::WithoutHandler,
        _ => Restart::AsAsked,
    }
}

impl Signals {
    /// `kill` and its kin: the kernel sends the signal, the supervisor sees to those who wait.
    pub(crate) fn send(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, events, thread, notice, .. } = ctx;
        let number = match notice.call() {
            Sysno::tgkill | Sysno::rt_tgsigqueueinfo => notice.int(2),
            _ => notice.int(1),
        };
        if matches!(number, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
            events.push_back(Step::Refused("stopping a process".to_owned()));
            return Err(Errno::PERM);
        }
        let (target, wanted) = match notice.call() {
            Sysno::kill | Sysno::rt_sigqueueinfo => (notice.int(0), None),
            Sysno::tgkill | Sysno::rt_tgsigqueueinfo => (notice.int(0), Some(notice.int(1) as u32)),
            Sysno::tkill => (0, Some(notice.int(0) as u32)),
            _ => (target_of_handle(table.threads[thread].tid, notice.int(0)), None),
        };
        // A number below zero is that of a process group, and zero stands for the sender's own.
        let group = match target {
            ..=-2 => Some(target.unsigned_abs()),
            0 if notice.call() == Sysno::kill => group_of(&table.processes[table.threads[thread].process]),
            _ => None,
        };
        let is_target = |process: &Process| {
            process.alive
                && match group {
                    Some(group) => group_of(process) == Some(group),
                    None => target <= 0 || process.own_pid == target as u32,
                }
        };
        let targets = (0..table.processes.len()).filter(|&process| is_target(&table.processes[process]));
        // It is there when the thread has come to its next call, or is gone.
        self.sent.extend(targets.filter(|_| number != 0).map(|process| Sent {
            process,
            thread: wanted,
            number,
        }));
        Ok(Answer::Go)
    }

    pub(crate) fn are_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Ends the waits of those who take what was sent; the processes that it was sent to. All senders have come to their next calls.
    pub(crate) fn deliver(&mut self, table: &mut Table, listener: &Listener) -> Vec<usize> {
        let sent = std::mem::take(&mut self.sent);
        for Sent { process, thread, number } in &sent {
            if table.processes[*process].alive {
                interrupt_one(table, listener, *process, *thread, *number);
            }
        }
        sent.into_iter().map(|sent| sent.process).collect()
    }
}

/// The group of a process, by the number that programs see.
fn group_of(process: &Process) -> Option<u32> {
    let status = text_of(format!("/proc/{}/status", process.pid)).ok()?;
    status_field(&status, "NSpgid")
}

/// The process that a pidfd is for; any if that is unknown.
fn target_of_handle(tid: u32, fd: i32) -> i32 {
    let info = text_of(format!("/proc/{tid}/fdinfo/{fd}")).unwrap_or_default();
    status_field(&info, "NSpid").map_or(0, |pid| pid as i32)
}

/// Ends the wait of one thread that takes a signal now pending.
pub(crate) fn interrupt(table: &mut Table, listener: &Listener, process: usize, number: i32) {
    interrupt_one(table, listener, process, None, number);
}

fn interrupt_one(table: &mut Table, listener: &Listener, process: usize, wanted: Option<u32>, number: i32) {
    table.processes[process].signalled = true;
    for thread in 0..table.threads.len() {
        let entry = &table.threads[thread];
        let State::Held(_, held) = &entry.state else { continue };
        // A thread that waits for the signal, or has a signal mask for its call, is woken by the pending signal and not here.
        let waits_for_it = matches!(held.cause, Cause::Signals(set) if set & bit(number) != 0);
        if entry.process != process || entry.blocks.is_some() || waits_for_it {
            continue;
        }
        let sets = Sets::of(entry.tid);
        let is_other = wanted.is_some_and(|tid| sets.own != Some(tid));
        if is_other || sets.blocked & bit(number) != 0 || sets.ignores(number) {
            continue;
        }
        if let State::Held(notice, _) = std::mem::replace(&mut table.threads[thread].state, State::Running) {
            break_off(table, listener, thread, &notice);
        }
        return;
    }
}

/// Ends a call because of a signal.
pub(crate) fn break_off(table: &mut Table, listener: &Listener, thread: usize, notice: &Notice) {
    table.threads[thread].announced = false;
    match std::mem::take(&mut table.threads[thread].written) {
        0 => listener.interrupt(notice, restart(notice.call())),
        written => listener.answer(notice, written as i64),
    }
}

/// True if a thread that is about to wait has a signal to take first: it was sent before the call.
pub(crate) fn is_interrupted(table: &mut Table, thread: usize, held: &Held) -> bool {
    let entry = &table.threads[thread];
    if !table.processes[entry.process].signalled || entry.blocks.is_some() {
        return false;
    }
    let sets = Sets::of(entry.tid);
    let is_own = |other: &&Thread| other.process == entry.process && !matches!(other.state, State::Dead);
    if sets.pending == 0 && table.threads.iter().filter(is_own).count() == 1 {
        table.processes[entry.process].signalled = false;
    }
    let waited_for = if let Cause::Signals(set) = held.cause { set } else { 0 };
    sets.pending & !sets.blocked & !waited_for != 0
}

/// The signals that are pending for a thread.
pub(crate) fn pending(tid: u32) -> impl Iterator<Item = i32> {
    let pending = Sets::of(tid).pending;
    (1..=64).filter(move |&number| pending & bit(number) != 0)
}

/// True if one of these signals is pending for a thread.
pub(crate) fn has_signal(table: &Table, thread: usize, set: u64) -> bool {
    let entry = &table.threads[thread];
    set != 0 && table.processes[entry.process].signalled && Sets::of(entry.tid).pending & set != 0
}

/// `rt_sigtimedwait`, by which C libraries make `sigwait`, too.
pub(crate) fn await_signal(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let memory = table.memory_of(thread);
    let set = memory.u64(notice.arg(0))?;
    let timeout = memory.timespec(notice.arg(2))?;
    if has_signal(table, thread, set) {
        return Ok(Answer::Go);
    }
    if timeout == Some(0) {
        return Ok(time.glance(Late::Fail(Errno::AGAIN)));
    }
    let until = timeout.map(|timeout| time.in_time(timeout));
    Ok(Answer::Hold(Held { until, cause: Cause::Signals(set), late: Late::Fail(Errno::AGAIN) }))
}

/// `pause` and `rt_sigsuspend`.
pub(crate) fn suspend(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, thread, notice, .. } = ctx;
    if notice.call() == Sysno::rt_sigsuspend {
        table.threads[thread].blocks = Some(table.memory_of(thread).u64(notice.arg(0))?);
    }
    Ok(Answer::Hold(Held { until: None, cause: Cause::Signals(0), late: Late::Fail(Errno::INTR) }))
}
