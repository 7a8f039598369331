//! Redlock with the client that most programs are.
//!
//! *Claim:* that of [`redlock`](super::redlock): at most one holder while fewer than half of the stores fail.
//! *Weakness:* the client computes the validity when it acquires, refuses a grant that has none, and never looks at it
//! again: work or a pause that outlasts the lease makes a second holder, as with one store.
//! *Source:* L13 in the project's list; what is left of the published algorithm in most programs that use a library of it.

use picklock_sim::design::Family;

use super::policy::{BELIEF, CLOCK, DRIFT, FAILURE, NODE_TIMEOUT, RENEWAL, RETRY};
use super::redlock::{NODES, Rules, SOURCE, Tokens, build};

/// Redlock with holders that never look at the validity.
pub(super) static FAMILY: Family = Family {
    name: "redlock-naive",
    claim: "redlock with a client that never looks at the validity: believes until it releases",
    weakness: "work or a pause that outlasts the lease makes a second holder",
    source: SOURCE,
    params: &[NODES, BELIEF, CLOCK, DRIFT, RETRY, NODE_TIMEOUT, FAILURE, RENEWAL],
    build: |args| build(args, Rules::published(Tokens::None)),
};
