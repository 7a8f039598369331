//! From the text of a scenario file to a checked [`Scenario`].

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use picklock_sim::param::{Args, clip};
use picklock_sim::store::StoreParams;
use toml::de::DeTable;

use super::former;
use super::parts::{Group, Misfit, Scenario};
use super::world;
use crate::error::{Problem, ScenarioError, Spot};
use crate::faults::{self, FaultEntry};
use crate::toml_view::{Entry, MAX_BYTES, entries, table};
use crate::workloads::{self, Workload};

/// More faults than a scenario that anybody can follow has.
const MAX_FAULTS: usize = 32;

/// Characters of a one-line text.
const MAX_LINE: usize = 300;

impl Scenario {
    /// Reads a scenario that may speak of these kinds of stores; its name is the file's without the ending.
    ///
    /// # Errors
    /// When the text is not TOML or not a scenario; the error names line, column and remedy.
    pub fn parse(file_name: &str, text: &str, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
        scenario(file_name, text, stores)
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 1 MiB, or is not a scenario.
    pub fn load(path: &Path, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
        self::load(path, stores)
    }
}

/// Reads a file of bounded size as text.
pub fn text(path: &Path) -> Result<String, ScenarioError> {
    let file = path.display().to_string();
    let failed = |source| ScenarioError::Read { file: file.clone(), source };
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(failed)?;
    // One byte beyond the limit is enough to know that there are too many.
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    let whole = |problem| ScenarioError::Whole { file: file.clone(), problem: Box::new(problem) };
    if bytes.len() as u64 > MAX_BYTES {
        let bytes = path.metadata().map_or(bytes.len() as u64, |data| data.len());
        return Err(whole(Problem::TooLarge { bytes, limit: MAX_BYTES }));
    }
    String::from_utf8(bytes).map_err(|_| whole(Problem::NotText))
}

fn load(path: &Path, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
    scenario(&path.display().to_string(), &text(path)?, stores)
}

fn scenario(file: &str, text: &str, stores: &[StoreParams]) -> Result<Scenario, ScenarioError> {
    let unnamed = |problem| ScenarioError::Whole { file: file.to_owned(), problem: Box::new(problem) };
    let name = name_of(file).map_err(unnamed)?;
    read(name, text, stores).map_err(|spot| spot.in_file(file, text))
}

fn name_of(file: &str) -> Result<String, Problem> {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if stem.is_empty() || stem.len() > 64 || !stem.chars().all(plain) {
        return Err(Problem::Name(clip(stem)));
    }
    Ok(stem.to_owned())
}

fn read(name: String, text: &str, stores: &[StoreParams]) -> Result<Scenario, Spot> {
    let root = table(text)?;
    let root = root.get_ref();
    let workload = workload_of(root)?;
    let mut reader = Reader {
        scenario: Scenario {
            name,
            summary: String::new(),
            changes: Vec::new(),
            claim_source: None,
            workload,
            world: Args::defaults(world::PARAMS),
            stores: stores.iter().map(|store| (store.kind, Args::defaults(store.params))).collect(),
            load: Args::defaults(workload.params),
            faults: Vec::new(),
        },
        places: Vec::new(),
    };
    for entry in entries(root) {
        reader.top_level(&entry)?;
    }
    reader.finish()
}

fn workload_of(root: &DeTable<'_>) -> Result<&'static Workload, Spot> {
    let all = entries(root);
    let Some(entry) = all.iter().find(|entry| entry.key == "workload") else { return Ok(workloads::ALL[0]) };
    let name = entry.text()?;
    let found = workloads::ALL.iter().find(|workload| workload.name == name);
    let names: Vec<&str> = workloads::ALL.iter().map(|workload| workload.name).collect();
    found.copied().ok_or_else(|| Spot::new(entry.value.span(), Problem::unknown("workload", name, &names)))
}

struct Reader {
    scenario: Scenario,
    /// Where each parameter that the file gives stands.
    places: Vec<(Group, &'static str, Range<usize>)>,
}

impl Reader {
    fn top_level(&mut self, entry: &Entry<'_, '_>) -> Result<(), Spot> {
        let workload = self.scenario.workload.name;
        match entry.key {
            "summary" => self.scenario.summary = line(entry, "summary")?,
            "claim_source" => self.scenario.claim_source = Some(line(entry, "claim_source")?),
            "workload" => {}
            "fault" => self.faults(entry)?,
            key if key == workload => {
                for entry in entries(entry.table()?) {
                    self.parameter(Group::Workload, &entry, &[])?;
                }
            }
            key => self.of_world_or_stores(key, entry)?,
        }
        Ok(())
    }

    /// A parameter of the world; one of the stores, wherever a kind has one of that name; or the table of a kind.
    fn of_world_or_stores(&mut self, key: &str, entry: &Entry<'_, '_>) -> Result<(), Spot> {
        if let Some(at) = self.scenario.stores.iter().position(|(kind, _)| *kind == key) {
            return entries(entry.table()?)
                .iter()
                .try_for_each(|entry| self.parameter(Group::Store(at), entry, &[]));
        }
        let stores = &self.scenario.stores;
        let having: Vec<usize> = (0..stores.len()).filter(|at| stores[*at].1.param(key).is_some()).collect();
        if !having.is_empty() {
            return having.into_iter().try_for_each(|at| self.parameter(Group::Store(at), entry, &[]));
        }
        let of_stores = stores
            .iter()
            .flat_map(|(kind, args)| std::iter::once(*kind).chain(args.iter().map(|(param, _)| param.name)));
        let others = ["summary", "claim_source", "workload", self.scenario.workload.name, "fault"];
        let others: Vec<&str> = others.into_iter().chain(of_stores).collect();
        self.parameter(Group::World, entry, &others)
    }

    fn faults(&mut self, entry: &Entry<'_, '_>) -> Result<(), Spot> {
        let given = entry.tables()?;
        if given.len() > MAX_FAULTS {
            let problem = Problem::TooManyFaults { found: given.len(), limit: MAX_FAULTS };
            return Err(Spot::new(entry.key_span.clone(), problem));
        }
        for (span, table) in given {
            let all = entries(table);
            let kind = all.iter().find(|entry| entry.key == "kind");
            let kind = kind.ok_or_else(|| Spot::new(span, Problem::Missing("kind")))?;
            let fault =
                faults::find(kind.text()?).map_err(|problem| Spot::new(kind.value.span(), problem))?;
            let group = Group::Fault(self.scenario.faults.len());
            self.scenario.faults.push(FaultEntry { fault, args: Args::defaults(fault.params) });
            for entry in all.iter().filter(|entry| entry.key != "kind") {
                self.parameter(group, entry, &["kind"])?;
            }
        }
        Ok(())
    }

    /// Takes one parameter; `others` are keys of the same table that are not parameters.
    fn parameter(&mut self, group: Group, entry: &Entry<'_, '_>, others: &[&str]) -> Result<(), Spot> {
        let args = self.scenario.args_mut(group);
        let Some(param) = args.param(former::present(entry.key)) else {
            let known: Vec<&str> =
                others.iter().copied().chain(args.iter().map(|(param, _)| param.name)).collect();
            return Err(Spot::new(entry.key_span.clone(), Problem::unknown("key", entry.key, &known)));
        };
        let given = entry.parameter(|| param.domain.to_string())?;
        let value = param.domain.parse(faults::present_value(param.name, &given)).map_err(|error| {
            Spot::new(entry.value.span(), Problem::Value { param: param.name.to_owned(), error })
        })?;
        args.put(param.name, value);
        self.places.push((group, param.name, entry.value.span()));
        Ok(())
    }

    fn finish(self) -> Result<Scenario, Spot> {
        if self.scenario.summary.is_empty() {
            return Err(Spot::new(0..0, Problem::Missing("summary")));
        }
        self.scenario.check().map_err(|Misfit { params, problem }| {
            // Defaults can only be wrong because of the lease time that the file gives.
            let given = params.iter().find_map(|(group, param)| self.place(*group, param));
            Spot::new(given.or_else(|| self.place(Group::World, world::TTL.name)).unwrap_or(0..0), problem)
        })?;
        Ok(self.scenario)
    }

    fn place(&self, group: Group, param: &str) -> Option<Range<usize>> {
        let found = self.places.iter().find(|(of, name, _)| *of == group && *name == param);
        found.map(|(_, _, span)| span.clone())
    }
}

fn line(entry: &Entry<'_, '_>, key: &'static str) -> Result<String, Spot> {
    let text = entry.text()?;
    let found = text.chars().count();
    if found > MAX_LINE {
        return Err(Spot::new(entry.value.span(), Problem::TooLong { key, found, limit: MAX_LINE }));
    }
    // One line stays one line in every report: control characters have no place in it.
    Ok(text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned())
}
