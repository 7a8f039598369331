//! Threads under ptrace: their registers, and calls that they are made to do.
//!
//! A traced thread belongs to the thread that traces it: so it is let go before the functions that trace return.

use std::{io, ptr::from_ref, time::Duration};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use syscalls::Sysno;

use super::memory::Memory;
use super::notify::{Listener, Notice};

pub(crate) type Registers = libc::user_regs_struct;

/// The instruction by which 64-bit programs call the kernel.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// How long a thread may take to come to a stop, or to a call.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// The pause between two looks at a thread that may have another number, and the most looks.
const LOOK: Duration = Duration::from_micros(50);
const LOOKS: u32 = 200_000;
/// Room for the extended registers of any processor so far: AMX has 8 KiB of tiles.
const MOST_EXTENDED: usize = 16 << 10;
/// What is below the stack pointer from here on is nobody's: further than the 128 bytes that a function may use without saying so.
const BELOW_STACK: u64 = 1 << 10;

/// The reason for which a traced thread has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Its process has another program.
    Entry,
    Other,
}

/// A thread under ptrace. If it is not let go, its process is killed.
pub(crate) struct Traced(Option<libc::pid_t>);

impl Traced {
    /// Begins to trace a thread. Processes and threads that it makes are traced, too.
    pub(crate) fn seize(thread: u32) -> io::Result<Self> {
        Self::seize_with(thread, libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACECLONE)
    }

    /// Begins to trace a thread that is about to have its process run another program.
    pub(crate) fn seize_for_entry(thread: u32) -> io::Result<Self> {
        Self::seize_with(thread, libc::PTRACE_O_TRACEEXEC)
    }

    fn seize_with(thread: u32, options: i32) -> io::Result<Self> {
        let options = options | libc::PTRACE_O_EXITKILL;
        let thread = thread as libc::pid_t;
        trace(libc::PTRACE_SEIZE, thread, 0, options as usize)?;
        Ok(Self(Some(thread)))
    }

    /// The thread or process that this one has just made, when it has stopped.
    pub(crate) fn made(&self) -> io::Result<Self> {
        let mut number: libc::c_ulong = 0;
        trace(libc::PTRACE_GETEVENTMSG, self.thread(), 0, (&raw mut number).addr())?;
        let mut made = Self(Some(libc::pid_t::try_from(number).map_err(io::Error::other)?));
        made.wait()?;
        Ok(made)
    }

    pub(crate) fn thread(&self) -> libc::pid_t {
        self.0.unwrap_or_default()
    }

    /// Waits until it stops.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        let status = wait_for(self.thread(), libc::__WALL)?;
        self.stopped(status.unwrap_or_default()).map(drop)
    }

    /// Waits until the kernel has done its `execve`. The thread then has the number of its process.
    pub(crate) fn wait_for_entry(&mut self, process: u32) -> io::Result<Stop> {
        let first = process as libc::pid_t;
        if self.thread() == first {
            let status = wait_for(first, libc::__WALL)?;
            return self.stopped(status.unwrap_or_default());
        }
        // By the number of the process, which belongs to another thread before the entry, or by its own one if the call fails.
        for _ in 0..LOOKS {
            for number in [first, self.thread()] {
                if let Ok(Some(status)) = wait_for(number, libc::__WALL | libc::WNOHANG) {
                    self.0 = Some(number);
                    return self.stopped(status);
                }
            }
            std::thread::sleep(LOOK);
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn stopped(&mut self, status: i32) -> io::Result<Stop> {
        if !libc::WIFSTOPPED(status) {
            self.0 = None;
            return Err(io::Error::other("it ended"));
        }
        Ok(if status >> 16 == libc::PTRACE_EVENT_EXEC { Stop::Entry } else { Stop::Other })
    }

    /// Takes it out of the call at which it stands; the registers with which it makes that call anew.
    pub(crate) fn leave_call(&mut self, listener: &Listener, stands: &Notice) -> io::Result<Registers> {
        trace(libc::PTRACE_INTERRUPT, self.thread(), 0, 0)?;
        listener.fail(stands, rustix::io::Errno::INTR);
        self.wait()?;
        let mut calling = self.registers()?;
        calling.rip -= SYSCALL.len() as u64;
        calling.rax = calling.orig_rax;
        // Not in a call: the kernel must not take it for one that is to be made again.
        calling.orig_rax = u64::MAX;
        if self.memory().read(calling.rip, SYSCALL.len())? != SYSCALL {
            return Err(io::Error::other("it calls in an unusual way"));
        }
        Ok(calling)
    }

    fn memory(&self) -> Memory {
        Memory(self.thread().unsigned_abs())
    }

    pub(crate) fn registers(&self) -> io::Result<Registers> {
        // SAFETY: the structure is plain numbers.
        let mut registers: Registers = unsafe { std::mem::zeroed() };
        trace(libc::PTRACE_GETREGS, self.thread(), 0, (&raw mut registers).addr())?;
        Ok(registers)
    }

    pub(crate) fn set_registers(&self, registers: &Registers) -> io::Result<()> {
        trace(libc::PTRACE_SETREGS, self.thread(), 0, from_ref(registers).addr())
    }

    /// The registers for vectors and floating-point numbers.
    pub(crate) fn extended(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; MOST_EXTENDED];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let kind = object::elf::NT_X86_XSTATE.0 as usize;
        trace(libc::PTRACE_GETREGSET as Request, self.thread(), kind, (&raw mut part).addr())?;
        bytes.truncate(part.iov_len);
        Ok(bytes)
    }

    pub(crate) fn set_extended(&self, bytes: &[u8]) -> io::Result<()> {
        let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let kind = object::elf::NT_X86_XSTATE.0 as usize;
        trace(libc::PTRACE_SETREGSET as Request, self.thread(), kind, from_ref(&part).addr())
    }

    /// The signals that it blocks.
    pub(crate) fn blocked(&self) -> io::Result<u64> {
        let mut set = 0u64;
        trace(libc::PTRACE_GETSIGMASK as Request, self.thread(), size_of::<u64>(), (&raw mut set).addr())?;
        Ok(set)
    }

    pub(crate) fn set_blocked(&self, set: u64) -> io::Result<()> {
        trace(libc::PTRACE_SETSIGMASK as Request, self.thread(), size_of::<u64>(), from_ref(&set).addr())
    }

    /// Lets it run to the beginning of its next call, or to the end of the call in which it is.
    pub(crate) fn run_to_call(&mut self) -> io::Result<()> {
        trace(libc::PTRACE_SYSCALL, self.thread(), 0, 0)?;
        self.wait()
    }

    /// Makes it do a call of which nobody is notified, as if it stood at `at`; what the call returned.
    pub(crate) fn call(&mut self, at: &Registers, call: Sysno, arguments: &[u64]) -> io::Result<u64> {
        self.set_registers(&prepared(at, call, arguments))?;
        self.run_to_call()?;
        self.run_to_call()?;
        self.returned()
    }

    /// The same, of a call of which `listener` is notified: with its notice something can be done before the kernel does it.
    pub(crate) fn notified_call(
        &mut self,
        at: &Registers,
        call: Sysno,
        arguments: &[u64],
        listener: &Listener,
        with: impl FnOnce(&Notice) -> io::Result<()>,
    ) -> io::Result<u64> {
        self.begin_call(at, call, arguments, listener, with)?;
        self.wait()?;
        self.returned()
    }

    /// Makes it do a call that makes a thread; the new thread, which has not run yet.
    pub(crate) fn make_thread(
        &mut self,
        at: &Registers,
        arguments: &[u64],
        listener: &Listener,
    ) -> io::Result<Self> {
        self.begin_call(at, Sysno::clone, arguments, listener, |_| Ok(()))?;
        self.wait()?;
        let made = self.made()?;
        self.run_to_call()?;
        self.returned()?;
        Ok(made)
    }

    fn begin_call(
        &mut self,
        at: &Registers,
        call: Sysno,
        arguments: &[u64],
        listener: &Listener,
        with: impl FnOnce(&Notice) -> io::Result<()>,
    ) -> io::Result<()> {
        let notice = self.notify_of(at, call, arguments, listener)?;
        with(&notice)?;
        listener.go(&notice);
        Ok(())
    }

    /// Lets it start a call, which the kernel does.
    pub(crate) fn start_call(
        &mut self,
        at: &Registers,
        call: Sysno,
        arguments: &[u64],
        listener: &Listener,
    ) -> io::Result<()> {
        let notice = self.notify_of(at, call, arguments, listener)?;
        listener.go(&notice);
        Ok(())
    }

    /// The notice of a call that it is made to do. Those of other threads are kept for later.
    fn notify_of(
        &mut self,
        at: &Registers,
        call: Sysno,
        arguments: &[u64],
        listener: &Listener,
    ) -> io::Result<Notice> {
        self.set_registers(&prepared(at, call, arguments))?;
        self.run_to_call()?;
        trace(libc::PTRACE_SYSCALL, self.thread(), 0, 0)?;
        loop {
            let notice = hear(listener)?;
            if notice.thread() == self.thread().unsigned_abs() {
                return Ok(notice);
            }
            listener.defer(notice);
        }
    }

    fn returned(&self) -> io::Result<u64> {
        /// Results from here on are errors.
        const ERRORS: i64 = -4095;
        let result = self.registers()?.rax as i64;
        if (ERRORS..0).contains(&result) {
            return Err(io::Error::from_raw_os_error(-result as i32));
        }
        Ok(result as u64)
    }

    /// Lends `bytes` to calls that it does: they are written where its stack, which ends at `at`, has nothing. What is there afterwards.
    pub(crate) fn lend<const N: usize>(
        &mut self,
        at: &Registers,
        bytes: [u8; N],
        calls: impl FnOnce(&mut Self, u64) -> io::Result<()>,
    ) -> io::Result<[u8; N]> {
        let place = (at.rsp - BELOW_STACK) & !0xf;
        let memory = self.memory();
        let before = memory.read(place, N)?;
        memory.write(place, &bytes)?;
        calls(self, place)?;
        let after = memory.read(place, N)?;
        memory.write(place, &before)?;
        after.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
    }

    pub(crate) fn let_go(mut self) -> io::Result<()> {
        trace(libc::PTRACE_DETACH, self.thread(), 0, 0)?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let Some(thread) = self.0 else { return };
        // SAFETY: the thread is traced by this one, so that its number is not used anew; the pointer is null.
        unsafe {
            libc::kill(thread, libc::SIGKILL);
            // Its dead body is this thread's as long as it is traced: nobody else can bury it.
            while self.0.is_some() && self.wait().is_ok() {}
        }
    }
}

/// The registers of a thread that is about to make a call.
pub(crate) fn prepared(at: &Registers, call: Sysno, arguments: &[u64]) -> Registers {
    let mut registers = *at;
    registers.rax = call as u64;
    let places = [
        &mut registers.rdi,
        &mut registers.rsi,
        &mut registers.rdx,
        &mut registers.r10,
        &mut registers.r8,
        &mut registers.r9,
    ];
    for (place, argument) in places.into_iter().zip(arguments) {
        *place = *argument;
    }
    registers
}

/// The type of the numbers of requests: C libraries differ in it.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// A request to the kernel; those used here take numbers or addresses.
pub(crate) fn trace(request: Request, thread: libc::pid_t, first: usize, second: usize) -> io::Result<()> {
    // SAFETY: addresses are of locals of the callers, of the type that the request asks for.
    let done = unsafe { libc::ptrace(request, thread, first, second) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits for a traced thread; its status, if it has stopped or ended.
fn wait_for(thread: libc::pid_t, options: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to a local.
        match unsafe { libc::waitpid(thread, &mut status, options) } {
            0 => return Ok(None),
            1.. => return Ok(Some(status)),
            _ => {}
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The next call that a group's threads make.
pub(crate) fn hear(listener: &Listener) -> io::Result<Notice> {
    loop {
        if poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&PATIENCE))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Some(notice) = listener.receive()? {
            return Ok(notice);
        }
    }
}
