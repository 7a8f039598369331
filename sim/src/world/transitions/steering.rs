//! The commands to a served world while it runs: fault actions that were not planned, the end of all faults, the start of a process.

use crate::world::process::Life;
use crate::world::queue::Pending;
use crate::world::state::State;
use picklock_model::ids::HostId;
use picklock_model::plan::{Effect, Injection, Target, When};
use picklock_model::time::TrueTime;
use picklock_model::trace::What;

/// Starts carry no injection that they are the end of.
const NO_INJECTION: u32 = u32::MAX;

/// A command to a served world while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveCommand {
    /// Fault actions are applied. Their instants count from now.
    Apply(Vec<Injection>),
    /// All that lasts is over: pauses, cuts, delays, messages that are to be lost. Who is dead stays so.
    Heal,
    /// A dead process is started anew, by the name of its host.
    Start(String),
}

impl State {
    /// Carries a command out.
    pub(crate) fn execute(&mut self, command: LiveCommand) {
        match command {
            LiveCommand::Apply(injections) => self.schedule(injections),
            LiveCommand::Heal => self.heal_now(),
            LiveCommand::Start(host) => self.start(&host),
        }
    }

    /// Schedules injections whose instants count from now.
    fn schedule(&mut self, injections: Vec<Injection>) {
        for entry in injections {
            let When::At { at_ns } = entry.when else { continue };
            let injection = self.injections.len() as u32;
            self.injections.push(entry);
            self.took_effect.push(false);
            self.queue.push(self.now + at_ns.since(TrueTime(0)), Pending::Action { injection });
        }
    }

    /// Ends all that lasts: halts, cuts, delays, messages that are to be lost. Who is dead stays so.
    fn heal_now(&mut self) {
        let now = self.now;
        self.network.forgive();
        for index in 0..self.processes.len() {
            let host = HostId(index as u16);
            let process = self.process(host);
            let halts = [&mut process.halted, &mut process.stalled].into_iter().flatten();
            let ended: Vec<u32> = halts
                .map(|halt| {
                    halt.until = halt.until.min(now);
                    halt.injection
                })
                .collect();
            if !ended.is_empty() {
                process.clock.rise(now);
                self.reschedule(host);
                ended.into_iter().for_each(|injection| self.resume(host, injection));
            }
        }
        let mut rest = std::mem::take(&mut self.unhealed);
        rest.sort_unstable();
        rest.dedup();
        for injection in rest {
            match self.injections[injection as usize].action.effect() {
                Effect::Death => self.unhealed.push(injection),
                Effect::Halt => {}
                Effect::Messages | Effect::Store | Effect::Process | Effect::Rate => {
                    self.healed_early.insert(injection);
                    self.heal(injection);
                }
            }
        }
    }

    /// Starts a dead process anew.
    fn start(&mut self, host: &str) {
        for host in self.resolve(&Target::host(host)) {
            if self.processes[usize::from(host.0)].life == Life::Alive {
                self.record_act(host, None, What::Noticed { text: "runs already".to_owned() });
            }
            self.restart(host, NO_INJECTION);
        }
    }

    /// True if connections to this port of a host reach something: a process, or a host that answers nothing.
    pub(crate) fn takes_connections(&self, host: HostId, port: u16) -> bool {
        self.processes[usize::from(host.0)].dark || self.network.listening.contains_key(&(host, port))
    }
}
