//! Locks of real libraries as they were when they had a bug, one file for each, with the fixed version beside it.
//!
//! They are spelled as designs are (`redisson-597`), and the fixed version is `redisson-597{fixed=yes}` where it is not a
//! design of [`locks`](crate::locks) anyway. They are not designs of the suite: what they are for is that each is found.
//! Which scenario finds which, and what it violates, stands with the scenarios.
//!
//! Left out on purpose: everything of those libraries that the bug does not need, such as their ways to wait. To add one:
//! write its file, add its line to [`ALL`].

mod node_redlock_296;
mod redis_py_1031;
mod redis_py_818;
mod redisson_2172;
mod redisson_597;
mod redlock_py_3;
mod redlock_rb_36;
mod redlock_rb_44;
mod rslock_extend;
mod shedlock_2583;
mod spring_8699;
mod yii_redis_18;

use picklock_sim::design::{Args, Domain, Family, Param};

/// Every bug, in order of their names.
pub static ALL: &[&Family] = &[
    &node_redlock_296::FAMILY,
    &redis_py_1031::FAMILY,
    &redis_py_818::FAMILY,
    &redisson_2172::FAMILY,
    &redisson_597::FAMILY,
    &redlock_py_3::FAMILY,
    &redlock_rb_36::FAMILY,
    &redlock_rb_44::FAMILY,
    &rslock_extend::FAMILY,
    &shedlock_2583::FAMILY,
    &spring_8699::FAMILY,
    &yii_redis_18::FAMILY,
];

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
