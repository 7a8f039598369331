//! Threads and processes: how they come, become other programs, signal each other, and end.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid},
};
use syscalls::Sysno;

use super::{
    call::{Answer, Cause, Held, Late},
    clock_page::Image,
    futex::wake_changed,
    group::Group,
    notify::Notice,
    process::{Process, status_field},
    table::{State, Thread},
};
use crate::Step;

/// As so many calls the birth of a thread or a process counts.
const BIRTH: u64 = 300;
/// How often it is looked whether a thread that ends is gone; each look gives way to it.
const LOOKS: u32 = 1_000_000;
/// `CLONE_NEWTIME`; in the flags of `clone` it is part of a signal's number.
const NEW_TIME: u64 = 0x80;
/// How long the end of a process is waited for: giving back much memory takes a moment.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

impl Group {
    /// A thread made its first call.
    pub(crate) fn born(&mut self, tid: u32) -> std::io::Result<usize> {
        let status = std::fs::read_to_string(format!("/proc/{tid}/status"));
        self.table.unborn = self.table.unborn.saturating_sub(1);
        self.work += BIRTH;
        let status = status?;
        let field = |name: &str| {
            status_field(&status, name).ok_or_else(|| std::io::Error::other("a process without status"))
        };
        let pid = field("Tgid")?;
        let known = self.table.processes.iter().position(|process| process.alive && process.pid == pid);
        let process = match known {
            Some(process) => process,
            None => {
                let parent_pid = field("PPid")?;
                let parent = self
                    .table
                    .processes
                    .iter()
                    .position(|process| process.alive && process.pid == parent_pid);
                let image = parent.map_or(Image::default(), |parent| self.table.processes[parent].image);
                // The first one is about to become the program.
                let fresh = parent.is_none();
                self.table.add_process(pid, field("NSpid")?, parent, fresh, image)?
            }
        };
        self.table.threads.push(Thread::new(tid, process, State::Running));
        Ok(self.table.threads.len() - 1)
    }

    /// Whether there are threads or processes that have not called yet.
    pub(crate) fn has_strangers(&self) -> bool {
        if self.table.processes.is_empty() {
            // The first one: should it die before it calls, its end is heard.
            return true;
        }
        let is_known = |id: u32| self.table.threads.iter().any(|thread| thread.tid == id);
        self.table.processes.iter().filter(|process| process.alive).any(|process| {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", process.pid));
            tasks.into_iter().flatten().flatten().any(|task| {
                let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
                let id = task.file_name().to_string_lossy().parse();
                let mut ids = children.split_whitespace().filter_map(|id| id.parse().ok()).chain(id.ok());
                ids.any(|id| !is_known(id))
            })
        })
    }

    /// `clone`, `fork` and their kin.
    pub(crate) fn birth(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let flags = match notice.call() {
            Sysno::clone => notice.arg(0),
            Sysno::clone3 => self.table.memory_of(thread).u64(notice.arg(0))?,
            Sysno::vfork => (libc::CLONE_VFORK | libc::CLONE_VM) as u64,
            _ => 0,
        };
        let namespaces = libc::CLONE_NEWUSER
            | libc::CLONE_NEWPID
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWNET
            | libc::CLONE_NEWUTS
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWCGROUP;
        // A child of somebody else would be nobody's to wait for, and would run beside the others unseen.
        if flags & libc::CLONE_PARENT as u64 != 0 {
            self.events.push_back(Step::Refused("a process beside its maker".to_owned()));
            return Err(Errno::INVAL);
        }
        let by_structure = notice.call() == Sysno::clone3;
        if flags & namespaces as u64 != 0 || by_structure && flags & NEW_TIME != 0 {
            self.events.push_back(Step::Refused("a namespace of its own".to_owned()));
            return Err(Errno::PERM);
        }
        let living = self.table.threads.iter().filter(|thread| !matches!(thread.state, State::Dead)).count();
        if living >= self.limits.threads {
            self.events.push_back(Step::Refused(format!("more than {} threads", self.limits.threads)));
            return Err(Errno::AGAIN);
        }
        self.table.unborn += 1;
        if flags & libc::CLONE_VFORK as u64 == 0 {
            return Ok(Answer::Go);
        }
        self.listener.go(notice);
        self.table.threads[thread].state = State::Lends(None);
        Ok(Answer::Done)
    }

    /// A process becomes another program, if the kernel finds one.
    pub(crate) fn exec(&mut self, thread: usize) -> Result<Answer, Errno> {
        let process = self.table.threads[thread].process;
        self.table.processes[process].fresh = true;
        Ok(Answer::Go)
    }

    pub(crate) fn exit_thread(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let (tid, process) = (self.table.threads[thread].tid, self.table.threads[thread].process);
        let others = (self.table.threads.iter().enumerate()).any(|(other, entry)| {
            other != thread && entry.process == process && !matches!(entry.state, State::Dead)
        });
        if !others {
            return self.exit_process(thread, notice);
        }
        let pid = self.table.processes[process].pid;
        // A handle of the thread alone, which kernels before 6.9 do not make; `O_EXCL` asks for it.
        let own = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);
        let handle = Pid::from_raw(tid as i32).ok_or(Errno::SRCH).and_then(|tid| pidfd_open(tid, own));
        self.listener.go(notice);
        self.table.threads[thread].state = State::Dead;
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
        wake_changed(&mut self.table, process);
        Ok(Answer::Done)
    }

    pub(crate) fn exit_process(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let process = self.table.threads[thread].process;
        self.listener.go(notice);
        let mut handle = [PollFd::new(&self.table.processes[process].handle, PollFlags::IN)];
        let _ = poll(&mut handle, Some(&PATIENCE));
        self.buried(process);
        Ok(Answer::Done)
    }

    /// A process ended, by itself or by a signal.
    pub(crate) fn buried(&mut self, process: usize) {
        told_of_its_end();
        for thread in self.table.threads.iter_mut().filter(|thread| thread.process == process) {
            thread.state = State::Dead;
        }
        if process == 0 {
            return self.end();
        }
        self.table.unlent(process);
        self.table.processes[process].alive = false;
        self.table.processes[process].unreaped = true;
        self.table.heard += 1;
        if let Some(parent) = self.table.processes[process].parent {
            self.interrupt(parent, libc::SIGCHLD);
        }
        self.orphaned(process);
    }

    /// The number of the parent as the program knows it; the first one's is the init's.
    pub(crate) fn parent(&self, thread: usize) -> Answer {
        let parent = self.table.processes[self.table.threads[thread].process].parent;
        let parent = parent.map(|parent| &self.table.processes[parent]).filter(|parent| parent.alive);
        Answer::Value(parent.map_or(1, |parent| parent.own_pid.into()))
    }

    /// `wait4` and `waitid`.
    pub(crate) fn await_child(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let process = self.table.threads[thread].process;
        let (which, options) = match notice.call() {
            Sysno::wait4 => (u32::try_from(notice.int(0)).ok().filter(|&pid| pid > 0), notice.int(2)),
            _ if notice.int(0) == libc::P_PID as i32 => (Some(notice.int(1) as u32), notice.int(3)),
            // By a descriptor or a group of processes: rare, and with one child the same as any.
            _ => (None, notice.int(3)),
        };
        let is_child = |child: &&mut Process| {
            child.parent == Some(process) && which.is_none_or(|pid| pid == child.own_pid)
        };
        let mut children: Vec<_> = self.table.processes.iter_mut().filter(is_child).collect();
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
}

/// Whether the first thread of a process ended before the others.
fn is_shell(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with(['Z', 'X']))
}

/// Waits until the parent of a process that is seen to have ended was sent its signal.
///
/// The kernel first lets the end be seen and then sends the signal, under one lock for both, which is also taken to look
/// for children of one's own.
fn told_of_its_end() {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let _ = waitid(WaitId::All, look);
}
