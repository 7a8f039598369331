//! The files that a process has mapped, and the opening of files that a program names.
//!
//! A program decides which file is behind a name: a pipe that nobody writes to, a link to a device, one out of its mounts. So a name is
//! looked up in the program's own mounts, what was found is opened only if it is a regular file, and never by its name again.

use std::{
    fs::{self, File},
    ops::Range,
    os::fd::OwnedFd,
    path::PathBuf,
};

use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

use crate::linux::kernel::found::Found;

/// Tries of a look-up that something else on the machine disturbs.
const TRIES: u32 = 100;

/// The range of a mapping of a file, and its path.
pub(super) fn mapping(line: &str) -> Option<(Range<u64>, &str)> {
    let path = &line[line.find('/')?..];
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?, path))
}

/// A regular file of a process, and its path without links.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

/// Opens a file that a process has mapped. The kernel names it without links.
pub(super) fn mapped(process: u32, path: &str) -> Option<Opened> {
    open(process, "root", path, ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS)
}

/// Opens a file by a name that a program has given, from its working directory if the name is relative.
pub(super) fn named(process: u32, path: &str) -> Option<Opened> {
    let given =
        if path.starts_with('/') { PathBuf::from(path) } else { working_directory(process)?.join(path) };
    open(process, "root", given.to_str()?, ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS)
}

/// Opens the file of the program that a process runs.
pub(super) fn program(process: u32) -> Option<Opened> {
    // The kernel's own link, which leads to the very file.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    regular(rustix::fs::open(format!("/proc/{process}/exe"), flags, Mode::empty()).ok()?)
}

fn working_directory(process: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/cwd")).ok()
}

fn open(process: u32, start: &str, path: &str, resolve: ResolveFlags) -> Option<Opened> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(format!("/proc/{process}/{start}"), flags, Mode::empty()).ok()?;
    for _ in 0..TRIES {
        match openat2(&root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => {}
            found => return regular(found.ok()?),
        }
    }
    None
}

/// The file, opened to be read if it is a regular one.
fn regular(file: OwnedFd) -> Option<Opened> {
    let found = Found::new(file).ok()?;
    if found.kind() != FileType::RegularFile || found.is_of_processes() {
        return None;
    }
    let path = fs::read_link(found.handle()).ok()?;
    let file = File::open(found.handle()).ok()?;
    let bytes = file.metadata().ok()?.len();
    Some(Opened { file, path, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_a_range_and_a_path() {
        let line = "55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 1311 /usr/bin/a name";
        assert_eq!(mapping(line), Some((0x55d0_c000_0000..0x55d0_c000_1000, "/usr/bin/a name")));
        assert_eq!(mapping("7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]"), None);
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let process = std::process::id();
        assert!(program(process).is_some_and(|opened| opened.bytes > 0));
        for name in ["/dev/zero", "/proc/self/environ", "/proc/version", "/tmp", "/nowhere"] {
            assert!(named(process, name).is_none() && mapped(process, name).is_none(), "{name}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "text").expect("write");
        std::os::unix::fs::symlink(&file, &link).expect("link");
        let link = link.to_str().expect("text");
        assert!(named(process, link).is_some_and(|opened| opened.path.ends_with("file")));
        assert!(mapped(process, link).is_none(), "the kernel names no links");
    }
}
