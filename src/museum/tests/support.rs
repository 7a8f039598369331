//! A museum folder to change, and tools that only note how they are called.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tempfile::TempDir;

use crate::museum::fetch::fetch_with;
use crate::museum::tools::workshop::Tools;
use crate::museum::{Bug, BugError, Exhibit, FetchError, Version, named};

/// An exhibit of each registry. Those of npm and Maven compare files that the tools of a test do not fetch.
pub(super) const OF_EACH: [&str; 5] =
    ["kazoo-649", "redis-semaphore-175", "redsync-151", "redisson-2172", "redlock-rs-20"];

/// A tool that notes its words, and makes the directories and files that picklock expects of it.
const TOOL: &str = r#"#!/bin/sh
log=LOG
me=${0##*/}
echo "$me" "$@" >> "$log"
case "$me $*" in
"python3 "*) mkdir -p venv/bin; cp "$0" venv/bin/python ;;
"mvn "*) mkdir -p lib ;;
"go build"*) : > adapter ;;
"cargo "*build*) mkdir -p build/release; : > build/release/adapter ;;
esac
"#;

/// A directory with a tree around the directory for packages, in which nothing may change.
pub(super) struct Place {
    root: TempDir,
}

impl Place {
    pub(super) fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        let place = Place { root };
        for dir in ["around/bin", "around/kept/deep", "around/kept/deep/3.11.0", "tools", "folders"] {
            fs::create_dir_all(place.path(dir)).unwrap();
        }
        for file in ["around/one", "around/kept/two", "around/kept/deep/three", "around/kept/deep/bug.toml"] {
            fs::write(place.path(file), file).unwrap();
        }
        for tool in ["python3", "npm", "go", "mvn", "javac", "cargo"] {
            let path = place.path(&format!("tools/{tool}"));
            fs::write(&path, TOOL.replace("LOG", &place.path("calls").display().to_string())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A folder with the files of an exhibit.
    pub(super) fn folder(&self, exhibit: &str, name: &str) -> PathBuf {
        let exhibit = named(exhibit).unwrap();
        let folder = self.path("folders").join(name);
        fs::create_dir_all(&folder).unwrap();
        let locked = exhibit.locked.clone().unwrap();
        let own = [("bug.toml", &*exhibit.text), ("locked.toml", &*locked)];
        let files = exhibit.files.iter().map(|(name, text)| (&**name, &**text));
        for (name, text) in own.into_iter().chain(files) {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    /// Reads a folder and fetches both versions, as `picklock museum` does.
    pub(super) fn fetch(&self, folder: &Path) -> Result<Vec<PathBuf>, FetchError> {
        let stop = AtomicBool::new(false);
        let tools = Tools::in_dir(&self.path("tools"), Duration::from_secs(20), &stop);
        let (exhibit, bug) = described(folder)?;
        exhibit.check_locked(&bug)?;
        let versions = [Version::Affected, Version::Fixed];
        versions
            .into_iter()
            .map(|version| fetch_with(&exhibit, &bug, version, &self.path("cache"), &tools))
            .collect()
    }

    /// How the tools were called, a line each.
    pub(super) fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap_or_default()
    }

    /// Everything outside the directory for packages: path, kind, time of change and contents.
    pub(super) fn around(&self) -> Vec<String> {
        let mut seen = Vec::new();
        for name in fs::read_dir(self.root.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if !["cache", "calls"].iter().any(|free| name.ends_with(free)) {
                walk(&name, &mut seen);
            }
        }
        seen.sort();
        seen
    }
}

fn walk(path: &Path, seen: &mut Vec<String>) {
    let about = fs::symlink_metadata(path).unwrap();
    let (kind, mut text) = (about.file_type(), String::new());
    if kind.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| walk(&entry.unwrap().path(), seen));
    } else if kind.is_file() {
        text = String::from_utf8_lossy(&fs::read(path).unwrap()).chars().take(200).collect();
    }
    seen.push(format!("{} {kind:?} {:?} {} {text}", path.display(), about.modified().unwrap(), about.len()));
}

/// A folder with its description.
pub(super) fn described(folder: &Path) -> Result<(Exhibit, Bug), BugError> {
    let exhibit = Exhibit::read(folder)?;
    let bug = exhibit.bug()?;
    Ok((exhibit, bug))
}

/// Writes a file of a folder with another text in place of one that it has.
pub(super) fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}
