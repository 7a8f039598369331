//! The streams of a program: bytes in, steps out; lines in, bytes out.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use rustix::{event::PollFlags, net::SendFlags};

use crate::linux::kernel::polling::{is_ready, which_are_ready};
use crate::linux::network::connections::{PARTS, Sockets};
use crate::{Broken, Limits, Step};

/// The input and the outputs of a program.
pub(crate) struct Streams {
    limits: Limits,
    input: Input,
    outputs: [Output; 2],
    /// A thread ran, and may have printed or sent something.
    has_run: bool,
    /// Something was taken that was not reported yet.
    has_lines: bool,
}

/// Its standard input.
struct Input {
    file: OwnedFd,
    backlog: VecDeque<u8>,
    ends: bool,
    /// A line was written to it.
    was_sent: bool,
    /// Lines come after start-up.
    is_open: bool,
}

/// The weight of a line in bytes: each is an event of the run.
const LINE: usize = 64;

/// One of the two outputs.
struct Output {
    file: OwnedFd,
    pending: Vec<u8>,
    /// Bytes of `pending` that are reported already.
    taken: usize,
    /// Bytes so far, and what their lines cost.
    total: usize,
}

impl Streams {
    pub(crate) fn new(limits: Limits, input: OwnedFd, [out, err]: [OwnedFd; 2]) -> Self {
        let outputs = [Output::new(out), Output::new(err)];
        Self { limits, input: Input::new(input), outputs, has_run: true, has_lines: false }
    }

    /// Opens the input when start-up ends.
    pub(crate) fn open_input(&mut self) {
        self.input.is_open = true;
        self.input.flush();
    }

    /// A thread runs.
    pub(crate) fn note_run(&mut self) {
        self.has_run = true;
    }

    /// The lines that were taken are reported the next time, whatever comes until then.
    pub(crate) fn report_all(&mut self) {
        self.has_lines = true;
    }

    /// Takes what the outputs hold, so that there is room again.
    pub(crate) fn drain(&mut self) {
        self.outputs.iter_mut().for_each(Output::drain);
        self.has_lines = true;
    }

    /// An error if too much was printed.
    pub(crate) fn check(&self) -> Result<(), Broken> {
        if self.outputs.iter().any(|output| output.total > self.limits.output) {
            return Err(Broken::TooMuchOutput(self.limits.output));
        }
        Ok(())
    }

    /// True if a full pipe is one of the outputs, which then has room again.
    pub(crate) fn makes_room(&mut self, inode: u64) -> bool {
        let is_it =
            |output: &&mut Output| rustix::fs::fstat(&output.file).is_ok_and(|stat| stat.st_ino == inode);
        let Some(output) = self.outputs.iter_mut().find(is_it) else { return false };
        output.drain();
        self.has_lines = true;
        output.total <= self.limits.output && is_empty(output)
    }

    /// Turns what the program sent and printed since the last time into steps.
    pub(crate) fn gather(
        &mut self,
        sockets: &mut Sockets,
        over: bool,
        events: &mut VecDeque<Step>,
    ) -> Result<(), Broken> {
        self.input.flush();
        // Without a thread that ran nothing came.
        if !std::mem::take(&mut self.has_run) && !over && !sockets.has_backlog() && !self.has_lines {
            return Ok(());
        }
        // One question for all: most calls come without anything sent or printed before.
        let mut asked: Vec<_> =
            self.outputs.iter().map(|output| (output.file.as_fd(), PollFlags::IN)).collect();
        asked.extend(sockets.files().map(|file| (file.as_fd(), PollFlags::IN)));
        let ready = which_are_ready(&asked);
        if !over && !sockets.has_backlog() && !ready.contains(&true) && !self.has_lines {
            return Ok(());
        }
        self.has_lines = false;
        let (printed, sent) = ready.split_at(self.outputs.len());
        // Prints and sends between two calls are reported in their order: who says that it gives a lock back does so next.
        for ((output, make), &comes) in
            self.outputs.iter_mut().zip([Step::Printed as fn(String) -> Step, Step::Stderr]).zip(printed)
        {
            if comes {
                output.drain();
            }
            while let Some(line) = output.line(self.limits.line) {
                events.push_back(make(line));
            }
            if output.total > self.limits.output {
                return Err(Broken::TooMuchOutput(self.limits.output));
            }
        }
        sockets.gather(sent, events);
        Ok(())
    }

    /// The program ended: reports the rest of its outputs.
    pub(crate) fn report_rest(&mut self, events: &mut VecDeque<Step>) {
        for (output, make) in self.outputs.iter_mut().zip([Step::Printed as fn(String) -> Step, Step::Stderr])
        {
            events.extend(output.rest().map(make));
        }
    }

    /// Writes one line to the program's standard input.
    pub(crate) fn line(&mut self, line: &str) {
        self.input.was_sent = true;
        self.input.backlog.extend(line.bytes());
        self.input.backlog.push_back(b'\n');
        self.input.flush();
    }

    /// True if the program has read the lines that were written to it, if any were.
    pub(crate) fn has_read(&self) -> bool {
        let mut unread: libc::c_int = 0;
        // SAFETY: the call writes one number, to a local.
        let asked = unsafe { libc::ioctl(self.input.file.as_raw_fd(), libc::TIOCOUTQ, &raw mut unread) };
        self.input.was_sent && self.input.backlog.is_empty() && asked == 0 && unread == 0
    }

    /// Ends the program's standard input.
    pub(crate) fn end_input(&mut self) {
        self.input.ends = true;
        self.input.flush();
    }
}

impl Input {
    fn new(file: OwnedFd) -> Self {
        Self { file, backlog: VecDeque::new(), ends: false, was_sent: false, is_open: false }
    }

    fn flush(&mut self) {
        if !self.is_open {
            return;
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while !self.backlog.is_empty() {
            let Ok(sent) = rustix::net::send(&self.file, self.backlog.make_contiguous(), flags) else {
                break;
            };
            self.backlog.drain(..sent);
        }
        if self.ends && self.backlog.is_empty() {
            self.ends = false;
            let _ = rustix::net::shutdown(&self.file, rustix::net::Shutdown::Write);
        }
    }
}

impl Output {
    fn new(file: OwnedFd) -> Self {
        Self { file, pending: Vec::new(), taken: 0, total: 0 }
    }

    /// Takes what the kernel holds.
    fn drain(&mut self) {
        let mut room = [0; 16 << 10];
        // Not without end: the program may be writing meanwhile.
        for _ in 0..PARTS {
            let Ok(got @ 1..) = rustix::io::read(&self.file, &mut room) else { return };
            let lines = memchr::memchr_iter(b'\n', &room[..got]).count();
            self.total += got + lines * LINE;
            self.pending.extend_from_slice(&room[..got]);
        }
    }

    /// The next whole line; a line that is too long ends where it is too long.
    fn line(&mut self, most: usize) -> Option<String> {
        let pending = &self.pending[self.taken..];
        let (text, used) = match memchr::memchr(b'\n', &pending[..pending.len().min(most + 1)]) {
            Some(end) => (end, end + 1),
            None if pending.len() > most => (most, most),
            None => {
                self.pending.drain(..std::mem::take(&mut self.taken));
                return None;
            }
        };
        let line = String::from_utf8_lossy(&pending[..text]).trim_end_matches('\r').to_owned();
        self.taken += used;
        Some(line)
    }

    /// The rest of the output if the program ended in the middle of a line.
    fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.pending).split_off(std::mem::take(&mut self.taken));
        (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned())
    }
}

/// True if nothing is left in an output.
fn is_empty(output: &Output) -> bool {
    !is_ready(&[(output.file.as_fd(), PollFlags::IN)])
}
