//! Start-up: what a program does before its first step.
//!
//! It may look at files and at the clock, draw random numbers, and make threads, which wait for each other. Whatever else a thread
//! calls, it ends its own start-up by: to wait for a time, or for a file at which nothing is there yet, to write, to connect, to make a
//! process. The program's ends with that of its last thread.

use std::os::fd::AsFd;

use rustix::event::PollFlags;
use syscalls::Sysno;

use crate::linux::kernel::notify::Notice;
use crate::linux::kernel::polling::{is_ready, may_wait};
use crate::linux::state::table::Caller;

/// Calls that belong to a start-up. Reads do, too, if they cannot wait.
const PREPARATIONS: &[Sysno] = &[
    Sysno::arch_prctl,
    Sysno::clock_getres,
    Sysno::clock_gettime,
    Sysno::connect,
    Sysno::eventfd,
    Sysno::eventfd2,
    Sysno::execve,
    Sysno::execveat,
    Sysno::exit,
    Sysno::fstat,
    Sysno::futex,
    Sysno::getcpu,
    Sysno::getpeername,
    Sysno::getppid,
    Sysno::getrandom,
    Sysno::getrusage,
    Sysno::getsockname,
    Sysno::getsockopt,
    Sysno::gettimeofday,
    Sysno::lstat,
    Sysno::mmap,
    Sysno::memfd_create,
    Sysno::personality,
    Sysno::prlimit64,
    Sysno::newfstatat,
    Sysno::open,
    Sysno::openat,
    Sysno::openat2,
    Sysno::pipe,
    Sysno::pipe2,
    Sysno::readlink,
    Sysno::readlinkat,
    Sysno::rt_sigprocmask,
    Sysno::sched_getaffinity,
    Sysno::sched_setaffinity,
    Sysno::sched_yield,
    Sysno::set_robust_list,
    Sysno::setrlimit,
    Sysno::sigaltstack,
    Sysno::stat,
    Sysno::statx,
    Sysno::sysinfo,
    Sysno::time,
    // Its numbers are the group's own, and it does not run yet.
    Sysno::timer_create,
    Sysno::times,
];

/// After so many calls start-up is over. Where each clock read is a call, importing a library of Python is ten thousand.
pub(crate) const START_UP_CALLS: u32 = 200_000;

fn makes_thread(flags: u64) -> bool {
    flags & libc::CLONE_THREAD as u64 != 0
}

/// True if a call belongs to start-up.
pub(crate) fn prepares(caller: Caller<'_>, notice: &Notice) -> bool {
    match notice.call() {
        Sysno::read | Sysno::readv => {
            caller.file(notice.int(0)).is_ok_and(|file| may_wait(&file) == Ok(false))
        }
        Sysno::write | Sysno::writev => !matches!(notice.int(0), 1 | 2),
        // The C library asks on its way for services that are never there.
        Sysno::socket => notice.int(0) == libc::AF_UNIX,
        Sysno::clone => makes_thread(notice.arg(0)),
        Sysno::clone3 => caller.memory().u64(notice.arg(0)).is_ok_and(makes_thread),
        // Rust's runtime asks whether its first three descriptors are open.
        Sysno::poll => notice.int(2) == 0,
        // Another thread has done what this one waited for, as one that reads the files of a library does. A wait that has to be held is
        // begun by each copy anew.
        Sysno::epoll_wait | Sysno::epoll_pwait => {
            notice.int(3) == 0
                || caller.file(notice.int(0)).is_ok_and(|epoll| is_ready(&[(epoll.as_fd(), PollFlags::IN)]))
        }
        call => PREPARATIONS.contains(&call),
    }
}
