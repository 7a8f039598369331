//! Locks of real libraries as they were when they had a bug, one file for each, with the fixed version beside it.
//!
//! They are spelled as designs are (`redisson-597`), and the fixed version is `redisson-597{fixed=yes}` where it is not a
//! design of [`locks`](crate::locks) anyway. They are not designs of the suite: what they are for is that each is found.
//! Which scenario finds which, and what it violates, stands with the scenarios.
//!
//! Left out on purpose: everything of those libraries that the bug does not need, such as their ways to wait. To add one:
//! write its file, add its line to the list below.

mod at_checkpoints;

use picklock_sim::design::{Args, Domain, Family, Param};

families! {
    /// Every bug, in order of their names.
    pub static ALL:
    node_redlock_296,
    redis_py_1031,
    redis_py_818,
    redisson_2172,
    redisson_597,
    redlock_py_3,
    redlock_rb_36,
    redlock_rb_44,
    rslock_extend,
    shedlock_2583,
    spring_8699,
    yii_redis_18,
}

/// Which version of the library it is.
const FIXED: Param = Param {
    name: "fixed",
    domain: Domain::Word(&["no", "yes"]),
    default: "no",
    doc: "the version that had the bug, or the one that mended it",
};

fn fixed(args: &Args) -> bool {
    args.word(FIXED.name) == "yes"
}
