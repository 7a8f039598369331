//! Files as the simulated host has them: paths, contents, times, numbers and locks.

pub(super) mod answers;
pub(super) mod file_system;
pub(super) mod locks;
pub(super) mod paths;
pub(super) mod stamps;
pub(super) mod sysfs;
