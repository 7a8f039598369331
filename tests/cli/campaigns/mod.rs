//! Campaigns that are kept in a results directory.

mod parts;
mod results_directory;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::binary::{Ended, run_in};

/// The usual campaign: some cells hold, some do not, and one is skipped.
const ASKED: [&str; 11] = [
    "--design",
    "single,single-fenced",
    "--scenario",
    "calm,pause,failover",
    "--seeds",
    "30",
    "--expect",
    "none",
    "--no-confirm",
    "--format",
    "text,json,junit,markdown",
];

/// A campaign for tests that are about something else.
const QUICK: [&str; 12] = [
    "run",
    "--design",
    "single",
    "--scenario",
    "pause,calm",
    "--seeds",
    "24",
    "--expect",
    "none",
    "--no-confirm",
    "--out",
    "out",
];

/// The folders of the runs of a store, the oldest first.
fn folders(store: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap());
    let mut all: Vec<PathBuf> =
        all.filter(|entry| entry.file_type().unwrap().is_dir()).map(|it| it.path()).collect();
    all.sort_by_key(|folder| {
        let name = folder.file_name().unwrap().to_str().unwrap();
        // 2026-11-22T223000Z-run-2
        let nth: u32 = name.split('-').nth(4).map_or(1, |nth| nth.parse().unwrap());
        (name[..18].to_owned(), nth)
    });
    all
}

/// All files of the newest run of a store but the journal, by name.
fn files(store: &Path) -> BTreeMap<String, Vec<u8>> {
    within(&store.join("latest"))
}

fn within(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let name = name.into_string().unwrap();
        if path.is_dir() {
            found.extend(within(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name != "journal.jsonl" {
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
    found
}

fn run(within: &Path, more: &[&str]) -> Ended {
    let mut args = vec!["run"];
    args.extend(ASKED);
    args.extend(more);
    run_in(within, &args)
}

/// A campaign of little, which takes no time, in a store.
fn quick(within: &Path, more: &[&str]) -> Ended {
    run_in(within, &[&QUICK[..], more].concat())
}

/// The files of the same campaign in one go.
fn whole(within: &Path) -> BTreeMap<String, Vec<u8>> {
    assert_eq!(run(within, &["--out", "whole"]).code, Some(1));
    let files = files(&within.join("whole"));
    assert!(files.len() > 8, "{:?}", files.keys());
    files
}

fn same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>, what: &str) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in one {
        assert!(*bytes == other[name], "{what}: {name} is another one");
    }
}
