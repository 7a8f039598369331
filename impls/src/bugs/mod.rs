//! Locks of real libraries as they were when they had a bug, one file for each, with the fixed version beside it.
//!
//! They are spelled as designs are (`redisson-597`), and the fixed version is `redisson-597{fixed=yes}` where it is not a
//! design of the [catalogue](crate::families) anyway. They are not designs of the suite: what they are for is that each is found.
//! Which scenario finds which, and what it violates, stands with the scenarios.
//!
//! Left out on purpose: everything of those libraries that the bug does not need, such as their ways to wait. To add one:
//! write its file, add its `mod` line and its line in [`ALL`].

mod aredis_119;
mod at_checkpoints;
mod authentik_23876;
mod cilium_42920;
mod client_go_65094;
mod curator_498;
mod curator_604;
mod curator_696;
mod curator_mutex;
mod django_q_213;
mod dotnet_etcd_321;
mod election;
mod etcd_11456;
mod etcd_19597;
mod etcd_22082;
mod framework;
mod greptimedb_7670;
mod kazoo_732;
mod laravel_36337;
mod liquibase_5438;
mod node_redlock_296;
mod node_redlock_even;
mod oban_py_32;
mod reading;
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
mod river_197;
mod rows;
mod rslock_extend;
mod session_lock;
mod shedlock_231;
mod shedlock_243;
mod shedlock_2583;
mod shedlock_3682;
mod shedlock_rows;
mod spring_1888;
mod spring_8699;
mod version;
mod watching;
mod wolverine_2691;
mod yii_redis_18;

use picklock_sim::design::Family;

/// Every bug, in order of their names.
pub static ALL: &[&Family] = &[
    &aredis_119::FAMILY,
    &authentik_23876::FAMILY,
    &cilium_42920::FAMILY,
    &client_go_65094::FAMILY,
    &curator_498::FAMILY,
    &curator_604::FAMILY,
    &curator_696::FAMILY,
    &django_q_213::FAMILY,
    &dotnet_etcd_321::FAMILY,
    &etcd_11456::FAMILY,
    &etcd_19597::FAMILY,
    &etcd_22082::FAMILY,
    &greptimedb_7670::FAMILY,
    &kazoo_732::FAMILY,
    &laravel_36337::FAMILY,
    &liquibase_5438::FAMILY,
    &node_redlock_296::FAMILY,
    &node_redlock_even::FAMILY,
    &oban_py_32::FAMILY,
    &redis_py_1031::FAMILY,
    &redis_py_2624::FAMILY,
    &redis_py_3847::FAMILY,
    &redis_py_818::FAMILY,
    &redis_semaphore_10::FAMILY,
    &redis_semaphore_23::FAMILY,
    &redisson_1602::FAMILY,
    &redisson_1604::FAMILY,
    &redisson_2172::FAMILY,
    &redisson_2515::FAMILY,
    &redisson_2714::FAMILY,
    &redisson_597::FAMILY,
    &redisson_891::FAMILY,
    &redlock_py_3::FAMILY,
    &redlock_rb_36::FAMILY,
    &redlock_rb_44::FAMILY,
    &redsync_61::FAMILY,
    &redsync_71::FAMILY,
    &river_197::FAMILY,
    &rslock_extend::FAMILY,
    &shedlock_231::FAMILY,
    &shedlock_243::FAMILY,
    &shedlock_2583::FAMILY,
    &shedlock_3682::FAMILY,
    &spring_1888::FAMILY,
    &spring_8699::FAMILY,
    &wolverine_2691::FAMILY,
    &yii_redis_18::FAMILY,
];
