//! The list of bugs, and bugs in folders of the user.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use super::bug::{Bug, BugError};
use super::locked::{self, Locked};
use super::{check, field, read};

/// The entries of a folder at most.
const FILES_MAX: usize = 200;

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
    /// `locked.toml`, if there is one.
    pub locked: Option<Cow<'static, str>>,
    /// The files beside them.
    pub files: Cow<'static, [File]>,
}

impl Exhibit {
    /// A bug in a folder of the user: `bug.toml`, `locked.toml`, and all files beside them. Folders and hidden files in it do not belong to
    /// it.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, a file is a link, special or large, or has a name that is refused.
    pub fn read(folder: &Path) -> Result<Exhibit, BugError> {
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| BugError::Folder { path, source }
        };
        let text = |path: &Path| read::text(path).map_err(wrong(path));
        let (mut files, mut locked, mut seen) = (Vec::new(), None, 0);
        for entry in fs::read_dir(folder).map_err(wrong(folder))? {
            seen += 1;
            if seen > FILES_MAX {
                return Err(BugError::Files(folder.display().to_string(), FILES_MAX));
            }
            let entry = entry.map_err(wrong(folder))?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_folder = entry.file_type().map_err(wrong(&path))?.is_dir();
            if is_folder || name.starts_with('.') || name == "bug.toml" {
                continue;
            }
            if name == locked::FILE {
                locked = Some(text(&path)?.into());
                continue;
            }
            if !check::is_file_name(&name) {
                return Err(BugError::FileName(folder.display().to_string(), field::shown(&name)));
            }
            files.push((name.into(), text(&path)?.into()));
        }
        files.sort();
        let name = fs::canonicalize(folder).map_err(wrong(folder))?;
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Exhibit {
            name: name.into(),
            folder: folder.display().to_string().into(),
            text: text(&folder.join("bug.toml"))?.into(),
            locked,
            files: files.into(),
        })
    }

    /// Its description.
    ///
    /// # Errors
    /// When `bug.toml` is not one, or a name, a version, a checksum, a command or a scenario in it is refused.
    pub fn bug(&self) -> Result<Bug, BugError> {
        let bug = Bug::read(&self.folder, &self.text)?;
        self.check(&bug)?;
        Ok(bug)
    }

    /// Checks its names, and a description of it.
    pub(super) fn check(&self, bug: &Bug) -> Result<(), BugError> {
        let files = self.files.iter().map(|(name, _)| &**name).collect();
        let folder = check::Folder { name: &self.name, path: &self.folder, text: &self.text, files };
        check::check(&folder, bug)
    }

    /// Checks that all packages of its description are locked.
    ///
    /// # Errors
    /// When `locked.toml` is absent, is not one, or does not have what the description pins.
    pub fn check_locked(&self, bug: &Bug) -> Result<(), BugError> {
        self.locked(bug).map(drop)
    }

    /// Its locked packages.
    pub(super) fn locked(&self, bug: &Bug) -> Result<Locked, BugError> {
        let text = self.locked.as_ref().ok_or_else(|| BugError::Unlocked(self.folder.to_string()))?;
        Locked::read(&self.folder, text, bug)
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
            locked: Some(Cow::Borrowed(include_str!(concat!("../../museum/", $name, "/locked.toml")))),
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
    exhibit!("redsync-151", [REDSYNC]),
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
