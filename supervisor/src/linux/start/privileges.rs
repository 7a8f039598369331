//! The privileges of a program.

use linux_raw_sys::general::{
    _LINUX_CAPABILITY_VERSION_3, CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL,
    CAP_SETGID, CAP_SETPCAP, CAP_SETUID, CAP_SYS_ADMIN,
};

/// The capabilities that root keeps: to read and write files, and to become another user.
pub(super) const KEPT: [u32; 7] =
    [CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID];

/// Those that a template has besides: to have its copies in the keeper's namespace of processes, and to take both away from them. They
/// reach no further than the namespaces of the template, which has a user namespace of its own, and the calls that they allow are
/// refused.
pub(crate) const TO_BE_COPIED: [u32; 2] = [CAP_SETPCAP, CAP_SYS_ADMIN];

/// Bytes of what `capset` takes: a header, and two words of each of three sets.
const BYTES: usize = 32;

/// The privileges of a thread, as `capset` takes them: a header and three sets, of which the last is inherited.
fn sets(permitted: &[u32], inherited: &[u32]) -> [u8; BYTES] {
    let mask = |of: &[u32]| of.iter().fold(0u32, |mask, capability| mask | 1 << capability);
    let words = [_LINUX_CAPABILITY_VERSION_3, 0, mask(permitted), mask(permitted), mask(inherited), 0, 0, 0];
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

/// The sets of a program that was just started, as `capset` takes them.
pub(crate) fn of_a_program() -> [u8; BYTES] {
    sets(if rustix::process::geteuid().is_root() { &KEPT } else { &[] }, &[])
}

/// Lets a user's program have these.
///
/// # Safety
/// Only in a copy made by `fork`, before it becomes the program.
pub(super) unsafe fn inherit(capabilities: &[u32]) {
    let bytes = sets(capabilities, capabilities);
    // SAFETY: the pointers are to the header and to the sets after it.
    unsafe {
        libc::syscall(libc::SYS_capset, bytes.as_ptr(), bytes.as_ptr().add(8));
        for capability in capabilities {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, *capability, 0, 0);
        }
    }
}
