//! Hearing of calls: the supervisor waits while a thread runs, and looks what it means when nothing is heard.

use std::os::fd::AsFd;

use rand_core::Rng;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use syscalls::Sysno;

use super::{
    clock_page::{self, Image, PAGE_FD},
    group::Group,
    notify::Notice,
    output::Output,
    table::State,
};
use crate::Broken;

/// How long a poll waits before the supervisor looks what the silence is about.
const SLICE_MS: i64 = 40;

/// So many times as long as for a call it is waited for a process that was made and has not called yet.
const BIRTH: u64 = 10;

/// What such a process is at.
const BEFORE: &str = "what comes before its first call";

impl Group {
    /// Waits for the next call of the thread that runs, or for its end.
    pub(crate) fn listen(&mut self) -> Result<(), Broken> {
        self.has_run = true;
        let broken = |what| move |errno: Errno| Broken::Kernel { what, source: errno.into() };
        let mut running: Vec<usize> = self
            .table
            .threads
            .iter()
            .filter(|thread| thread.is_running())
            .map(|thread| thread.process)
            .collect();
        running.dedup();
        let mut watched = vec![PollFd::new(&self.listener, PollFlags::IN)];
        watched.extend(
            running.iter().map(|&process| PollFd::new(&self.table.processes[process].handle, PollFlags::IN)),
        );
        let slice = Timespec { tv_sec: 0, tv_nsec: SLICE_MS * 1_000_000 };
        let count = match poll(&mut watched, Some(&slice)) {
            Err(Errno::INTR) => return Ok(()),
            other => other.map_err(broken("wait for a call"))?,
        };
        let called = watched[0].revents().contains(PollFlags::IN);
        let ended = watched[1..].iter().position(|file| !file.revents().is_empty());
        let hung_up = watched[0].revents().contains(PollFlags::HUP);
        drop(watched);
        if count == 0 {
            return self.silence(&running);
        }
        self.silent_slices = 0;
        if called {
            let got = self.listener.receive();
            let got = got.map_err(|source| Broken::Kernel { what: "receive a call", source })?;
            if let Some(notice) = got {
                self.called(notice)?;
            }
        } else if let Some(ended) = ended {
            self.buried(running[ended]);
        } else if hung_up {
            // Nobody is left who could call.
            self.end();
        }
        Ok(())
    }

    /// Notes a call.
    fn called(&mut self, notice: Notice) -> Result<(), Broken> {
        let known = self
            .table
            .threads
            .iter()
            .position(|thread| thread.tid == notice.thread() && !matches!(thread.state, State::Dead));
        let thread = match known {
            Some(thread) => thread,
            None => match self.born(notice.thread()) {
                Ok(thread) => thread,
                // It died as it was born.
                Err(_) => return Ok(()),
            },
        };
        self.calls += 1;
        self.work += 1;
        self.table.heard += 1;
        self.meet();
        let process = self.table.threads[thread].process;
        if self.table.processes[process].fresh {
            self.renew(process, &notice)?;
        }
        self.table.threads[thread].state = State::Called(notice);
        Ok(())
    }

    /// Prepares a process that was given a new program.
    fn renew(&mut self, process: usize, notice: &Notice) -> Result<(), Broken> {
        if matches!(notice.call(), Sysno::execve | Sysno::execveat) {
            return Ok(());
        }
        self.table.processes[process].fresh = false;
        let mut random = [0; 16];
        self.table.processes[process].random.fill_bytes(&mut random);
        let memory = self.table.processes[process].memory();
        let image = match clock_page::overwrite(memory, self.looks, random) {
            Ok(image) => image,
            // Gone already, killed from within.
            Err(_) if self.table.processes[process].ended() => Image::default(),
            Err(source) => return Err(Broken::Kernel { what: "write to the program's code", source }),
        };
        if image.known {
            return Ok(());
        }
        self.table.processes[process].image = image;
        self.table.unlent(process);
        if image.flag.is_some()
            && let Some(page) = &self.time.page
        {
            let _ = self.listener.place(notice, page.as_fd(), PAGE_FD, true);
        }
        Ok(())
    }

    /// Looks what it means that nothing was heard for a while.
    fn silence(&mut self, running: &[usize]) -> Result<(), Broken> {
        // Perhaps it waits for room: outputs and connections are taken from, which shows nowhere else.
        self.outputs.iter_mut().for_each(Output::drain);
        self.sockets.take_all();
        self.has_lines = true;
        self.silent_slices += 1;
        if self.outputs.iter().any(|output| output.total > self.limits.output) {
            return Err(Broken::TooMuchOutput(self.limits.output));
        }
        if self.sockets.untold() > self.limits.output {
            return Err(Broken::TooMuchSent(self.limits.output));
        }
        for &process in running {
            let used = self.table.processes[process].processor_ns();
            let before = self.table.processes[process].used_ns;
            if before == 0 || self.silent_slices == 1 {
                self.table.processes[process].used_ns = used;
            } else if used.saturating_sub(before) / 1_000_000 > self.limits.silence_ms {
                return Err(Broken::Silent(self.limits.silence_ms));
            }
        }
        let silent_ms = self.silent_slices * SLICE_MS as u64;
        if running.is_empty() {
            // Who is not there yet has all the time that a loaded machine takes for it.
            if self.silent_slices > 4 && !self.has_strangers() {
                // The kernel refused to make it.
                self.table.unborn = 0;
                for thread in &mut self.table.threads {
                    if matches!(thread.state, State::Lends(None)) {
                        thread.state = State::Running;
                    }
                }
            }
            let patience_ms = self.limits.stuck_ms.saturating_mul(BIRTH);
            return if silent_ms > patience_ms { Err(Broken::Stuck(BEFORE.to_owned())) } else { Ok(()) };
        }
        let asleep =
            self.table.threads.iter().filter(|thread| thread.is_running()).all(|thread| sleeps(thread.tid));
        if asleep && silent_ms > self.limits.stuck_ms {
            let sleeper = self.table.threads.iter().find(|thread| thread.is_running());
            let call = sleeper.and_then(|thread| {
                let text = std::fs::read_to_string(format!("/proc/{}/syscall", thread.tid)).ok()?;
                Sysno::new(text.split_whitespace().next()?.parse().ok()?)
            });
            return Err(Broken::Stuck(
                call.map_or_else(|| "an unknown call".to_owned(), |call| call.to_string()),
            ));
        }
        Ok(())
    }
}

/// Whether a thread sleeps. Whoever waits for a disk (D) does not: that ends by itself.
fn sleeps(tid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
}
