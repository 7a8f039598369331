//! The file systems of a new program: a directory, a `/proc` and pseudo-terminals of its own, all else to be read only, and
//! of devices those that are the same everywhere.
//!
//! A mount that is read only does not keep anybody from writing to a device, so no mount has devices at all but for those few.
//!
//! Called between fork and exec: only calls are made that are safe in a copy of a process with several threads.

use std::ffi::CStr;

use super::numbers::open_numbers;
use super::plan::{Plan, Role, give_up};
use crate::HOME;

/// Devices that hold nothing and lead nowhere. Random bytes are not among them: who opens those is given a file by the
/// supervisor.
const DEVICES: [&CStr; 4] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/tty"];

/// Sets and clears attributes of a mount, with those below it if the flags say so.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn change(path: &CStr, flags: i32, set: u64, clear: u64) -> bool {
    // SAFETY: the structure is plain numbers, and the pointers are to a text and to a local with its size.
    unsafe {
        let mut change: libc::mount_attr = std::mem::zeroed();
        (change.attr_set, change.attr_clr) = (set, clear);
        let size = size_of::<libc::mount_attr>();
        libc::syscall(libc::SYS_mount_setattr, -1, path.as_ptr(), flags, &raw mut change, size) == 0
    }
}

/// Mounts what is at one place at another one.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn bind(source: &CStr, target: &CStr) -> bool {
    let none = std::ptr::null();
    // SAFETY: the pointers are to texts, or null.
    unsafe { libc::mount(source.as_ptr(), target.as_ptr(), none, libc::MS_BIND, none.cast()) == 0 }
}

/// Gives the program a directory of its own, and a `/proc` with its own processes.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_files(plan: &mut Plan) {
    // SAFETY: the calls are async-signal-safe, and all pointers are to constants or to what `plan` holds.
    unsafe {
        let none = std::ptr::null();
        if libc::mount(c"none".as_ptr(), c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast())
            < 0
        {
            give_up(plan.control, 1);
        }
        // Each a mount of its own, where it is there.
        let bound = DEVICES.map(|device| bind(device, device));
        // A file that one run writes would be found by the next one. Those that are mounted below come with writing allowed.
        let guarded = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV;
        if !change(c"/", libc::AT_RECURSIVE, guarded, 0) {
            give_up(plan.control, 2);
        }
        for (device, _) in DEVICES.iter().zip(bound).filter(|(_, bound)| *bound) {
            change(device, 0, 0, libc::MOUNT_ATTR_NODEV);
        }
        mount_terminals();
        if !mount_home(plan) {
            give_up(plan.control, 3);
        }
        // A user sees the numbers of processes outside where a container forbids it, and cannot reach them: they are
        // another namespace's. Root could.
        if !mount_processes() && !plan.is_user {
            give_up(plan.control, 9);
        }
        if plan.role == Role::Template {
            plan.numbers = open_numbers();
        }
        if !guard_settings() {
            give_up(plan.control, 9);
        }
    }
}

/// Gives the program pseudo-terminals of its own, numbered from 0. Where that is forbidden there are none.
///
/// # Safety
/// Only in a copy made by `fork`.
unsafe fn mount_terminals() {
    let (kind, flags) = (c"devpts".as_ptr(), libc::MS_NOSUID | libc::MS_NOEXEC);
    // SAFETY: the pointers are to constants.
    unsafe {
        if libc::mount(kind, c"/dev/pts".as_ptr(), kind, flags, c"ptmxmode=0666".as_ptr().cast()) == 0 {
            bind(c"/dev/pts/ptmx", c"/dev/ptmx");
        }
    }
}

/// Mounts the program's own directory. One that is empty is as old as can be, so that each change shows.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_home(plan: &Plan) -> bool {
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    let old = [libc::timespec { tv_sec: 0, tv_nsec: 0 }; 2];
    // SAFETY: the pointers are to constants, locals, null, or to what `plan` holds.
    unsafe {
        if let Some(home) = &plan.home {
            // It comes with what its file system forbids by now: to write.
            let set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
            return bind(home, HOME) && change(HOME, 0, set, libc::MOUNT_ATTR_RDONLY);
        }
        let (kind, data) = (c"tmpfs".as_ptr(), plan.tmpfs.as_ptr().cast());
        libc::mount(kind, HOME.as_ptr(), kind, flags, data) == 0
            && libc::utimensat(libc::AT_FDCWD, HOME.as_ptr(), old.as_ptr(), 0) == 0
    }
}

/// Shows the processes of the caller's own namespace; whether it may.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_processes() -> bool {
    let (kind, flags) = (c"proc".as_ptr(), libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC);
    // SAFETY: the pointers are to constants.
    unsafe { libc::mount(kind, c"/proc".as_ptr(), kind, flags, std::ptr::null()) == 0 }
}

/// Lets the machine's settings be read only: most of them are no namespace's. They are all over `/proc`. Where somebody has
/// opened one of them to write, a mount over the mount is guarded.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn guard_settings() -> bool {
    let proc = c"/proc";
    // SAFETY: as the caller says.
    unsafe {
        let guard = || change(proc, libc::AT_RECURSIVE, libc::MOUNT_ATTR_RDONLY, 0);
        guard() || bind(proc, proc) && guard()
    }
}
