//! The parameter that all of these locks have: with the bug or without it.

use picklock_sim::design::{Args, Domain, Param};

/// Which version of the library it is.
pub(super) const FIXED: Param = Param {
    name: "fixed",
    domain: Domain::Word(&["no", "yes"]),
    default: "no",
    doc: "the version that had the bug, or the one that mended it",
};

/// Whether the version without the bug is asked for.
pub(super) fn fixed(args: &Args) -> bool {
    args.word(FIXED.name) == "yes"
}
