//! Starting a program under supervision.
//!
//! Two processes are made. The first is the init of a PID namespace of its own, with a mount and a host name of its
//! own: when it ends, the kernel kills all others. The second becomes the program. Between fork and exec only
//! calls are made that are safe in a copy of a process with several threads: everything is prepared before.

use std::{
    ffi::{CStr, CString, OsStr, OsString},
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use linux_raw_sys::general::{
    CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
        recvmsg, socketpair,
    },
    pipe::{PipeFlags, pipe_with},
    process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid},
};

use super::filter::{START_FD, program};
use super::notify::Listener;
use super::steward::run_steward;
use crate::{Files, Limits, Setup, StartError, Status};

/// The directory for the program's own files: a file system of its own, empty at the start and gone at the end.
pub(crate) const HOME: &CStr = c"/dev/shm";

/// Where the new processes keep the descriptors of their plan: above those that the supervisor has, below the usual limit.
const OWN_FD: RawFd = START_FD + 10;

/// What a program is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// To run.
    Program,
    /// To be copied. Copies live in a namespace of their own, which a steward keeps; the init reports their ends.
    Template,
}

/// A started program and its init.
pub(crate) struct Child {
    init: OwnedFd,
    /// Closed when this process ends: the init sees that.
    _lifeline: OwnedFd,
    report: OwnedFd,
    status: Option<Status>,
}

/// What the supervisor holds of a new program.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) listener: Listener,
    pub(crate) input: OwnedFd,
    pub(crate) output: [OwnedFd; 2],
    /// Where the steward takes commands, if this is a template.
    pub(crate) steward: Option<OwnedFd>,
    /// The program's own ends of its input and its outputs, as long as nobody else needs them.
    pub(crate) ends: [u64; 3],
}

/// The ends of a program's input and outputs.
pub(crate) struct Ends {
    pub(crate) input: OwnedFd,
    pub(crate) output: [OwnedFd; 2],
    pub(crate) theirs: [OwnedFd; 3],
}

impl Ends {
    pub(crate) fn new() -> Result<Self, Errno> {
        let (input, stdin) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let (stdout, out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, err) = pipe_with(PipeFlags::CLOEXEC)?;
        for ours in [&stdout, &stderr, &input] {
            rustix::io::ioctl_fionbio(ours, true)?;
        }
        Ok(Self { input, output: [stdout, stderr], theirs: [stdin, out, err] })
    }
}

/// All that the processes need, made before the first fork.
pub(super) struct Plan {
    program: CString,
    arguments: Vec<*const libc::c_char>,
    variables: Vec<*const libc::c_char>,
    dir: Option<CString>,
    name: CString,
    pub(super) tmpfs: CString,
    pub(super) own_files: bool,
    role: Role,
    steward: RawFd,
    filter: Vec<libc::sock_filter>,
    limits: Limits,
    files: [RawFd; 3],
    control: RawFd,
    lifeline: RawFd,
    report: RawFd,
    ids: Option<[(CString, CString); 3]>,
}

/// Held alone while a program is started, and shared while one is stepped: between fork and the closing of what is not its own, a new
/// process holds copies of all descriptors, and the end of a connection that is closed meanwhile would not be seen.
static STARTS: RwLock<()> = RwLock::new(());

/// Keeps other threads from starting programs.
pub(crate) fn undisturbed() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

fn forbidden(what: &'static str) -> impl Fn(Errno) -> StartError {
    move |errno| StartError::Forbidden { what, source: errno.into() }
}

pub(crate) fn start(setup: &Setup, role: Role) -> Result<Started, StartError> {
    let environment = environment(setup);
    let path = environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.as_os_str());
    let first = setup.command.first().map_or(OsStr::new(""), OsString::as_os_str);
    let program_path = locate(first, path.unwrap_or_default(), setup.dir.as_deref())
        .ok_or_else(|| StartError::NotFound(first.to_string_lossy().into_owned()))?;
    let zero = |what| move |_| StartError::ZeroByte(what);
    let arguments: Vec<CString> = setup
        .command
        .iter()
        .map(|word| CString::new(word.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(zero("an argument"))?;
    let variables: Vec<CString> = environment
        .into_iter()
        .map(|(key, value)| CString::new([key.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<Result<_, _>>()
        .map_err(zero("a variable"))?;
    let list = |words: &[CString]| words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();

    let pair = || socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let Ends { input, output, theirs: files } = Ends::new().map_err(forbidden("make a pipe"))?;
    let (control, theirs) = pair().map_err(forbidden("make a socket pair"))?;
    let (steward, commands) = pair().map_err(forbidden("make a socket pair"))?;
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(forbidden("make a pipe"));
    let ((watched, lifeline), (report, reported)) = (pipe()?, pipe()?);
    let mut ends = [0; 3];
    for (end, file) in ends.iter_mut().zip(&files) {
        *end = rustix::fs::fstat(file).map_err(forbidden("make a pipe"))?.st_ino;
    }
    let is_root = rustix::process::geteuid().is_root();
    let identity = |file: &str, id: u32| {
        Some((CString::new(format!("/proc/self/{file}")).ok()?, CString::new(format!("{id} {id} 1")).ok()?))
    };
    let ids = (!is_root).then(|| {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let deny = (c"/proc/self/setgroups".to_owned(), c"deny".to_owned());
        Some([deny, identity("uid_map", user)?, identity("gid_map", group)?])
    });
    let mut plan = Plan {
        program: CString::new(program_path.into_os_string().into_vec()).map_err(zero("the program"))?,
        arguments: list(&arguments),
        variables: list(&variables),
        dir: setup
            .dir
            .as_ref()
            .map(|dir| CString::new(dir.as_os_str().as_bytes()))
            .transpose()
            .map_err(zero("the directory"))?,
        name: CString::new(setup.name.as_str()).map_err(zero("the host's name"))?,
        tmpfs: CString::new(format!("size={},mode=1777", setup.limits.file)).map_err(zero("the limits"))?,
        own_files: setup.files == Files::Own,
        role,
        steward: commands.as_raw_fd(),
        filter: program(setup.looks),
        limits: setup.limits,
        files: files.each_ref().map(OwnedFd::as_raw_fd),
        control: theirs.as_raw_fd(),
        lifeline: watched.as_raw_fd(),
        report: reported.as_raw_fd(),
        ids: ids.flatten(),
    };
    let mut namespaces = libc::CLONE_NEWPID | libc::CLONE_NEWUTS;
    if setup.files == Files::Own {
        namespaces |= libc::CLONE_NEWNS;
    }
    if !is_root {
        namespaces |= libc::CLONE_NEWUSER;
    }
    let _alone = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the child runs `init`, which makes only calls that are safe there and never returns.
    let init = unsafe {
        match fork(namespaces) {
            Ok(None) => run_init(&mut plan),
            Ok(Some(pidfd)) => pidfd,
            Err(source) => return Err(StartError::Forbidden { what: "make a PID namespace", source }),
        }
    };
    drop((theirs, watched, reported, commands, files));
    let child = Child { init, _lifeline: lifeline, report, status: None };
    let listener = child.listener(&control)?;
    let steward = (role == Role::Template).then_some(steward);
    Ok(Started { child, listener, input, output, steward, ends })
}

/// The variables that are always there, under those that were given.
fn environment(setup: &Setup) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let own = OsStr::from_bytes(HOME.to_bytes());
    let (home, tmp) =
        if setup.files == Files::Own { (own, own) } else { (OsStr::new("/"), OsStr::new("/tmp")) };
    let usual: [(&str, OsString); 5] = [
        ("PATH", path),
        ("LANG", "C.UTF-8".into()),
        ("HOME", home.into()),
        ("TMPDIR", tmp.into()),
        ("HOSTNAME", setup.name.clone().into()),
    ];
    let mut all: Vec<(OsString, OsString)> =
        usual.into_iter().map(|(key, value)| (key.into(), value)).collect();
    for (key, value) in &setup.env {
        all.retain(|(other, _)| other != key);
        all.push((key.clone(), value.clone()));
    }
    all
}

/// The file of a program, as a shell would find it.
fn locate(name: &OsStr, path: &OsStr, dir: Option<&Path>) -> Option<PathBuf> {
    let runs = |file: &Path| {
        let seen = dir.map_or_else(|| file.to_owned(), |dir| dir.join(file));
        seen.is_file() && rustix::fs::access(&seen, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|file| runs(file));
    }
    if name.is_empty() {
        return None;
    }
    std::env::split_paths(path).map(|place| place.join(name)).find(|file| runs(file))
}

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

/// Stages of the two processes, as they are reported when one fails.
const STAGES: [&str; 9] = [
    "map the user into a namespace",
    "make the mounts private",
    "guard the files of others",
    "mount a directory of its own",
    "start the program's process",
    "set its limits",
    "enter its directory",
    "install the filter of calls",
    "make a PID namespace for copies",
];

/// Reports a failed stage, and ends the process.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn give_up(report: RawFd, stage: i32) -> ! {
    // SAFETY: plain calls on numbers and on a local array.
    unsafe {
        let words = [stage, *libc::__errno_location()];
        libc::write(report, words.as_ptr().cast(), size_of_val(&words));
        libc::_exit(126)
    }
}

/// The init: prepares the surroundings, starts the program, and ends with it or with the supervisor.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn run_init(plan: &mut Plan) -> ! {
    // SAFETY: the calls are async-signal-safe, and all pointers are to what `plan` holds.
    unsafe {
        libc::setsid();
        keep_own(plan);
        for (file, text) in plan.ids.iter().flatten() {
            let fd = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            let text = text.as_bytes();
            if libc::write(fd, text.as_ptr().cast(), text.len()) < 0 {
                give_up(plan.control, 0);
            }
            libc::close(fd);
        }
        if plan.own_files {
            mount_files(plan);
        }
        let name = plan.name.as_bytes();
        libc::sethostname(name.as_ptr().cast(), name.len());
        let mut child = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(child.as_mut_ptr());
        libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, child.as_ptr(), std::ptr::null_mut());
        let pidfd = match fork(0) {
            Ok(None) => run_program(plan),
            Ok(Some(pidfd)) => pidfd.into_raw_fd(),
            Err(_) => give_up(plan.control, 4),
        };
        let kept = [1000, 1001, 1002];
        libc::dup2(plan.lifeline, kept[0]);
        libc::dup2(plan.report, kept[1]);
        libc::dup2(pidfd, kept[2]);
        libc::close_range(0, 999, 0);
        libc::close_range(1003, u32::MAX, 0);
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
        [input, output, errors, &mut plan.control, &mut plan.steward, &mut plan.lifeline, &mut plan.report];
    let last = OWN_FD + own.len() as RawFd;
    // SAFETY: calls on numbers.
    unsafe {
        for (fd, place) in own.into_iter().zip(OWN_FD..) {
            libc::dup2(*fd, place);
            *fd = place;
        }
        libc::close_range(0, OWN_FD as u32 - 1, 0);
        libc::close_range(last as u32, u32::MAX, 0);
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

/// The init of a template: reports how each copy ended, and ends with the template or its steward.
///
/// # Safety
/// Only in a copy made by `fork`; the files are the lifeline, the report, and the news of children.
unsafe fn report_copies([lifeline, report, news]: [RawFd; 3]) -> ! {
    // SAFETY: the calls are async-signal-safe, and all pointers are to locals with their sizes.
    unsafe {
        while !wait_for_either([lifeline, news]) {
            let mut signal = MaybeUninit::<libc::signalfd_siginfo>::uninit();
            libc::read(news, signal.as_mut_ptr().cast(), size_of::<libc::signalfd_siginfo>());
            let mut status = 0;
            loop {
                match libc::waitpid(-1, &mut status, libc::WNOHANG) {
                    2 | 3 => libc::_exit(0),
                    1.. => libc::write(report, (&raw const status).cast(), size_of::<i32>()),
                    _ => break,
                };
            }
        }
        libc::_exit(0)
    }
}

/// Gives the program a directory of its own, and a `/proc` with its own processes.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn mount_files(plan: &Plan) {
    // SAFETY: the calls are async-signal-safe, and all pointers are to constants or to what `plan` holds.
    unsafe {
        let none = std::ptr::null();
        if libc::mount(c"none".as_ptr(), c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast())
            < 0
        {
            give_up(plan.control, 1);
        }
        // What one run writes, the next one would find. Those that are mounted below come with writing allowed.
        let mut change: libc::mount_attr = std::mem::zeroed();
        change.attr_set = libc::MOUNT_ATTR_RDONLY;
        let flags = libc::AT_RECURSIVE;
        let size = size_of::<libc::mount_attr>();
        if libc::syscall(libc::SYS_mount_setattr, -1, c"/".as_ptr(), flags, &raw mut change, size) < 0 {
            give_up(plan.control, 2);
        }
        if !mount_home(plan) {
            give_up(plan.control, 3);
        }
        mount_processes();
        guard_settings();
    }
}

/// Mounts an empty directory. It is as old as can be, so that each change shows.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_home(plan: &Plan) -> bool {
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    let old = [libc::timespec { tv_sec: 0, tv_nsec: 0 }; 2];
    // SAFETY: the pointers are to constants, locals, or to what `plan` holds.
    unsafe {
        let (kind, data) = (c"tmpfs".as_ptr(), plan.tmpfs.as_ptr().cast());
        libc::mount(kind, HOME.as_ptr(), kind, flags, data) == 0
            && libc::utimensat(libc::AT_FDCWD, HOME.as_ptr(), old.as_ptr(), 0) == 0
    }
}

/// Shows the processes of the caller's own namespace. Where a container forbids it, they see the numbers of those
/// outside: rarely looked at.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_processes() {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: the pointers are to constants.
    unsafe {
        libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, std::ptr::null());
    }
}

/// Lets the machine's settings be read only: most of them are no namespace's.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn guard_settings() {
    let settings = c"/proc/sys".as_ptr();
    let none = std::ptr::null();
    // SAFETY: the pointers are to constants, null, or to a local with its size.
    unsafe {
        libc::mount(settings, settings, none, libc::MS_BIND, none.cast());
        let mut change: libc::mount_attr = std::mem::zeroed();
        change.attr_set = libc::MOUNT_ATTR_RDONLY;
        libc::syscall(
            libc::SYS_mount_setattr,
            -1,
            settings,
            0,
            &raw mut change,
            size_of::<libc::mount_attr>(),
        );
    }
}

/// What root keeps: to read and write files, and to become another user.
const KEPT: [u32; 7] =
    [CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID];

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
        let steward = high(plan.steward);
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
        if plan.role == Role::Template {
            // From now on all children of this process are in a namespace below its own. The first is its steward.
            if libc::unshare(libc::CLONE_NEWPID) < 0 {
                give_up(START_FD, 8);
            }
            match fork(libc::CLONE_PARENT) {
                Ok(None) => run_steward(plan, steward),
                Ok(Some(_)) => {}
                Err(_) => give_up(START_FD, 8),
            }
        }
        // Root without the means to raise its limits or to change the machine; its files stay readable.
        for capability in (0..64).filter(|capability| !KEPT.contains(capability)) {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
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
        libc::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC as i32);
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
        libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.variables.as_ptr());
        libc::_exit(127)
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
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as usize;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(socket, &message, 0);
    }
}

impl Child {
    /// Waits for the listener, or for the reason why there is none.
    fn listener(&self, control: &OwnedFd) -> Result<Listener, StartError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; 8];
        let mut parts = [io::IoSliceMut::new(&mut bytes)];
        let got = recvmsg(control, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
            .map_err(forbidden("hear from the program's process"))?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message
                && let Some(listener) = descriptors.next()
            {
                return Ok(Listener::new(listener));
            }
        }
        let word = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let (stage, errno) = if got.bytes == 8 { (word(0), word(4)) } else { (4, libc::ECHILD) };
        let what = STAGES.get(stage as usize).copied().unwrap_or("start the program");
        Err(StartError::Forbidden { what, source: io::Error::from_raw_os_error(errno) })
    }

    /// How the program ended; waits until its init has told. None if the init was killed.
    pub(crate) fn status(&mut self) -> Status {
        if let Some(status) = self.status {
            return status;
        }
        let mut bytes = [0; 4];
        let mut watched = [PollFd::new(&self.report, PollFlags::IN)];
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        let _ = poll(&mut watched, Some(&patience));
        let told = rustix::io::read(&self.report, &mut bytes).is_ok_and(|n| n == 4);
        let raw = if told { i32::from_le_bytes(bytes) } else { libc::SIGKILL };
        let status = if libc::WIFSIGNALED(raw) {
            Status::Signal(libc::WTERMSIG(raw))
        } else {
            Status::Code(libc::WEXITSTATUS(raw))
        };
        self.status = Some(status);
        status
    }

    /// Another copy of the program lives from now on.
    pub(crate) fn expect_another(&mut self) {
        self.status = None;
    }

    /// Kills the init, and with it all processes.
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.init, Signal::KILL);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        // Until all are gone, the kernel ends the init last. Not to wait would be slower: the next one would wait for a
        // lock that the kernel holds while it takes down the mounts of this one.
        let _ = waitid(WaitId::PidFd(self.init.as_fd()), WaitIdOptions::EXITED);
    }
}
