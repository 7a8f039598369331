//! The descriptors that a thread waits for.
//!
//! The supervisor asks for the readiness of the same files, by handles of its own. That is wrong for a signalfd, which is ready when the
//! process that *asks* has a signal pending: to ask it here would see the supervisor's own signals, and to ask an epoll that holds one
//! would take it out of the epoll's list of what is ready. So the set of signals of each signalfd is waited for instead, and an epoll with
//! one is taken apart into its files.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::PollFlags;

use super::process::Process;
use crate::linux::kernel::polling::is_ready;
use crate::linux::kernel::text::text_of;

/// Epolls within epolls are followed as far as the kernel allows them.
const DEPTH: u32 = 5;

/// Files and signals, any of which ends a wait.
#[derive(Default)]
pub(crate) struct Awaited {
    pub(crate) files: Vec<(OwnedFd, PollFlags)>,
    /// The signals that signalfds among the files wait for.
    pub(crate) signals: u64,
}

impl Awaited {
    pub(crate) fn file(file: OwnedFd, events: PollFlags) -> Self {
        Self { files: vec![(file, events)], signals: 0 }
    }

    pub(crate) fn has_file(&self) -> bool {
        let files: Vec<_> = self.files.iter().map(|(file, events)| (file.as_fd(), *events)).collect();
        is_ready(&files)
    }

    /// Adds what a signalfd waits for, or an epoll that holds one; whether a descriptor of a thread is such a file.
    pub(crate) fn adds_signals(&mut self, process: &Process, tid: u32, fd: i32, events: PollFlags) -> bool {
        self.follow(process, tid, fd, events, DEPTH)
    }

    fn follow(&mut self, process: &Process, tid: u32, fd: i32, events: PollFlags, depth: u32) -> bool {
        let link = std::fs::read_link(format!("/proc/{tid}/fd/{fd}")).unwrap_or_default();
        let info = || text_of(format!("/proc/{tid}/fdinfo/{fd}")).unwrap_or_default();
        match link.to_str() {
            Some("anon_inode:[signalfd]") => {
                if events.contains(PollFlags::IN) {
                    let info = info();
                    let set = info.lines().find_map(|line| line.strip_prefix("sigmask:"));
                    self.signals |= set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
                }
                true
            }
            Some("anon_inode:[eventpoll]") if depth > 0 => {
                let items: Vec<(i32, PollFlags)> = info().lines().filter_map(item).collect();
                let mut parts = Awaited::default();
                let mut has_signals = false;
                for &(fd, events) in &items {
                    if parts.follow(process, tid, fd, events, depth - 1) {
                        has_signals = true;
                    } else if let Ok(file) = process.file(fd) {
                        parts.files.push((file, events));
                    }
                }
                if has_signals {
                    self.files.append(&mut parts.files);
                    self.signals |= parts.signals;
                }
                has_signals
            }
            _ => false,
        }
    }
}

/// A file of an epoll and what is waited for there, as a line of its `fdinfo`; none if it is switched off.
fn item(line: &str) -> Option<(i32, PollFlags)> {
    let mut words = line.strip_prefix("tfd:")?.split_whitespace();
    let fd = words.next()?.parse().ok()?;
    let events = u32::from_str_radix(words.nth(1)?, 16).ok()? & 0xffff;
    (events != 0).then(|| (fd, PollFlags::from_bits_retain(events as u16)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_an_epoll_are_read_from_its_description() {
        let line = "tfd:       12 events: 80002019 data:               12  pos:0 ino:5a6c sdev:d";
        assert_eq!(item(line), Some((12, PollFlags::from_bits_retain(0x2019))));
        assert_eq!(item("tfd:        4 events: 40000000 data: 4  pos:0 ino:1 sdev:d"), None);
        assert_eq!(item("pos:\t0"), None);
    }
}
