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

/// Further products that a user may name, and the design that models each of them.
const PRODUCTS: &[(&str, &str)] = &[
    ("bsm/redislock", "single"),
    ("redis-semaphore", "watchdog"),
    ("Spring Integration RedisLockRegistry", "single"),
    ("Redisson RFairLock", "fair"),
    ("Redisson RReadWriteLock", "read-write"),
    ("Redisson RPermitExpirableSemaphore", "permits"),
    ("Redisson RedissonRedLock", "redlock-multi"),
    ("ShedLock JdbcTemplateLockProvider", "lease-row"),
    ("ShedLock RedisLockProvider", "single"),
    ("etcd concurrency.Election", "etcd-election"),
    ("go-zookeeper", "zookeeper"),
    ("pg_advisory_lock", "advisory"),
    ("pg_try_advisory_lock", "advisory"),
    ("pgbouncer", "advisory-pooled"),
    ("SELECT FOR UPDATE", "row-lock"),
];

/// Words that many names share: none of them alone names a product.
const COMMON: [&str; 8] = ["lock", "set", "px", "del", "api", "leader", "election", "script"];

/// The designs that model the product of a name: its full name, one word of it (`redsync`, `RLock`), or the end of an import path
/// (`github.com/bsm/redislock`). Empty for an unknown name.
#[must_use]
pub fn named(name: &str) -> Vec<&'static str> {
    let (asked, end) = (plain(name), plain(name.rsplit('/').next().unwrap_or(name)));
    let is_it = |product: &str| {
        let words = product.split([' ', '/']).map(plain).filter(|word| !COMMON.contains(&word.as_str()));
        plain(product) == asked || words.into_iter().any(|word| word == asked || word == end)
    };
    let mut designs = Vec::new();
    for (product, design) in LIBRARIES.iter().chain(PRODUCTS) {
        if !product.contains('+') && is_it(product) && !designs.contains(design) {
            designs.push(design);
        }
    }
    designs
}

/// The letters and digits of a name in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The libraries that implement a design as it is spelled.
pub fn of(design: &str) -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().filter(move |(_, of)| *of == design).map(|(library, _)| *library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_stands_for_a_design_that_there_is() {
        for (library, design) in LIBRARIES.iter().chain(PRODUCTS) {
            assert!(crate::design(design).is_ok(), "{library}: {design}");
        }
    }

    #[test]
    fn a_product_is_found_by_its_names() {
        for (name, designs) in [
            ("redislock", &["single"][..]),
            ("github.com/bsm/redislock", &["single"]),
            ("redsync", &["redlock"]),
            ("go-redsync/redsync", &["redlock"]),
            ("redis-py", &["single"]),
            ("RLock", &["reentrant"]),
            ("redisson", &["reentrant", "fair", "read-write", "permits", "redlock-multi"]),
            ("shedlock", &["lease-row", "single"]),
            ("clientv3", &["etcd"]),
            ("kazoo", &["zookeeper"]),
            ("InterProcessMutex", &["curator"]),
            ("pg_advisory_lock", &["advisory"]),
            ("pgbouncer", &["advisory-pooled"]),
            ("lock", &[]),
            ("redlok", &[]),
            ("", &[]),
        ] {
            assert_eq!(named(name), designs, "{name}");
        }
    }
}
