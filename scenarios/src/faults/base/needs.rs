//! The servers that a fault needs to hit a design at all; where they are missing, the reason as a fragment.

use picklock_sim::store::Topology;

use super::params::LINKS;
use picklock_sim::param::{Args, Param, Share, Shares};

/// Any design.
pub(crate) fn always(_: &Args, _: Topology) -> Result<(), String> {
    Ok(())
}

/// One with a lock's server, if only links to those are touched.
pub(crate) fn needs_permitted_links(args: &Args, topology: Topology) -> Result<(), String> {
    if args.get(LINKS) == "lock" { needs_stores(args, topology) } else { Ok(()) }
}

/// One with a lock's server.
pub(crate) fn needs_stores(_: &Args, topology: Topology) -> Result<(), String> {
    if topology.stores == 0 {
        Err("it hits the lock's servers, and the design has none".into())
    } else {
        Ok(())
    }
}

/// One whose store has replicas.
pub(crate) fn needs_replicas(_: &Args, topology: Topology) -> Result<(), String> {
    if topology.replicated && topology.stores > 0 {
        Ok(())
    } else {
        Err("it hits a replicated store, and the design has none".into())
    }
}

/// Refuses a parameter that asks for more hosts than there are, or for fewer than half of too few.
pub(crate) fn enough(args: &Args, param: Param<Shares>, stores: u32) -> Result<(), String> {
    let name = param.name;
    match args.get(param) {
        Share::Exactly(asked) if asked > u64::from(stores) => {
            Err(format!("its parameter `{name}` is {asked}, and the stores of the design are {stores}"))
        }
        Share::Minority if stores < 3 => Err(format!(
            "its parameter `{name}` is `minority`, which is fewer than half of the stores: it needs three stores, and the \
                 design has {stores}"
        )),
        _ => Ok(()),
    }
}
