//! The stacks of CPython, by py-spy's crate: it knows the structures of each version.

use py_spy::config::LockingStrategy;
use py_spy::{Config, PythonSpy};

use crate::Frame;
use crate::linux::process::status_field;

/// A process of CPython.
pub(super) struct Python(PythonSpy);

/// True if these mappings are those of a CPython.
pub(super) fn runs_in(maps: &str) -> bool {
    let name = |line: &str| line.rsplit('/').next().map(str::to_owned);
    maps.lines()
        .filter(|line| line.contains('/'))
        .filter_map(name)
        .any(|name| name.starts_with("python") || name.starts_with("libpython"))
}

impl Python {
    pub(super) fn attach(pid: u32) -> Option<Python> {
        // It stands still by itself, and is not to be stopped by a signal.
        let config = Config {
            blocking: LockingStrategy::NonBlocking,
            collect_thread_names: false,
            gil_only: false,
            ..Config::default()
        };
        PythonSpy::new(pid as py_spy::Pid, &config).ok().map(Python)
    }

    pub(super) fn read(&mut self, tid: u32) -> Vec<Frame> {
        let Ok(mut stacks) = self.0.get_stack_traces() else { return Vec::new() };
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

/// The number of a thread in its own namespace, which the interpreter has noted.
fn own_number(tid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
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
