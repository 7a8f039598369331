//! Redlock with the obvious fencing token: every store counts the grants it has voted for, in the script that takes the
//! vote, and the token is the highest counter of those that granted.
//!
//! *Claim:* tokens grow from grant to grant, so that the resource can refuse a late holder.
//! *Weakness:* they do not. Independent counters have no common order: a store that missed a few grants counts lower
//! than one that saw them all. Clients with different majorities get equal tokens, or falling ones, and the
//! resource then refuses the rightful holder or lets the late one in.
//! *Source:* Martin Kleppmann, "How to do distributed locking", 2016, on why Redlock has no
//! fencing token, and why a counter on several stores is not one.

use picklock_sim::design::Family;

use super::algorithm::{FENCED, Rules, Tokens, build};

/// The family of Redlock with the highest counter as its token.
pub(crate) static FAMILY: Family = Family {
    name: "redlock-fenced",
    claim: "redlock with the highest of the stores' counters as fencing token",
    weakness: "independent counters have no common order: tokens repeat and fall",
    source: "Kleppmann, How to do distributed locking, 2016",
    params: FENCED,
    build: |args| build(args, Rules::published(Tokens::Highest)),
};
