//! The list of bugs, and bugs in folders of the user.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use super::bug::{Bug, BugError};

/// A file of a folder: its name and its text.
pub type File = (Cow<'static, str>, Cow<'static, str>);

/// A bug, with the files of its folder.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// Its name: that of its folder.
    pub name: Cow<'static, str>,
    /// Its folder, as messages and commands name it.
    pub folder: Cow<'static, str>,
    /// `bug.toml`.
    pub text: Cow<'static, str>,
    /// The files beside it.
    pub files: Cow<'static, [File]>,
}

impl Exhibit {
    /// A bug in a folder of the user: `bug.toml`, and all files beside it. Folders in it do not belong to it.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, or a file is not text.
    pub fn read(folder: &Path) -> Result<Exhibit, BugError> {
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| BugError::Folder { path, source }
        };
        let text = |path: &Path| fs::read_to_string(path).map_err(wrong(path));
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(wrong(folder))? {
            let path = entry.map_err(wrong(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && name != "bug.toml" {
                files.push((name.into(), text(&path)?.into()));
            }
        }
        files.sort();
        let name = fs::canonicalize(folder).map_err(wrong(folder))?;
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Exhibit {
            name: name.into(),
            folder: folder.display().to_string().into(),
            text: text(&folder.join("bug.toml"))?.into(),
            files: files.into(),
        })
    }

    /// Its description.
    ///
    /// # Errors
    /// When `bug.toml` is not one.
    pub fn bug(&self) -> Result<Bug, BugError> {
        Bug::read(&self.folder, &self.text)
    }

    /// The text of a file of its folder.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(file, _)| file == name).map(|(_, text)| &**text)
    }
}

/// A file of a folder, which the adapter needs.
macro_rules! own {
    ($name:literal, $file:literal) => {
        (Cow::Borrowed($file), Cow::Borrowed(include_str!(concat!("../../museum/", $name, "/", $file))))
    };
}

/// An adapter that several bugs share, as `picklock adapter` prints it.
macro_rules! shared {
    ($folder:literal, $file:literal) => {
        (
            Cow::Borrowed($file),
            Cow::Borrowed(include_str!(concat!("../../examples/adapters/", $folder, $file))),
        )
    };
}

/// The exhibit of a folder, with these files.
macro_rules! exhibit {
    ($name:literal, [$($file:expr),+]) => {
        Exhibit {
            name: Cow::Borrowed($name),
            folder: Cow::Borrowed(concat!("museum/", $name)),
            text: Cow::Borrowed(include_str!(concat!("../../museum/", $name, "/bug.toml"))),
            files: Cow::Borrowed(&[$($file),+]),
        }
    };
}

const ETCD: File = shared!("go/etcd/", "main.go");

const REDISSON: File = shared!("java/", "RedissonLocks.java");

const REDSYNC: File = shared!("go/redsync/", "main.go");

/// Cargo is asked for the binary of `adapter.rs`.
const RSLOCK: File =
    (Cow::Borrowed("adapter.rs"), Cow::Borrowed(include_str!("../../examples/adapters/rslock.rs")));

const SPRING: File = shared!("java/", "SpringLocks.java");

/// Every bug, by name.
pub const EXHIBITS: &[Exhibit] = &[
    exhibit!("celery-once-7", [own!("celery-once-7", "lock.py")]),
    exhibit!("curator-621", [own!("curator-621", "CuratorDowngrade.java")]),
    exhibit!("curator-696", [own!("curator-696", "CuratorLatch.java")]),
    exhibit!("etcd-16221", [ETCD, own!("etcd-16221", "waiting.toml")]),
    exhibit!("etcd-19597", [ETCD, own!("etcd-19597", "waiting.toml")]),
    exhibit!("etcd-22082", [own!("etcd-22082", "main.go")]),
    exhibit!("glasslion-redlock-2", [own!("glasslion-redlock-2", "lock.py")]),
    exhibit!("go-zookeeper-229", [own!("go-zookeeper-229", "main.go")]),
    exhibit!("kazoo-649", [own!("kazoo-649", "lock.py")]),
    exhibit!("kazoo-732", [own!("kazoo-732", "lock.py")]),
    exhibit!("node-redlock-253", [own!("node-redlock-253", "lock.mjs")]),
    exhibit!("node-redlock-369", [own!("node-redlock-369", "lock.mjs")]),
    exhibit!("node-redlock-even", [own!("node-redlock-even", "lock.mjs")]),
    exhibit!("redbeat-208", [own!("redbeat-208", "lock.py")]),
    exhibit!("redis-py-1031", [own!("redis-py-1031", "lock.py")]),
    exhibit!("redis-py-2624", [own!("redis-py-2624", "lock.py")]),
    exhibit!("redis-py-3847", [own!("redis-py-3847", "lock.py")]),
    exhibit!("redis-py-4258", [own!("redis-py-4258", "lock.py")]),
    exhibit!("redis-py-818", [own!("redis-py-1031", "lock.py")]),
    exhibit!("redis-semaphore-175", [own!("redis-semaphore-175", "lock.mjs")]),
    exhibit!("redisson-2172", [REDISSON]),
    exhibit!("redisson-2515", [REDISSON]),
    exhibit!("redisson-2714", [REDISSON]),
    exhibit!("redisson-4197", [REDISSON]),
    exhibit!("redisson-4217", [REDISSON]),
    exhibit!("redisson-4818", [REDISSON]),
    exhibit!("redisson-5484", [REDISSON]),
    exhibit!("redisson-6144", [REDISSON]),
    exhibit!("redlock-py-3", [own!("redlock-py-3", "lock.py")]),
    exhibit!("redlock-rs-20", [own!("redlock-rs-20", "adapter.rs")]),
    exhibit!("redsync-149", [REDSYNC]),
    exhibit!("redsync-150", [REDSYNC]),
    exhibit!("redsync-186", [REDSYNC]),
    exhibit!("redsync-61", [own!("redsync-61", "main.go")]),
    exhibit!("rq-2338", [own!("rq-2338", "lock.py")]),
    exhibit!("rslock-9", [own!("rslock-9", "adapter.rs")]),
    exhibit!("rslock-extend", [RSLOCK]),
    exhibit!("shedlock-2583", [own!("shedlock-2583", "ShedLock.java")]),
    exhibit!("spring-integration-11146", [SPRING]),
];

/// The bug of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Exhibit> {
    EXHIBITS.iter().find(|exhibit| exhibit.name == name)
}
