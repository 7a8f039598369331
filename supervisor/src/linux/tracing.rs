//! Copying a process that stands still in a call, by ptrace.
//!
//! The process is made to call `clone` again and again: each time it stands still there until it is let go, and then the
//! copy takes up the call at which the process stood at first. A traced process belongs to the thread that traces it:
//! so it is let go before the functions here return.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use syscalls::Sysno;

use super::{
    memory::Memory,
    notify::{Listener, Notice},
};

type Registers = libc::user_regs_struct;

/// The instruction by which 64-bit programs call the kernel.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// How long a process may take to come to a stop, or to a call.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// A process that stands still, ready to be copied.
pub(crate) struct Parked {
    process: u32,
    /// Its `clone`, which waits for an answer.
    notice: Notice,
    /// About to make that `clone`.
    cloning: Registers,
    /// About to make the call at which it stood.
    calling: Registers,
}

/// A process under ptrace. If it is not let go, it is killed.
struct Traced(Option<libc::pid_t>);

impl Traced {
    /// Begins to trace a process. Its children are traced, too.
    fn seize(process: u32) -> io::Result<Self> {
        let options = libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
        let process = process as libc::pid_t;
        trace(libc::PTRACE_SEIZE, process, options as usize)?;
        Ok(Self(Some(process)))
    }

    fn process(&self) -> libc::pid_t {
        self.0.unwrap_or_default()
    }

    /// Waits until it stops.
    fn wait(&mut self) -> io::Result<()> {
        let mut status = 0;
        // SAFETY: the pointer is to a local.
        while unsafe { libc::waitpid(self.process(), &mut status, libc::__WALL) } < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        if libc::WIFSTOPPED(status) {
            return Ok(());
        }
        self.0 = None;
        Err(io::Error::other("it ended"))
    }

    fn registers(&self) -> io::Result<Registers> {
        // SAFETY: the structure is plain numbers.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        trace(libc::PTRACE_GETREGS, self.process(), (&raw mut registers).addr())?;
        Ok(registers)
    }

    fn set_registers(&self, registers: &Registers) -> io::Result<()> {
        trace(libc::PTRACE_SETREGS, self.process(), std::ptr::from_ref(registers).addr())
    }

    /// Lets it run to the beginning of its next call, or to the end of the call in which it is.
    fn run_to_call(&mut self) -> io::Result<()> {
        trace(libc::PTRACE_SYSCALL, self.process(), 0)?;
        self.wait()
    }

    fn let_go(mut self) -> io::Result<()> {
        trace(libc::PTRACE_DETACH, self.process(), 0)?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let Some(process) = self.0 else { return };
        // SAFETY: the process is traced by this thread, so that its number is not used anew; the pointer is null.
        unsafe {
            libc::kill(process, libc::SIGKILL);
            // Its dead body is this thread's as long as it is traced: nobody else can bury it.
            while self.0.is_some() && self.wait().is_ok() {}
        }
    }
}

/// The type of the numbers of requests: C libraries differ in it.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// A request to the kernel; those used here take a number or an address as their last argument.
fn trace(request: Request, process: libc::pid_t, argument: usize) -> io::Result<()> {
    // SAFETY: addresses are of locals of the callers, of the type that the request asks for.
    let done = unsafe { libc::ptrace(request, process, 0usize, argument) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The next call that a group's processes make.
fn hear(listener: &Listener) -> io::Result<Notice> {
    loop {
        if poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&PATIENCE))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Some(notice) = listener.receive()? {
            return Ok(notice);
        }
    }
}

impl Parked {
    /// Takes a process out of the call at which it stands.
    pub(crate) fn new(listener: &Listener, stands: &Notice) -> io::Result<Self> {
        let process = stands.thread();
        let mut traced = Traced::seize(process)?;
        trace(libc::PTRACE_INTERRUPT, traced.process(), 0)?;
        listener.fail(stands, rustix::io::Errno::INTR);
        traced.wait()?;
        let mut calling = traced.registers()?;
        calling.rip -= SYSCALL.len() as u64;
        calling.rax = calling.orig_rax;
        // Not in a call: the kernel must not take it for one that is to be made again.
        calling.orig_rax = u64::MAX;
        if Memory(process).read(calling.rip, SYSCALL.len())? != SYSCALL {
            return Err(io::Error::other("it calls in an unusual way"));
        }
        let mut cloning = calling;
        cloning.rax = Sysno::clone as u64;
        // A sibling, so that the init hears of its end; with the same stack, in memory of its own.
        cloning.rdi = libc::CLONE_PARENT as u64;
        (cloning.rsi, cloning.rdx, cloning.r10, cloning.r8) = (0, 0, 0, 0);
        traced.set_registers(&cloning)?;
        traced.let_go()?;
        let notice = hear(listener)?;
        Ok(Self { process, notice, cloning, calling })
    }

    /// Copies the process; the call that the copy makes first.
    pub(crate) fn copy(&mut self, listener: &Listener) -> io::Result<Notice> {
        let mut traced = Traced::seize(self.process)?;
        listener.go(&self.notice);
        traced.wait()?;
        let mut number: libc::c_ulong = 0;
        trace(libc::PTRACE_GETEVENTMSG, traced.process(), (&raw mut number).addr())?;
        let mut copy = Traced(Some(libc::pid_t::try_from(number).map_err(io::Error::other)?));
        copy.wait()?;
        let mut session = self.calling;
        session.rax = Sysno::setsid as u64;
        copy.set_registers(&session)?;
        copy.run_to_call()?;
        copy.run_to_call()?;
        copy.set_registers(&self.calling)?;
        copy.let_go()?;
        // The kernel writes the outcome of `clone` at the end of the call.
        traced.run_to_call()?;
        traced.set_registers(&self.cloning)?;
        traced.let_go()?;
        let (one, other) = (hear(listener)?, hear(listener)?);
        let (parked, call) = if one.thread() == self.process { (one, other) } else { (other, one) };
        self.notice = parked;
        Ok(call)
    }
}
