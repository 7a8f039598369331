//! A campaign that is made in parts, or was killed, gives what one process gives in one go, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
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

/// What is run where it is not the point.
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

fn run(within: &Path, more: &[&str]) -> binary::Ended {
    let mut args = vec!["run"];
    args.extend(ASKED);
    args.extend(more);
    run_in(within, &args)
}

/// A campaign of little, which takes no time, in a store.
fn quick(within: &Path, more: &[&str]) -> binary::Ended {
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

#[test]
fn shards_in_any_order_are_merged_to_what_one_process_makes() {
    let here = directory();
    let whole = whole(here.path());
    let shards: Vec<String> = (1..=8).map(|index| format!("{index}/8")).collect();
    for (at, shard) in shards.iter().enumerate() {
        let ended = run(here.path(), &["--shard", shard, "--out", &format!("part-{at}"), "--jobs", "1"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.starts_with(&format!("shard {shard}: ")), "{}", ended.stdout);
    }
    for order in [[3, 0, 6, 4, 7, 2, 5, 1], [7, 6, 5, 4, 3, 2, 1, 0]] {
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
    let asked = [
        "run",
        "--design",
        "single",
        "--scenario",
        "calm,pause",
        "--seeds",
        "60",
        "--expect",
        "none",
        "--no-confirm",
    ];
    let resumed = |out: &str| {
        let mut args =
            [&asked[..], &["--out", out]].concat().iter().map(ToString::to_string).collect::<Vec<_>>();
        // Too early for anything to be there is no campaign to go on with.
        if here.path().join(out).join("journal.jsonl").exists() {
            args.push("--resume".to_owned());
        }
        args
    };
    let run = |out: &str| {
        let args = resumed(out);
        run_in(here.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(run("whole").code, Some(1));
    let whole = files(&here.path().join("whole"));
    let mut kills = 0;
    let mut draw = rng();
    for round in 0..5_u64 {
        let out = format!("killed-{round}");
        for _ in 0..4 {
            let mut command = picklock(here.path());
            command.args(resumed(&out)).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            sleep(Duration::from_millis(draw() % 300));
            child.kill().unwrap();
            kills += usize::from(child.wait().unwrap().code().is_none());
        }
        let ended = run(&out);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        same(&whole, &files(&here.path().join(&out)), &out);
    }
    println!("{kills} of 20 were killed before their end");
    assert!(kills > 0, "none was killed before its end");
}

/// Other numbers each time: a moment that does harm is found some day, and what a kill leaves behind has to do in any case.
fn rng() -> impl FnMut() -> u64 {
    let seed = xxhash_rust::xxh3::xxh3_64(directory().path().as_os_str().as_encoded_bytes());
    println!("drawn from {seed}");
    let mut nth = 0_u64;
    move || {
        nth += 1;
        xxhash_rust::xxh3::xxh3_64_with_seed(&nth.to_le_bytes(), seed)
    }
}

#[test]
fn a_torn_line_is_run_again_and_a_changed_one_refused() {
    let here = directory();
    let out = here.path().join("out");
    assert_eq!(quick(here.path(), &[]).code, Some(1));
    let whole = files(&out);
    let journal = folders(&out).remove(0).join("journal.jsonl");
    let before = std::fs::read(&journal).unwrap();
    OpenOptions::new().append(true).open(&journal).unwrap().write_all(b"{\"blocks\":[1,2").unwrap();
    assert_eq!(quick(here.path(), &["--resume"]).code, Some(1));
    same(&whole, &files(&out), "torn");
    // What has come to its end is not written to: another run begins with what it kept.
    let [_, again] = &folders(&out)[..] else { panic!("there are not two runs") };
    assert!(std::fs::read(again.join("journal.jsonl")).unwrap().starts_with(&before));
    let journal = again.join("journal.jsonl");

    let text = std::fs::read_to_string(&journal).unwrap();
    for (from, to, because) in [
        ("\"blocks\"", "\"bricks\"", "its checksum is not that of this line at this place"),
        ("\"journal\":2", "\"journal\":7", "its form is 7"),
        (
            "\"journal\":2",
            "\"journal\":1",
            "end the campaign with the picklock that began it, or run it again",
        ),
        ("mutual-exclusion", "mutual-affection", "its checksum is not that of this line at this place"),
    ] {
        std::fs::write(&journal, text.replacen(from, to, 1)).unwrap();
        let ended = quick(here.path(), &["--resume"]);
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains(because), "{}", ended.stderr);
        assert!(ended.stderr.contains("/journal.jsonl, line "), "{}", ended.stderr);
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
        (&["merge", "a", "b", "b", "c"], "-shard/journal.jsonl hold the same runs: is a shard given twice?"),
        (
            &["merge", "a", "b", "other"],
            "-shard/journal.jsonl is of another campaign: its range of seeds is 0..100",
        ),
        (&["merge", "a", "nothing"], "failed to read nothing"),
        (&["merge"], "required"),
        (&["run", "--shard", "4/3", "--out", "d"], "there is no shard 4 of 3"),
        (&["run", "--shard", "1/3"], "--out"),
        (&["run", "--resume", "--out", "nothing"], "leave --resume out to begin"),
        (&["run", "--resume", "--out", "a"], "-shard/journal.jsonl is of another campaign"),
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
fn what_is_not_finished_is_pointed_out_and_stays_when_another_run_is_begun() {
    let here = directory();
    let out = here.path().join("out");
    assert_eq!(quick(here.path(), &[]).code, Some(1));
    // As a kill would have left it.
    let first = folders(&out).remove(0);
    let kept = std::fs::read_to_string(first.join("kept.json")).unwrap();
    let mut killed: serde_json::Value = serde_json::from_str(&kept).unwrap();
    killed["state"] = "begun".into();
    killed["results"] = serde_json::Value::Null;
    std::fs::write(first.join("kept.json"), killed.to_string()).unwrap();
    let journal = std::fs::read_to_string(first.join("journal.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    std::fs::write(first.join("journal.jsonl"), lines[..2].join("\n") + "\n").unwrap();
    // A report of when it had been interrupted, and files that were being written.
    let name = first.file_name().unwrap().to_str().unwrap();
    let left =
        [out.join(format!(".{name}.index.html")), first.join(".picklock-x"), first.join("repro/.picklock-y")];
    left.iter().chain([&first.join("report.html")]).for_each(|file| std::fs::write(file, "x").unwrap());
    let merged = run_in(here.path(), &["merge", "out"]);
    assert_eq!(merged.code, Some(2));
    assert!(merged.stderr.contains(" blocks: go on with picklock run --design"), "{}", merged.stderr);
    assert!(merged.stderr.ends_with(" --resume --out out\n"), "{}", merged.stderr);

    let ended = quick(here.path(), &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("is of the same command and not finished, "), "{}", ended.stderr);
    assert!(ended.stderr.contains("blocks: --resume goes on with it; this begins anew"), "{}", ended.stderr);
    assert_eq!(folders(&out).len(), 2);
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(index.contains("not finished: it was killed; --resume goes on with it"), "{index}");

    // It is gone on with in its own folder, although a newer one has ended.
    assert_eq!(quick(here.path(), &["--resume"]).code, Some(1));
    assert_eq!(folders(&out).len(), 2);
    assert_eq!(std::fs::read_to_string(first.join("kept.json")).unwrap(), kept);
    assert!(left.iter().all(|file| !file.exists()) && !first.join("report.html").exists());
    assert_eq!(std::fs::read_link(out.join("latest")).unwrap(), first.file_name().unwrap());
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(!index.contains("not finished"), "{index}");
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

#[test]
fn what_ended_for_want_of_time_is_gone_on_with_in_a_folder_of_its_own() {
    let here = directory();
    let asked =
        ["run", "--design", "single", "--scenario", "pause", "--seeds", "12", "--no-confirm", "--out", "out"];
    let with = |more: &[&str]| run_in(here.path(), &[&asked[..], more].concat());
    assert_eq!(with(&["--budget", "1ns"]).code, Some(3));
    let first = within(&folders(&here.path().join("out"))[0]);
    let ended = with(&["--resume"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.starts_with("picklock: note: after the runs, one violation"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    let folders = folders(&here.path().join("out"));
    assert_eq!(folders.len(), 2);
    same(&first, &within(&folders[0]), "the first run");
    let text = String::from_utf8(within(&folders[1])["results.txt"].clone()).unwrap();
    assert!(text.contains("\npicklock run --design single --scenario pause"), "{text}");
}

mod stores {
    use std::fs;
    #[cfg(unix)]
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    const SMALL: [&str; 8] =
        ["run", "--design", "single", "--scenario", "pause,calm", "--seeds", "12", "--no-confirm"];

    fn small(within: &Path, more: &[&str]) -> binary::Ended {
        run_in(within, &[&SMALL[..], more].concat())
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[test]
    fn each_run_has_a_folder_of_its_own_and_the_newest_is_found_under_the_names_of_its_files() {
        let here = directory();
        let out = here.path().join("out");
        assert_eq!(small(here.path(), &["--out", "out", "--format", "text,junit"]).code, Some(0));
        let first = folders(&out).remove(0);
        let before = within(&first);
        assert!(text(&out.join("junit.xml")).contains("<testsuites"));
        assert_eq!(fs::read_link(out.join("junit.xml")).unwrap(), Path::new("latest/junit.xml"));
        assert_eq!(fs::read_link(out.join("latest")).unwrap(), first.file_name().unwrap());

        let compare =
            ["compare", "--design", "single", "--scenario", "pause", "--seeds", "12", "--out", "out"];
        assert_eq!(run_in(here.path(), &compare).code, Some(0));
        let [_, second] = &folders(&out)[..] else { panic!("there are not two runs") };
        let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name(second).contains("Z-compare"), "{}", second.display());
        assert_eq!(fs::read_link(out.join("latest")).unwrap(), second.file_name().unwrap());
        same(&before, &within(&first), "the older run");
        // What the newest run does not have leads nowhere else.
        assert!(!out.join("junit.xml").exists() && fs::read_link(out.join("junit.xml")).is_err());
        assert!(text(&out.join("report.html")).contains("harms the data"));
        assert!(out.join("repro").is_dir());

        let index = text(&out.join("index.html"));
        let (newer, older) =
            (index.find(&(name(second) + "/report.html")), index.find(&(name(&first) + "/junit.xml")));
        assert!(newer.is_some() && newer < older, "{index}");
        assert!(
            index.contains("single harms the data") && index.contains("as expected in 2 cells"),
            "{index}"
        );
        assert!(!out.join("latest/.lock").exists());
        for folder in folders(&out) {
            let page = text(&folder.join("index.html"));
            assert!(page.contains("All runs") && !page.contains("http-equiv=\"refresh\""), "{page}");
        }
    }

    #[test]
    fn runs_that_end_at_once_are_all_in_the_index_and_shards_in_one_store_are_merged() {
        let here = directory();
        let out = here.path().join("out");
        let shards: Vec<_> = (1..=4)
            .map(|index| {
                let mut command = picklock(here.path());
                command.args(SMALL).args(["--shard", &format!("{index}/4"), "--out", "out", "--jobs", "1"]);
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for shard in shards {
            let ended = shard.wait_with_output().unwrap();
            assert_eq!((ended.status.code(), &*ended.stderr), (Some(0), &b""[..]));
        }
        let index = text(&out.join("index.html"));
        for (folder, nth) in folders(&out).iter().zip(1..) {
            assert!(index.contains(folder.file_name().unwrap().to_str().unwrap()), "{nth}: {index}");
            assert!(index.contains(&format!("shard {nth}/4")), "{index}");
        }
        assert!(!index.contains("http-equiv=\"refresh\""), "{index}");
        let args = ["merge", "out", "--out", "merged", "--format", "text,json,junit,markdown"];
        assert_eq!(run_in(here.path(), &args).code, Some(0));
        let whole = ["--out", "whole", "--format", "text,json,junit,markdown"];
        assert_eq!(small(here.path(), &whole).code, Some(0));
        same(&files(&here.path().join("whole")), &files(&here.path().join("merged")), "merged");
    }

    #[test]
    fn a_run_can_be_looked_at_while_it_goes_on() {
        let here = directory();
        let mut command = picklock(here.path());
        command.args([
            "run",
            "--design",
            "single",
            "--scenario",
            "pause",
            "--seeds",
            "1000000000",
            "--out",
            "out",
        ]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let out = here.path().join("out");
        let mut seen = String::new();
        for _ in 0..400 {
            sleep(Duration::from_millis(50));
            let folder = if out.is_dir() { folders(&out).into_iter().next() } else { None };
            seen = folder.and_then(|it| fs::read_to_string(it.join("index.html")).ok()).unwrap_or_default();
            if seen.contains("% of 1,000,000,000 runs, ") && seen.contains("Violations so far") {
                break;
            }
        }
        let index = text(&out.join("index.html"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.contains("http-equiv=\"refresh\"") && seen.contains("Violations so far"), "{seen}");
        assert!(index.contains("under way") && index.contains("http-equiv=\"refresh\""), "{index}");
    }

    #[test]
    fn what_others_put_there_is_neither_replaced_nor_removed() {
        let here = directory();
        let out = here.path().join("out");
        fs::create_dir_all(out.join("repro")).unwrap();
        for name in ["results.json", "index.html", "repro/mine", "notes"] {
            fs::write(out.join(name), "mine").unwrap();
        }
        symlink("notes", out.join("junit.xml")).unwrap();
        for _ in 0..2 {
            let ended = small(here.path(), &["--out", "out", "--format", "text,junit", "--expect", "none"]);
            assert_eq!(ended.code, Some(1), "{}", ended.stderr);
            for name in ["results.json is", "repros is", "junit.xml is", "index.html: it is"] {
                let says = format!("out/{name} not picklock's, and stays as it is");
                assert_eq!(ended.stderr.matches(&says).count(), 1, "{says}: {}", ended.stderr);
            }
        }
        for name in ["results.json", "index.html", "repro/mine", "notes", "junit.xml"] {
            assert_eq!(text(&out.join(name)), "mine", "{name}");
        }
        assert!(out.join("latest/repro").is_dir() && out.join("results.txt").is_file());
    }

    #[test]
    fn what_is_no_store_is_refused_with_what_to_do_and_nothing_is_left_behind() {
        let here = directory();
        let there = |name: &str| here.path().join(name);
        fs::write(there("file"), "mine").unwrap();
        fs::create_dir_all(there("taken/latest")).unwrap();
        fs::create_dir(there("strange")).unwrap();
        symlink("/nowhere/at/all", there("strange/latest")).unwrap();
        fs::create_dir(there("stale")).unwrap();
        symlink("2020-02-02T020202Z-run", there("stale/latest")).unwrap();
        assert_eq!(small(here.path(), &["--out", "stale"]).code, Some(0), "a link to a run that was removed");
        let folder = folders(&there("stale")).remove(0);
        let folder = format!("stale/{}", folder.file_name().unwrap().to_str().unwrap());
        for (out, says) in [
            ("file", "failed to write file: File exists (os error 17); something else has that name"),
            ("file/below", "something else has that name: name another directory for --out"),
            ("taken", "taken/latest is a directory, not a link of picklock's: move it away, or name another"),
            ("strange", "strange/latest is a link to /nowhere/at/all, not a link of picklock's"),
            (
                &folder,
                "is the folder of a run, which is not written to twice: name the store that it is in, --out stale",
            ),
        ] {
            for args in [&SMALL[..], &["compare", "--design", "single", "--scenario", "calm", "--seeds", "2"]]
            {
                let ended = run_in(here.path(), &[args, &["--out", out]].concat());
                assert_eq!(ended.code, Some(2), "{out}: {}", ended.stderr);
                assert!(ended.stderr.contains(says), "{out}: {}", ended.stderr);
                assert_eq!(ended.stdout, "");
            }
        }
        assert_eq!(text(&there("file")), "mine");
        assert_eq!(fs::read_dir(there("taken")).unwrap().count(), 1);
        assert_eq!(fs::read_dir(there("strange")).unwrap().count(), 1);
        assert_eq!(folders(&there("stale")).len(), 1);

        // What cannot be merged leaves no folder.
        assert_eq!(small(here.path(), &["--shard", "1/2", "--out", "part"]).code, Some(0));
        assert_eq!(run_in(here.path(), &["merge", "part", "--out", "stale"]).code, Some(2));
        assert_eq!(folders(&there("stale")).len(), 1);
        assert_eq!(
            fs::read_link(there("stale/journal.jsonl")).unwrap().parent(),
            Path::new(&folder).file_name().map(Path::new)
        );
        assert!(!text(&there("stale/index.html")).contains("Z-merge"));
    }

    /// Under a limit that no file is larger, as on a disk that is full. Runs picklock so, and once more without it.
    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_told_what_was_kept_is_gone_on_with_and_old_runs_are_intact() {
        let here = directory();
        let out = here.path().join("out");
        let formats = ["--format", "text,html"];
        assert_eq!(quick(here.path(), &formats).code, Some(1));
        let old = within(&folders(&out)[0]);
        // Blocks of 512 bytes: room for less than the journal's first line, for that and little more, and for less than a report.
        for blocks in [1, 4, 40] {
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &line, env!("CARGO_BIN_EXE_picklock")]).args(QUICK).args(formats);
            let ended = binary::end({
                command.current_dir(here.path()).env("PICKLOCK_REDIS_SERVER", "");
                command
            });
            assert_eq!(ended.code, Some(2), "{blocks}: {}", ended.stderr);
            let says = ended.stderr.lines().find(|line| line.contains("make room, or name another"));
            assert!(
                says.is_some_and(|says| says.starts_with("picklock: failed to write out/2")),
                "{}",
                ended.stderr
            );
            same(&old, &within(&folders(&out)[0]), "the older run");
            assert_eq!(fs::read_link(out.join("latest")).unwrap(), folders(&out)[0].file_name().unwrap());
            for folder in folders(&out) {
                let names =
                    fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
                assert!(names.into_iter().all(|name| !name.starts_with('.')));
            }
        }
        // With room it comes to the same end.
        assert_eq!(quick(here.path(), &[&formats[..], &["--resume"]].concat()).code, Some(1));
        same(&old, &files(&out), "resumed");
    }

    /// On a file system of its own, which only root can make: a few pages of memory.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_runs_full_is_told_and_gone_on_with_once_there_is_room() {
        let here = directory();
        assert_eq!(quick(here.path(), &[]).code, Some(1));
        let whole = files(&here.path().join("out"));
        let script = "mount -t tmpfs -o size=40k tmpfs tiny || exit 77; cd tiny; \"$0\" \"$@\"; echo \"ended with $?\"; \
             mount -o remount,size=4m . && \"$0\" \"$@\" --resume >/dev/null; echo \"then with $?\"; cp -RL out/latest ../kept";
        fs::create_dir(here.path().join("tiny")).unwrap();
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_picklock")]).args(QUICK);
        command.current_dir(here.path()).env("PICKLOCK_REDIS_SERVER", "");
        let Some(output) = command.output().ok().filter(|output| output.status.success()) else {
            println!("skipped: no file system can be mounted here");
            return;
        };
        let (said, wrong) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(said, "ended with 2\nthen with 1\n", "{wrong}");
        assert!(
            wrong.contains("No space left on device (os error 28); make room, or name another"),
            "{wrong}"
        );
        same(&whole, &within(&here.path().join("kept")), "once there was room");
    }

    /// Modes say nothing to root, who therefore runs it as somebody else.
    #[cfg(unix)]
    #[test]
    fn a_directory_that_may_not_be_written_to_is_told_and_what_is_there_is_intact() {
        use std::os::unix::process::CommandExt as _;
        let here = directory();
        let out = here.path().join("out");
        assert_eq!(small(here.path(), &["--out", "out"]).code, Some(0));
        let old = within(&folders(&out)[0]);
        fs::set_permissions(here.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&out, fs::Permissions::from_mode(0o555)).unwrap();
        let as_user = |args: &[&str]| {
            let mut command = picklock(here.path());
            if fs::metadata(here.path()).unwrap().uid() == 0 {
                command.uid(65_534).gid(65_534);
            }
            command.args(args);
            command
        };
        if !as_user(&["list"]).stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
            println!("skipped: picklock cannot be run by another user here");
            return;
        }
        let more = ["--out", "out", "--expect", "none"];
        let ended = binary::end(as_user(&[&SMALL[..], &more].concat()));
        fs::set_permissions(&out, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("failed to write out/2"), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("check that --out names a directory that you may write to"),
            "{}",
            ended.stderr
        );
        assert_eq!(folders(&out).len(), 1);
        same(&old, &within(&folders(&out)[0]), "what was there");
    }
}
