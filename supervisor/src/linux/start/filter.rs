//! A seccomp filter: the calls of which the supervisor is notified.
//!
//! All others are the kernel's business: they neither wait, nor depend on time, nor leave the program's world.

use std::mem::offset_of;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, seccomp_data, sock_filter,
};
use linux_raw_sys::general::RLIMIT_CPU;
use syscalls::Sysno;

use crate::ClockReads;

/// The descriptor by which a new process sends its listener.
pub(crate) const START_FD: i32 = 1000;
/// The flags with which it does, which are nobody else's. The filter lets such a send pass, and [`seal`] forbids it from then on.
pub(crate) const START_FLAGS: i32 = libc::MSG_CONFIRM | libc::MSG_DONTROUTE | libc::MSG_RST;
/// Commands of `ioctl` about network interfaces are between these two, the second not included.
const INTERFACES: (u32, u32) = (0x8910, 0x8a00);

/// The condition on which the supervisor is notified of a call.
enum When {
    Always,
    /// An argument is this.
    Is(usize, u32),
    /// An argument is not this.
    IsNot(usize, u32),
    /// An argument is at least the first, and less than the second.
    Within(usize, (u32, u32)),
    /// An argument is not null.
    Set(usize),
    /// An argument has one of these bits.
    Has(usize, u32),
    /// An argument has none of these bits.
    Without(usize, u32),
}

/// Calls that are answered, watched, or made to wait.
const NOTIFIED: &[Sysno] = &[
    Sysno::clock_gettime,
    Sysno::gettimeofday,
    Sysno::time,
    Sysno::nanosleep,
    Sysno::clock_nanosleep,
    Sysno::clock_getres,
    Sysno::ppoll,
    Sysno::select,
    Sysno::pselect6,
    Sysno::epoll_pwait2,
    Sysno::futex,
    Sysno::futex_wait,
    Sysno::futex_waitv,
    Sysno::futex_wake,
    Sysno::futex_requeue,
    Sysno::getrandom,
    Sysno::socket,
    Sysno::connect,
    Sysno::bind,
    Sysno::listen,
    Sysno::accept,
    Sysno::accept4,
    Sysno::getsockname,
    Sysno::getpeername,
    Sysno::setsockopt,
    Sysno::getsockopt,
    Sysno::read,
    Sysno::readv,
    Sysno::recvmsg,
    Sysno::recvmmsg,
    Sysno::clone,
    Sysno::clone3,
    Sysno::fork,
    Sysno::vfork,
    Sysno::exit,
    Sysno::exit_group,
    Sysno::wait4,
    Sysno::waitid,
    Sysno::execve,
    Sysno::execveat,
    Sysno::kill,
    Sysno::tkill,
    Sysno::tgkill,
    Sysno::rt_sigqueueinfo,
    Sysno::rt_tgsigqueueinfo,
    Sysno::pidfd_send_signal,
    Sysno::pause,
    Sysno::rt_sigsuspend,
    Sysno::rt_sigtimedwait,
    Sysno::getrusage,
    Sysno::times,
    Sysno::sysinfo,
    Sysno::sched_getaffinity,
    Sysno::sched_setaffinity,
    Sysno::getcpu,
    Sysno::sched_yield,
    Sysno::open,
    Sysno::openat,
    Sysno::openat2,
    // Their times are the host's.
    Sysno::stat,
    Sysno::lstat,
    Sysno::fstat,
    Sysno::newfstatat,
    Sysno::statx,
    Sysno::mkdir,
    Sysno::mkdirat,
    Sysno::rename,
    Sysno::renameat,
    Sysno::renameat2,
    Sysno::readlink,
    Sysno::readlinkat,
    Sysno::alarm,
    Sysno::setitimer,
    Sysno::getitimer,
    Sysno::timer_create,
    Sysno::timer_settime,
    Sysno::timer_gettime,
    Sysno::timer_getoverrun,
    Sysno::timer_delete,
    Sysno::timerfd_create,
    Sysno::timerfd_settime,
    Sysno::timerfd_gettime,
    Sysno::flock,
    // They may find a pipe full.
    Sysno::write,
    Sysno::writev,
    // It can be the child of a process that it must not see.
    Sysno::getppid,
    // An address can be in what they point to.
    Sysno::sendmsg,
    Sysno::sendmmsg,
    // They make what copies of a process share: a process is copied before.
    Sysno::eventfd,
    Sysno::eventfd2,
    Sysno::inotify_init,
    Sysno::inotify_init1,
    Sysno::pipe,
    Sysno::pipe2,
    Sysno::signalfd,
    Sysno::signalfd4,
    Sysno::socketpair,
    // The first calls of a new program or thread: it is stopped there.
    Sysno::arch_prctl,
    Sysno::set_robust_list,
    Sysno::sigaltstack,
    Sysno::rt_sigprocmask,
];

/// Calls without a place in a simulated host: the program sees that they are forbidden, the driver that they were tried.
pub(crate) const FORBIDDEN: &[Sysno] = &[
    Sysno::ptrace,
    Sysno::process_vm_readv,
    Sysno::process_vm_writev,
    Sysno::pidfd_getfd,
    Sysno::mount,
    Sysno::umount2,
    Sysno::move_mount,
    Sysno::fsopen,
    Sysno::fsmount,
    Sysno::fsconfig,
    Sysno::fspick,
    Sysno::open_tree,
    Sysno::mount_setattr,
    Sysno::pivot_root,
    Sysno::chroot,
    Sysno::bpf,
    Sysno::setns,
    Sysno::unshare,
    Sysno::reboot,
    Sysno::kexec_load,
    Sysno::kexec_file_load,
    Sysno::init_module,
    Sysno::finit_module,
    Sysno::delete_module,
    Sysno::swapon,
    Sysno::swapoff,
    Sysno::settimeofday,
    Sysno::clock_settime,
    Sysno::clock_adjtime,
    Sysno::adjtimex,
    Sysno::sethostname,
    Sysno::setdomainname,
    Sysno::acct,
    Sysno::quotactl,
    Sysno::iopl,
    Sysno::ioperm,
    Sysno::syslog,
    Sysno::vhangup,
    Sysno::userfaultfd,
    Sysno::perf_event_open,
    Sysno::fanotify_init,
    Sysno::open_by_handle_at,
    Sysno::add_key,
    Sysno::request_key,
    Sysno::keyctl,
    Sysno::lookup_dcookie,
    Sysno::seccomp,
    Sysno::mq_timedsend,
    Sysno::mq_timedreceive,
    Sysno::semop,
    Sysno::semtimedop,
    Sysno::msgrcv,
];

/// Calls that look as if the kernel were older: programs fall back on others.
const ABSENT: &[Sysno] = &[
    Sysno::io_uring_setup,
    Sysno::io_uring_enter,
    Sysno::io_uring_register,
    // Its area shows the number of the real processor.
    Sysno::rseq,
    Sysno::io_setup,
    // No limit counts its memory.
    Sysno::memfd_secret,
    // They show numbers, pages and addresses of the machine.
    Sysno::cachestat,
    Sysno::kcmp,
    Sysno::listmount,
    Sysno::mincore,
    Sysno::name_to_handle_at,
    Sysno::statmount,
];

/// Calls from this number on came with Linux 6.13 and later: nobody has looked at what they reach. Programs fall back on others.
const UNKNOWN: u32 = Sysno::mseal as u32 + 1;

/// Room for a file is not taken in advance: programs make the file longer instead, which costs no memory where a file
/// system is kept in it.
const UNSUPPORTED: Sysno = Sysno::fallocate;

/// Sends, which are points in the `Notified` mode.
const SENDS: &[Sysno] = &[Sysno::sendto, Sysno::sendfile];

/// Commands of `fcntl` that look for locks, take them or wait for them.
const LOCKS: [u32; 6] = [
    libc::F_GETLK as u32,
    libc::F_SETLK as u32,
    libc::F_SETLKW as u32,
    libc::F_OFD_GETLK as u32,
    libc::F_OFD_SETLK as u32,
    libc::F_OFD_SETLKW as u32,
];

/// `F_SETSIG`, which libc does not name everywhere.
pub(crate) const SET_SIGNAL: u32 = 10;

/// Calls after which what was written survives a loss of power.
const SYNCS: &[Sysno] = &[Sysno::fsync, Sysno::fdatasync];

fn rules(clock_reads: ClockReads, syncs: bool, stacks: bool) -> Vec<(Sysno, When)> {
    let mut rules: Vec<_> =
        NOTIFIED.iter().chain(SHARED).chain(FORBIDDEN).map(|&call| (call, When::Always)).collect();
    if syncs {
        rules.extend(SYNCS.iter().map(|&call| (call, When::Always)));
    }
    rules.push((Sysno::ioctl, When::Within(1, INTERFACES)));
    // Memory that no limit of a process counts.
    rules.push((Sysno::mmap, When::Has(3, (libc::MAP_SHARED | libc::MAP_GROWSDOWN) as u32)));
    rules.push((Sysno::memfd_create, When::Always));
    // Its files would no longer be those of its process.
    rules.push((Sysno::close_range, When::Has(2, libc::CLOSE_RANGE_UNSHARE)));
    // A signal of the kernel's own would stop it unseen.
    rules.push((Sysno::fcntl, When::Is(1, SET_SIGNAL)));
    rules.push((Sysno::personality, When::Always));
    rules.push((Sysno::setrlimit, When::Is(0, RLIMIT_CPU)));
    rules.push((Sysno::prlimit64, When::Is(1, RLIMIT_CPU)));
    rules.extend(LOCKS.map(|command| (Sysno::fcntl, When::Is(1, command))));
    rules.push((Sysno::fcntl, When::Is(1, libc::F_SETLEASE as u32)));
    match clock_reads {
        ClockReads::Page => {
            // Those that cannot wait need no answer of ours.
            rules.extend([
                (Sysno::poll, When::IsNot(2, 0)),
                (Sysno::epoll_wait, When::IsNot(3, 0)),
                (Sysno::epoll_pwait, When::IsNot(3, 0)),
                (Sysno::recvfrom, When::Without(3, libc::MSG_DONTWAIT as u32)),
                (Sysno::sendto, if stacks { When::Always } else { When::Set(4) }),
            ]);
        }
        ClockReads::Notified => {
            let all = [Sysno::poll, Sysno::epoll_wait, Sysno::epoll_pwait, Sysno::recvfrom];
            rules.extend(all.map(|call| (call, When::Always)));
            rules.extend(SENDS.iter().map(|&call| (call, When::Always)));
        }
    }
    rules
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: yes, jf: no, k }
}

fn load(offset: usize) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, offset as u32)
}

/// The lower half of an argument: all that are tested are `int`s.
fn load_arg(n: usize) -> sock_filter {
    load(offset_of!(seccomp_data, args) + 8 * n)
}

/// The upper half of an argument.
fn load_upper(n: usize) -> sock_filter {
    load(offset_of!(seccomp_data, args) + 8 * n + 4)
}

fn answer(action: u32) -> sock_filter {
    statement(BPF_RET | BPF_K, action)
}

/// The answer to the send by which a new process hands over its listener; the number of the call is loaded before and after.
fn first_send(action: u32) -> [sock_filter; 7] {
    [
        jump(BPF_JEQ, Sysno::sendmsg as u32, 0, 6),
        load_arg(0),
        jump(BPF_JEQ, START_FD as u32, 0, 3),
        load_arg(2),
        jump(BPF_JEQ, START_FLAGS as u32, 0, 1),
        answer(action),
        load(offset_of!(seccomp_data, nr)),
    ]
}

/// The filter that ends the exceptions which the first one makes: a program must not send what nobody looks at, and must not have calls of
/// the supervisor's fail by a filter of its own.
pub(crate) fn seal() -> Vec<sock_filter> {
    let mut program = vec![load(offset_of!(seccomp_data, nr))];
    program.extend(first_send(libc::SECCOMP_RET_ERRNO | libc::EBADF as u32));
    program.extend([
        jump(BPF_JEQ, Sysno::prctl as u32, 0, 4),
        load_arg(0),
        jump(BPF_JEQ, libc::PR_SET_SECCOMP as u32, 0, 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        load(offset_of!(seccomp_data, nr)),
    ]);
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

/// Calls about what processes share by numbers and names of the machine: shared memory, semaphores and queues.
pub(crate) const SHARED: &[Sysno] = &[
    Sysno::shmget,
    Sysno::shmat,
    Sysno::shmctl,
    Sysno::semget,
    Sysno::semctl,
    Sysno::msgget,
    Sysno::msgctl,
    Sysno::msgsnd,
    Sysno::mq_open,
    Sysno::mq_unlink,
];

/// The filter as the kernel takes it. With `syncs`, the supervisor is notified of those of files, too.
pub(crate) fn program(clock_reads: ClockReads, syncs: bool, stacks: bool) -> Vec<sock_filter> {
    /// `AUDIT_ARCH_X86_64`, which libc does not name: `EM_X86_64`, 64 bits, little endian.
    const X86_64: u32 = libc::EM_X86_64 as u32 | 0x8000_0000 | 0x4000_0000;
    /// Calls of the x32 interface begin here.
    const X32: u32 = 0x4000_0000;
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let notify = libc::SECCOMP_RET_USER_NOTIF;
    let mut program = vec![
        load(offset_of!(seccomp_data, arch)),
        jump(BPF_JEQ, X86_64, 1, 0),
        answer(absent),
        load(offset_of!(seccomp_data, nr)),
        jump(BPF_JGE, X32, 0, 1),
        answer(absent),
    ];
    program.extend(first_send(libc::SECCOMP_RET_ALLOW));
    program.extend([jump(BPF_JGE, UNKNOWN, 0, 1), answer(absent)]);
    for call in ABSENT {
        program.extend([jump(BPF_JEQ, *call as u32, 0, 1), answer(absent)]);
    }
    let unsupported = libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32;
    program.extend([jump(BPF_JEQ, UNSUPPORTED as u32, 0, 1), answer(unsupported)]);
    for (call, when) in rules(clock_reads, syncs, stacks) {
        let (argument, test) = match when {
            When::Always => {
                program.extend([jump(BPF_JEQ, call as u32, 0, 1), answer(notify)]);
                continue;
            }
            When::Within(n, (least, most)) => {
                let reload = load(offset_of!(seccomp_data, nr));
                program.extend([jump(BPF_JEQ, call as u32, 0, 5), load_arg(n), jump(BPF_JGE, least, 0, 2)]);
                program.extend([jump(BPF_JGE, most, 1, 0), answer(notify), reload]);
                continue;
            }
            When::Set(n) => {
                let reload = load(offset_of!(seccomp_data, nr));
                program.extend([jump(BPF_JEQ, call as u32, 0, 6), load_arg(n), jump(BPF_JEQ, 0, 0, 2)]);
                program.extend([load_upper(n), jump(BPF_JEQ, 0, 1, 0), answer(notify), reload]);
                continue;
            }
            When::Is(n, value) => (n, jump(BPF_JEQ, value, 0, 1)),
            When::IsNot(n, value) => (n, jump(BPF_JEQ, value, 1, 0)),
            When::Has(n, bits) => (n, jump(BPF_JSET, bits, 0, 1)),
            When::Without(n, bits) => (n, jump(BPF_JSET, bits, 1, 0)),
        };
        let reload = load(offset_of!(seccomp_data, nr));
        program.extend([jump(BPF_JEQ, call as u32, 0, 4), load_arg(argument), test, answer(notify), reload]);
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}
