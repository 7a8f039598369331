//! Arguments that are wrong.

use super::{assert_refused, clipped};
use crate::binary::{Ended, directory, end, picklock, run_in};

#[test]
fn a_design_that_cannot_be_spelled_so_is_refused_and_the_right_spelling_shown() {
    let here = directory();
    let long = "x".repeat(100_000);
    for (spelled, says) in [
        ("singel", &["no design `singel`", "did you mean `single`?", "picklock list designs"][..]),
        ("redlock{node=5}", &["redlock", "no parameter `node`", "nodes, belief, clock"]),
        ("redlock{nodes=0}", &["`nodes` cannot be `0`", "a whole number from 1 to 15"]),
        ("redlock{nodes=-3}", &["`nodes` cannot be `-3`"]),
        ("redlock{nodes=NaN}", &["`nodes` cannot be `NaN`"]),
        ("redlock{nodes=99999999999999999999}", &["from 1 to 15"]),
        ("redlock{belief=blind}", &["`belief` cannot be `blind`", "naive, trusting, honest"]),
        ("redlock{nodes=3,nodes=5}", &["`nodes` is given twice"]),
        ("redlock{nodes=3", &["not spelled `name` or `name{parameter=value,...}`"]),
        ("redlock{nodes}", &["not spelled"]),
        ("redlock{{nodes=3}}", &["not spelled"]),
        ("{nodes=3}", &["not spelled"]),
        ("", &["not spelled"]),
        ("single,,redlock", &["not spelled"]),
        (&long, &["no design `xxx"]),
    ] {
        let ran = run_in(here.path(), &["run", "--design", spelled, "--scenario", "calm", "--seeds", "2"]);
        assert_refused(&clipped(spelled), &ran, says);
        if !spelled.contains(",,") {
            let replayed = run_in(here.path(), &["replay", spelled, "calm", "1"]);
            assert_refused(&clipped(spelled), &replayed, says);
        }
    }
}

#[test]
fn a_setting_that_makes_no_sense_is_refused() {
    let here = directory();
    let long = format!("ttl={}", "9".repeat(100_000));
    for (setting, says) in [
        ("ttl", &["--set ttl", "name=value"][..]),
        ("", &["name=value"]),
        ("=", &["no parameter ``"]),
        ("ttl=", &["`ttl`"]),
        ("ttl=-1s", &["`-1s` is negative"]),
        ("ttl=2", &["`2` has no unit", "`2s`"]),
        ("ttl=1h", &["from 10ms to 5m"]),
        ("ttl=1 x ttl", &["a multiple of ttl"]),
        ("ttl=NaN", &["`NaN` is not a span of time"]),
        ("ttl=1e3s", &["no unit"]),
        ("latency=2ms..1ms", &["reversed"]),
        ("clients=0", &["a whole number from 1 to 1000"]),
        ("clients=NaN", &["a whole number from 1 to 1000"]),
        ("clients=99999999999999999999", &["a whole number from 1 to 1000"]),
        ("thinks=3ms", &["did you mean `think`?"]),
        ("stall.for=1s", &["no parameter `stall.for`", "pause.for"]),
        ("pause.pause.for=1s", &["no parameter"]),
        ("store=cloud", &["one of single, replicated"]),
        (&long, &["`ttl`"]),
    ] {
        let args = ["run", "--design", "single", "--scenario", "pause", "--seeds", "2", "--set", setting];
        let what = format!("--set {}", clipped(setting));
        assert_refused(&what, &run_in(here.path(), &args), says);
        let args = ["replay", "single", "pause", "1", "--set", setting];
        assert_refused(&what, &run_in(here.path(), &args), says);
    }
}

#[test]
fn seeds_that_are_none_are_refused() {
    let here = directory();
    for seeds in [
        "5..2",
        "5..5",
        "0",
        "",
        "..",
        "1..",
        "..5",
        "1...5",
        "1..=5",
        "-1",
        "-5..5",
        "1.5",
        "NaN",
        "inf",
        "1e3",
        "0x10",
        "18446744073709551616",
        "1,2",
        "５",
        " 5",
    ] {
        let args = ["run", "--design", "single", "--scenario", "calm", &format!("--seeds={seeds}")];
        assert_refused(seeds, &run_in(here.path(), &args), &["--seeds"]);
    }
    for seed in ["", "NaN", "1.5", "18446744073709551616", "0..5"] {
        let ended = run_in(here.path(), &["replay", "single", "calm", seed]);
        assert_refused(seed, &ended, &["is not a seed", "a whole number from 0 to 18446744073709551615"]);
    }
}

#[test]
fn other_nonsense_is_refused() {
    let here = directory();
    std::fs::write(here.path().join("file"), "in the way").unwrap();
    let run = ["run", "--design", "single", "--scenario", "long-work", "--seeds", "2", "--no-confirm"];
    for (more, says) in [
        (&["--scenario", "paus"][..], &["no scenario `paus`", "did you mean `pause`?", "list scenarios"][..]),
        (&["--scenario", ""], &["no scenario ``"]),
        (&["--format", "jsn"], &["no format `jsn`", "did you mean `json`?"]),
        (&["--format", "text,junit"], &["--out"]),
        (&["--out", "file"], &["file"]),
        (&["--out", "file/below"], &["file/below"]),
        (&["--engine", "stm"], &["no engine `stm`", "event and turmoil"]),
        (&["--budget", "soon"], &["--budget", "is not a span of time"]),
        (&["--budget=-1s"], &["--budget", "negative"]),
        (&["--jobs", "0"], &["--jobs"]),
        (&["--jobs", "-1"], &["-1"]),
    ] {
        let ended = run_in(here.path(), &[&run, more].concat());
        let Ended { code, stderr, .. } = &ended;
        assert_eq!(*code, Some(2), "{more:?}: {stderr}");
        says.iter().for_each(|part| assert!(stderr.contains(part), "{more:?}: {stderr}"));
    }
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_text_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let here = directory();
    let nonsense = OsStr::from_bytes(b"\xff\xfe");
    for before in [&["run", "--design"][..], &["run", "--set"], &["run", "--seeds"], &["replay"]] {
        let mut command = picklock(here.path());
        command.args(before).arg(nonsense);
        assert_refused(&format!("{before:?}"), &end(command), &[]);
    }
}
