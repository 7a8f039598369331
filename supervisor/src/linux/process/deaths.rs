//! The ends of threads and processes, and the processes that the kernel notifies of them.
//!
//! With the first process the program ends: the table says so from then on.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid},
};

use super::futex::wake_changed;
use super::signals::{bit, interrupt, pending};
use crate::linux::kernel::notify::Listener;
use crate::linux::kernel::text::text_of;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::{State, Table};

/// How often it is looked whether a thread that ends is gone; each look gives way to it.
const LOOKS: u32 = 1_000_000;
/// How long the end of a process is waited for: giving back much memory takes a moment.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// `exit`.
pub(crate) fn exit_thread(mut ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, listener, thread, notice, .. } = ctx.reborrow();
    let (tid, process) = (table.threads[thread].tid, table.threads[thread].process);
    let others = (table.threads.iter().enumerate()).any(|(other, entry)| {
        other != thread && entry.process == process && !matches!(entry.state, State::Dead)
    });
    if !others {
        return exit_process(ctx);
    }
    let pid = table.processes[process].pid;
    // A handle of the thread alone, which kernels before 6.9 do not make; `O_EXCL` asks for it.
    let own = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);
    let handle = Pid::from_raw(tid as i32).ok_or(Errno::SRCH).and_then(|tid| pidfd_open(tid, own));
    listener.go(notice);
    table.threads[thread].state = State::Dead;
    if let (Ok(handle), true) = (&handle, tid != pid) {
        let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&PATIENCE));
    }
    for _ in 0..LOOKS {
        // SAFETY: asks whether the thread is there; no pointers.
        let gone = unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, 0) } < 0;
        // The first thread stays, as a shell of its former self, until all are gone.
        if gone || tid == pid && is_shell(pid) {
            break;
        }
        rustix::thread::sched_yield();
    }
    wake_changed(table, process);
    Ok(Answer::Done)
}

/// `exit_group`.
pub(crate) fn exit_process(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, listener, thread, notice, .. } = ctx;
    let process = table.threads[thread].process;
    listener.go(notice);
    let mut handle = [PollFd::new(&table.processes[process].handle, PollFlags::IN)];
    let _ = poll(&mut handle, Some(&PATIENCE));
    buried(table, listener, process);
    Ok(Answer::Done)
}

/// A process ended, by itself or by a signal.
pub(crate) fn buried(table: &mut Table, listener: &Listener, process: usize) {
    wait_for_notification();
    for thread in table.threads.iter_mut().filter(|thread| thread.process == process) {
        thread.state = State::Dead;
    }
    if process == 0 {
        return table.end();
    }
    table.unlent(process);
    table.processes[process].alive = false;
    table.processes[process].unreaped = true;
    table.heard += 1;
    if let Some(parent) = table.processes[process].parent {
        interrupt(table, listener, parent, libc::SIGCHLD);
    }
    orphaned(table, listener, process);
}

/// Sends a signal of the supervisor's own.
pub(crate) fn send_signal(table: &mut Table, listener: &Listener, process: usize, number: i32) {
    if !table.processes[process].alive {
        return;
    }
    // SAFETY: a number of a process whose handle is held, and a signal; no pointers.
    unsafe { libc::kill(table.processes[process].pid as i32, number) };
    interrupt(table, listener, process, number);
    look_after(table, listener, process);
}

/// A process ended: its children may have asked for a signal at that, and the kernel has sent it.
fn orphaned(table: &mut Table, listener: &Listener, parent: usize) {
    for child in 0..table.processes.len() {
        if table.processes[child].parent != Some(parent) || !table.processes[child].alive {
            continue;
        }
        let pending: Vec<i32> = pending(table.processes[child].pid).collect();
        for &number in &pending {
            interrupt(table, listener, child, number);
        }
        if !pending.is_empty() || table.processes[child].ended() {
            look_after(table, listener, child);
        }
    }
}

/// A signal may have ended a process that stands still.
pub(crate) fn look_after(table: &mut Table, listener: &Listener, process: usize) {
    // Ending takes the kernel a moment; whoever only handles the signal is not waited for.
    for _ in 0..2_000 {
        let pid = table.processes[process].pid;
        let status = text_of(format!("/proc/{pid}/status")).unwrap_or_default();
        let dying = status.is_empty() || status.contains("\nState:\tZ") || status.contains("\nState:\tX");
        if table.processes[process].ended() {
            return buried(table, listener, process);
        }
        let pending = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.is_some_and(|text| {
                u64::from_str_radix(text.trim(), 16).unwrap_or(0) & bit(libc::SIGKILL) != 0
            })
        };
        if !dying && !pending("SigPnd:") && !pending("ShdPnd:") {
            return;
        }
        rustix::thread::sched_yield();
    }
}

/// True if the first thread of a process ended before the others.
fn is_shell(pid: u32) -> bool {
    let stat = text_of(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with(['Z', 'X']))
}

/// Waits until the parent of a process that is seen to have ended was sent its signal.
///
/// The kernel first lets the end be seen and then sends the signal, under one lock for both, which is also taken to look
/// for children of one's own.
fn wait_for_notification() {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let _ = waitid(WaitId::All, look);
}
