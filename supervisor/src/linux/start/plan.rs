//! The orders for the processes of a new program, and the reports of what failed.

use std::ffi::CString;
use std::os::fd::RawFd;

use super::filter::START_FD;
use crate::Limits;

/// Where the new processes keep the descriptors of their plan: above those that the supervisor has, below the usual limit.
pub(super) const OWN_FD: RawFd = START_FD + 10;

/// The purpose for which a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// To run.
    Program,
    /// To be copied. Copies live in a namespace of their own, which a keeper keeps; the init reports their ends.
    Template,
}

/// All that the processes need, made before the first fork.
pub(super) struct Plan {
    pub(super) program: CString,
    pub(super) arguments: Vec<*const libc::c_char>,
    pub(super) variables: Vec<*const libc::c_char>,
    pub(super) dir: Option<CString>,
    pub(super) name: CString,
    pub(super) tmpfs: CString,
    pub(super) own_files: bool,
    pub(super) home: Option<CString>,
    pub(super) role: Role,
    pub(super) keeper: RawFd,
    pub(super) filter: Vec<libc::sock_filter>,
    pub(super) seal: Vec<libc::sock_filter>,
    pub(super) limits: Limits,
    pub(super) files: [RawFd; 3],
    pub(super) control: RawFd,
    pub(super) lifeline: RawFd,
    pub(super) report: RawFd,
    /// True if the processes are in a user namespace of their own, and wait for a byte: their numbers are mapped then.
    pub(super) is_mapped: bool,
    /// True if the program is not started with root's privileges: a container may then show what it hides from root.
    pub(super) is_user: bool,
    /// Where the number of the last process of its namespace is set; opened by the init, and less than 0 until then.
    pub(super) numbers: RawFd,
}

/// Stages of the two processes, as they are reported when one fails.
pub(super) const STAGES: [&str; 10] = [
    "map the user into a namespace",
    "make the mounts private",
    "guard the files of others",
    "mount a directory of its own",
    "start the program's process",
    "set its limits",
    "enter its directory",
    "install the filter of calls",
    "make a PID namespace for copies",
    "show it its own processes alone",
];

/// Reports a failed stage, and ends the process.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn give_up(report: RawFd, stage: i32) -> ! {
    // SAFETY: plain calls on numbers and on a local array.
    unsafe {
        let words = [stage, *libc::__errno_location()];
        libc::write(report, words.as_ptr().cast(), size_of_val(&words));
        libc::_exit(126)
    }
}
