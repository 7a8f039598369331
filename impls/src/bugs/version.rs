//! The parameter that all of these locks have: with the bug or without it.

use picklock_sim::param::{Param, YesNo};

/// Which version of the library it is.
pub(super) const FIXED: Param<YesNo> = Param {
    name: "fixed",
    domain: YesNo,
    default: "no",
    doc: "the version that had the bug, or the one that mended it",
};
