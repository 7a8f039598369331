//! Programs that send a statement which the simulated server does not model.
//!
//! A program whose user names no servers begins on the simulated ones. If one of its first runs sends such a statement, and the store kind declares that its real
//! server takes over, all runs are made on the real server. The first runs are those of the first seed under each scenario; a statement that only a later run
//! sends leaves that run inconclusive.

use std::io::{self, Write as _};

use picklock_campaign::check::{self, Drawn};
use picklock_model::seed::Seed;
use picklock_programs::{Program, servers};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::store::Installed;
use picklock_stores::KINDS;

use super::choose;
use super::exit::Failure;

/// The first runs of a campaign.
pub(crate) struct First<'a> {
    pub(crate) scenarios: &'a [Scenario],
    pub(crate) seed: u64,
    pub(crate) engine: Engine,
}

/// Puts each of these designs on its real server if it is open to that and a first run sends a statement that is not modelled.
///
/// # Errors
/// When the real server is needed and not installed.
pub(crate) fn put_on_real_servers(
    designs: &mut [Design],
    open: &[String],
    first: &First<'_>,
) -> Result<(), Failure> {
    for design in designs.iter_mut().filter(|design| open.iter().any(|name| **name == *design.name)) {
        let Some((kind, real)) = real_server(design) else { continue };
        let Some(statement) = not_modelled(design, first) else { continue };
        let Some(version) = servers::version(kind) else {
            return Err(Failure::Input(format!(
                "`{}` sends a statement that the simulated {kind} does not model, and {} is not installed: install the package {}, or \
                 run it with --servers simulated, where such runs are inconclusive; the statement: {statement}",
                design.name, real.program, real.package
            )));
        };
        let name = design.name.clone();
        *design = choose::real(design.clone())?;
        // If standard error is closed, the note is lost and the runs go on.
        let _ = writeln!(
            io::stderr().lock(),
            "picklock: note: `{name}` runs on {version}: the simulated {kind} does not model {statement}",
        );
    }
    Ok(())
}

/// The names of the programs among these spellings whose servers are not named.
pub(crate) fn open(spellings: impl IntoIterator<Item = String>) -> Vec<String> {
    let programs = spellings.into_iter().filter_map(|text| text.parse::<Program>().ok());
    programs.filter(|program| program.servers.are_unnamed()).map(|program| program.to_string()).collect()
}

/// The real server that takes over from the simulated one of a design, and the name of its store kind.
fn real_server(design: &Design) -> Option<(&'static str, Installed)> {
    let name = design.store.as_ref().filter(|store| !store.is_real())?.spec.name();
    let kind = KINDS.iter().find(|kind| kind.name == name)?;
    Some((kind.name, kind.real.filter(|real| real.takes_over)?))
}

/// The first statement of the first runs that is not modelled.
fn not_modelled(design: &Design, first: &First<'_>) -> Option<String> {
    first.scenarios.iter().find_map(|scenario| {
        // The campaign reports what fails here.
        let design = scenario.adapt(design).ok()?;
        let Drawn { plan, .. } = check::draw(&design, scenario, Seed(first.seed)).ok()?;
        let run = check::check(check::Options::from(first.engine), &design, plan).ok()?;
        run.not_modelled.first().cloned()
    })
}
