//! The parts of a scenario, each with its parameters.

use std::time::Duration;

use picklock_sim::param::{Args, Param, Value, ValueError};
use picklock_sim::span::Span;

use super::world;
use crate::faults::FaultEntry;
use crate::workloads::Workload;

/// A scenario with its parameters.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) claim_source: Option<String>,
    pub(super) workload: &'static Workload,
    pub(super) world: Args,
    /// What it says of each kind of store.
    pub(super) stores: Vec<(&'static str, Args)>,
    pub(super) load: Args,
    pub(super) faults: Vec<FaultEntry>,
}

/// Which part of a scenario a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    World,
    Store(usize),
    Workload,
    Fault(usize),
}

/// A parameter of a scenario as it stands.
#[derive(Clone, Copy, Debug)]
pub struct Settable {
    /// What it belongs to: `world`, a kind of store, the workload's name or a fault's name. `group.name` sets it alone.
    pub group: &'static str,
    /// The parameter.
    pub param: &'static Param,
    /// Its value now.
    pub value: Value,
}

impl Scenario {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happens in it, in one line.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Where the claim that it tests was made, if it tests one.
    #[must_use]
    pub fn claim_source(&self) -> Option<&str> {
        self.claim_source.as_deref()
    }

    /// Its workload.
    #[must_use]
    pub fn workload(&self) -> &'static Workload {
        self.workload
    }

    /// Its faults.
    #[must_use]
    pub fn faults(&self) -> &[FaultEntry] {
        &self.faults
    }

    /// Its parameters as they stand: those of the world, of each kind of store, of the workload, and of each fault.
    #[must_use]
    pub fn settable(&self) -> Vec<Settable> {
        self.groups()
            .flat_map(|(_, group, args)| {
                args.iter().map(move |(param, value)| Settable { group, param, value })
            })
            .collect()
    }

    pub(super) fn ttl(&self) -> Duration {
        world::ttl(&self.world)
    }

    /// The parts that have parameters, each with its name.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Group, &'static str, &Args)> {
        let faults = self.faults.iter().enumerate();
        let stores = self.stores.iter().enumerate().map(|(at, (kind, args))| (Group::Store(at), *kind, args));
        std::iter::once((Group::World, "world", &self.world))
            .chain(stores)
            .chain(std::iter::once((Group::Workload, self.workload.name, &self.load)))
            .chain(faults.map(|(at, entry)| (Group::Fault(at), entry.fault.name, &entry.args)))
    }

    pub(super) fn args_mut(&mut self, group: Group) -> &mut Args {
        match group {
            Group::World => &mut self.world,
            Group::Store(at) => &mut self.stores[at].1,
            Group::Workload => &mut self.load,
            Group::Fault(at) => &mut self.faults[at].args,
        }
    }

    /// Checks what concerns several parameters at once: everything that depends on the lease time.
    pub(super) fn check(&self) -> Result<(), (Group, &'static str, ValueError)> {
        if let Some((_, value @ Value::Spans(Span::Leases { .. }, _))) =
            self.world.iter().find(|(param, _)| param.name == "ttl")
        {
            return Err((Group::World, "ttl", ValueError::Circular { value: value.to_string() }));
        }
        let ttl = self.ttl();
        self.groups()
            .try_for_each(|(group, _, args)| args.check(ttl).map_err(|(param, why)| (group, param, why)))
    }
}
