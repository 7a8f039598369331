//! The file systems of a new program: a directory and a `/proc` of its own, all else to be read only.
//!
//! Called between fork and exec: only calls are made that are safe in a copy of a process with several threads.

use super::plan::{HOME, Plan, give_up};

/// Gives the program a directory of its own, and a `/proc` with its own processes.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn mount_files(plan: &Plan) {
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
            let none = std::ptr::null();
            // It comes with what its file system forbids by now: to write.
            let mut change: libc::mount_attr = std::mem::zeroed();
            change.attr_clr = libc::MOUNT_ATTR_RDONLY;
            change.attr_set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
            let size = size_of::<libc::mount_attr>();
            return libc::mount(home.as_ptr(), HOME.as_ptr(), none, libc::MS_BIND, none.cast()) == 0
                && libc::syscall(libc::SYS_mount_setattr, -1, HOME.as_ptr(), 0, &raw mut change, size) == 0;
        }
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
