//! A campaign that is made in parts, or was killed, gives what one process gives in one go, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

#[path = "support/binary.rs"]
mod binary;

use binary::{directory, picklock, run_in};

/// What is run: some cells hold, some do not, and one is skipped.
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

/// All files of a directory but the journal, by name.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let name = name.into_string().unwrap();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name != "journal.jsonl" {
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
    found
}

fn run(within: &Path, more: &[&str]) -> binary::Ended {
    let mut args = vec!["run"];
    args.extend(ASKED);
    args.extend(more);
    run_in(within, &args)
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

#[test]
fn shards_in_any_order_are_merged_to_what_one_process_makes() {
    let here = directory();
    let whole = whole(here.path());
    let shards: Vec<String> = (1..=5).map(|index| format!("{index}/5")).collect();
    for (at, shard) in shards.iter().enumerate() {
        let ended = run(here.path(), &["--shard", shard, "--out", &format!("part-{at}"), "--jobs", "1"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.starts_with(&format!("shard {shard}: ")), "{}", ended.stdout);
    }
    for order in [[3, 0, 4, 2, 1], [4, 3, 2, 1, 0]] {
        let mut args = vec!["merge".to_owned()];
        args.extend(order.iter().map(|at| format!("part-{at}")));
        args.extend(["--out", "merged", "--format", "text,json,junit,markdown"].map(str::to_owned));
        let ended = run_in(here.path(), &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        same(&whole, &files(&here.path().join("merged")), &format!("{order:?}"));
    }
}

#[test]
fn a_campaign_that_was_killed_goes_on_to_the_same_end() {
    let here = directory();
    let whole = whole(here.path());
    let mut kills = 0;
    for round in 0..6_u64 {
        let out = format!("killed-{round}");
        for more in [&[][..], &["--resume"], &["--resume"]] {
            let mut command = picklock(here.path());
            command.arg("run").args(ASKED).args(["--out", &out]).args(more);
            let mut child = command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            sleep(Duration::from_millis(60 + 170 * round));
            child.kill().unwrap();
            kills += usize::from(child.wait().unwrap().code().is_none());
            // Too early for anything to be there is no campaign to go on with.
            if !here.path().join(&out).join("journal.jsonl").exists() {
                break;
            }
        }
        let mut more = vec!["--out", &out];
        if here.path().join(&out).join("journal.jsonl").exists() {
            more.push("--resume");
        }
        let ended = run(here.path(), &more);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        same(&whole, &files(&here.path().join(&out)), &out);
    }
    assert!(kills > 0, "none was killed before its end");
}

#[test]
fn a_torn_line_is_run_again_and_a_changed_one_refused() {
    let here = directory();
    let whole = whole(here.path());
    let journal = here.path().join("whole/journal.jsonl");
    OpenOptions::new().append(true).open(&journal).unwrap().write_all(b"{\"blocks\":[1,2").unwrap();
    assert_eq!(run(here.path(), &["--out", "whole", "--resume"]).code, Some(1));
    same(&whole, &files(&here.path().join("whole")), "torn");

    let text = std::fs::read_to_string(&journal).unwrap();
    for (from, to, because) in [
        ("\"blocks\"", "\"bricks\"", "unknown field `bricks`"),
        ("\"journal\":1", "\"journal\":7", "its form is 7"),
        ("mutual-exclusion", "mutual-affection", "there is no invariant `mutual-affection`"),
        ("\"ended\":true", "\"ended\":1", "invalid type"),
    ] {
        std::fs::write(&journal, text.replacen(from, to, 1)).unwrap();
        let ended = run(here.path(), &["--out", "whole", "--resume"]);
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains(because), "{}", ended.stderr);
        assert!(ended.stderr.contains("whole/journal.jsonl, line "), "{}", ended.stderr);
    }
}

#[test]
fn what_does_not_belong_together_is_told_apart() {
    let here = directory();
    for (shard, out) in [("1/3", "a"), ("2/3", "b"), ("3/3", "c")] {
        assert_eq!(run(here.path(), &["--shard", shard, "--out", out]).code, Some(0));
    }
    let other = ["run", "--design", "single", "--scenario", "calm", "--shard", "3/3", "--out", "other"];
    assert_eq!(run_in(here.path(), &other).code, Some(0));
    for (args, because) in [
        (
            &["merge", "a", "b"][..],
            "the campaign is not complete; --partial shows what there is\n  shard 3/3 is not there",
        ),
        (&["merge", "a", "b", "b", "c"], "b/journal.jsonl and b/journal.jsonl hold the same runs"),
        (
            &["merge", "a", "b", "other"],
            "other/journal.jsonl is of another campaign: its range of seeds is 0..100",
        ),
        (&["merge", "a", "nothing"], "failed to read nothing"),
        (&["merge"], "required"),
        (&["run", "--shard", "4/3", "--out", "d"], "there is no shard 4 of 3"),
        (&["run", "--shard", "1/3"], "--out"),
        (&["run", "--resume", "--out", "nothing"], "leave --resume out to begin"),
        (&["run", "--resume", "--out", "a"], "a/journal.jsonl is of another campaign"),
    ] {
        let ended = run_in(here.path(), args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(because), "{args:?}: {}", ended.stderr);
    }
    let ended = run_in(here.path(), &["merge", "a", "b", "--partial", "--format", "json"]);
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"partial\": true"));
}

#[test]
fn what_is_not_finished_is_not_begun_anew_by_mistake() {
    let here = directory();
    assert_eq!(run(here.path(), &["--out", "out"]).code, Some(1));
    // What has ended makes room.
    assert_eq!(run(here.path(), &["--out", "out"]).code, Some(1));
    let journal = here.path().join("out/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&journal, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let ended = run(here.path(), &["--out", "out"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("is not finished: go on with it by --resume"), "{}", ended.stderr);
    assert!(ended.stderr.contains("it was begun by: picklock run --design single"), "{}", ended.stderr);
}

#[test]
fn a_text_decides_where_seeds_begin() {
    let here = directory();
    let first_seed = |text: &str| {
        let args = ["run", "--design", "single", "--scenario", "pause", "--seeds", "3", "--expect", "none"];
        let ended = run_in(here.path(), &[&args[..], &["--seeds-from", text, "--format", "json"]].concat());
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let page: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        page["cells"][0]["violations"]["mutual-exclusion"]["first_seed"].as_u64().unwrap()
    };
    let (one, again, other) = (first_seed("5e34c5a"), first_seed("5e34c5a"), first_seed("2026-11-22"));
    assert_eq!(one, again);
    assert!(one.abs_diff(other) > 1_000_000, "{one} and {other}");
    assert!(one < 1 << 53 && other < 1 << 53);
}

#[test]
fn a_comparison_is_held_against_an_older_one() {
    let here = directory();
    let compare = |design: &str, more: &[&str]| {
        let args = ["compare", "--design", design, "--scenario", "pause", "--seeds", "150"];
        run_in(here.path(), &[&args[..], more].concat())
    };
    assert_eq!(compare("single", &["--out", "old", "--format", "text,json"]).code, Some(0));
    let old = here.path().join("old/comparison.json");
    let text = std::fs::read_to_string(&old).unwrap();
    let same = compare("single", &["--baseline", "old/comparison.json"]);
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    assert!(same.stdout.contains("0 worse, 0 better"), "{}", same.stdout);

    // As if it had been found less often, or more often.
    let mut page: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (runs, code, word) in
        [(0, 1, "worse: single under pause, "), (150, 0, "better: single under pause, ")]
    {
        for rate in page["cells"][0]["rates"].as_array_mut().unwrap() {
            rate["runs"] = runs.into();
        }
        page["cells"][0]["exercised"] = 150.into();
        std::fs::write(&old, page.to_string()).unwrap();
        let ended = compare("single", &["--baseline", "old/comparison.json"]);
        assert_eq!(ended.code, Some(code), "{}", ended.stdout);
        assert!(ended.stdout.contains(word), "{}", ended.stdout);
    }
    let other = compare("watchdog", &["--baseline", "old/comparison.json"]);
    assert!(other.stdout.contains("not in the baseline: 1 cell: watchdog under pause"), "{}", other.stdout);

    std::fs::write(&old, text.replace("\"exercised\"", "\"exorcised\"")).unwrap();
    let refused = compare("single", &["--baseline", "old/comparison.json"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("old/comparison.json: missing field `exercised`"), "{}", refused.stderr);
}
