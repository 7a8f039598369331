//! The parts of a scenario, each with its parameters.

use std::time::Duration;

use picklock_model::span::Span;
use picklock_sim::param::{Args, Param, Value, ValueError};

use super::world::{self, HORIZON, TTL};
use crate::error::Problem;
use crate::faults::{self, FaultEntry};
use crate::workloads::Workload;

/// A scenario with its parameters.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) summary: String,
    /// The settings given from outside, in order.
    pub(super) changes: Vec<String>,
    pub(super) claim_source: Option<String>,
    pub(super) workload: &'static Workload,
    pub(super) world: Args,
    /// Its parameters for each kind of store.
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
    /// The group to which it belongs: `world`, a kind of store, the workload's name or a fault's name. `group.name` sets it
    /// alone.
    pub group: &'static str,
    /// The parameter.
    pub param: &'static Param,
    /// Its value now.
    pub value: Value,
}

/// A problem of a scenario as a whole.
pub(super) struct Misfit {
    /// The parameters that do not fit together; the first of them that was given is to blame.
    pub(super) params: Vec<(Group, &'static str)>,
    pub(super) problem: Problem,
}

impl Scenario {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its summary, in one line.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The settings given from outside, in order: its summary does not know them.
    #[must_use]
    pub fn changes(&self) -> &[String] {
        &self.changes
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

    /// The lease time that clients ask for.
    #[must_use]
    pub fn ttl(&self) -> Duration {
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

    /// Checks what concerns several parameters at once: everything that depends on the lease time, and that the run is
    /// long enough for its faults.
    pub(super) fn check(&self) -> Result<(), Misfit> {
        let of_value = |group, param: &'static str, error| Misfit {
            params: vec![(group, param)],
            problem: Problem::Value { param: param.to_owned(), error },
        };
        if let lease @ Span::Leases { .. } = self.world.get(TTL) {
            let error = ValueError::Circular { value: lease.to_string() };
            return Err(of_value(Group::World, TTL.name, error));
        }
        let ttl = self.ttl();
        self.groups().try_for_each(|(group, _, args)| {
            args.check(ttl).map_err(|(param, error)| of_value(group, param, error))
        })?;
        let horizon = self.world.get(HORIZON).resolve(ttl);
        for (at, entry) in
            self.faults.iter().enumerate().filter(|(_, entry)| entry.args.get(faults::TIMES).1 > 0)
        {
            let Some(param) = (entry.fault.lasts)(&entry.args) else { continue };
            let least = entry.args.get(param).from.resolve(ttl);
            if least >= horizon {
                let fault = entry.fault.name;
                let (horizon, least) = (Span::Fixed(horizon), Span::Fixed(least));
                return Err(Misfit {
                    params: vec![(Group::World, HORIZON.name), (Group::Fault(at), param.name)],
                    problem: Problem::HorizonTooShort { horizon, fault, param: param.name, least },
                });
            }
        }
        Ok(())
    }
}
