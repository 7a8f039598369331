//! A tokio runtime for each client, for what code under test spawns past its host.
//!
//! A library that spawns by `tokio::spawn` finds the runtime of the host that is being polled: its task belongs to that
//! host, stands still with it and dies with it. The runtimes have no timers and no sockets: code that waits on
//! `tokio::time`, which would ignore its host's clock, fails loudly.
//!
//! Runtimes are kept by the thread for its next runs, as far as nothing is left in them.

use std::cell::RefCell;

use tokio::runtime::{Builder, EnterGuard, Runtime, RuntimeMetrics};

use picklock_model::ids::HostId;
use picklock_model::trace::Role;

thread_local! {
    static SPARE: RefCell<Vec<OfHost>> = const { RefCell::new(Vec::new()) };
}

/// More than this are not kept by a thread.
const SPARE_MAX: usize = 64;

/// The runtimes of the hosts of one run. Only clients run code that may know nothing of its host: the others have none, and
/// their tasks are polled without the detour.
pub(super) struct Runtimes {
    hosts: Vec<Option<OfHost>>,
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
    /// The runtimes of the hosts that have these roles.
    pub(super) fn new(roles: impl Iterator<Item = Role>) -> Runtimes {
        let hosts = roles.map(|role| (role == Role::Client).then(OfHost::spare)).collect();
        Runtimes { hosts, busy: Vec::new() }
    }

    fn of(&self, host: HostId) -> Option<&OfHost> {
        self.hosts[usize::from(host.0)].as_ref()
    }

    /// Makes this host the owner of all tasks that are spawned while the guard lives.
    pub(super) fn enter(&self, host: HostId) -> Option<EnterGuard<'_>> {
        Some(self.of(host)?.runtime.enter())
    }

    /// To be called after a task of the host was polled.
    pub(super) fn look_at(&mut self, host: HostId) {
        let has_tasks = self.of(host).is_some_and(|of_host| of_host.metrics.num_alive_tasks() > 0);
        if has_tasks && !self.busy.contains(&host) {
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
            let Some(of_host) = &self.hosts[usize::from(host.0)] else { return false };
            if runs(*host) {
                of_host.runtime.block_on(tokio::task::yield_now());
            }
            of_host.metrics.num_alive_tasks() > 0
        });
    }

    /// The host has died: what it has spawned goes with it.
    pub(super) fn bury(&mut self, host: HostId) {
        self.busy.retain(|other| *other != host);
        if let Some(of_host) = &mut self.hosts[usize::from(host.0)] {
            std::mem::replace(of_host, OfHost::spare()).give_back();
        }
    }
}

impl Drop for Runtimes {
    fn drop(&mut self) {
        self.hosts.drain(..).flatten().for_each(OfHost::give_back);
    }
}
