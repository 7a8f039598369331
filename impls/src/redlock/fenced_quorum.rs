//! Redlock with a fencing token that has an order: the highest counter of the stores that granted, written back to
//! a majority of them before the grant counts.
//!
//! *Claim:* tokens are distinct, and a grant that was asked for after another one had been made has the higher token,
//! whatever clocks do.
//! *Weakness:* the order is as durable as the counters: a store that restarts without its memory would break it, so the
//! design asks for stores that keep every acknowledged write. The validity is shorter by the second round of requests.
//! All that is said of `redlock` about belief stays true.
//! *Source:* the second phase of the quorum registers of Attiya, Bar-Noy and Dolev, "Sharing
//! Memory Robustly in Message-Passing Systems", 1995.
//!
//! Why it gives an order. Let A and B be two grants of the same key. Each raised the counters of a majority
//! to at least its token, and each raise was made while the store still held that grant's key. Two majorities have
//! a store in common. At that store the span from the taking of A's vote to A's raise and the same span of B do not
//! overlap, because the store held the key for one of them throughout, and each try has a value of its own, so that an
//! expired key cannot come back as the same. If A's span is the earlier, B's vote was counted on top of A's token: the
//! counter that B got there is higher, and B's token, the highest of all its counters, is higher too. If A's acquire
//! had returned before B's began, A's span is the earlier one at every store that they have in common.
//!
//! The raise must check the owner: without it, a late raise of A could come after B's vote at every common store, and
//! nothing would order the two. It must come before the validity is computed: a raise that took too long makes a
//! grant that is over before it begins.

use picklock_sim::design::Family;

use super::algorithm::{FENCED, Rules, Tokens, build};

/// The family of Redlock with a token that was written back.
pub(crate) static FAMILY: Family = Family {
    name: "redlock-fenced-quorum",
    claim: "redlock with a fencing token that a majority has stored before the grant counts: tokens have an order",
    weakness: "a second round of requests, and stores that must keep every acknowledged write over a restart",
    source: "Attiya, Bar-Noy, Dolev, Sharing Memory Robustly in Message-Passing Systems, 1995",
    params: FENCED,
    build: |args| build(args, Rules::published(Tokens::WrittenBack)),
};
