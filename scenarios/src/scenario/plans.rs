//! From a scenario, a design and a seed to a [`Plan`].

use std::time::Duration;

use picklock_model::plan::{Injection, Plan, Settings, Target, When, WorldSpec};
use picklock_model::points::Points;
use picklock_model::seed::{Seed, scale};
use picklock_model::time::nanos;
use picklock_sim::design::{Design, RenewedBy};
use picklock_sim::lock::Belief;
use picklock_sim::store::setting;

use super::parts::Scenario;
use super::{autonomous, world};
use crate::faults::{self, Draw, FaultEntry, Hits, Setting};
use crate::workloads;

impl Scenario {
    /// The design as it stands in this scenario, or why the scenario does not apply to it.
    ///
    /// A scenario with faults applies if one of them does; those that do not schedule nothing.
    ///
    /// # Errors
    /// The reason, as a fragment.
    pub fn adapt(&self, design: &Design) -> Result<Design, String> {
        (self.workload.applies)(design)?;
        self.fits_autonomous(design)?;
        let mut design = design.clone();
        if self.world.get(world::STORE) == "replicated" {
            match design.topology.stores {
                _ if design.alone || !design.store.as_ref().is_none_or(|store| store.spec.replicates()) => {
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

    /// True if its plans need the points that a probe run of the same seed reaches.
    #[must_use]
    pub fn needs_probe_run(&self) -> bool {
        self.probing().next().is_some()
    }

    /// The scenario with those of its faults alone that have these names.
    ///
    /// # Errors
    /// The reason, as a fragment, if it has none of a name, or one that hits a point that only a probe run shows.
    pub fn keeping(&self, names: &[String]) -> Result<Scenario, String> {
        for name in names {
            let mut named = self.faults.iter().filter(|entry| entry.fault.is_called(name)).peekable();
            if named.peek().is_none() {
                return Err(format!("it has no fault `{name}`"));
            }
            if named.any(|entry| entry.fault.from_points) {
                return Err(format!(
                    "`{name}` hits a point of a section, as the fault that is explored does"
                ));
            }
        }
        let mut kept = self.clone();
        kept.faults.retain(|entry| names.iter().any(|name| entry.fault.is_called(name)));
        Ok(kept)
    }

    /// The faults that hit points of the probe run.
    fn probing(&self) -> impl Iterator<Item = &FaultEntry> {
        self.faults.iter().filter(|entry| entry.fault.from_points && entry.args.get(faults::TIMES).1 > 0)
    }

    /// The last section of a client in which one of them hits; none if that may be any.
    pub fn last_section(&self) -> Option<u32> {
        let last = self.probing().map(|entry| (entry.fault.last_section)(&entry.args));
        last.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }

    /// The plan of a run. The design is one that [`adapt`](Scenario::adapt) returned; without a probe run, faults
    /// that hit points of the probe run schedule nothing.
    #[must_use]
    pub fn plan(&self, design: &Design, seed: Seed, probe: Option<&Points>) -> Plan {
        let mut plan = self.fault_free_plan(design, seed);
        plan.injections = self.injections(design, &plan, probe);
        self.add_background(&mut plan);
        plan
    }

    /// True if its faults of this name hit at any point of a section: what was tried at all of them speaks of this scenario as well.
    #[must_use]
    pub fn hits_anywhere(&self, fault: &str) -> bool {
        let named = self.faults.iter().filter(|entry| entry.fault.is_called(fault));
        named.into_iter().all(|entry| faults::hits_anywhere(entry.fault, &entry.args))
    }

    /// Why its runs prove nothing, whatever they show: it is about renewals alone, and the probe run has none. Whether an unmodified
    /// program renews is seen only there.
    #[must_use]
    pub fn lacking(&self, design: &Design, probe: &Points) -> Option<&'static str> {
        let due = |entry: &&FaultEntry| entry.args.get(faults::TIMES).1 > 0 && entry.applies(design).is_ok();
        let mut due = self.faults.iter().filter(due).peekable();
        let about_renewals =
            due.peek().is_some() && due.all(|entry| faults::hits_renewal(entry.fault, &entry.args));
        (about_renewals && !faults::has_renewals(probe))
            .then_some("nothing was renewed, and the scenario is about renewals")
    }

    /// True if faults are due in each of its runs, and this plan of it has none: there was nothing for them to hit.
    #[must_use]
    pub fn hits_nothing(&self, design: &Design, plan: &Plan) -> bool {
        let due = |entry: &FaultEntry| entry.args.get(faults::TIMES).0 > 0 && entry.applies(design).is_ok();
        plan.injections.is_empty() && self.faults.iter().any(due)
    }

    /// Has clients that are done ask again in the background while the faults of the plan last, for what the first of them hits.
    pub fn add_background(&self, plan: &mut Plan) {
        workloads::add_background(&self.load, plan);
    }

    /// The plan of the same run without anything going wrong.
    #[must_use]
    pub fn fault_free_plan(&self, design: &Design, seed: Seed) -> Plan {
        let lease = self.lease(design);
        Plan {
            seed,
            network_seed: seed,
            world: WorldSpec { store: self.settings(design, lease), ..world::spec(&self.world, lease) },
            workload: self.workload.name.to_owned(),
            clients: (self.workload.draw)(&self.load, lease, seed),
            injections: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The lease that its clients are granted if they ask the design's store, as it is set, for the scenario's. What is given in leases,
    /// such as the length of a pause, is in these; parameters of the store that decide which lease it grants are in those of the scenario.
    #[must_use]
    pub fn lease(&self, design: &Design) -> Duration {
        let Some(store) = &design.store else { return self.ttl() };
        let asked = self.ttl();
        let world = WorldSpec { store: self.settings(design, asked), ..world::spec(&self.world, asked) };
        store.spec.granted_lease(asked, &design.settings(&world))
    }

    /// Its parameters for the design's kind of store, with what is given in leases in this one.
    fn settings(&self, design: &Design, lease: Duration) -> Settings {
        let mut settings = Settings::default();
        let kind = design.store.as_ref().map(|store| store.spec.name());
        for (_, args) in self.stores.iter().filter(|(name, _)| kind == Some(*name)) {
            for (param, value) in args.iter() {
                setting(value, lease).into_iter().for_each(|value| settings.put(param.name, value));
            }
        }
        settings
    }

    fn injections(&self, design: &Design, calm: &Plan, probe: Option<&Points>) -> Vec<Injection> {
        let setting = Setting::new(calm, design, probe);
        let (mut injections, mut tied) = (Vec::new(), Vec::new());
        for (at, entry) in self.faults.iter().enumerate() {
            if entry.applies(design).is_err() {
                continue;
            }
            // Entries of one kind are numbered among themselves: adding a fault of another kind shifts no draw.
            let nth =
                self.faults[..at].iter().filter(|earlier| earlier.fault.name == entry.fault.name).count();
            let purpose = format!("fault/{}/{nth}", entry.fault.name);
            let (fewest, most) = entry.args.get(faults::TIMES);
            let times = fewest + calm.seed.stream(&purpose).below(most - fewest + 1);
            for hit in 0..times {
                let stream = calm.seed.stream(&format!("{purpose}/{hit}"));
                let mut draw = Draw::new(entry.fault.name, &entry.args, stream, &setting);
                let hit = (entry.fault.schedule)(&mut draw);
                match faults::tie(&entry.args) {
                    Some(tie) => tied.push((tie, hit, draw.rng().next_u64())),
                    None => injections.extend(hit),
                }
            }
        }
        // A tied fault comes after all that it can be tied to.
        for ((fault, follows), hit, draw) in tied {
            injections.extend(tied_to(&injections, fault, follows, hit, draw));
        }
        injections
    }
}

/// A hit that comes while the first injection of another fault lasts, or after it, and hits the client that that one does.
/// Nothing if the plan has none: then there is nothing to be tied to.
fn tied_to(all: &[Injection], fault: &str, follows: bool, hit: Vec<Injection>, draw: u64) -> Vec<Injection> {
    let Some(at) = all.iter().position(|other| other.fault == fault) else { return Vec::new() };
    let lasts = nanos(all[at].action.span().unwrap_or_default());
    let after = Duration::from_nanos(if follows {
        lasts + scale(draw, lasts / 10 + 1)
    } else {
        scale(draw, lasts * 9 / 10 + 1)
    });
    let client = match &all[at].when {
        When::Point { point, .. } => Some(Target::host(&*point.host)),
        When::At { .. } | When::With { .. } => None,
    };
    let tie = |mut injection: Injection| {
        if let (When::Point { point, .. }, Some(client)) = (&injection.when, &client)
            && injection.target == Target::host(&*point.host)
        {
            injection.target = client.clone();
        }
        injection.when = When::With { injection: at as u32, after };
        injection
    };
    hit.into_iter().map(tie).collect()
}

impl FaultEntry {
    fn applies(&self, design: &Design) -> Result<(), String> {
        if design.alone && self.fault.hits == Hits::Records {
            return Err("it hits what stores keep of locks, and the design's server keeps nothing".into());
        }
        let asks_nobody = design.belief == Belief::None || design.topology.stores == 0;
        if asks_nobody && faults::hits_waiting(&self.args) {
            return Err(
                "it hits a client that asks a server for a lock again, and no client of the design does"
                    .into(),
            );
        }
        if faults::hits_renewal(self.fault, &self.args) {
            match design.renewed_by {
                RenewedBy::Holder if !asks_nobody => {}
                RenewedBy::Service => {
                    return Err("it hits a client that renews, and a service renews for the clients".into());
                }
                RenewedBy::Holder | RenewedBy::Nobody => {
                    return Err("it hits the renewal of a lock, and the design has none".into());
                }
            }
        }
        if let Some(action) = self.fault.own_action
            && !design
                .store
                .as_ref()
                .is_some_and(|store| store.actions().iter().any(|own| own.name == action))
        {
            return Err("it is a fault of stores of another kind".into());
        }
        if design.belief == Belief::None && faults::hits_release(&self.args) {
            return Err("it hits within the release of a lock, and the design has none".into());
        }
        if design.own_data && faults::hits_resource(&self.args) {
            return Err(
                "it hits the links to the resource, and the design's data lie in its own store".into()
            );
        }
        autonomous::hits(self, design)?;
        (self.fault.applies)(&self.args, design.topology)
    }
}
