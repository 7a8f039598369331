//! Starting a program under supervision: what is prepared before its processes are made, and what is held of them.

use std::{
    ffi::{CString, OsStr, OsString},
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
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

use super::apart::{Apart, fork_apart};
use super::child::run_init;
use super::filter::{program, seal};
use super::identity::{map_identity, number_of};
use super::permission::{is_administrator, remedy};
use super::plan::{Plan, Role, STAGES};
use crate::linux::kernel::notify::Listener;
use crate::linux::kernel::text::text_of;
use crate::{Files, HOME, Setup, StartError, Status};

/// A started program and its init.
pub(crate) struct Child {
    init: OwnedFd,
    /// Closed when this process ends: the init sees that.
    _lifeline: OwnedFd,
    report: OwnedFd,
    status: Option<Status>,
}

/// The supervisor's part of a new program.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) listener: Listener,
    pub(crate) input: OwnedFd,
    pub(crate) output: [OwnedFd; 2],
    /// Where the keeper takes commands, if this is a template.
    pub(crate) keeper: Option<OwnedFd>,
    /// The program's own ends of its input and its outputs, as long as nobody else needs them.
    pub(crate) ends: [u64; 3],
    /// The names of the machine that are its own.
    pub(crate) apart: Apart,
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

/// Held alone while a program is started, and shared while one is stepped: between fork and the closing of what is not its own, a new
/// process holds copies of all descriptors, and the end of a connection that is closed meanwhile would not be seen.
static STARTS: RwLock<()> = RwLock::new(());

/// Keeps other threads from starting programs.
pub(crate) fn undisturbed() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

fn forbidden(what: &'static str) -> impl Fn(Errno) -> StartError {
    move |errno| refused(what, errno.into())
}

/// The error of a refused attempt, with the command that allows it.
pub(crate) fn refused(what: &'static str, source: io::Error) -> StartError {
    let remedy = remedy(&source);
    StartError::Forbidden { what, source, remedy }
}

pub(crate) fn start(setup: &Setup, role: Role) -> Result<Started, StartError> {
    let environment = environment(setup);
    let path = environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.as_os_str());
    let first = setup.command.first().map_or(OsStr::new(""), OsString::as_os_str);
    let program_path = locate(first, path.unwrap_or_default(), setup.dir.as_deref())
        .ok_or_else(|| not_located(first, setup.dir.as_deref()))?;
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
    let (keeper, commands) = pair().map_err(forbidden("make a socket pair"))?;
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(forbidden("make a pipe"));
    let ((watched, lifeline), (report, reported)) = (pipe()?, pipe()?);
    let mut ends = [0; 3];
    for (end, file) in ends.iter_mut().zip(&files) {
        *end = rustix::fs::fstat(file).map_err(forbidden("make a pipe"))?.st_ino;
    }
    // Root in a container often lacks the privilege, and is a user like others then.
    let is_user = !rustix::process::geteuid().is_root() || !is_administrator();
    // A template needs privileges that reach no further than its own namespaces.
    let is_mapped = is_user || role == Role::Template;
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
        tmpfs: CString::new(format!("size={},nr_inodes=20000,mode=1777", setup.limits.file))
            .map_err(zero("the limits"))?,
        own_files: setup.files == Files::Own,
        home: setup
            .home
            .as_ref()
            .map(|home| CString::new(home.as_os_str().as_bytes()))
            .transpose()
            .map_err(zero("the home directory"))?,
        role,
        keeper: commands.as_raw_fd(),
        filter: program(setup.clock_reads, setup.syncs.is_some(), setup.stacks),
        seal: seal(),
        limits: setup.limits,
        files: files.each_ref().map(OwnedFd::as_raw_fd),
        control: theirs.as_raw_fd(),
        lifeline: watched.as_raw_fd(),
        report: reported.as_raw_fd(),
        is_mapped,
        is_user,
        numbers: -1,
    };
    let mut namespaces = libc::CLONE_NEWPID | libc::CLONE_NEWUTS;
    if setup.files == Files::Own {
        namespaces |= libc::CLONE_NEWNS;
    }
    if is_mapped {
        namespaces |= libc::CLONE_NEWUSER;
    }
    let _alone = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the child runs `init`, which makes only calls that are safe there and never returns.
    let (init, apart) = unsafe {
        match fork_apart(namespaces) {
            Ok((None, _)) => run_init(&mut plan),
            Ok((Some(pidfd), apart)) => (pidfd, apart),
            Err(source) => return Err(refused("make a PID namespace", source)),
        }
    };
    drop((theirs, watched, reported, commands, files));
    let child = Child { init, _lifeline: lifeline, report, status: None };
    if is_mapped {
        let mapped = map_identity(&child.init, is_user).and_then(|()| Ok(rustix::io::write(&control, &[0])?));
        mapped.map_err(|source| refused(STAGES[0], source))?;
    }
    let listener = child.listener(&control)?;
    let keeper = (role == Role::Template).then_some(keeper);
    Ok(Started { child, listener, input, output, keeper, ends, apart })
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

/// The reason why a program was not located.
fn not_located(name: &OsStr, dir: Option<&Path>) -> StartError {
    let file = dir.map_or_else(|| PathBuf::from(name), |dir| dir.join(name));
    let there = name.as_bytes().contains(&b'/') && file.is_file();
    let name = name.to_string_lossy().into_owned();
    if there { StartError::NotExecutable(name) } else { StartError::NotFound(name) }
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
        Err(refused(what, io::Error::from_raw_os_error(errno)))
    }

    /// How the program ended; waits for the report of its init. None if the init was killed.
    pub(crate) fn status(&mut self) -> Status {
        if let Some(status) = self.status {
            return status;
        }
        let mut bytes = [0; 4];
        let mut watched = [PollFd::new(&self.report, PollFlags::IN)];
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        let _ = poll(&mut watched, Some(&patience));
        let is_reported = rustix::io::read(&self.report, &mut bytes).is_ok_and(|n| n == 4);
        let raw = if is_reported { i32::from_le_bytes(bytes) } else { libc::SIGKILL };
        let status = if libc::WIFSIGNALED(raw) {
            Status::Signal(libc::WTERMSIG(raw))
        } else {
            Status::Code(libc::WEXITSTATUS(raw))
        };
        self.status = Some(status);
        status
    }

    /// The keeper of a template whose program is this process.
    pub(crate) fn keeper(&self, program: u32) -> Option<u32> {
        let init = number_of(&self.init).ok()?;
        let children = text_of(format!("/proc/{init}/task/{init}/children")).ok()?;
        children.split_whitespace().filter_map(|id| id.parse().ok()).find(|&id| id != program)
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
