//! The line of a program at which a client stands when a fault hits it at a violating site.
//!
//! Stacks are read only in runs that are shown, so that the search itself is no slower: for each group of sites the run of the first one is
//! made once more. Where no stack can be read, it is one run in all.

use std::sync::atomic::{AtomicBool, Ordering};

use picklock_model::code::Location;
use picklock_model::trace::{Role, What};

use super::failures::Failures;
use super::ground::Ground;
use crate::check::{CheckError, Checked};

/// Notes the lines of groups of sites, until `stop` becomes true.
pub(super) fn note(
    grounds: &[Ground<'_>],
    failures: &mut [Failures],
    stop: &AtomicBool,
) -> Result<(), CheckError> {
    for failure in failures.iter_mut().filter(|failure| failure.signature.role == Role::Client) {
        let first = failure.places.first();
        let mut sites = grounds.iter().flat_map(|ground| ground.sites.iter().map(move |site| (ground, site)));
        let Some((ground, (_, injection))) = sites.find(|(_, (site, _))| Some(site) == first) else {
            continue;
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let run = ground.shown([injection.clone()])?;
        if run.code.is_empty() {
            return Ok(());
        }
        failure.location = hit(&run);
    }
    Ok(())
}

/// Where the first injection found the program of its target.
fn hit(run: &Checked) -> Option<Location> {
    let mut events = run.trace.events.iter();
    let hit = events.find(|event| matches!(event.what, What::Injected { injection: 0, .. }))?;
    run.code.get(&hit.id).cloned()
}
