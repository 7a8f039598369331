//! Well-known lock libraries, each with the built-in design that it implements.
//!
//! `docs/libraries.md` runs some of them unmodified beside that design. A library that lets its user choose stands where its usual
//! settings put it: node-redlock and redsync with one store are `redlock{nodes=1}`, and python-redis-lock renews only when asked to.

/// The libraries, as their users name them, and the designs.
pub const LIBRARIES: &[(&str, &str)] = &[
    ("redis-py Lock", "single"),
    ("SET NX PX + Lua", "single"),
    ("python-redis-lock", "single"),
    ("SET NX PX + DEL", "set-px-del"),
    ("SETNX + EXPIRE", "setnx-expire"),
    ("Redisson RLock", "reentrant"),
    ("redsync", "redlock"),
    ("node-redlock", "redlock"),
    ("rslock", "redlock"),
    ("pottery", "redlock-naive{validity=checked}"),
    ("etcd clientv3 Mutex", "etcd"),
    ("kazoo Lock", "zookeeper"),
    ("Curator InterProcessMutex", "curator"),
    ("Consul api.Lock", "delayed"),
    ("client-go leader election", "lease-object"),
];

/// The libraries that implement a design as it is spelled.
pub fn of(design: &str) -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().filter(move |(_, of)| *of == design).map(|(library, _)| *library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_stands_for_a_design_that_there_is() {
        for (library, design) in LIBRARIES {
            assert!(crate::design(design).is_ok(), "{library}: {design}");
        }
    }
}
