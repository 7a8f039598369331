//! Redlock with a budget: half of the lease for asking all stores, shared equally among them, and no look at what is
//! left of it afterwards.
//!
//! *Claim:* a lock on a majority of independent stores, with at least half of the lease left when it is granted.
//! *Weakness:* there is no validity: the holder does not know how much of the lease its acquire has used, so work or a
//! pause that outlasts the rest makes a second holder. What a failed attempt has taken is left to its lease and blocks
//! the others meanwhile. With `belief=trusting` the holder counts a whole lease from the moment of the grant, up to half
//! a lease too long.
//! *Source:* a variant of the published algorithm that tutorials show.

use picklock_sim::design::{Design, Family};
use picklock_sim::params;

use super::algorithm::{NODES, Rules, Tokens, build};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE_LEAVE, RENEWAL, RETRY};

/// The family of Redlock with a budget instead of a validity.
pub(crate) static FAMILY: Family = Family {
    name: "redlock-budget",
    claim: "redlock with half of the lease as the budget for asking, no validity, no release on failure",
    weakness: "the holder does not know what is left of its lease; failed attempts block the others",
    source: "tutorials on Redlock that leave the validity out",
    params: params![NODES, BELIEF, CLOCK, DRIFT, RETRY, FAILURE_LEAVE, RENEWAL],
    build: |args| {
        let rules = Rules { tokens: Tokens::None, budgeted: true, looks_at_validity: false };
        // Attempts that split the votes wait for each other's leases, and may split them again.
        Design { leases_to_recover: 8, ..build(args, rules) }
    },
};
