//! Closing many descriptors at once, by the number of the call.

/// Closes the descriptors from one to another, or does with them what the flags say. Not every C library has it.
///
/// # Safety
/// Nothing uses them any more.
pub(super) unsafe fn close_range(first: u32, last: u32, flags: u32) {
    // SAFETY: the call takes numbers alone; the caller answers for what they name.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
}
