//! Memory that a served world does not need any more goes back to the system at once.
//!
//! The allocator keeps what it has freed, and takes memory in large pages: that makes campaigns faster, whose worlds are small and
//! all alike. A served world may hold a hundred megabytes for a moment and nothing afterwards, and is looked at beside a real server.
//! The allocator reads its settings once, before any code of ours runs, so the program begins anew with them.

/// The settings of the allocator: freed memory goes back after so many milliseconds, and no memory is taken before it is needed.
#[cfg(unix)]
const SETTINGS: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_ARENA_EAGER_COMMIT", "0")];

/// Begins anew with the allocator's settings, unless somebody has set them. Where that cannot be, memory is kept.
#[cfg(unix)]
pub(super) fn give_back() {
    use std::os::unix::process::CommandExt as _;

    if SETTINGS.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), std::env::current_exe()) else { return };
    // Only comes back with an error.
    let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(SETTINGS).exec();
}

/// Nothing can be done here.
#[cfg(not(unix))]
pub(super) fn give_back() {}
