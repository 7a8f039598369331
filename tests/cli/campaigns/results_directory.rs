//! The results directory: a folder for each run, which others may use, or which has no room.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use picklock_testing::skip;

use super::{QUICK, files, folders, quick, same, within};
use crate::binary::{Ended, directory, end, picklock, run_in};

const SMALL: [&str; 8] =
    ["run", "--design", "single", "--scenario", "pause,calm", "--seeds", "12", "--no-confirm"];

fn small(within: &Path, more: &[&str]) -> Ended {
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

    let compare = ["compare", "--design", "single", "--scenario", "pause", "--seeds", "12", "--out", "out"];
    assert_eq!(run_in(here.path(), &compare).code, Some(0));
    let [_, second] = &folders(&out)[..] else { panic!("there are not two runs") };
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name(second).contains("Z-compare"), "{}", second.display());
    assert_eq!(fs::read_link(out.join("latest")).unwrap(), second.file_name().unwrap());
    same(&before, &within(&first), "the older run");
    // A file that the newest run does not have has no link.
    assert!(!out.join("junit.xml").exists() && fs::read_link(out.join("junit.xml")).is_err());
    assert!(text(&out.join("report.html")).contains("harms the data"));
    assert!(out.join("repro").is_dir());

    let index = text(&out.join("index.html"));
    let (newer, older) =
        (index.find(&(name(second) + "/report.html")), index.find(&(name(&first) + "/junit.xml")));
    assert!(newer.is_some() && newer < older, "{index}");
    assert!(index.contains("single harms the data") && index.contains("as expected in 2 cells"), "{index}");
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
fn what_a_process_makes_in_its_turn_is_not_taken_for_the_remains_of_a_killed_one() {
    let here = directory();
    let out = here.path().join("out");
    assert_eq!(small(here.path(), &["--out", "out"]).code, Some(0));
    let made = out.join(format!(".{}.index.html", folders(&out)[0].file_name().unwrap().to_str().unwrap()));
    fs::write(&made, "half a page").unwrap();
    let turn = fs::File::open(&out).unwrap();
    turn.lock().unwrap();
    assert_eq!(small(here.path(), &["--out", "out"]).code, Some(0));
    assert!(made.exists(), "removed while another process had the turn");
    turn.unlock().unwrap();
    assert_eq!(small(here.path(), &["--out", "out"]).code, Some(0));
    assert!(!made.exists(), "left behind");
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
        for name in ["results.json is", "repro is", "junit.xml is", "index.html: it is"] {
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
        ("file", "failed to write file: File exists (os error 17); a file has that name"),
        ("file/below", "a file has that name: name a directory for --out"),
        ("taken", "taken/latest is a directory, not a link of picklock's: move it away, or name another"),
        ("strange", "strange/latest is a link to /nowhere/at/all, not a link of picklock's"),
        (
            &folder,
            "is the folder of a run, which is not written to twice: name the directory that it is in, --out stale",
        ),
    ] {
        for args in [&SMALL[..], &["compare", "--design", "single", "--scenario", "calm", "--seeds", "2"]] {
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

    // Parts that cannot be merged leave no folder.
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
fn a_full_disk_is_reported_the_campaign_can_be_resumed_and_old_runs_are_intact() {
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
        let ended = end({
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
fn a_campaign_on_a_full_disk_reports_it_and_is_resumed_once_there_is_room() {
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
        return skip("no file system can be mounted here");
    };
    let (said, wrong) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(said, "ended with 2\nthen with 1\n", "{wrong}");
    assert!(wrong.contains("No space left on device (os error 28); make room, or name another"), "{wrong}");
    same(&whole, &within(&here.path().join("kept")), "once there was room");
}

/// Modes say nothing to root, who therefore runs it as somebody else.
#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_written_to_is_reported_and_its_contents_are_intact() {
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
        return skip("picklock cannot be run by another user here");
    }
    let more = ["--out", "out", "--expect", "none"];
    let ended = end(as_user(&[&SMALL[..], &more].concat()));
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
