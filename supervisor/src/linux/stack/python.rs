//! The stacks of CPython, by py-spy's crate: it knows the structures of each version.
//!
//! The crate follows the lists that it finds in a process, and copies as much as the program's file says. A program that has only the name
//! of an interpreter can make both endless. So the file is looked at before ([`interpreter`](super::interpreter)), and each walk along
//! the lists is first made with a limit: nothing moves in between.

use std::cell::Cell;
use std::path::PathBuf;

use py_spy::binary_parser::BinaryInfo;
use py_spy::config::LockingStrategy;
use py_spy::python_process_info::{ContainsAddr, PythonProcessInfo, PythonProcessLayout, get_python_version};
use py_spy::{Config, PythonSpy};
use remoteprocess::{Error, ProcessMemory};

use super::interpreter::is_ordinary;
use crate::Frame;
use crate::linux::kernel::memory::Memory;
use crate::linux::kernel::text::{status_field, text_of};

/// Bytes of the memory that is searched for an interpreter.
const MOST_SEARCHED: u64 = 16 << 20;
/// How often a walk may read the memory.
const MOST_READS: u32 = 100_000;

/// A process of CPython.
pub(super) struct Python {
    spy: PythonSpy,
    binaries: Binaries,
}

/// What the crate knows of a process, other than its mappings: those cannot go from thread to thread.
struct Binaries([Option<BinaryInfo>; 2]);

/// Any address may be mapped: reads show which are not.
struct Anywhere;

impl ContainsAddr for Anywhere {
    fn contains_addr(&self, _: usize) -> bool {
        true
    }
}

impl Binaries {
    /// Does something with them in the form that the crate takes.
    fn lend<T>(&mut self, does: impl FnOnce(&PythonProcessInfo) -> T) -> T {
        let [python_binary, libpython_binary] = self.0.each_mut().map(Option::take);
        let (python_filename, maps) = (PathBuf::new(), Box::new(Anywhere));
        let info =
            PythonProcessInfo { python_binary, libpython_binary, maps, python_filename, dockerized: false };
        let done = does(&info);
        self.0 = [info.python_binary, info.libpython_binary];
        done
    }

    fn are_small(&self) -> bool {
        let searched = |binary: &BinaryInfo| binary.bss_size.max(binary.pyruntime_size);
        self.0.iter().flatten().all(|binary| searched(binary) <= MOST_SEARCHED)
    }
}

/// True if these mappings are those of a CPython.
pub(super) fn runs_in(maps: &str) -> bool {
    let name = |line: &str| line.rsplit('/').next().map(str::to_owned);
    maps.lines()
        .filter(|line| line.contains('/'))
        .filter_map(name)
        .any(|name| name.starts_with("python") || name.starts_with("libpython"))
}

impl Python {
    pub(super) fn attach(pid: u32, maps: &str) -> Option<Python> {
        if !is_ordinary(pid, maps) {
            return None;
        }
        let process = remoteprocess::Process::new(pid as py_spy::Pid).ok()?;
        let info = PythonProcessInfo::new(&process).ok()?;
        let mut binaries = Binaries([info.python_binary, info.libpython_binary]);
        if !binaries.are_small() {
            return None;
        }
        let walk = Walk::new(pid);
        binaries.lend(|info| {
            let version = get_python_version(info, &walk).ok()?;
            PythonProcessLayout::new(info, &walk, &version, &config()).ok()
        })?;
        let spy = PythonSpy::new(process.pid, &config()).ok()?;
        Some(Python { spy, binaries })
    }

    pub(super) fn read(&mut self, tid: u32) -> Vec<Frame> {
        let walk = Walk::new(self.spy.pid as u32);
        let (version, config) = (&self.spy.version, &self.spy.config);
        if self.binaries.lend(|info| PythonProcessLayout::new(info, &walk, version, config)).is_err() {
            return Vec::new();
        }
        let Ok(mut stacks) = self.spy.get_stack_traces() else { return Vec::new() };
        let own = own_number(tid);
        let of_thread =
            stacks.iter().position(|stack| stack.os_thread_id.is_some() && stack.os_thread_id == own);
        let stack = match of_thread {
            Some(at) => stacks.swap_remove(at),
            None if stacks.len() == 1 => stacks.remove(0),
            None => return Vec::new(),
        };
        stack.frames.into_iter().map(frame).collect()
    }
}

/// The process stands still by itself, and is not to be stopped by a signal.
fn config() -> Config {
    Config {
        blocking: LockingStrategy::NonBlocking,
        collect_thread_names: false,
        gil_only: false,
        ..Config::default()
    }
}

/// The memory of a process, for a walk that ends.
struct Walk {
    memory: Memory,
    left: Cell<u32>,
}

impl Walk {
    fn new(pid: u32) -> Walk {
        Walk { memory: Memory(pid), left: Cell::new(MOST_READS) }
    }
}

impl ProcessMemory for Walk {
    fn read(&self, address: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let missing = || Error::IOError(std::io::ErrorKind::UnexpectedEof.into());
        self.left.set(self.left.get().checked_sub(1).ok_or_else(missing)?);
        let found = self.memory.read(address as u64, bytes.len()).map_err(|_| missing())?;
        bytes.copy_from_slice(&found);
        Ok(())
    }
}

/// The number of a thread in its own namespace, which the interpreter has noted.
fn own_number(tid: u32) -> Option<u64> {
    let status = text_of(format!("/proc/{tid}/status")).ok()?;
    status_field(&status, "NSpid").map(u64::from)
}

fn frame(frame: py_spy::Frame) -> Frame {
    let file = frame.filename;
    let library = file.starts_with('<')
        || ["/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python"]
            .iter()
            .any(|folder| file.contains(folder));
    Frame { function: frame.name, line: u32::try_from(frame.line).unwrap_or(0), text: None, library, file }
}
