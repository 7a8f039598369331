//! Templates: how they are made, and copied.

use std::{
    fs, io,
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::Path,
};

use super::{
    clock_page::{PAGE, PAGE_FD},
    group::Group,
    life::{Epoll, Lease, Life, Place, Template},
    namespace::NamespaceKeeper,
    plan::{HOME, Role},
    process::status_field,
    spawn::{self, Ends},
    table::{State, Thread},
    tracing::Parked,
};
use crate::{Files, Setup};

impl Template {
    /// Lets a program start up. None if copies of it would share more than their memory.
    pub(crate) fn new(setup: &Setup) -> Option<Self> {
        let mut started = spawn::start(setup, Role::Template).ok()?;
        let (keeper, ends) = (NamespaceKeeper::new(started.keeper.take()?), started.ends);
        let mut group = Group::start_as(setup, started).ok()?;
        group.start_up().ok()?;
        let Group { life: Life::Own(child), listener, time, table, files, events, apart, .. } = group else {
            return None;
        };
        let random_files = files.random_files;
        let ([thread], [process]) = (table.threads.as_slice(), table.processes.as_slice()) else {
            return None;
        };
        let State::Called(notice) = &thread.state else { return None };
        let epolls = holds(process.pid, ends, &random_files)?;
        let is_alone = events.is_empty() && !process.fresh && process.alive;
        if !is_alone
            || !has_plain_memory(process.pid)
            || setup.files == Files::Own && is_at_home(process.pid)
            || !keeper.prepares().unwrap_or(false)
        {
            return None;
        }
        let parked = Parked::new(&listener, notice).ok()?;
        let image = process.image;
        let page = time.page;
        Some(Self { child, keeper, listener, page, parked, image, random_files, epolls, apart })
    }

    /// Makes a copy with ends of its own.
    pub(crate) fn copy(mut self, setup: &Setup, place: Place) -> io::Result<Group> {
        self.child.expect_another();
        let ends = Ends::new()?;
        let call = self.parked.copy(&self.listener)?;
        for (at, file) in (0..).zip(&ends.theirs) {
            self.listener.place(&call, file.as_fd(), at, false)?;
        }
        for epoll in &self.epolls {
            let anew = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC)?;
            self.listener.place(&call, anew.as_fd(), epoll.fd, epoll.closes)?;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", call.thread()))?;
        let own_pid = status_field(&status, "NSpid");
        let own_pid =
            own_pid.filter(|&pid| pid == 2).ok_or_else(|| io::Error::other("it has another number"))?;
        let (listener, page) = (self.listener.clone(), self.page.clone());
        let (image, random_files) = (self.image, self.random_files.clone());
        let apart = self.apart;
        let life = Life::Lent(Box::new(Lease::new(self, place)));
        let mut group = Group::new(setup, life, listener, page, apart, ends.input, ends.output);
        (group.table.unborn, group.files.random_files) = (0, random_files);
        group.table.add_process(call.thread(), own_pid, None, false, image)?;
        group.table.threads.push(Thread::new(call.thread(), 0, State::Called(call)));
        Ok(group)
    }
}

/// The epolls that a process holds besides its input and its outputs; none if these are not as they were given, or if copies
/// would share more than what is the same for all.
fn holds(process: u32, ends: [u64; 3], random_files: &[u64]) -> Option<Vec<Epoll>> {
    /// Flags of the first three that a program may have changed.
    const CHANGES: i32 = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_APPEND | libc::O_ASYNC;
    let (mut given, mut epolls) = (0, Vec::new());
    for file in fs::read_dir(format!("/proc/{process}/fd")).ok()? {
        let path = file.ok()?.path();
        let fd: i32 = path.file_name()?.to_str()?.parse().ok()?;
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{fd}")).ok()?;
        let flags =
            i32::from_str_radix(info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim(), 8).ok()?;
        let inode = fs::metadata(&path).ok()?.ino();
        let link = fs::read_link(&path).ok()?;
        match usize::try_from(fd).ok().and_then(|at| ends.get(at)) {
            Some(&end) if inode == end && flags & CHANGES == 0 => given += 1,
            Some(_) => return None,
            None if fd == PAGE_FD || random_files.contains(&inode) => {}
            None if ["/dev/null", "/dev/zero", "/dev/full"].map(Path::new).contains(&&*link) => {}
            None if link == Path::new("anon_inode:[eventpoll]") && !info.contains("tfd:") => {
                epolls.push(Epoll { fd, closes: flags & libc::O_CLOEXEC != 0 });
            }
            None => return None,
        }
    }
    (given == ends.len()).then_some(epolls)
}

/// True if a copy has the same memory, and shares none of it but the clock.
fn has_plain_memory(process: u32) -> bool {
    let Ok(maps) = fs::read_to_string(format!("/proc/{process}/smaps")) else { return false };
    let clock = format!("{PAGE:x}-");
    maps.lines().all(|line| match line.strip_prefix("VmFlags:") {
        // Wiped or left out at a fork.
        Some(flags) => !flags.split_whitespace().any(|flag| matches!(flag, "wf" | "dc")),
        None => {
            let rights = line.split_whitespace().nth(1).unwrap_or_default();
            !(rights.len() == 4 && rights.contains('w') && rights.ends_with('s')) || line.starts_with(&clock)
        }
    })
}

/// True if a process is in the directory for its own files, which copies find made anew.
fn is_at_home(process: u32) -> bool {
    let home = Path::new(std::ffi::OsStr::new(HOME.to_str().unwrap_or_default()));
    fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|dir| dir.starts_with(home))
}
