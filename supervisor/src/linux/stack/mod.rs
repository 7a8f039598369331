//! The stack of a thread that makes a call, as its source has it.
//!
//! The thread waits in the call for the supervisor, so that nothing of it moves. CPython keeps its frames in memory, where py-spy's crate reads
//! them (2.7, 3.3 to 3.15). Compiled programs (Go, Rust, C) are unwound by the tables that exceptions and debuggers use, and their
//! debug information gives functions and lines; a stripped program has none.
//!
//! All of this is the program's own making, and may be made to mislead a reader: files are opened in the program's mounts, and only regular
//! ones; bytes, depth and loops have limits; a reader that panics is not asked again. A line is shown from the program's own files alone.
//!
//! Left out: the JVM and Node. Their code is made at run time, and no table outside of them says which line it is; both would have to be
//! asked, by a call that is not part of the run.

mod binary;
mod interpreter;
mod mapped;
mod metered;
mod names;
mod native;
mod python;
mod quiet;
mod rules;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use syscalls::Sysno;

use self::native::Native;
use self::python::Python;
use self::quiet::quietly;
use self::source::Sources;
use crate::Frame;
use crate::linux::kernel::text::text_of;

/// True for a call by which a thread does something to others, or waits for them.
pub(crate) fn says_where(call: Sysno) -> bool {
    let acts = matches!(
        call,
        Sysno::connect | Sysno::write | Sysno::writev | Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg
    );
    acts || is_wait(call)
}

/// True for a call by which a thread waits for others.
pub(crate) fn is_wait(call: Sysno) -> bool {
    matches!(
        call,
        Sysno::read
            | Sysno::recvfrom
            | Sysno::recvmsg
            | Sysno::poll
            | Sysno::ppoll
            | Sysno::select
            | Sysno::pselect6
            | Sysno::epoll_wait
            | Sysno::epoll_pwait
            | Sysno::nanosleep
            | Sysno::clock_nanosleep
    )
}

/// The most processes of a group of which something is kept.
const READERS: usize = 4;

/// Reads the stacks of a group's threads.
pub(crate) struct Stacks {
    readers: BTreeMap<u32, (PathBuf, Reader)>,
    sources: Sources,
}

/// The reader of the stacks of a process.
enum Reader {
    Python(Box<Python>),
    Native(Native),
    /// It has panicked, or the interpreter is an unusual one.
    Failed,
}

impl Stacks {
    /// Shows lines of files below these directories.
    pub(crate) fn new(sources: &[PathBuf]) -> Stacks {
        Stacks { readers: BTreeMap::new(), sources: Sources::below(sources) }
    }

    /// The stack of a thread of this process, innermost first; empty if it cannot be read, or if nothing in it is the user's.
    pub(crate) fn read(&mut self, pid: u32, tid: u32) -> Vec<Frame> {
        let Ok(program) = fs::read_link(format!("/proc/{pid}/exe")) else { return Vec::new() };
        // A process that runs another program has another reader.
        if self.readers.get(&pid).is_none_or(|(other, _)| *other != program) {
            let made = quietly(|| Reader::of(pid)).unwrap_or(Some(Reader::Failed));
            let Some(reader) = made else { return Vec::new() };
            if self.readers.len() >= READERS {
                self.readers.clear();
            }
            self.readers.insert(pid, (program, reader));
        }
        let Some((_, reader)) = self.readers.get_mut(&pid) else { return Vec::new() };
        let Some(mut frames) = quietly(|| reader.read(tid)) else {
            *reader = Reader::Failed;
            return Vec::new();
        };
        if frames.iter().all(|frame| frame.library) {
            return Vec::new();
        }
        for frame in &mut frames {
            frame.text = self.sources.line(pid, &frame.file, frame.line);
        }
        frames
    }
}

impl Reader {
    fn of(pid: u32) -> Option<Reader> {
        let maps = text_of(format!("/proc/{pid}/maps")).ok()?;
        if python::runs_in(&maps) {
            // Not before its interpreter is there.
            return Python::attach(pid, &maps).map(|python| Reader::Python(Box::new(python)));
        }
        Some(Reader::Native(Native::of(pid, &maps)))
    }

    fn read(&mut self, tid: u32) -> Vec<Frame> {
        match self {
            Reader::Python(python) => python.read(tid),
            Reader::Native(native) => native.read(tid),
            Reader::Failed => Vec::new(),
        }
    }
}
