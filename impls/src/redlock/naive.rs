//! Redlock with a client that looks at no clock.
//!
//! *Claim:* that of [`redlock`](super::algorithm): at most one holder while fewer than half of the stores fail.
//! *Weakness:* the client never looks at the validity, not even when its acquire is complete: an acquire that was held up, work or a
//! pause that outlasts the lease makes a second holder, as with one store.
//! *Source:* what is left of the published algorithm where it is written by hand.
//!
//! With `validity=checked` the acquire refuses a grant whose validity is over, and nobody looks afterwards: that is what most programs
//! do that use a library of it.

use picklock_sim::design::Family;
use picklock_sim::param::{Param, Word};
use picklock_sim::params;

use super::algorithm::{NODES, Rules, SOURCE, Tokens, build};
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, NODE_TIMEOUT, RENEWAL, RETRY};

/// The family of Redlock with holders that never look at the validity.
pub(crate) static FAMILY: Family = Family {
    name: "redlock-naive",
    claim: "redlock with a client that never looks at the validity: believes until it releases",
    weakness: "an acquire that was held up, work or a pause that outlasts the lease makes a second holder",
    source: SOURCE,
    params: params![NODES, VALIDITY, BELIEF, CLOCK, DRIFT, RETRY, NODE_TIMEOUT, FAILURE, RENEWAL],
    build: |args| {
        let looks_at_validity = args.get(VALIDITY) == "checked";
        build(args, Rules { looks_at_validity, ..Rules::published(Tokens::None) })
    },
};

/// The choice if the acquire looks at the rest of the lease.
const VALIDITY: Param<Word> = Param {
    name: "validity",
    domain: Word(&["ignored", "checked"]),
    default: "ignored",
    doc: "whether an acquire refuses a grant whose validity is over when it is complete; nobody looks at it later",
};
