//! The numbers of processes and threads: each namespace gives its next one the number after its last.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::plan::OWN_FD;

/// Where the number of the last process or thread of the caller's namespace is set.
const NUMBERS: &CStr = c"/proc/sys/kernel/ns_last_pid";

/// Opens that file; less than 0 if it may not be written. The settings are guarded afterwards.
///
/// # Safety
/// Only in a copy made by `fork`.
pub(super) unsafe fn open_numbers() -> RawFd {
    // SAFETY: the path is a constant, the others are numbers.
    unsafe {
        let low = libc::open(NUMBERS.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        // Out of the way of the first three.
        let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, OWN_FD);
        libc::close(low);
        high
    }
}

/// Sets the number of the last process or thread; whether that is possible.
///
/// # Safety
/// Only in a copy made by `fork`: it takes no memory.
pub(super) unsafe fn set_last_number(numbers: RawFd, last: u32) -> bool {
    let (mut digits, mut at, mut rest) = ([0; 10], 10, last);
    while at == digits.len() || rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let digits = &digits[at..];
    // SAFETY: the pointer is to that many bytes.
    unsafe { libc::pwrite(numbers, digits.as_ptr().cast(), digits.len(), 0) == digits.len() as isize }
}
