//! A file that a path was found to lead to.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::{
    fs::{self, AtFlags, FileType, Statx, StatxFlags},
    io::Errno,
};

/// `PROC_SUPER_MAGIC`.
pub(crate) const PROC: i64 = 0x9fa0;

/// A file that a path leads to.
pub(crate) struct Found {
    pub(crate) file: OwnedFd,
    pub(crate) stat: Statx,
}

impl Found {
    pub(crate) fn new(file: OwnedFd) -> Result<Self, Errno> {
        let stat = describe(file.as_fd())?;
        Ok(Self { file, stat })
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.stx_mode.into())
    }

    /// Its name without links and detours, from the program's root; that of a pipe or the like has no slash at first.
    pub(crate) fn name(&self) -> Result<Vec<u8>, Errno> {
        Ok(fs::readlink(self.handle(), Vec::new())?.into_bytes())
    }

    /// True if it gives random bytes.
    pub(crate) fn is_random(&self) -> bool {
        self.kind() == FileType::CharacterDevice && matches!(self.device(), (1, 8 | 9))
    }

    /// True if a device holds nothing and leads nowhere: null, zero, full, the program's own terminal and pseudo-terminals.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self.device(), (1, 3 | 5 | 7) | (5, 0 | 2) | (136..=143, _))
    }

    /// True if it is in a `/proc`.
    pub(crate) fn is_of_processes(&self) -> bool {
        fs::fstatfs(&self.file).is_ok_and(|system| system.f_type == PROC)
    }

    fn device(&self) -> (u32, u32) {
        (self.stat.stx_rdev_major, self.stat.stx_rdev_minor)
    }

    /// A path by which the supervisor reaches this very file.
    pub(crate) fn handle(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }
}

/// The facts that are asked of each file that is found.
pub(crate) fn describe(file: BorrowedFd<'_>) -> Result<Statx, Errno> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
    fs::statx(file, "", AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT, wanted)
}
