//! The other threads of a process that is copied: a copy of a process has one thread, and these are made anew in it.

use std::io;

use linux_raw_sys::general::SS_ONSTACK;
use syscalls::Sysno;

use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::kernel::tracing::{Registers, Traced, hear};

/// Bytes of the kernel's `stack_t`.
const STACK: usize = size_of::<libc::stack_t>();
/// Bytes of the name of a thread, with the zero at its end.
const NAME: usize = 16;

/// What the kernel does when a thread ends.
#[derive(Default)]
pub(crate) struct Cleanup {
    /// Where its number is cleared, so that those who join it go on; 0 if nowhere.
    cleared: u64,
    /// Its list of locks to be given back, and the length of the list's head.
    robust: [u64; 2],
}

impl Cleanup {
    pub(crate) fn note(traced: &mut Traced, at: &Registers) -> io::Result<Self> {
        let cleared = traced.lend(at, [0; 8], |traced, place| {
            traced.call(at, Sysno::prctl, &[libc::PR_GET_TID_ADDRESS as u64, place]).map(drop)
        })?;
        let mut robust = [0u64; 2];
        let [head, length] = &mut robust;
        // SAFETY: both pointers are to locals.
        let got = unsafe {
            libc::syscall(libc::SYS_get_robust_list, traced.thread(), &raw mut *head, &raw mut *length)
        };
        if got < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { cleared: u64::from_ne_bytes(cleared), robust })
    }

    /// Sets both for a thread that was just made.
    pub(crate) fn restore(&self, traced: &mut Traced, at: &Registers, listener: &Listener) -> io::Result<()> {
        traced.call(at, Sysno::set_tid_address, &[self.cleared])?;
        if self.robust[0] != 0 {
            traced.notified_call(at, Sysno::set_robust_list, &self.robust, listener, |_| Ok(()))?;
        }
        Ok(())
    }
}

/// A thread that stands still in a call.
pub(crate) struct Sibling {
    /// The number that the program knows.
    pub(crate) number: u32,
    /// About to make that call.
    calling: Registers,
    extended: Vec<u8>,
    blocked: u64,
    /// The stack for its signals, as the kernel takes it.
    stack: [u8; STACK],
    cleanup: Cleanup,
    name: [u8; NAME],
}

impl Sibling {
    /// Notes how a thread stands, and leaves it there.
    pub(crate) fn note(listener: &Listener, stands: &Notice, number: u32) -> io::Result<Self> {
        let mut traced = Traced::seize(stands.thread())?;
        let calling = traced.leave_call(listener, stands)?;
        let (extended, blocked) = (traced.extended()?, traced.blocked()?);
        let stack = traced.lend(&calling, [0; STACK], |traced, place| {
            traced.notified_call(&calling, Sysno::sigaltstack, &[0, place], listener, |_| Ok(())).map(drop)
        })?;
        let flags = std::mem::offset_of!(libc::stack_t, ss_flags);
        if stack[flags] & SS_ONSTACK as u8 != 0 {
            return Err(io::Error::other("it handles a signal"));
        }
        let name = traced.lend(&calling, [0; NAME], |traced, place| {
            traced.call(&calling, Sysno::prctl, &[libc::PR_GET_NAME as u64, place]).map(drop)
        })?;
        let cleanup = Cleanup::note(&mut traced, &calling)?;
        traced.set_registers(&calling)?;
        traced.let_go()?;
        // It stands there for good: nobody answers.
        hear(listener)?;
        Ok(Self { number, calling, extended, blocked, stack, cleanup, name })
    }

    /// Makes the same thread in a copy of its process, whose first thread this is; about to make its call.
    pub(crate) fn make(&self, copy: &mut Traced, at: &Registers, listener: &Listener) -> io::Result<Traced> {
        let shared = libc::CLONE_VM
            | libc::CLONE_FS
            | libc::CLONE_FILES
            | libc::CLONE_SIGHAND
            | libc::CLONE_THREAD
            | libc::CLONE_SYSVSEM;
        let mut made = copy.make_thread(at, &[shared as u64, 0, 0, 0, 0], listener)?;
        let at = &self.calling;
        made.set_extended(&self.extended)?;
        self.cleanup.restore(&mut made, at, listener)?;
        made.lend(at, self.stack, |made, place| {
            made.notified_call(at, Sysno::sigaltstack, &[place, 0], listener, |_| Ok(())).map(drop)
        })?;
        made.lend(at, self.name, |made, place| {
            made.call(at, Sysno::prctl, &[libc::PR_SET_NAME as u64, place]).map(drop)
        })?;
        made.set_blocked(self.blocked)?;
        made.set_registers(at)?;
        Ok(made)
    }
}
