//! Counts the threads and the sockets of this process while something runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Cause;

/// How often it looks. What comes and goes within this time may be missed.
const EVERY: Duration = Duration::from_micros(200);

pub(super) struct Watch {
    over: Arc<AtomicBool>,
    looker: JoinHandle<(bool, bool)>,
}

impl Watch {
    pub(super) fn start() -> Watch {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        // The looker itself is one more.
        let (threads, sockets) = (threads().map(|threads| threads + 1), sockets());
        #[expect(clippy::disallowed_methods, reason = "it watches a run from outside, and is no part of it")]
        let looker = std::thread::spawn(move || look(&seen, threads, sockets));
        Watch { over, looker }
    }

    /// The causes that had not been there before.
    pub(super) fn stop(self) -> Vec<Cause> {
        self.over.store(true, Ordering::Relaxed);
        let (thread, socket) = self.looker.join().unwrap_or_default();
        let seen = [thread.then_some(Cause::Thread), socket.then_some(Cause::Socket)];
        seen.into_iter().flatten().collect()
    }
}

fn look(over: &AtomicBool, before: Option<usize>, sockets_before: Option<usize>) -> (bool, bool) {
    let (mut thread, mut socket) = (false, false);
    while !over.load(Ordering::Relaxed) {
        thread |= before.zip(threads()).is_some_and(|(before, now)| now > before);
        socket |= sockets_before.zip(sockets()).is_some_and(|(before, now)| now > before);
        std::thread::sleep(EVERY);
    }
    (thread, socket)
}

fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

fn sockets() -> Option<usize> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    let is_socket = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    };
    Some(open.flatten().filter(is_socket).count())
}
