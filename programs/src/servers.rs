//! Designs on real servers, and the real servers of this machine.

use picklock_sim::design::Design;
use picklock_stores::{KINDS, Runs};

use crate::program::Program;
pub use crate::real::SUFFIX;
use crate::real::real_store;

/// The same design on the real servers of its store kind.
///
/// # Errors
/// When the kind knows no real server for what the design needs; a fragment. The design is spelled with a [`SUFFIX`] then.
pub fn on_real_servers(mut design: Design) -> Result<Design, String> {
    let store = design.store.take().ok_or("it has no stores")?;
    design.store = Some(real_store(design.topology, store)?);
    design.name = match design.name.parse::<Program>() {
        Ok(program) => Program { servers: program.servers.with(Runs::Real), ..program }.to_string().into(),
        Err(_) => format!("{}{SUFFIX}", design.name).into(),
    };
    Ok(design)
}

/// Which real server there is for confirming what simulated ones show: `redis-server 7.0.15`. `None` also where the machine runs
/// no programs.
#[must_use]
pub fn installed() -> Option<String> {
    let twin = KINDS.iter().find(|kind| kind.real.is_some())?;
    let version = version(twin.name)?;
    let lacks =
        picklock_supervisor::ready::findings().iter().any(|finding| finding.is_needed && !finding.is_there);
    (!lacks).then_some(version)
}

/// Which real server of this kind there is, whoever could run it: `etcd 3.4.23`.
#[must_use]
pub fn version(kind: &str) -> Option<String> {
    let kind = KINDS.iter().find(|known| known.name == kind)?;
    (kind.real.as_ref()?.version)()
}
