//! Parameters of a scenario given from outside, as `--set` does.

use super::former;
use super::parts::{Group, Misfit, Scenario};
use crate::error::{Problem, ScenarioError};
use crate::faults;

impl Scenario {
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
        all(self, settings)
    }

    /// True if it has the parameter that a setting names.
    #[must_use]
    pub fn knows(&self, setting: &str) -> bool {
        let name = setting.split_once('=').map_or(setting, |(name, _)| name).trim();
        !targets(self, name).is_empty()
    }
}

/// Sets parameters on each scenario that has them.
///
/// # Errors
/// As [`Scenario::set`], and when no scenario has one of them.
pub fn set_each(scenarios: &mut [Scenario], settings: &[String]) -> Result<(), ScenarioError> {
    for setting in settings {
        if !scenarios.iter().any(|scenario| scenario.knows(setting))
            && let Some(first) = scenarios.first_mut()
        {
            return first.set(setting);
        }
    }
    for scenario in scenarios {
        let known: Vec<&String> = settings.iter().filter(|setting| scenario.knows(setting)).collect();
        scenario.set_all(&known)?;
    }
    Ok(())
}

fn all<S: AsRef<str>>(scenario: &mut Scenario, settings: &[S]) -> Result<(), ScenarioError> {
    let mut changed = scenario.clone();
    let failed = |setting: &str, problem| ScenarioError::Set {
        setting: picklock_sim::param::clip(setting),
        scenario: scenario.name.clone(),
        problem: Box::new(problem),
    };
    for setting in settings {
        let setting = setting.as_ref();
        one(&mut changed, setting).map_err(|problem| failed(setting, problem))?;
        let present = with_present_name(&changed, setting.trim());
        changed.changes.push(present);
    }
    if let Err(Misfit { problem, .. }) = changed.check() {
        let given: Vec<&str> = settings.iter().map(AsRef::as_ref).collect();
        return Err(failed(&given.join(" --set "), problem));
    }
    *scenario = changed;
    Ok(())
}

/// The setting, under the present names of its part and its parameter.
fn with_present_name(scenario: &Scenario, setting: &str) -> String {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let (part, name) = name.trim().rsplit_once('.').map_or(("", name.trim()), |(part, name)| (part, name));
    let (part, name) = (present_part(scenario, part), former::present(name));
    let dot = if part.is_empty() { "" } else { "." };
    format!("{part}{dot}{name}={}", faults::present_value(name, value.trim()))
}

/// The name of a part: a fault goes by any of its names, unless another part is called so.
fn present_part<'t>(scenario: &Scenario, part: &'t str) -> &'t str {
    if scenario.groups().any(|(_, group, _)| group == part) { part } else { faults::in_files(part) }
}

fn one(scenario: &mut Scenario, setting: &str) -> Result<(), Problem> {
    let (name, value) = setting.split_once('=').ok_or(Problem::SettingForm)?;
    let (name, value) = (name.trim(), value.trim());
    let targets = targets(scenario, name);
    if targets.is_empty() {
        return Err(unknown(scenario, name));
    }
    for (group, param) in targets {
        let args = scenario.args_mut(group);
        let domain = args.param(param).expect("a target has this parameter").domain;
        let value = domain
            .parse(faults::present_value(param, value))
            .map_err(|error| Problem::Value { param: name.to_owned(), error })?;
        args.put(param, value);
    }
    Ok(())
}

/// The parameters that a name means.
fn targets(scenario: &Scenario, name: &str) -> Vec<(Group, &'static str)> {
    let (within, name) = match name.split_once('.') {
        Some((group, name)) => (Some(present_part(scenario, group)), name),
        None => (None, name),
    };
    scenario
        .groups()
        .filter(|(_, group, _)| within.is_none_or(|within| within == *group))
        .filter_map(|(group, _, args)| args.param(former::present(name)).map(|param| (group, param.name)))
        .collect()
}

fn unknown(scenario: &Scenario, name: &str) -> Problem {
    let mut known: Vec<String> = scenario
        .settable()
        .into_iter()
        .map(|it| {
            if it.group == "world" {
                it.param.name.to_owned()
            } else {
                format!("{}.{}", it.group, it.param.name)
            }
        })
        .collect();
    known.dedup();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let problem = Problem::unknown("parameter", name, &known);
    let Problem::Unknown { kind, name: shown, nearest: None, known: listed } = problem else {
        return problem;
    };
    // The name may be near to one that the list shows with its group.
    let bare = known.iter().map(|known| known.rsplit('.').next().unwrap_or(known));
    let nearest = picklock_model::text::nearest(name, bare).map(str::to_owned);
    Problem::Unknown { kind, name: shown, nearest, known: listed }
}
