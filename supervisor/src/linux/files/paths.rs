//! The look-up of paths, by the supervisor in the program's own mounts, as the kernel will look them up for the program.
//!
//! A text says little of what it names: `/proc/./uptime`, a symbolic link, or `../..` out of the program's own directory
//! are other words for the same file. So what is answered, refused or connected is decided by the file that was found, and
//! where the supervisor acts for the program it uses that very file, which nothing can exchange in between.
//!
//! The supervisor is not of the program's PID namespace: to it `/proc/self` would be another process, so those links are
//! followed by hand.

use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::Path,
};

use rustix::{
    fs::{self, CWD, FileType, Mode, OFlags, ResolveFlags, Statx},
    io::Errno,
};

use crate::linux::kernel::found::{Found, PROC, describe};
use crate::linux::kernel::text::{bytes_of, status_field, text_of};
use crate::linux::state::table::Caller;
use crate::{Files, HOME};

/// How many symbolic links the kernel follows.
const MOST_LINKS: u32 = 40;
/// Answered files that some machines have elsewhere.
const LINKS: [&str; 5] =
    ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/nsswitch.conf", "/var/lib/dbus/machine-id"];
/// A path that meets no link.
const STRAIGHT: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);
/// The program's view of the file systems.
pub(crate) struct View {
    root: OwnedFd,
    root_stat: Statx,
    /// The mount of its own directory; none if it has none.
    home: Option<u64>,
    /// Its `/proc` shows its own processes alone, so that a link to oneself leads the supervisor nowhere.
    own_processes: bool,
    /// Where the answered files are that are links on this machine.
    links: Vec<(Vec<u8>, &'static str)>,
}

/// The process that looks a path up: links to oneself mean this one.
struct Looker {
    /// The process, in its own namespace and in the supervisor's.
    process: [u32; 2],
    /// The thread, in the supervisor's namespace.
    tid: u32,
}

impl Looker {
    /// The content of `/proc/self`.
    fn process(&self, own: bool) -> String {
        let [inner, outer] = self.process;
        if own { inner } else { outer }.to_string()
    }

    /// The content of `/proc/thread-self`.
    fn thread(&self, own: bool) -> String {
        let thread = match self.process {
            _ if !own => self.tid,
            [inner, outer] if outer == self.tid => inner,
            _ => own_number(self.tid),
        };
        format!("{}/task/{thread}", self.process(own))
    }
}

fn point(dir: BorrowedFd<'_>, path: &[u8], follow: bool, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follow);
    loop {
        match fs::openat2(dir, path, flags, Mode::empty(), resolve) {
            // Something was renamed or mounted, anywhere on the machine, while the kernel went up from a directory.
            Err(Errno::AGAIN) => {}
            found => return found,
        }
    }
}

impl View {
    fn new(process: u32, files: Files) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root = fs::open(format!("/proc/{process}/root"), flags, Mode::empty())?;
        let root_stat = describe(root.as_fd())?;
        let home = Path::new(OsStr::from_bytes(&HOME.to_bytes()[1..]));
        let home = match files {
            Files::Own => Some(describe(fs::openat(&root, home, flags, Mode::empty())?.as_fd())?.stx_mnt_id),
            Files::Shared => None,
        };
        let own_processes = fs::readlinkat(&root, "proc/self", Vec::new()).is_err();
        let links = LINKS.iter().filter_map(|&name| {
            let file = point(root.as_fd(), name.as_bytes(), true, ResolveFlags::IN_ROOT).ok()?;
            let target = Found::new(file).ok()?.name().ok()?;
            (target != name.as_bytes()).then_some((target, name))
        });
        let links = links.collect();
        Ok(Self { root, root_stat, home, own_processes, links })
    }

    /// Reads a file, by its path below the root.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = fs::openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT).ok()?;
        String::from_utf8(bytes_of(std::fs::File::from(file)).ok()?).ok()
    }

    /// The usual name of a file that is elsewhere on this machine: `/etc/resolv.conf` is often a link.
    fn usual_name(&self, name: Vec<u8>) -> Vec<u8> {
        let usual = self.links.iter().find(|(target, _)| *target == name);
        usual.map_or(name, |(_, usual)| usual.as_bytes().to_vec())
    }

    /// True if a file is in the program's own directory. Nothing of the machine is mounted there.
    fn is_at_home(&self, stat: &Statx) -> bool {
        self.home == Some(stat.stx_mnt_id)
    }

    fn is_root(&self, stat: &Statx) -> bool {
        (stat.stx_mnt_id, stat.stx_ino) == (self.root_stat.stx_mnt_id, self.root_stat.stx_ino)
    }

    /// The file to which a path leads, from a directory if it is relative.
    fn find(
        &self,
        looker: &Looker,
        dir: Option<&OwnedFd>,
        path: &[u8],
        follow: bool,
    ) -> Result<OwnedFd, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        let climbs = || path.split(|&byte| byte == b'/').any(|part| part == b"..");
        let found = if path[0] == b'/' {
            let found = point(self.root.as_fd(), path, follow, STRAIGHT | ResolveFlags::IN_ROOT);
            match found {
                Err(Errno::LOOP) if self.own_processes => {
                    point(self.root.as_fd(), path, follow, ResolveFlags::IN_ROOT)
                        // A link to oneself is nowhere to the supervisor.
                        .map_err(|errno| if errno == Errno::NOENT { Errno::LOOP } else { errno })
                }
                found => found,
            }
        } else if climbs() {
            Err(Errno::LOOP)
        } else {
            point(dir.ok_or(Errno::BADF)?.as_fd(), path, follow, STRAIGHT)
        };
        match found {
            Err(Errno::LOOP | Errno::XDEV) => self.walk(looker, dir, path, follow),
            found => found,
        }
    }

    /// The same, one part of the path after the other.
    fn walk(
        &self,
        looker: &Looker,
        dir: Option<&OwnedFd>,
        path: &[u8],
        follow: bool,
    ) -> Result<OwnedFd, Errno> {
        let again = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 0);
        let mut at = match dir {
            Some(dir) if path[0] != b'/' => again(dir.as_fd())?,
            _ => again(self.root.as_fd())?,
        };
        let parts = |path: &[u8]| -> Vec<Vec<u8>> {
            let parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
            parts.rev().map(<[u8]>::to_vec).collect()
        };
        let mut left = parts(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            if part == b".." {
                if !self.is_root(&describe(at.as_fd())?) {
                    at = point(at.as_fd(), b"..", true, ResolveFlags::empty())?;
                }
                continue;
            }
            let next = point(at.as_fd(), &part, false, ResolveFlags::empty())?;
            let stat = describe(next.as_fd())?;
            let is_link = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::Symlink;
            if !is_link || left.is_empty() && !follow {
                at = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::LOOP);
            }
            let is_process = fs::fstatfs(&at).is_ok_and(|system| system.f_type == PROC);
            let text = match part.as_slice() {
                b"self" if is_process => looker.process(self.own_processes).into_bytes(),
                b"thread-self" if is_process => looker.thread(self.own_processes).into_bytes(),
                _ => fs::readlinkat(&next, "", Vec::new())?.into_bytes(),
            };
            if is_process && !matches!(part.as_slice(), b"self" | b"thread-self" | b"mounts" | b"net") {
                // It leads to a file, whatever its text says.
                at = point(at.as_fd(), &part, true, ResolveFlags::empty())?;
                continue;
            }
            if text.first() == Some(&b'/') {
                at = again(self.root.as_fd())?;
            }
            left.extend(parts(&text));
            // Most links lead to what has no further one.
            if !left.is_empty() && left.iter().all(|part| part != b"..") {
                let rest: Vec<&[u8]> = left.iter().rev().map(Vec::as_slice).collect();
                match point(at.as_fd(), &rest.join(&b'/'), follow, STRAIGHT) {
                    Err(Errno::LOOP | Errno::XDEV) => {}
                    found => return found,
                }
            }
        }
        Ok(at)
    }
}

/// How a program sees the file systems, once that was asked.
pub(crate) struct Sight {
    pub(crate) files: Files,
    view: Option<View>,
}

impl Sight {
    pub(crate) fn new(files: Files) -> Self {
        Self { files, view: None }
    }

    /// The program's view of the file systems. All its processes have the same.
    pub(crate) fn view(&mut self, caller: Caller<'_>) -> Result<&View, Errno> {
        if self.view.is_none() {
            let process = caller.living().ok_or(Errno::SRCH)?;
            self.view = Some(View::new(process.pid, self.files)?);
        }
        self.view.as_ref().ok_or(Errno::SRCH)
    }

    /// The file to which a path leads for a thread, from a directory of it if it is relative.
    pub(crate) fn find(
        &mut self,
        caller: Caller<'_>,
        dir: i32,
        path: &[u8],
        follow: bool,
    ) -> Result<Found, Errno> {
        let (tid, process) = (caller.thread().tid, caller.process());
        let dir = match dir {
            _ if path.first() == Some(&b'/') => None,
            libc::AT_FDCWD => {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                Some(fs::openat(CWD, format!("/proc/{tid}/cwd"), flags, Mode::empty())?)
            }
            fd => Some(process.file(fd)?),
        };
        let looker = Looker { process: [process.own_pid, process.pid], tid };
        Found::new(self.view(caller)?.find(&looker, dir.as_ref(), path, follow)?)
    }

    /// The name by which a file is answered.
    pub(crate) fn usual_name(&self, name: Vec<u8>) -> Vec<u8> {
        match &self.view {
            Some(view) => view.usual_name(name),
            None => name,
        }
    }

    /// True if a file is in the program's own directory.
    pub(crate) fn is_at_home(&mut self, caller: Caller<'_>, stat: &Statx) -> Result<bool, Errno> {
        Ok(self.view(caller)?.is_at_home(stat))
    }
}

/// The text of a path without detours, for what is not there: links on the way are not seen.
pub(crate) fn spelled(caller: Caller<'_>, dir: i32, path: &[u8]) -> Option<Vec<u8>> {
    let base = match dir {
        _ if path.first() == Some(&b'/') => Vec::new(),
        libc::AT_FDCWD => {
            std::fs::read_link(format!("/proc/{}/cwd", caller.thread().tid)).ok()?.into_os_string().into_vec()
        }
        fd => {
            let link = format!("/proc/{}/fd/{fd}", caller.process().pid);
            std::fs::read_link(link).ok()?.into_os_string().into_vec()
        }
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in base.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.iter().flat_map(|part| [b"/", *part].concat()).collect())
}

/// The number of a thread in its own namespace.
fn own_number(tid: u32) -> u32 {
    let status = text_of(format!("/proc/{tid}/status")).unwrap_or_default();
    status_field(&status, "NSpid").unwrap_or(tid)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_rename_elsewhere_hides_no_file() {
        let directory = tempfile::tempdir().expect("make a directory");
        let (here, there) = (directory.path().join("here"), directory.path().join("there"));
        std::fs::create_dir_all(here.join("moved")).expect("make a directory");
        std::fs::create_dir(&there).expect("make a directory");
        let root = fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).expect("open the root");
        let is_over = AtomicBool::new(false);
        let find = || point(root.as_fd(), b"/dev/../dev/null", true, STRAIGHT | ResolveFlags::IN_ROOT);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = std::fs::rename(here.join("moved"), there.join("moved"));
                    let _ = std::fs::rename(there.join("moved"), here.join("moved"));
                }
            });
            let failed = (0..2_000).find_map(|_| find().err());
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(failed, None);
        });
    }
}
