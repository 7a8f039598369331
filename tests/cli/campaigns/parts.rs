//! A campaign that is made in parts, or was killed, gives what one process gives in one go, byte for byte.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::{files, folders, quick, run, same, whole, within};
use crate::binary::{directory, picklock, run_in};

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
        // If nothing was written yet there is no campaign to resume.
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
    // A finished campaign is not written to: another run begins with its journal.
    let [_, again] = &folders(&out)[..] else { panic!("there are not two runs") };
    assert!(std::fs::read(again.join("journal.jsonl")).unwrap().starts_with(&before));
    let journal = again.join("journal.jsonl");

    let text = std::fs::read_to_string(&journal).unwrap();
    for (from, to, because) in [
        ("\"blocks\"", "\"bricks\"", "its checksum is not that of this line at this place"),
        ("\"journal\":3", "\"journal\":7", "its form is 7"),
        (
            "\"journal\":3",
            "\"journal\":1",
            "end the campaign with the picklock that started it, or run it again",
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
fn parts_of_different_campaigns_are_refused() {
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
            "-shard/journal.jsonl belongs to another campaign (its range of seeds is 0..100",
        ),
        (&["merge", "a", "nothing"], "failed to read nothing"),
        (&["merge"], "required"),
        (&["run", "--shard", "4/3", "--out", "d"], "there is no shard 4 of 3"),
        (&["run", "--shard", "1/3"], "--out"),
        (&["run", "--resume", "--out", "nothing"], "start one without --resume"),
        (&["run", "--resume", "--out", "a"], "-shard/journal.jsonl belongs to another campaign"),
    ] {
        let ended = run_in(here.path(), args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(because), "{args:?}: {}", ended.stderr);
    }
    let ended = run_in(here.path(), &["merge", "a", "b", "--partial", "--format", "json"]);
    assert_ne!(ended.code, Some(130), "nobody has interrupted it: {}", ended.stderr);
    assert!(ended.stdout.contains("\"partial\": true"));
}

#[test]
fn what_is_not_finished_is_pointed_out_and_stays_when_another_run_is_begun() {
    let here = directory();
    let out = here.path().join("out");
    assert_eq!(quick(here.path(), &[]).code, Some(1));
    // As a kill would have left it.
    let first = folders(&out).remove(0);
    let kept = std::fs::read_to_string(first.join("manifest.json")).unwrap();
    let mut killed: serde_json::Value = serde_json::from_str(&kept).unwrap();
    killed["state"] = "begun".into();
    killed["results"] = serde_json::Value::Null;
    std::fs::write(first.join("manifest.json"), killed.to_string()).unwrap();
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
    assert!(merged.stderr.contains(" blocks: resume it with picklock run --design"), "{}", merged.stderr);
    assert!(merged.stderr.ends_with(" --resume --out out\n"), "{}", merged.stderr);

    let ended = quick(here.path(), &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("is of the same command and not finished, "), "{}", ended.stderr);
    assert!(ended.stderr.contains("blocks: --resume continues it; this begins anew"), "{}", ended.stderr);
    assert_eq!(folders(&out).len(), 2);
    let index = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(index.contains("not finished: it was killed; --resume continues it"), "{index}");

    // It is resumed in its own folder, although a newer one has ended.
    assert_eq!(quick(here.path(), &["--resume"]).code, Some(1));
    assert_eq!(folders(&out).len(), 2);
    assert_eq!(std::fs::read_to_string(first.join("manifest.json")).unwrap(), kept);
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
        page["cells"][0]["conclusive"] = 150.into();
        std::fs::write(&old, page.to_string()).unwrap();
        let ended = compare("single", &["--baseline", "old/comparison.json"]);
        assert_eq!(ended.code, Some(code), "{}", ended.stdout);
        assert!(ended.stdout.contains(word), "{}", ended.stdout);
    }
    let other = compare("watchdog", &["--baseline", "old/comparison.json"]);
    assert!(other.stdout.contains("not in the baseline: 1 cell: watchdog under pause"), "{}", other.stdout);

    // A baseline with the former name of the field is read.
    let with_former_name = text.replace("\"conclusive\"", "\"exercised\"");
    std::fs::write(&old, with_former_name).unwrap();
    assert_eq!(compare("single", &["--baseline", "old/comparison.json"]).code, Some(0));

    std::fs::write(&old, text.replace("\"conclusive\"", "\"exorcised\"")).unwrap();
    let refused = compare("single", &["--baseline", "old/comparison.json"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("old/comparison.json: not a comparison: missing field `conclusive`"),
        "{}",
        refused.stderr
    );
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
