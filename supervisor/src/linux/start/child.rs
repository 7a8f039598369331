//! The two processes of a new program, between fork and exec.
//!
//! The first is the init of a PID namespace of its own, with a mount and a host name of its own: when it ends, the kernel kills
//! all others. The second becomes the program. Only calls are made that are safe in a copy of a process with several threads:
//! everything is prepared before.

use std::{
    ffi::CStr,
    io,
    mem::MaybeUninit,
    os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd},
};

use super::close::close_range;
use super::filter::{START_FD, START_FLAGS};
use super::mounts::mount_files;
use super::namespace::run_keeper;
use super::numbers::{open_numbers, set_last_number};
use super::plan::{OWN_FD, Plan, Role, give_up};
use super::privileges::{KEPT, TO_BE_COPIED, inherit};

/// The number of a template's keeper: one that no thread is given, so that those of the program have the numbers of a fresh start.
const KEEPER: libc::pid_t = 30_000;

/// A copy of this process, with its pidfd in the original. Unlike the C library's `fork` it runs no handlers and takes no locks.
///
/// # Safety
/// The copy (`None`) may only make async-signal-safe calls, and must not return into code that does others.
pub(super) unsafe fn fork(flags: i32) -> io::Result<Option<OwnedFd>> {
    let mut pidfd: RawFd = -1;
    // SAFETY: the structure is plain numbers.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = (libc::CLONE_PIDFD | flags) as u64;
    arguments.pidfd = &raw mut pidfd as u64;
    // A sibling takes the signal of its elder.
    let exit_signal = if flags & libc::CLONE_PARENT == 0 { libc::SIGCHLD } else { 0 };
    arguments.exit_signal = exit_signal as u64;
    // SAFETY: without CLONE_VM the copy has memory of its own, so that the stack may be shared.
    match unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size_of::<libc::clone_args>()) } {
        0 => Ok(None),
        // SAFETY: the kernel made the descriptor for us.
        pid if pid > 0 => Ok(Some(unsafe { OwnedFd::from_raw_fd(pidfd) })),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The init: prepares the surroundings, starts the program, and ends with it or with the supervisor.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn run_init(plan: &mut Plan) -> ! {
    // SAFETY: the calls are async-signal-safe, and all pointers are to what `plan` holds.
    unsafe {
        libc::setsid();
        keep_own(plan);
        let mut mapped = 0u8;
        if plan.is_mapped && libc::read(plan.control, (&raw mut mapped).cast(), 1) != 1 {
            libc::_exit(126);
        }
        if plan.own_files {
            mount_files(plan);
        } else if plan.role == Role::Template {
            plan.numbers = open_numbers();
        }
        let name = plan.name.as_bytes();
        libc::sethostname(name.as_ptr().cast(), name.len());
        let mut child = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(child.as_mut_ptr());
        libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, child.as_ptr(), std::ptr::null_mut());
        if plan.role == Role::Template {
            // Copies are in the keeper's namespace, below this one.
            set_last_number(plan.numbers, KEEPER as u32 - 1);
            match fork(libc::CLONE_NEWPID) {
                Ok(None) => run_keeper(plan),
                Ok(Some(_)) => {}
                Err(_) => give_up(plan.control, 8),
            }
            set_last_number(plan.numbers, 1);
        }
        let pidfd = match fork(0) {
            Ok(None) => run_program(plan),
            Ok(Some(pidfd)) => pidfd.into_raw_fd(),
            Err(_) => give_up(plan.control, 4),
        };
        let kept = [1000, 1001, 1002];
        libc::dup2(plan.lifeline, kept[0]);
        libc::dup2(plan.report, kept[1]);
        libc::dup2(pidfd, kept[2]);
        close_range(0, 999, 0);
        close_range(1003, u32::MAX, 0);
        if plan.role == Role::Template {
            libc::dup2(libc::signalfd(-1, child.as_ptr(), 0), kept[2]);
            report_copies(kept);
        }
        wait_for_either([kept[0], kept[2]]);
        let mut status = 0;
        if libc::waitpid(2, &mut status, libc::WNOHANG) == 2 {
            libc::write(kept[1], (&raw const status).cast(), size_of::<i32>());
        }
        libc::_exit(0)
    }
}

/// Closes all descriptors but those of the plan, which are moved out of the way. Ends of other programs' connections are among
/// them: the supervisor waits for the program's listener, so that it goes on only when they are closed.
///
/// # Safety
/// Only in a copy made by `fork`, before it makes another one.
unsafe fn keep_own(plan: &mut Plan) {
    let [input, output, errors] = &mut plan.files;
    let own =
        [input, output, errors, &mut plan.control, &mut plan.keeper, &mut plan.lifeline, &mut plan.report];
    let last = OWN_FD + own.len() as RawFd;
    // SAFETY: calls on numbers.
    unsafe {
        for (fd, place) in own.into_iter().zip(OWN_FD..) {
            libc::dup2(*fd, place);
            *fd = place;
        }
        close_range(0, OWN_FD as u32 - 1, 0);
        close_range(last as u32, u32::MAX, 0);
    }
}

/// Waits until one of the files is ready; whether it is the first.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn wait_for_either(files: [RawFd; 2]) -> bool {
    let mut watched = files.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    while watched.iter().all(|file| file.revents == 0) {
        // SAFETY: two entries, and both are there.
        unsafe { libc::poll(watched.as_mut_ptr(), 2, -1) };
    }
    watched[0].revents != 0
}

/// The init of a template: reports how each copy ended, and ends with the template or its keeper.
///
/// # Safety
/// Only in a copy made by `fork`; the files are the lifeline, the report, and the signals of ended children.
unsafe fn report_copies([lifeline, report, signals]: [RawFd; 3]) -> ! {
    // SAFETY: the calls are async-signal-safe, and all pointers are to locals with their sizes.
    unsafe {
        while !wait_for_either([lifeline, signals]) {
            let mut signal = MaybeUninit::<libc::signalfd_siginfo>::uninit();
            libc::read(signals, signal.as_mut_ptr().cast(), size_of::<libc::signalfd_siginfo>());
            let mut status = 0;
            loop {
                match libc::waitpid(-1, &mut status, libc::WNOHANG) {
                    2 | KEEPER => libc::_exit(0),
                    1.. => libc::write(report, (&raw const status).cast(), size_of::<i32>()),
                    _ => break,
                };
            }
        }
        libc::_exit(0)
    }
}

/// The second process: limits itself, installs the filter, hands over the listener, and becomes the program.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn run_program(plan: &Plan) -> ! {
    // SAFETY: the calls are async-signal-safe, and all pointers are to locals or to what `plan` holds.
    unsafe {
        // Above all that is moved below, so that none is overwritten before it was moved.
        let high = |fd| libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, START_FD + 1);
        let [stdin, stdout, stderr] = plan.files.map(high);
        libc::dup3(high(plan.control), START_FD, libc::O_CLOEXEC);
        for (fd, target) in [(stdin, 0), (stdout, 1), (stderr, 2)] {
            libc::dup2(fd, target);
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::umask(0o022);
        // A group of processes of its own, as each copy has one.
        libc::setsid();
        // Root without the means to raise its limits or to change the machine; its files stay readable.
        let keeps = |capability: &u32| {
            KEPT.contains(capability) || plan.role == Role::Template && TO_BE_COPIED.contains(capability)
        };
        for capability in (0..64).filter(|capability| !keeps(capability)) {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        if plan.role == Role::Template && plan.is_user {
            inherit(&TO_BE_COPIED);
        }
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        let limits = [
            (libc::RLIMIT_CORE, 0),
            (libc::RLIMIT_DATA, plan.limits.memory),
            (libc::RLIMIT_FSIZE, plan.limits.file),
            (libc::RLIMIT_NOFILE, plan.limits.descriptors.max(1024)),
            (libc::RLIMIT_STACK, 8 << 20),
        ];
        for (resource, most) in limits {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            if libc::setrlimit(resource, &limit) < 0 {
                give_up(START_FD, 5);
            }
        }
        if plan.dir.as_ref().is_some_and(|dir| libc::chdir(dir.as_ptr()) < 0) {
            give_up(START_FD, 6);
        }
        close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let filter =
            libc::sock_fprog { len: plan.filter.len() as u16, filter: plan.filter.as_ptr().cast_mut() };
        let install = |flags: libc::c_ulong| {
            let flags = flags | libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) as RawFd
        };
        let mut listener = install(libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
        if listener < 0 {
            // Kernels before 5.19 do not know the flag.
            listener = install(0);
        }
        if listener < 0 {
            give_up(START_FD, 7);
        }
        send_descriptor(START_FD, listener);
        let seal = libc::sock_fprog { len: plan.seal.len() as u16, filter: plan.seal.as_ptr().cast_mut() };
        if libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const seal) < 0 {
            libc::_exit(126);
        }
        libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.variables.as_ptr());
        let why = why_not(*libc::__errno_location());
        for part in [c"[picklock] failed to start ", &plan.program, c": ", why, c"\n"] {
            libc::write(2, part.as_ptr().cast(), part.count_bytes());
        }
        libc::_exit(127)
    }
}

/// The reason why the kernel does not start a program, in words: a look-up of them is not async-signal-safe.
fn why_not(errno: i32) -> &'static CStr {
    match errno {
        libc::ENOENT => {
            c"the interpreter that its first line names (#!), or the loader that it asks for, is not there"
        }
        libc::ENOEXEC => c"it is no program of this machine, and its first line names no interpreter (#!)",
        libc::EACCES => c"it, or the interpreter that its first line names (#!), may not be executed",
        libc::E2BIG => c"its arguments and variables are too long",
        libc::ENOMEM => c"there is not enough memory",
        _ => c"the kernel refused to",
    }
}

/// Sends a descriptor through a socket.
///
/// # Safety
/// Both must be open.
unsafe fn send_descriptor(socket: RawFd, fd: RawFd) {
    // SAFETY: the message and what it points to are locals that outlive the call, with room for one descriptor.
    unsafe {
        let mut byte = 0u8;
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut room = [0u64; 4];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(socket, &message, START_FLAGS);
    }
}
