//! The keeper: the init of the namespace in which copies of a template live, one after the other.
//!
//! Each copy finds what a program finds that was just started: an empty directory of its own, a `/proc` with its own
//! processes, and the first number after the init's.

use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::close::close_range;
use super::mounts::{guard_settings, mount_home, mount_processes};
use super::numbers::{open_numbers, set_last_number};
use super::plan::Plan;
use crate::HOME;

/// Makes the place for the first copy, when the template is ready.
const PREPARE: u8 = b'p';
/// Ends all processes of the last copy, and makes the place for the next one.
const CLEAR: u8 = b'c';
/// Sets the number of the last thread; four bytes, the lowest first, follow.
const NUMBER: u8 = b'n';
/// How long a command may take: giving back much memory takes a moment.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// The supervisor's end of a keeper.
pub(crate) struct NamespaceKeeper(OwnedFd);

impl NamespaceKeeper {
    pub(crate) fn new(commands: OwnedFd) -> Self {
        Self(commands)
    }

    /// True if the template left the place as it was, and copies can be given what a fresh start is given.
    pub(crate) fn prepares(&self) -> Result<bool, Errno> {
        self.command(PREPARE)
    }

    /// True if nothing is left of the last copy.
    pub(crate) fn clears(&self) -> Result<bool, Errno> {
        self.command(CLEAR)
    }

    /// The next thread of a copy gets this number.
    pub(crate) fn gives_number(&self, next: u32) -> Result<(), Errno> {
        let [a, b, c, d] = (next - 1).to_le_bytes();
        if self.ask(&[NUMBER, a, b, c, d])? { Ok(()) } else { Err(Errno::PERM) }
    }

    fn command(&self, command: u8) -> Result<bool, Errno> {
        self.ask(&[command])
    }

    fn ask(&self, command: &[u8]) -> Result<bool, Errno> {
        rustix::net::send(&self.0, command, rustix::net::SendFlags::NOSIGNAL)?;
        if poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)], Some(&PATIENCE))? == 0 {
            return Err(Errno::TIMEDOUT);
        }
        let mut answer = [0];
        Ok(rustix::io::read(&self.0, &mut answer)? == 1 && answer[0] == 1)
    }
}

/// The keeper itself.
///
/// # Safety
/// Only in a copy made by `fork`, as the first process of its namespace.
pub(super) unsafe fn run_keeper(plan: &Plan) -> ! {
    /// Where its commands come from; all other descriptors are closed.
    const COMMANDS: RawFd = 0;
    // SAFETY: the calls are async-signal-safe, and all pointers are to constants or to locals with their sizes.
    unsafe {
        libc::setsid();
        libc::dup2(plan.keeper, COMMANDS);
        close_range(COMMANDS as u32 + 1, u32::MAX, 0);
        let mut numbers = -1;
        loop {
            let mut command = 0u8;
            if libc::read(COMMANDS, (&raw mut command).cast(), 1) != 1 {
                libc::_exit(0);
            }
            let mut done = true;
            if command == PREPARE {
                done = !plan.own_files || is_old();
                if plan.own_files && !mount_processes() {
                    // Copies would see the numbers of others where a fresh start sees its own.
                    done &= plan.is_user;
                }
                numbers = open_numbers();
                done &= !plan.own_files || guard_settings();
            } else if command == CLEAR {
                end_all();
                if plan.own_files && !is_old() {
                    done = libc::umount2(HOME.as_ptr(), libc::MNT_DETACH) == 0 && mount_home(plan);
                }
            }
            if command == NUMBER {
                let mut last = [0; 4];
                done = libc::read(COMMANDS, last.as_mut_ptr().cast(), 4) == 4;
                done &= set_last_number(numbers, u32::from_le_bytes(last));
            } else {
                // The next process is the second one again.
                done &= set_last_number(numbers, 1);
            }
            let answer = u8::from(done);
            libc::write(COMMANDS, (&raw const answer).cast(), 1);
        }
    }
}

/// True if nothing was made in the directory for the program's own files, or taken from it.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn is_old() -> bool {
    // SAFETY: the path is a constant, and the structure a local of plain numbers.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::stat(HOME.as_ptr(), &mut stat) == 0 && stat.st_mtime == 0 && stat.st_mtime_nsec == 0
    }
}

/// Ends all other processes of the namespace, and waits until they are gone.
///
/// # Safety
/// Only in the first process of a namespace.
unsafe fn end_all() {
    // SAFETY: plain calls; the pointers are null or to a local.
    unsafe {
        while libc::kill(-1, libc::SIGKILL) == 0 {
            while libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) > 0 {}
            let moment = libc::timespec { tv_sec: 0, tv_nsec: 20_000 };
            libc::nanosleep(&moment, std::ptr::null_mut());
        }
    }
}
