//! The list of bugs.

use super::bug::{Bug, BugError};

/// A bug, with the files of its folder.
#[derive(Debug)]
pub struct Exhibit {
    /// Its name: that of its folder.
    pub name: &'static str,
    /// `bug.toml`.
    pub text: &'static str,
    /// The files beside it, by name.
    pub files: &'static [(&'static str, &'static str)],
}

impl Exhibit {
    /// Its description.
    ///
    /// # Errors
    /// When `bug.toml` is not one.
    pub fn bug(&self) -> Result<Bug, BugError> {
        Bug::read(self.name, self.text)
    }

    /// The text of a file of its folder.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(file, _)| *file == name).map(|(_, text)| *text)
    }
}

/// A file of a folder, which the adapter needs.
macro_rules! own {
    ($name:literal, $file:literal) => {
        ($file, include_str!(concat!("../../museum/", $name, "/", $file)))
    };
}

/// An adapter that several bugs share, as `picklock adapter` prints it.
macro_rules! shared {
    ($folder:literal, $file:literal) => {
        ($file, include_str!(concat!("../../examples/adapters/", $folder, $file)))
    };
}

/// The exhibit of a folder, with these files.
macro_rules! exhibit {
    ($name:literal, [$($file:expr),+]) => {
        Exhibit { name: $name, text: include_str!(concat!("../../museum/", $name, "/bug.toml")), files: &[$($file),+] }
    };
}

const ETCD: (&str, &str) = shared!("go/etcd/", "main.go");

const REDISSON: (&str, &str) = shared!("java/", "RedissonLocks.java");

const REDSYNC: (&str, &str) = shared!("go/redsync/", "main.go");

const SPRING: (&str, &str) = shared!("java/", "SpringLocks.java");

/// Every bug, by name.
pub const EXHIBITS: &[Exhibit] = &[
    exhibit!("etcd-19597", [ETCD, own!("etcd-19597", "waiting.toml")]),
    exhibit!("redis-py-1031", [own!("redis-py-1031", "lock.py")]),
    exhibit!("redis-py-4258", [own!("redis-py-4258", "lock.py")]),
    exhibit!("redis-py-818", [own!("redis-py-1031", "lock.py")]),
    exhibit!("redis-semaphore-175", [own!("redis-semaphore-175", "lock.mjs")]),
    exhibit!("redisson-2515", [REDISSON]),
    exhibit!("redisson-6144", [REDISSON]),
    exhibit!("redlock-py-3", [own!("redlock-py-3", "lock.py")]),
    exhibit!("redsync-149", [own!("redsync-149", "main.go")]),
    exhibit!("redsync-150", [REDSYNC]),
    exhibit!("redsync-61", [own!("redsync-61", "main.go")]),
    exhibit!("rq-2338", [own!("rq-2338", "lock.py")]),
    exhibit!("spring-integration-11146", [SPRING]),
];

/// The bug of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Exhibit> {
    EXHIBITS.iter().find(|exhibit| exhibit.name == name)
}
