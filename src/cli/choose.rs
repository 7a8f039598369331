//! From arguments to designs and scenarios.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use picklock_impls::libraries;
use picklock_model::span::Span;
use picklock_model::text::nearest;
use picklock_programs::{Program, servers};
use picklock_scenarios::scenario::{Scenario, is_up_to_the_client, set_each};
use picklock_scenarios::suite;
use picklock_sim::design::{Design, SpellingError};
use picklock_sim::param::Value;
use picklock_stores::Runs;

use super::exit::Failure;

/// The designs that come with picklock, their parameters at their defaults.
pub(crate) fn defaults() -> Vec<Design> {
    picklock_impls::families().iter().map(|family| family.design()).collect()
}

/// The designs asked for; all if none is named.
pub(crate) fn designs(named: &[String]) -> Result<Vec<Design>, Failure> {
    designs_on(named, None)
}

/// The designs asked for on the servers asked for; all that have such servers if none is named.
pub(crate) fn designs_on(named: &[String], runs: Option<Runs>) -> Result<Vec<Design>, Failure> {
    if named.is_empty() {
        return Ok(defaults().into_iter().filter_map(|design| on(design, runs).ok()).collect());
    }
    let mut designs: Vec<Design> = Vec::new();
    for name in named.iter().flat_map(|list| split(list)) {
        let design = design_on(name, runs)?;
        if designs.iter().all(|chosen| chosen.name != design.name) {
            designs.push(design);
        }
    }
    Ok(designs)
}

/// The design of a spelling.
pub(crate) fn design(name: &str) -> Result<Design, Failure> {
    design_on(name, None)
}

/// The design of a spelling on the servers asked for.
fn design_on(name: &str, runs: Option<Runs>) -> Result<Design, Failure> {
    if Program::is_one(name) {
        let mut program: Program = name.parse().map_err(Failure::input)?;
        if let Some(runs) = runs {
            program.servers = program.servers.run_as(runs).map_err(Failure::input)?;
        }
        return program.design().map_err(Failure::input);
    }
    match name.strip_suffix(servers::SUFFIX) {
        Some(_) if runs == Some(Runs::Simulated) => Err(Failure::Input(format!(
            "`{name}` names real servers, and `--servers simulated` is asked for as well: leave one of the two out"
        ))),
        Some(simulated) => real(own(simulated)?),
        None => on(own(name)?, runs),
    }
}

/// A design that comes with picklock, on simulated servers.
fn own(name: &str) -> Result<Design, Failure> {
    picklock_impls::design(name).map_err(|error| match &error {
        SpellingError::Unknown { name, .. } => unknown(name, &error),
        _ => Failure::input(error),
    })
}

/// The answer to the name of no design: the design that models the product of this name, otherwise a similar name.
fn unknown(name: &str, error: &SpellingError) -> Failure {
    let models: Vec<String> = libraries::named(name).iter().map(|design| format!("`{design}`")).collect();
    let is_scenario = suite::named(name, &picklock_stores::params()).is_some();
    Failure::Input(match models.as_slice() {
        [] if is_scenario => format!("{error} (`{name}` is a scenario)"),
        [] => error.to_string(),
        [design] => format!("there is no design `{name}`; the design {design} models its lock"),
        all => format!("there is no design `{name}`; the designs {} model its locks", all.join(", ")),
    })
}

/// A design on simulated servers, on the servers asked for.
fn on(design: Design, runs: Option<Runs>) -> Result<Design, Failure> {
    if runs == Some(Runs::Real) { real(design) } else { Ok(design) }
}

/// The design on real servers instead of simulated ones.
pub(crate) fn real(design: Design) -> Result<Design, Failure> {
    let name = Arc::clone(&design.name);
    servers::on_real_servers(design)
        .map_err(|why| Failure::Input(format!("`{name}` cannot be run on real servers: {why}")))
}

/// The programs among these lists of designs.
pub(crate) fn programs(named: &[String]) -> impl Iterator<Item = &str> {
    named.iter().flat_map(|list| split(list)).filter(|name| Program::is_one(name))
}

/// Splits a list at the commas that are not inside braces. A program is no list: its command may hold commas.
fn split(list: &str) -> Vec<&str> {
    if Program::is_one(list) {
        return vec![list];
    }
    let mut depth = 0_i32;
    list.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
    .collect()
}

/// The designs and scenarios that are chosen to be run.
pub(crate) struct Chosen {
    pub(crate) designs: Vec<Design>,
    /// With what is set from outside.
    pub(crate) scenarios: Vec<Scenario>,
    /// The suite that they are chosen from, as it is.
    pub(crate) suite: Vec<Scenario>,
    /// The programs among the designs whose servers the user did not name.
    pub(crate) open: Vec<String>,
}

/// Scenarios by name, of a directory or of the built-in suite, with what is set from outside; all of them if none is named.
pub(crate) fn scenarios(
    names: &[String],
    directory: Option<&Path>,
    settings: &[String],
) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios = of_suite(&suite(directory)?, names)?;
    set_each(&mut scenarios, settings).map_err(Failure::input)?;
    Ok(scenarios)
}

/// Scenarios by name, of a suite; the whole of it if none is named.
pub(crate) fn of_suite(suite: &[Scenario], names: &[String]) -> Result<Vec<Scenario>, Failure> {
    if names.is_empty() {
        return Ok(suite.to_vec());
    }
    let mut chosen: Vec<(Scenario, &String)> = Vec::new();
    for name in names {
        let scenario = named(suite, name)?;
        match chosen.iter().find(|other| other.0.name() == scenario.name()) {
            None => chosen.push((scenario, name)),
            Some((_, other)) if *other == name => {}
            Some((_, other)) => {
                let message = format!(
                    "`{other}` and `{name}` have the same name, and a report could not distinguish them; rename one"
                );
                return Err(Failure::Input(message));
            }
        }
    }
    Ok(chosen.into_iter().map(|(scenario, _)| scenario).collect())
}

/// The scenarios of a directory, or the built-in ones.
pub(crate) fn suite(directory: Option<&Path>) -> Result<Vec<Scenario>, Failure> {
    match directory {
        None => Ok(suite::builtin(&picklock_stores::params())),
        Some(directory) => suite::load_dir(directory, &picklock_stores::params()).map_err(Failure::input),
    }
}

/// A scenario by name, of a suite or of those that come with picklock, or one in a file of its own.
pub(crate) fn named(suite: &[Scenario], name: &str) -> Result<Scenario, Failure> {
    if is_file(name) {
        return Scenario::load(Path::new(name), &picklock_stores::params()).map_err(Failure::input);
    }
    let found = suite.iter().find(|scenario| scenario.name() == name).cloned();
    found.or_else(|| suite::named(name, &picklock_stores::params())).ok_or_else(|| {
        let others: Vec<Scenario> = suite::of_bugs(&picklock_stores::params())
            .into_iter()
            .chain(suite::of_experiments(&picklock_stores::params()))
            .collect();
        let near = nearest(name, suite.iter().chain(&others).map(Scenario::name));
        let hint = match near {
            Some(near) => format!(" (did you mean `{near}`?)"),
            None if picklock_impls::design(name).is_ok() => " (it is a design)".to_owned(),
            None => String::new(),
        };
        Failure::Input(format!(
            "there is no scenario `{name}`{hint}; `picklock list scenarios` shows them all"
        ))
    })
}

/// True if a scenario of this name is a file of its own, not one of a suite.
pub(crate) fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "toml")
}

/// The settings of stores that do not hold for a design, which requires something else of them: a sentence for each.
pub(crate) fn overruled(designs: &[Design], settings: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for design in designs {
        let Some(store) = &design.store else { continue };
        for (name, required) in design.required().iter() {
            let (bare, name) = (name, format!("{}.{name}", store.spec.name()));
            let given = settings.iter().rev().filter_map(|setting| setting.split_once('='));
            let given = given
                .map(|(name, value)| (name.trim(), value.trim()))
                .find(|(given, _)| *given == name || *given == bare);
            if let Some((_, given)) = given.filter(|(_, given)| *given != required.to_string()) {
                notes.push(format!(
                    "`{}` always runs with `{name}={required}`, which it needs; `{name}={given}` is not used for it",
                    design.name
                ));
            }
        }
    }
    notes
}

/// The leases that are longer than a store grants: a sentence for each design. Shorter ones than it grants are in the legend of a report.
pub(crate) fn capped(designs: &[Design], scenarios: &[Scenario]) -> Vec<String> {
    let mut notes = Vec::new();
    for design in designs {
        let capped = scenarios.iter().map(|scenario| (scenario.ttl(), scenario.lease(design)));
        if let Some((asked, granted)) = capped.into_iter().find(|(asked, granted)| granted < asked) {
            let (asked, granted) = (Span::Fixed(asked), Span::Fixed(granted));
            notes.push(format!(
                "the store of `{}` grants a lease of {granted} to a client that asks for {asked}; all lengths in leases follow",
                design.name
            ));
        }
    }
    notes
}

/// A note for a user who sets the lease and not the faults, whose lengths are given in leases: they grow with it, and the
/// outcome stays the same.
pub(crate) fn scaled(scenarios: &[Scenario], unset: &[Scenario], settings: &[String]) -> Option<String> {
    let names = settings.iter().filter_map(|setting| setting.split_once('=')).map(|(name, _)| name.trim());
    let lease = settings.iter().rfind(|setting| {
        setting.split_once('=').is_some_and(|(name, _)| ["ttl", "world.ttl"].contains(&name.trim()))
    })?;
    let given: Vec<&str> = names.collect();
    let mut lengths: Vec<(String, String, String)> = Vec::new();
    for (scenario, before) in scenarios.iter().zip(unset) {
        let faults: Vec<&str> = scenario.faults().iter().map(|entry| entry.fault.name).collect();
        for set in scenario.settable().iter().filter(|set| faults.contains(&set.group)) {
            let name = format!("{}.{}", set.group, set.param.name);
            let Value::Spans(from, to) = set.value else { continue };
            let in_leases = [from, to]
                .iter()
                .any(|span| matches!(span, Span::Leases { .. }) && !span.resolve(scenario.ttl()).is_zero());
            let is_known = lengths.iter().any(|(known, ..)| *known == name);
            if !in_leases || is_known || given.contains(&name.as_str()) || given.contains(&set.param.name) {
                continue;
            }
            let at = |ttl: Duration| {
                Value::Spans(Span::Fixed(from.resolve(ttl)), Span::Fixed(to.resolve(ttl))).to_string()
            };
            lengths.push((name, at(scenario.ttl()), at(before.ttl())));
        }
    }
    let (name, now, then) = lengths.first().filter(|(_, now, then)| now != then)?;
    let more = match lengths.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more likewise)"),
    };
    Some(format!(
        "the lengths of faults are given in leases: with `{lease}` also {name} is {now}{more}, and the outcome hardly changes; to change the \
         lease alone, keep the fault as it was: --set {name}={then}"
    ))
}

/// Refuses settings of sections for an autonomous client.
pub(crate) fn fit_autonomous(designs: &[Design], settings: &[String]) -> Result<(), Failure> {
    let Some(client) = designs.iter().find(|design| design.autonomous) else { return Ok(()) };
    match settings.iter().find(|setting| is_up_to_the_client(setting)) {
        None => Ok(()),
        Some(setting) => Err(Failure::Input(format!(
            "`{setting}` does not apply to `{}`: an autonomous client decides that by itself; leave it out, or give it to the program \
             among its arguments",
            client.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_braces_do_not_separate_designs() {
        assert_eq!(
            split("single,redlock{nodes=7,clock=wall},oracle"),
            ["single", "redlock{nodes=7,clock=wall}", "oracle"]
        );
    }
}
