//! The processes and threads of a group.

use std::{io, os::fd::OwnedFd};

use rand_chacha::ChaCha8Rng;
use rustix::io::Errno;

use super::call::{Answer, Cause, Held, Late};
use super::process::Process;
use super::randomness::Randomness;
use crate::linux::kernel::clock_page::Image;
use crate::linux::kernel::memory::Memory;
use crate::linux::kernel::notify::Notice;
use crate::{Limits, Setup};

/// The state of a thread.
pub(crate) enum State {
    /// It computes, or the kernel does its call.
    Running,
    /// It waits in the kernel until the process that it made by `vfork` runs a program of its own: this one, once that has called.
    Lends(Option<usize>),
    /// It made a call that was not looked at yet.
    Called(Notice),
    /// Its call waits for something.
    Held(Notice, Held),
    Dead,
}

/// One thread of a group.
pub(crate) struct Thread {
    /// The kernel's number, as the supervisor sees it.
    pub(crate) tid: u32,
    pub(crate) process: usize,
    pub(crate) state: State,
    /// The driver was notified of what the thread is about to do.
    pub(crate) announced: bool,
    /// The signals that are blocked during its call, if the call says so.
    pub(crate) blocks: Option<u64>,
    /// How many bytes of its write are written already.
    pub(crate) written: usize,
}

impl Thread {
    pub(crate) fn new(tid: u32, process: usize, state: State) -> Self {
        Self { tid, process, state, announced: false, blocks: None, written: 0 }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }
}

/// A thread that makes a call.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    table: &'a Table,
    number: usize,
}

impl<'a> Caller<'a> {
    pub(crate) fn thread(self) -> &'a Thread {
        &self.table.threads[self.number]
    }

    pub(crate) fn process(self) -> &'a Process {
        self.table.process_of(self.number)
    }

    pub(crate) fn memory(self) -> Memory {
        self.process().memory()
    }

    pub(crate) fn limits(self) -> Limits {
        self.table.limits
    }

    /// A process that lives, whichever: all see the same files.
    pub(crate) fn living(self) -> Option<&'a Process> {
        self.table.processes.iter().find(|process| process.alive)
    }

    /// The call is tried again after the next one that is heard.
    pub(crate) fn again(self) -> Answer {
        Answer::Hold(Held { until: None, cause: Cause::Again(self.table.heard), late: Late::Again })
    }

    /// True if any process has this file open.
    pub(crate) fn holds(self, inode: u64) -> bool {
        self.table.descriptor_of(inode).is_some()
    }

    /// The file behind a descriptor of its.
    pub(crate) fn file(self, fd: i32) -> Result<OwnedFd, Errno> {
        self.process().file(fd)
    }
}

/// The processes and threads of a group, in the order of their creation.
pub(crate) struct Table {
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    /// Threads and processes that were made and have not called yet.
    pub(crate) unborn: u32,
    /// Calls and ends that were heard.
    pub(crate) heard: u64,
    /// A signalfd was made.
    pub(crate) has_signal_files: bool,
    /// Its first process ended, and with it the program.
    pub(crate) is_over: bool,
    pub(crate) limits: Limits,
    randomness: Randomness,
}

impl Table {
    /// With a first process that has not called yet.
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            processes: Vec::new(),
            threads: Vec::new(),
            unborn: 1,
            heard: 0,
            has_signal_files: false,
            is_over: false,
            limits: setup.limits,
            randomness: Randomness::Name(setup.name.clone()),
        }
    }

    /// Draws random numbers from the seed when start-up ends.
    pub(crate) fn seed_randomness(&mut self, seed: u64) {
        self.randomness = Randomness::Seed(seed);
        for (at, process) in self.processes.iter_mut().enumerate() {
            process.random = self.randomness.of(at);
        }
    }

    /// The program is over.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
        for thread in &mut self.threads {
            thread.state = State::Dead;
        }
    }

    /// A process made its first call.
    pub(crate) fn add_process(
        &mut self,
        pid: u32,
        own_pid: u32,
        parent: Option<usize>,
        image: Image,
    ) -> io::Result<usize> {
        let added = self.processes.len();
        self.processes.push(Process {
            pid,
            own_pid,
            handle: Process::open(pid)?,
            parent,
            alive: true,
            unreaped: false,
            image,
            random: self.randomness.of(added),
            used_ns: 0,
            signalled: false,
        });
        self.lend(added);
        Ok(added)
    }

    /// True if a thread runs, or is about to.
    pub(crate) fn is_running(&self) -> bool {
        self.unborn > 0 || self.threads.iter().any(Thread::is_running)
    }

    /// A thread, as the one that makes a call.
    pub(crate) fn caller(&self, thread: usize) -> Caller<'_> {
        Caller { table: self, number: thread }
    }

    /// The process of a thread.
    pub(crate) fn process_of(&self, thread: usize) -> &Process {
        &self.processes[self.threads[thread].process]
    }

    pub(crate) fn memory_of(&self, thread: usize) -> Memory {
        self.process_of(thread).memory()
    }

    pub(crate) fn file_of(&self, thread: usize, fd: i32) -> Result<OwnedFd, Errno> {
        self.process_of(thread).file(fd)
    }

    /// The random number generator of a thread.
    pub(crate) fn random_of(&mut self, thread: usize) -> &mut ChaCha8Rng {
        &mut self.processes[self.threads[thread].process].random
    }

    /// The file with this inode, from whichever process has it.
    pub(crate) fn descriptor_of(&self, inode: u64) -> Option<OwnedFd> {
        self.processes.iter().filter(|process| process.alive).find_map(|process| {
            let link = format!("socket:[{inode}]");
            std::fs::read_dir(format!("/proc/{}/fd", process.pid)).ok()?.flatten().find_map(|entry| {
                let target = std::fs::read_link(entry.path()).ok()?;
                let fd = entry.file_name().to_str()?.parse().ok()?;
                if target.as_os_str() == link.as_str() { process.file(fd).ok() } else { None }
            })
        })
    }

    pub(crate) fn has_dead_child(&self, process: usize, which: Option<u32>) -> bool {
        let is_child =
            |child: &&Process| child.parent == Some(process) && which.is_none_or(|pid| pid == child.own_pid);
        let mut children = self.processes.iter().filter(is_child);
        children.any(|child| child.unreaped)
    }

    /// A process made its first call: it is the one that its parent made by `vfork`, if the parent lends its memory.
    fn lend(&mut self, process: usize) {
        let parent = self.processes[process].parent;
        for thread in self.threads.iter_mut().filter(|thread| Some(thread.process) == parent) {
            if let State::Lends(borrower @ None) = &mut thread.state {
                *borrower = Some(process);
            }
        }
    }

    /// A process runs a program of its own, or ended: whoever lent it its memory goes on.
    pub(crate) fn unlent(&mut self, process: usize) {
        for thread in &mut self.threads {
            if matches!(thread.state, State::Lends(Some(borrower)) if borrower == process) {
                thread.state = State::Running;
            }
        }
        // Its other threads ended when it became another program.
        let pid = self.processes[process].pid;
        for thread in self.threads.iter_mut().filter(|thread| thread.process == process && thread.tid != pid)
        {
            thread.state = State::Dead;
        }
    }

    /// The only thread of a process that became another program runs. It has the number of the process, whichever thread made the call.
    pub(crate) fn take_over(&mut self, process: usize) {
        let pid = self.processes[process].pid;
        let is_first = |thread: &&mut Thread| thread.tid == pid && !matches!(thread.state, State::Dead);
        match self.threads.iter_mut().find(is_first) {
            Some(thread) => thread.state = State::Running,
            None => self.threads.push(Thread::new(pid, process, State::Running)),
        }
    }
}
