//! Threads and processes: how they come, become other programs, and are waited for.

use std::collections::VecDeque;

use rand_core::Rng;
use rustix::io::Errno;
use syscalls::Sysno;

use crate::linux::kernel::clock_page::{ClockPage, Image};
use crate::linux::kernel::entry::{Entered, Entry};
use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::kernel::text::{status_field, text_of};
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::process::Process;
use crate::linux::state::table::{State, Table, Thread};
use crate::{Broken, ClockReads, Step};

/// The flags that may be set: all that is made is the program's own, and in its own groups.
const ALLOWED: u64 = (libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_PIDFD
    | libc::CLONE_VFORK
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID
    | libc::CLONE_DETACHED
    | libc::CLONE_UNTRACED
    | libc::CLONE_CHILD_SETTID) as u64
    | CLEAR_SIGNALS;
/// `CLONE_CLEAR_SIGHAND`.
const CLEAR_SIGNALS: u64 = 1 << 32;
/// `CLONE_NEWTIME`; in the flags of `clone` it is part of a signal's number.
const NEW_TIME: u64 = 0x80;

/// A thread made its first call.
pub(crate) fn born(table: &mut Table, tid: u32) -> std::io::Result<usize> {
    let status = text_of(format!("/proc/{tid}/status"));
    table.unborn = table.unborn.saturating_sub(1);
    let status = status?;
    let field = |name: &str| {
        status_field(&status, name).ok_or_else(|| std::io::Error::other("a process without status"))
    };
    let pid = field("Tgid")?;
    let known = table.processes.iter().position(|process| process.alive && process.pid == pid);
    let process = match known {
        Some(process) => process,
        None => {
            let parent_pid = field("PPid")?;
            let parent =
                table.processes.iter().position(|process| process.alive && process.pid == parent_pid);
            let image = parent.map_or(Image::default(), |parent| table.processes[parent].image);
            table.add_process(pid, field("NSpid")?, parent, image)?
        }
    };
    table.threads.push(Thread::new(tid, process, State::Running));
    Ok(table.threads.len() - 1)
}

/// True if there are threads or processes that have not called yet.
pub(crate) fn has_strangers(table: &Table) -> bool {
    if table.processes.is_empty() {
        // The first one: should it die before it calls, its end is heard.
        return true;
    }
    let is_known = |id: u32| table.threads.iter().any(|thread| thread.tid == id);
    table.processes.iter().filter(|process| process.alive).any(|process| {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", process.pid));
        tasks.into_iter().flatten().flatten().any(|task| {
            let children = text_of(task.path().join("children")).unwrap_or_default();
            let id = task.file_name().to_string_lossy().parse();
            let mut ids = children.split_whitespace().filter_map(|id| id.parse().ok()).chain(id.ok());
            ids.any(|id| !is_known(id))
        })
    })
}

/// `clone`, `fork` and their kin.
pub(crate) fn create(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, listener, events, thread, notice, .. } = ctx;
    let flags = match notice.call() {
        Sysno::clone => notice.arg(0),
        Sysno::clone3 => table.memory_of(thread).u64(notice.arg(0))?,
        Sysno::vfork => (libc::CLONE_VFORK | libc::CLONE_VM) as u64,
        _ => 0,
    };
    // Its files are looked up in those of its process.
    let shared = (libc::CLONE_FILES | libc::CLONE_FS) as u64;
    if flags & libc::CLONE_THREAD as u64 != 0 && flags & shared != shared {
        events.push_back(Step::Refused("a thread with files of its own".to_owned()));
        return Err(Errno::INVAL);
    }
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWCGROUP;
    // A child of somebody else would be nobody's to wait for, and would run beside the others unseen.
    if flags & libc::CLONE_PARENT as u64 != 0 {
        events.push_back(Step::Refused("a process beside its maker".to_owned()));
        return Err(Errno::INVAL);
    }
    let by_structure = notice.call() == Sysno::clone3;
    if flags & namespaces as u64 != 0 || by_structure && flags & NEW_TIME != 0 {
        events.push_back(Step::Refused("a namespace of its own".to_owned()));
        return Err(Errno::PERM);
    }
    if by_structure && flags & !ALLOWED != 0 {
        events.push_back(Step::Refused("a process in a group of the machine's".to_owned()));
        return Err(Errno::INVAL);
    }
    let living = table.threads.iter().filter(|thread| !matches!(thread.state, State::Dead)).count();
    if living >= table.limits.threads {
        events.push_back(Step::Refused(format!("more than {} threads", table.limits.threads)));
        return Err(Errno::AGAIN);
    }
    table.unborn += 1;
    if flags & libc::CLONE_VFORK as u64 == 0 {
        return Ok(Answer::Go);
    }
    listener.go(notice);
    table.threads[thread].state = State::Lends(None);
    Ok(Answer::Done)
}

/// The number of the parent as the program knows it; the first one's is the init's.
pub(crate) fn parent(ctx: Ctx<'_>) -> Answer {
    let parent = ctx.caller().process().parent;
    let parent = parent.map(|parent| &ctx.table.processes[parent]).filter(|parent| parent.alive);
    Answer::Value(parent.map_or(1, |parent| parent.own_pid.into()))
}

/// `wait4` and `waitid`.
pub(crate) fn await_child(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, thread, notice, .. } = ctx;
    let process = table.threads[thread].process;
    let (which, options) = match notice.call() {
        Sysno::wait4 => (u32::try_from(notice.int(0)).ok().filter(|&pid| pid > 0), notice.int(2)),
        _ if notice.int(0) == libc::P_PID as i32 => (Some(notice.int(1) as u32), notice.int(3)),
        // By a descriptor or a group of processes: rare, and with one child the same as any.
        _ => (None, notice.int(3)),
    };
    let is_child =
        |child: &&mut Process| child.parent == Some(process) && which.is_none_or(|pid| pid == child.own_pid);
    let mut children: Vec<_> = table.processes.iter_mut().filter(is_child).collect();
    let has_living = children.iter().any(|child| child.alive);
    if let Some(dead) = children.iter_mut().find(|child| child.unreaped) {
        dead.unreaped = options & libc::WNOWAIT != 0 && notice.call() == Sysno::waitid;
        return Ok(Answer::Go);
    }
    if options & libc::WNOHANG != 0 || !has_living {
        return Ok(Answer::Go);
    }
    Ok(Answer::Hold(Held { until: None, cause: Cause::Child(which), late: Late::Again }))
}

/// `execve` and `execveat`: a process becomes another program, if the kernel finds one.
pub(crate) fn enter(
    table: &mut Table,
    listener: &Listener,
    events: &mut VecDeque<Step>,
    page: Option<&ClockPage>,
    clock_reads: ClockReads,
    thread: usize,
    notice: &Notice,
) -> Result<Outcome, Broken> {
    let process = table.threads[thread].process;
    let mut random = [0; 16];
    table.processes[process].random.fill_bytes(&mut random);
    let pid = table.processes[process].pid;
    let entry = Entry { listener, process: pid, page, clock_reads, random };
    let image = match entry.make(notice) {
        Ok(Entered::Program(image)) => image,
        Ok(Entered::Refused) => return Ok(Outcome::Same),
        Ok(Entered::Killed) => {
            events.push_back(Step::Refused("a 32-bit program".to_owned()));
            return Ok(Outcome::Same);
        }
        // Killed from within.
        Err(_) if table.processes[process].ended() => return Ok(Outcome::Same),
        Err(source) => return Err(Broken::Kernel { what: "prepare the memory of a new program", source }),
    };
    table.processes[process].image = image;
    table.unlent(process);
    table.take_over(process);
    Ok(Outcome::Another)
}

/// The program of a process after its `execve`.
#[derive(PartialEq, Eq)]
pub(crate) enum Outcome {
    Another,
    Same,
}
