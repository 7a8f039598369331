//! Locks of real libraries as they were when they had a bug, one file for each, with the fixed version beside it.
//!
//! They are spelled as designs are (`redisson-597`), and the fixed version is `redisson-597{fixed=yes}` where it is not a
//! design of [`locks`](crate::locks) anyway. They are not designs of the suite: what they are for is that each is found.
//! Which scenario finds which, and what it violates, stands with the scenarios.
//!
//! Left out on purpose: everything of those libraries that the bug does not need, such as their ways to wait. To add one:
//! write its file, add its line to the list below.

mod at_checkpoints;
mod reading;
mod version;
mod watching;

// The list begins: a file a line, in order of their names.
mod aredis_119;
mod laravel_36337;
mod node_redlock_296;
mod node_redlock_even;
mod redis_py_1031;
mod redis_py_2624;
mod redis_py_3847;
mod redis_py_818;
mod redis_semaphore_10;
mod redis_semaphore_23;
mod redisson_1602;
mod redisson_1604;
mod redisson_2172;
mod redisson_2515;
mod redisson_2714;
mod redisson_597;
mod redisson_891;
mod redlock_py_3;
mod redlock_rb_36;
mod redlock_rb_44;
mod redsync_61;
mod redsync_71;
mod rslock_extend;
mod shedlock_2583;
mod spring_1888;
mod spring_8699;
mod yii_redis_18;
// The list ends.

use picklock_sim::design::Family;

/// Every bug, in order of their names.
pub static ALL: &[&Family] = include!(concat!(env!("OUT_DIR"), "/bugs.rs"));
