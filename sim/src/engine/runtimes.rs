//! A tokio runtime for each host, for what code under test spawns past its host.
//!
//! A library that spawns by `tokio::spawn` finds the runtime of the host that is being polled: its task belongs to that
//! host, stands still with it and dies with it. The runtimes have no timers and no sockets: code that waits on
//! `tokio::time`, which would ignore its host's clock, fails loudly.
//!
//! Runtimes are kept by the thread for its next runs, as far as nothing is left in them.

use std::cell::RefCell;

use tokio::runtime::{Builder, EnterGuard, Runtime, RuntimeMetrics};

use crate::base::ids::HostId;

thread_local! {
    static SPARE: RefCell<Vec<OfHost>> = const { RefCell::new(Vec::new()) };
}

/// More than this are not kept by a thread.
const SPARE_MAX: usize = 64;

/// The runtimes of the hosts of one run.
pub(super) struct Runtimes {
    hosts: Vec<OfHost>,
    /// The hosts that were seen to have spawned tasks, each once.
    busy: Vec<HostId>,
}

struct OfHost {
    runtime: Runtime,
    metrics: RuntimeMetrics,
}

impl OfHost {
    fn spare() -> OfHost {
        SPARE.with(|spare| spare.borrow_mut().pop()).unwrap_or_else(|| {
            let runtime = Builder::new_current_thread()
                .build()
                .expect("a runtime without drivers needs nothing of the system");
            OfHost { metrics: runtime.metrics(), runtime }
        })
    }

    /// Keeps the runtime if it is as good as new; what is in it is dropped otherwise.
    fn give_back(self) {
        if self.metrics.num_alive_tasks() > 0 {
            self.runtime.shutdown_background();
            return;
        }
        SPARE.with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX {
                spare.push(self);
            }
        });
    }
}

impl Runtimes {
    /// A runtime for each of so many hosts.
    pub(super) fn new(hosts: usize) -> Runtimes {
        Runtimes { hosts: (0..hosts).map(|_| OfHost::spare()).collect(), busy: Vec::new() }
    }

    /// What is spawned while the guard lives belongs to this host.
    pub(super) fn enter(&self, host: HostId) -> EnterGuard<'_> {
        self.hosts[usize::from(host.0)].runtime.enter()
    }

    /// To be called after a task of the host was polled.
    pub(super) fn look_at(&mut self, host: HostId) {
        if self.hosts[usize::from(host.0)].metrics.num_alive_tasks() > 0 && !self.busy.contains(&host) {
            self.busy.push(host);
            self.busy.sort_unstable();
        }
    }

    /// True if no host has spawned tasks that are still there.
    pub(super) fn are_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Gives the spawned tasks of every host a turn whose process runs.
    pub(super) fn take_turns(&mut self, runs: impl Fn(HostId) -> bool) {
        self.busy.retain(|host| {
            let of_host = &self.hosts[usize::from(host.0)];
            if runs(*host) {
                of_host.runtime.block_on(tokio::task::yield_now());
            }
            of_host.metrics.num_alive_tasks() > 0
        });
    }

    /// The host has died: what it has spawned goes with it.
    pub(super) fn bury(&mut self, host: HostId) {
        self.busy.retain(|other| *other != host);
        let dead = std::mem::replace(&mut self.hosts[usize::from(host.0)], OfHost::spare());
        dead.give_back();
    }
}

impl Drop for Runtimes {
    fn drop(&mut self) {
        self.hosts.drain(..).for_each(OfHost::give_back);
    }
}
