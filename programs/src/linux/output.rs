//! What a program prints, sends and reads: bytes in, steps out; lines in, bytes out.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::{event::PollFlags, net::SendFlags};

use super::{connections::PARTS, group::Group, polling::which_are_ready};
use crate::{Broken, Step};

/// One of the two outputs.
pub(crate) struct Output {
    file: OwnedFd,
    pending: Vec<u8>,
    /// Bytes so far.
    pub(crate) total: usize,
}

impl Output {
    pub(crate) fn new(file: OwnedFd) -> Self {
        Self { file, pending: Vec::new(), total: 0 }
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Takes what the kernel holds.
    pub(crate) fn drain(&mut self) {
        let mut room = [0; 16 << 10];
        // Not without end: the program may be writing meanwhile.
        for _ in 0..PARTS {
            let Ok(got @ 1..) = rustix::io::read(&self.file, &mut room) else { return };
            self.total += got;
            self.pending.extend_from_slice(&room[..got]);
        }
    }

    /// The next whole line; a line that is too long ends where it is too long.
    pub(crate) fn line(&mut self, most: usize) -> Option<String> {
        let end = self.pending.iter().position(|&byte| byte == b'\n');
        let (text, used) = match end {
            Some(end) if end <= most => (end, end + 1),
            _ if self.pending.len() > most => (most, most),
            _ => return None,
        };
        let line = String::from_utf8_lossy(&self.pending[..text]).trim_end_matches('\r').to_owned();
        self.pending.drain(..used);
        Some(line)
    }

    /// What is left when the program ended in the middle of a line.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.pending);
        (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned())
    }
}

impl Group {
    /// Turns what the program sent and printed since the last time into steps.
    pub(crate) fn gather(&mut self) -> Result<(), Broken> {
        self.flush_input();
        // Without a thread that ran nothing came.
        if !std::mem::take(&mut self.has_run)
            && !self.over
            && !self.network.sockets.has_backlog()
            && !self.has_lines
        {
            return Ok(());
        }
        // One question for all: most calls come without anything sent or printed before.
        let mut asked: Vec<_> =
            self.outputs.iter().map(|output| (output.file().as_fd(), PollFlags::IN)).collect();
        asked.extend(self.network.sockets.files().map(|file| (file.as_fd(), PollFlags::IN)));
        let ready = which_are_ready(&asked);
        if !self.over && !self.network.sockets.has_backlog() && !ready.contains(&true) && !self.has_lines {
            return Ok(());
        }
        self.has_lines = false;
        let (printed, sent) = ready.split_at(self.outputs.len());
        // Of what is printed and sent between two calls the first is told first: who says that it gives a lock back goes on to do so.
        for ((output, make), &comes) in
            self.outputs.iter_mut().zip([Step::Printed as fn(String) -> Step, Step::Complained]).zip(printed)
        {
            if comes {
                output.drain();
            }
            while let Some(line) = output.line(self.setup.limits.line) {
                self.events.push_back(make(line));
            }
            if output.total > self.setup.limits.output {
                return Err(Broken::TooMuchOutput(self.setup.limits.output));
            }
        }
        self.network.sockets.gather(sent, &mut self.events);
        Ok(())
    }

    /// The program ended: what is left of its output is told, then how it ended.
    pub(crate) fn end(&mut self) {
        self.over = true;
        self.life.status();
        let _ = self.gather();
        for (output, make) in
            self.outputs.iter_mut().zip([Step::Printed as fn(String) -> Step, Step::Complained])
        {
            self.events.extend(output.rest().map(make));
        }
    }

    /// Writes one line to the program's standard input.
    pub fn line(&mut self, line: &str) {
        self.told_lines = true;
        self.input_backlog.extend(line.bytes());
        self.input_backlog.push_back(b'\n');
        self.flush_input();
    }

    /// Whether the program has read the lines that were written to it, if any were.
    #[must_use]
    pub fn has_read(&self) -> bool {
        let mut unread: libc::c_int = 0;
        // SAFETY: the call writes one number, to a local.
        let told = unsafe { libc::ioctl(self.input.as_raw_fd(), libc::TIOCOUTQ, &raw mut unread) };
        self.told_lines && self.input_backlog.is_empty() && told == 0 && unread == 0
    }

    /// Ends the program's standard input.
    pub fn end_input(&mut self) {
        self.input_ends = true;
        self.flush_input();
    }

    pub(crate) fn flush_input(&mut self) {
        if self.starts_up {
            return;
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while !self.input_backlog.is_empty() {
            let Ok(sent) = rustix::net::send(&self.input, self.input_backlog.make_contiguous(), flags) else {
                break;
            };
            self.input_backlog.drain(..sent);
        }
        if self.input_ends && self.input_backlog.is_empty() {
            self.input_ends = false;
            let _ = rustix::net::shutdown(&self.input, rustix::net::Shutdown::Write);
        }
    }
}
