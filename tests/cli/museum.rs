//! `picklock museum` on hostile folders: refused, or missing where no tool works; nothing around the directory for packages changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::binary::{Ended, directory, end, picklock};

const BUG: &str = include_str!("../../museum/redis-semaphore-175/bug.toml");
const LOCKED: &str = include_str!("../../museum/redis-semaphore-175/locked.toml");
const ADAPTER: &str = include_str!("../../museum/redis-semaphore-175/lock.mjs");

/// A directory with the folder `bug`, a tree that must not change, and tools that fail.
fn place() -> tempfile::TempDir {
    let place = directory();
    let here = place.path();
    for dir in ["bug", "kept/deep", "tools", "home"] {
        fs::create_dir_all(here.join(dir)).unwrap();
    }
    for (file, text) in [("bug/bug.toml", BUG), ("bug/locked.toml", LOCKED), ("bug/lock.mjs", ADAPTER)] {
        fs::write(here.join(file), text).unwrap();
    }
    fs::write(here.join("kept/deep/file"), "kept").unwrap();
    for tool in ["npm", "python3", "go", "mvn", "cargo"] {
        let path = here.join("tools").join(tool);
        fs::write(&path, "#!/bin/sh\necho 'error: no network' >&2\nexit 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn museum(here: &Path, more: &[&str]) -> Ended {
    let mut command = picklock(here);
    let path = format!("{}:/usr/bin:/bin", here.join("tools").display());
    command.env("PATH", path).env("HOME", here.join("home"));
    command.args(["museum", "./bug", "--packages", "cache"]).args(more);
    end(command)
}

fn assert_kept(here: &Path) {
    assert_eq!(fs::read_to_string(here.join("kept/deep/file")).unwrap(), "kept");
    let names = |dir: &str| {
        let mut names: Vec<_> =
            fs::read_dir(here.join(dir)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("kept/deep"), ["file"]);
    assert_eq!(names("kept"), ["deep"]);
    assert!(names("home").is_empty());
}

#[test]
fn a_folder_without_tools_that_work_is_missing() {
    let place = place();
    let ended = museum(place.path(), &[]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("missing: `npm pack"), "{}", ended.stdout);
    assert_kept(place.path());
}

#[test]
fn hostile_descriptions_are_refused_with_file_line_and_remedy() {
    let kept = "version = \"KEPT\"";
    for (from, to, says) in [
        ("version = \"5.3.0\"", kept, "bug/bug.toml:8: `affected.version` is"),
        ("version = \"5.3.0\"", "version = \"../../kept\"", "write an exact version of npm"),
        ("version = \"5.3.1\"", "version = \"file:../kept\"", "`fixed.version`"),
        ("version = \"5.3.1\"", "version = \"npm:victim@1.0.0\"", "`fixed.version`"),
        ("version = \"5.3.1\"", "version = \"latest\"", "`fixed.version`"),
        ("version = \"5.3.1\"", "version = \"5.3.1\\u0000\"", "`fixed.version`"),
        ("package = \"redis-semaphore\"", "package = \"victim\"", "locked.toml"),
        ("package = \"redis-semaphore\"", "package = \"--prefix=/\"", "`package`"),
        ("package = \"redis-semaphore\"", "package = \"../kept\"", "`package`"),
        ("checksum = \"sha512-aEx", "checksum = \"missing\" } # \"", "`affected.checksum`"),
        ("checksum = \"sha512-aEx", "checksum = \"sha512-bEx", "is not in the file"),
        ("command = \"node", "command = \"/bin/sh", "`run.command`"),
        ("{dir}/lock.mjs", "{dir}/../../x", "`run.command`"),
        ("registry = \"npm\"", "registry = \"PyPI\"", "`affected.checksum`"),
        ("registry = \"npm\"", "registry = \"../\"", "unknown variant"),
        ("library = \"", "library = \"\\u001b[2J", "`library`"),
    ] {
        let place = place();
        let here = place.path();
        assert!(BUG.contains(from), "{from}");
        let to = to.replace("KEPT", &here.join("kept").display().to_string());
        fs::write(here.join("bug/bug.toml"), BUG.replacen(from, &to, 1)).unwrap();
        for more in [&[][..], &["--lock"]] {
            // To lock is what an outdated locked.toml needs.
            if says.contains("locked.toml") || says.contains("in the file") && !more.is_empty() {
                continue;
            }
            let ended = museum(here, more);
            assert_eq!(ended.code, Some(2), "{to} {more:?}: {}", ended.stdout);
            assert!(ended.stderr.contains(says), "{to}: {}", ended.stderr);
            assert!(!here.join("cache").exists(), "{to}: it is refused before anything is made");
            assert_kept(here);
        }
    }
}

#[test]
fn links_and_absent_locks_are_refused() {
    for (link, target) in [
        ("bug/lock.mjs", "kept/deep/file"),
        ("bug/bug.toml", "kept/deep/file"),
        ("bug/locked.toml", "kept/deep/file"),
        ("bug/device", "../../dev/zero"),
        ("cache/bug", "kept"),
        ("cache/bug/5.3.0", "kept/deep"),
    ] {
        let place = place();
        let here = place.path();
        let path = here.join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(here.join(target), &path).unwrap();
        let ended = museum(here, &[]);
        assert_eq!(ended.code, Some(2), "{link}: {}", ended.stdout);
        let said =
            format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("it is a link"), "{link}: {said}");
        assert_kept(here);
    }
    let place = place();
    fs::remove_file(place.path().join("bug/locked.toml")).unwrap();
    let ended = museum(place.path(), &[]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("write it with `picklock museum ./bug --lock`"), "{}", ended.stderr);
}
