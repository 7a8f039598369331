//! A scenario: a world, a workload and faults, each with bounds within which a seed draws one run.
//!
//! A scenario is read from a TOML file ([`Scenario::parse`], [`Scenario::load`]), changed from outside
//! ([`Scenario::set`]) and, with a design and a seed, drawn into a [`Plan`]. Drawing is a pure function: the same
//! scenario, design, seed and probe give the same plan. What a scenario cannot say on purpose: anything about a
//! lock's internals, and any expectation of the outcome.
//!
//! ```
//! use picklock_scenarios::scenario::Scenario;
//!
//! let mut scenario = Scenario::parse(
//!     "long-pause.toml",
//!     r#"
//!     summary = "one client stops for a long time"
//!     ttl = "2s"
//!     [contend]
//!     clients = 2
//!     [[fault]]
//!     kind = "pause"
//!     for = ["1 x ttl", "3 x ttl"]
//!     "#,
//!     &[],
//! )?;
//! scenario.set("pause.for=2s..4s")?;
//! assert_eq!(scenario.name(), "long-pause");
//! # Ok::<(), picklock_scenarios::scenario::ScenarioError>(())
//! ```

use std::path::Path;
use std::time::Duration;

use picklock_sim::design::Design;
use picklock_sim::lock::Belief;
use picklock_sim::plan::{Injection, Plan, Settings, WorldSpec};
use picklock_sim::probe::Probe;
use picklock_sim::seed::Seed;
use picklock_sim::span::Span;
use picklock_sim::store::{StoreParams, setting};

use crate::faults::{self, Draw, Fault, Setting};
use crate::workloads::Workload;

mod error;
mod read;
mod set;
pub(crate) mod toml_view;
pub mod world;

pub(crate) use error::Spot;
pub use error::{Place, Problem, ScenarioError};
use picklock_sim::param::{Args, Param, Value, ValueError};
pub use picklock_sim::{param, span};
pub(crate) use read::text as read_text;

/// A scenario with its parameters.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    summary: String,
    claim_source: Option<String>,
    workload: &'static Workload,
    world: Args,
    /// What it says of each kind of store.
    stores: Vec<(&'static str, Args)>,
    load: Args,
    faults: Vec<FaultEntry>,
}

/// One `[[fault]]` of a scenario.
#[derive(Clone, Debug)]
pub struct FaultEntry {
    /// The fault.
    pub fault: &'static Fault,
    /// Its parameters here.
    pub args: Args,
}

/// Which part of a scenario a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
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
    /// Reads a scenario that may speak of these kinds of stores; its name is the file's without the ending.
    ///
    /// # Errors
    /// When the text is not TOML or not a scenario; the error names line, column and remedy.
    pub fn parse(file_name: &str, text: &str, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
        read::scenario(file_name, text, stores)
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 1 MiB, or is not a scenario.
    pub fn load(path: &Path, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
        read::load(path, stores)
    }

    /// Changes parameters from outside: `name=value` wherever a parameter has that name, `group.name=value` in one
    /// part only, as in `pause.for=1s..2s`.
    ///
    /// # Errors
    /// When no parameter has the name or the value is not one it takes; the scenario is then unchanged.
    pub fn set(&mut self, setting: &str) -> Result<(), ScenarioError> {
        self.set_all(&[setting])
    }

    /// Changes several parameters, checked only when all are in place, so that their order does not matter.
    ///
    /// # Errors
    /// As [`Scenario::set`].
    pub fn set_all<S: AsRef<str>>(&mut self, settings: &[S]) -> Result<(), ScenarioError> {
        set::all(self, settings)
    }

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

    /// The design as it stands in this scenario, or why the scenario says nothing of it.
    ///
    /// A scenario with faults applies if one of them does; those that do not schedule nothing.
    ///
    /// # Errors
    /// The reason, as a fragment.
    pub fn applies(&self, design: &Design) -> Result<Design, String> {
        (self.workload.applies)(design)?;
        if let Some(kind) = &design.kind
            && self.ttl() < kind.smallest_lease()
        {
            let shortest = Span::Fixed(kind.smallest_lease());
            return Err(format!(
                "its lease is shorter than {shortest}, the shortest that the design's store grants"
            ));
        }
        let mut design = design.clone();
        if self.world.word("store") == "replicated" {
            match design.topology.stores {
                _ if design.alone || !design.kind.as_ref().is_some_and(|kind| kind.replicates()) => {
                    return Err("it replicates the store, and the design's has no replicas".into());
                }
                0 => return Err("it needs a store, and the design has none".into()),
                1 => design.topology.replicated = true,
                many => {
                    return Err(format!(
                        "it replicates a single store, and the design has {many} independent ones"
                    ));
                }
            }
        }
        let mut reasons = self.faults.iter().filter_map(|entry| entry.applies(&design).err());
        match reasons.next() {
            Some(first) if 1 + reasons.count() == self.faults.len() => Err(first),
            _ => Ok(design),
        }
    }

    /// Whether its plans need the points that a calm run of the same seed passes through.
    #[must_use]
    pub fn needs_probe(&self) -> bool {
        self.faults.iter().any(|entry| entry.fault.from_probe && entry.args.counts("times").1 > 0)
    }

    /// The plan of a run. The design is one that [`applies`](Scenario::applies) returned; without a probe, faults
    /// that strike at points of the calm run schedule nothing.
    #[must_use]
    pub fn plan(&self, design: &Design, seed: Seed, probe: Option<&Probe>) -> Plan {
        let mut plan = self.calm_plan(design, seed);
        plan.injections = self.injections(design, &plan, probe);
        plan
    }

    /// The plan of the same run without anything going wrong.
    #[must_use]
    pub fn calm_plan(&self, design: &Design, seed: Seed) -> Plan {
        Plan {
            seed,
            network_seed: seed,
            world: WorldSpec { store: self.settings(design), ..world::spec(&self.world) },
            workload: self.workload.name.to_owned(),
            clients: (self.workload.draw)(&self.load, self.ttl(), seed),
            injections: Vec::new(),
        }
    }

    /// What it says of the design's kind of store.
    fn settings(&self, design: &Design) -> Settings {
        let mut settings = Settings::default();
        let kind = design.kind.as_ref().map(|kind| kind.name());
        for (_, args) in self.stores.iter().filter(|(name, _)| kind == Some(*name)) {
            for (param, value) in args.iter() {
                setting(value, self.ttl()).into_iter().for_each(|value| settings.put(param.name, value));
            }
        }
        settings
    }

    fn injections(&self, design: &Design, calm: &Plan, probe: Option<&Probe>) -> Vec<Injection> {
        let setting = Setting::new(calm, design, probe);
        let mut injections = Vec::new();
        for (at, entry) in self.faults.iter().enumerate() {
            if entry.applies(design).is_err() {
                continue;
            }
            // Entries of one kind are numbered among themselves: adding a fault of another kind shifts no draw.
            let nth =
                self.faults[..at].iter().filter(|earlier| earlier.fault.name == entry.fault.name).count();
            let purpose = format!("fault/{}/{nth}", entry.fault.name);
            let (fewest, most) = entry.args.counts("times");
            let times = fewest + calm.seed.stream(&purpose).below(most - fewest + 1);
            for strike in 0..times {
                let stream = calm.seed.stream(&format!("{purpose}/{strike}"));
                injections.extend((entry.fault.schedule)(&mut Draw::new(entry, stream, &setting)));
            }
        }
        injections
    }

    fn ttl(&self) -> Duration {
        world::ttl(&self.world)
    }

    /// The parts that have parameters, each with its name.
    fn groups(&self) -> impl Iterator<Item = (Group, &'static str, &Args)> {
        let faults = self.faults.iter().enumerate();
        let stores = self.stores.iter().enumerate().map(|(at, (kind, args))| (Group::Store(at), *kind, args));
        std::iter::once((Group::World, "world", &self.world))
            .chain(stores)
            .chain(std::iter::once((Group::Workload, self.workload.name, &self.load)))
            .chain(faults.map(|(at, entry)| (Group::Fault(at), entry.fault.name, &entry.args)))
    }

    fn args_mut(&mut self, group: Group) -> &mut Args {
        match group {
            Group::World => &mut self.world,
            Group::Store(at) => &mut self.stores[at].1,
            Group::Workload => &mut self.load,
            Group::Fault(at) => &mut self.faults[at].args,
        }
    }

    /// Checks what concerns several parameters at once: everything that depends on the lease time.
    fn check(&self) -> Result<(), (Group, &'static str, ValueError)> {
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

impl FaultEntry {
    fn applies(&self, design: &Design) -> Result<(), String> {
        if design.alone && faults::strikes_records(self.fault) {
            return Err(
                "it strikes at what stores keep of locks, and the design's server keeps nothing".into()
            );
        }
        if design.belief == Belief::None && faults::strikes_release(self.fault, &self.args) {
            return Err("it strikes within the release of a lock, and the design has none".into());
        }
        (self.fault.applies)(&self.args, design.topology)
    }
}

#[cfg(test)]
mod tests;
