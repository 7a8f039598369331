//! Notifications of calls: the supervisor waits while a thread runs, and looks what it means when nothing is heard.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use syscalls::Sysno;

use crate::Broken;
use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::kernel::text::text_of;
use crate::linux::process::creation::has_strangers;
use crate::linux::state::table::{State, Table};

/// How long a poll waits before the supervisor looks what the silence is about.
const SLICE_MS: i64 = 40;

/// So many times as long as for a call it is waited for a process that was made and has not called yet.
const CREATION: u64 = 10;

/// The state of such a process, for messages.
const BEFORE: &str = "what comes before its first call";

/// Processor time after which a thread that spins is taken to wait for one more call of others, in milliseconds.
const SPIN_MS: u64 = 20;

/// So many calls others may make while a thread spins.
const MOST_GIVEN: u32 = 200;

/// A notification, or its absence.
pub(crate) enum Notification {
    /// Nothing, and it is to be listened again.
    Nothing,
    /// Nothing for a while, of processes that run.
    Silence(Vec<usize>),
    Call(Notice),
    /// A process ended.
    End(usize),
    /// Nobody is left who could call.
    HangUp,
}

/// For how long nothing was heard.
#[derive(Default)]
pub(crate) struct Notifications {
    silent_slices: u64,
    /// How often another thread has had its turn while one spins.
    given: u32,
}

impl Notifications {
    /// Waits for the next call of the thread that runs, or for its end.
    pub(crate) fn wait(&mut self, listener: &Listener, table: &Table) -> Result<Notification, Broken> {
        if let Some(notice) = listener.deferred() {
            return Ok(Notification::Call(notice));
        }
        let broken = |what| move |errno: Errno| Broken::Kernel { what, source: errno.into() };
        let mut running: Vec<usize> =
            table.threads.iter().filter(|thread| thread.is_running()).map(|thread| thread.process).collect();
        running.dedup();
        let mut watched = vec![PollFd::new(listener, PollFlags::IN)];
        watched.extend(
            running.iter().map(|&process| PollFd::new(&table.processes[process].handle, PollFlags::IN)),
        );
        let slice = Timespec { tv_sec: 0, tv_nsec: SLICE_MS * 1_000_000 };
        let count = match poll(&mut watched, Some(&slice)) {
            Err(Errno::INTR) => return Ok(Notification::Nothing),
            other => other.map_err(broken("wait for a call"))?,
        };
        let called = watched[0].revents().contains(PollFlags::IN);
        let ended = watched[1..].iter().position(|file| !file.revents().is_empty());
        let hung_up = watched[0].revents().contains(PollFlags::HUP);
        drop(watched);
        if count == 0 {
            self.silent_slices += 1;
            return Ok(Notification::Silence(running));
        }
        self.silent_slices = 0;
        if called {
            let got = listener.receive();
            let got = got.map_err(|source| Broken::Kernel { what: "receive a call", source })?;
            return Ok(got.map_or(Notification::Nothing, Notification::Call));
        }
        Ok(match ended {
            Some(ended) => Notification::End(running[ended]),
            None if hung_up => Notification::HangUp,
            None => Notification::Nothing,
        })
    }

    /// True if others may have a turn while a thread spins.
    pub(crate) fn may_give(&self) -> bool {
        self.given < MOST_GIVEN
    }

    /// Another thread has its turn while one spins.
    pub(crate) fn note_given(&mut self) {
        self.given += 1;
        self.silent_slices = 0;
    }

    /// No thread runs.
    pub(crate) fn settle(&mut self) {
        self.given = 0;
    }

    /// Processor time after which nothing more is to be expected of the threads that run.
    fn patience_ms(&self, table: &Table) -> u64 {
        let running = table.threads.iter().filter(|thread| thread.is_running()).count();
        if self.given > 0 && running == 1 { SPIN_MS } else { table.limits.silence_ms }
    }

    /// Reads what it means that nothing was heard for a while.
    pub(crate) fn silence(&self, table: &mut Table, running: &[usize]) -> Result<(), Broken> {
        let patience_ms = self.patience_ms(table);
        for &process in running {
            let used = table.processes[process].processor_ns();
            let before = table.processes[process].used_ns;
            if before == 0 || self.silent_slices == 1 {
                table.processes[process].used_ns = used;
            } else if used.saturating_sub(before) / 1_000_000 > patience_ms {
                return Err(Broken::Silent(table.limits.silence_ms));
            }
        }
        let silent_ms = self.silent_slices * SLICE_MS as u64;
        if running.is_empty() {
            // A process that is not there yet has all the time that a loaded machine takes for it.
            if self.silent_slices > 4 && !has_strangers(table) {
                // The kernel refused to make it.
                table.unborn = 0;
                for thread in &mut table.threads {
                    if matches!(thread.state, State::Lends(None)) {
                        thread.state = State::Running;
                    }
                }
            }
            let patience_ms = table.limits.stuck_ms.saturating_mul(CREATION);
            return if silent_ms > patience_ms { Err(Broken::Stuck(BEFORE.to_owned())) } else { Ok(()) };
        }
        let asleep =
            table.threads.iter().filter(|thread| thread.is_running()).all(|thread| sleeps(thread.tid));
        if asleep && silent_ms > table.limits.stuck_ms {
            let sleeper = table.threads.iter().find(|thread| thread.is_running());
            let call = sleeper.and_then(|thread| {
                let text = text_of(format!("/proc/{}/syscall", thread.tid)).ok()?;
                Sysno::new(text.split_whitespace().next()?.parse().ok()?)
            });
            return Err(Broken::Stuck(
                call.map_or_else(|| "an unknown call".to_owned(), |call| call.to_string()),
            ));
        }
        Ok(())
    }
}

/// True if a thread sleeps or is stopped. Whoever waits for a disk (D) does not: that ends by itself.
fn sleeps(tid: u32) -> bool {
    let stat = text_of(format!("/proc/{tid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['S', 'T', 't']))
}
