//! The application of fault actions, each recorded with the injection that asked for it.

use std::task::Waker;

use crate::world::process::AppliedAction;
use crate::world::process::Life;
use crate::world::queue::Pending;
use crate::world::state::State;
use picklock_model::ids::HostId;
use picklock_model::plan::{Action, Phase, Target, When};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Applied, Broken, Halt, Role, What};

impl State {
    /// Applies a fault action now, on the hosts that its target means now.
    pub(in crate::world) fn apply(&mut self, injection: u32) {
        if self.faults_are_over() {
            return;
        }
        self.hit = true;
        let entry = self.injections[injection as usize].clone();
        let hosts = self.resolve(&entry.target);
        let others = entry.action.other_end().map(|other| self.resolve(other)).unwrap_or_default();
        let at = hosts.first().copied().unwrap_or(HostId(0));
        let applied = Box::new(Applied { action: entry.action.clone(), hosts: hosts.clone(), others });
        self.record_act(at, None, What::Injected { injection, applied });
        for host in &hosts {
            self.apply_to(*host, &hosts, &entry.action, injection);
        }
        self.apply_tied(injection);
    }

    /// Those that are tied to this one.
    fn apply_tied(&mut self, applied: u32) {
        let now = self.now;
        for (other, entry) in self.injections.iter().enumerate() {
            if let When::With { injection, after } = entry.when
                && injection == applied
            {
                self.queue.push(now + after, Pending::Action { injection: other as u32 });
            }
        }
    }

    fn apply_to(&mut self, host: HostId, hosts: &[HostId], action: &Action, injection: u32) {
        match action {
            Action::Pause { lasts } => self.halt(host, Halt::Pause, *lasts, injection),
            Action::Suspend { lasts } => self.halt(host, Halt::Suspend, *lasts, injection),
            Action::Stall { lasts } => self.halt(host, Halt::Stall, *lasts, injection),
            Action::Crash { power_loss, restart_after } => {
                self.crash(host, *power_loss, *restart_after, injection);
            }
            Action::Cut { to, both, lasts } => {
                for other in self.resolve(to) {
                    self.network.cut(host, other, injection);
                    self.breaks(injection, Broken::Link(host, other));
                    if *both {
                        self.network.cut(other, host, injection);
                        self.breaks(injection, Broken::Link(other, host));
                    }
                }
                if hosts.first() == Some(&host) {
                    self.heal_at(self.now + *lasts, injection);
                }
            }
            Action::Delay { to, by, lasts, messages } => {
                let until = self.now + *lasts;
                for other in self.resolve(to) {
                    self.network.delay(host, other, *by, until, *messages, injection);
                }
                // A delay of so many messages ends with the last of them; see where they are sent.
                if messages.is_none() && hosts.first() == Some(&host) {
                    self.breaks(injection, Broken::Late);
                    self.heal_at(until + *by, injection);
                }
            }
            Action::StepClock { by_ns } => {
                let now = self.now;
                self.process(host).clock.step_wall(now, *by_ns);
                self.record_act(host, None, What::ClockStepped { by_ns: *by_ns });
                self.reschedule(host);
                self.takes_effect_if_relied_upon(host, injection);
            }
            Action::SetDrift { ppm } => {
                let now = self.now;
                self.process(host).clock.set_drift(now, *ppm);
                self.record_act(host, None, What::DriftSet { ppm: *ppm });
                self.reschedule(host);
                if *ppm != 0 {
                    self.hit_host(injection, host);
                }
            }
            Action::DropConnections { to } => {
                for other in self.resolve(to) {
                    if self.drop_connections(host, other) {
                        self.hit_host(injection, host);
                    }
                }
            }
            Action::ForgetConnections { to } => {
                for other in self.resolve(to) {
                    if self.forget_connections(host, other, injection) {
                        self.record_act(host, None, What::ConnectionsForgotten { peer: other });
                        self.hit_host(injection, host);
                    }
                }
            }
            Action::Own { name, count } => self.apply_own(host, name, *count, injection),
            Action::Cancel => self.cancel(host, injection),
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => self.hit_host(injection, host),
            Action::LoseRequest { to } => {
                for other in self.resolve(to) {
                    self.network.lose_next(host, other, injection);
                }
            }
            Action::LoseReply { from } => {
                for other in self.resolve(from) {
                    self.network.lose_next(other, host, injection);
                }
            }
        }
    }

    /// Hands it to the member's program, which reports back what came of it.
    fn apply_own(&mut self, host: HostId, name: &str, count: u32, injection: u32) {
        let process = self.process(host);
        if process.life == Life::Alive {
            process.applied.push_back(AppliedAction { name: name.to_owned(), count, injection });
            process.action_waiter.take().into_iter().for_each(Waker::wake);
        }
    }

    pub(in crate::world) fn heal_at(&mut self, at: TrueTime, injection: u32) {
        self.unhealed.push(injection);
        self.queue.push(at, Pending::Heal { injection });
    }

    /// The run is over: what is still in force ends with it, so that nothing after it counts as undisturbed.
    pub(crate) fn heal_all(&mut self) {
        let mut rest = std::mem::take(&mut self.unhealed);
        rest.sort_unstable();
        rest.dedup();
        for injection in rest {
            self.record_act(HostId(0), None, What::Healed { injection });
        }
    }

    /// The effect of a fault action with a duration ends.
    pub(in crate::world) fn heal(&mut self, injection: u32) {
        self.unhealed.retain(|other| *other != injection);
        self.mends(|outage| outage.injection == injection);
        for (conn, direction) in self.network.heal(injection) {
            self.reschedule_arrival(conn, direction);
        }
        let host = self.resolve(&self.injections[injection as usize].target.clone()).first().copied();
        self.record_act(host.unwrap_or(HostId(0)), None, What::Healed { injection });
    }

    /// A clock matters to a store that keeps records and to a client that holds or waits.
    fn takes_effect_if_relied_upon(&mut self, host: HostId, injection: u32) {
        let process = &self.processes[usize::from(host.0)];
        let relied = match self.role(host) {
            Role::Client => process.in_section() || process.has_deadline(),
            _ => self.keeps_records(host),
        };
        if relied {
            self.hit_host(injection, host);
        }
    }

    fn follower(&self, group: Option<u32>) -> Option<HostId> {
        let alive = |host: HostId| self.processes[usize::from(host.0)].life == Life::Alive;
        self.leaders.follower(group, alive)
    }

    pub(super) fn resolve(&self, target: &Target) -> Vec<HostId> {
        let index = |at: usize| HostId(at as u16);
        match target {
            Target::Hosts(names) => names
                .iter()
                .filter_map(|name| self.names.iter().position(|known| **known == **name).map(index))
                .collect(),
            Target::Holder => self
                .processes
                .iter()
                .position(|process| process.phase > Phase::Acquire)
                .map(index)
                .into_iter()
                .collect(),
            Target::Leader => self.leaders.leader(None).into_iter().collect(),
            Target::Follower => self.follower(None).into_iter().collect(),
            Target::LeaderOf(group) => self.leaders.leader(Some(*group)).into_iter().collect(),
            Target::FollowerOf(group) => self.follower(Some(*group)).into_iter().collect(),
        }
    }
}
