//! Exit codes: 0 as expected, 1 a violation, 2 wrong usage, 3 inconclusive.

use crate::binary::{directory, run_in};
use crate::support::{VIOLATING, and, json, keys, replay_lines, run, text_of};

#[test]
fn a_violation_that_nobody_expects_is_1() {
    let ended = run(&VIOLATING);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(!replay_lines(&ended.stdout).is_empty());
}

#[test]
fn no_violation_is_0() {
    let args = ["run", "--design", "oracle", "--scenario", "pause,calm", "--seeds", "40", "--expect", "none"];
    assert_eq!(run(&args).code, Some(0));
}

#[test]
fn inconclusive_is_3() {
    for inconclusive in [
        // Nobody contends.
        &["--design", "single", "--scenario", "calm", "--set", "clients=1"][..],
        // No fault hits, and nobody contends.
        &["--design", "single", "--scenario", "pause", "--set", "pause.times=0", "--set", "clients=1"],
        // A fault hits that changes nothing.
        &["--design", "single", "--scenario", "client-partition", "--set", "partition.for=0ms"],
        // The scenario does not apply to the design.
        &["--design", "oracle", "--scenario", "failover"],
    ] {
        for command in [&["run", "--expect", "none"][..], &["compare"]] {
            let ended = run(&[command, inconclusive, &["--seeds", "10"]].concat());
            assert_eq!(ended.code, Some(3), "{command:?} {inconclusive:?}: {}{}", ended.stdout, ended.stderr);
        }
    }
}

#[test]
fn wrong_usage_is_2_and_reported_on_standard_error() {
    for args in [
        &[][..],
        &["ran"],
        &["run", "--no-such-option"],
        &["run", "--seeds", "5..2"],
        &["run", "--seeds", "5..5"],
        &["run", "--seeds", "0"],
        &["run", "--jobs", "0"],
        &["run", "--budget", "1.5 x ttl"],
        &["run", "--engine", "steam"],
        &["run", "--format", "yaml"],
        &["run", "--format", "text,json"],
        &["run", "--expect", "no-such-file.toml"],
        &["list", "locks"],
        &["replay"],
        &["replay", "single", "pause"],
        &["replay", "single", "pause", "1", "2"],
        &["replay", "single", "pause", "minus-one"],
        &["replay", "single", "pause", "18446744073709551616"],
        &["replay", "single", "pause", "1", "--format", "junit"],
        &["replay", "single", "pause", "1", "--format", "svg", "--full"],
        &["replay", "oracle", "failover", "1"],
        &["completions", "cobol"],
    ] {
        let ended = run(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(!ended.stderr.is_empty(), "{args:?} ends without a word");
    }
}

#[test]
fn help_and_version_are_answers() {
    for args in
        [&["--help"][..], &["run", "--help"], &["replay", "-h"], &["compare", "--help"], &["--version"]]
    {
        let ended = run(args);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
    }
    assert!(run(&["--help"]).stdout.contains("Exit codes:\n  0    no result contradicts the expectations"));
}

#[test]
fn an_expectation_file_decides_what_is_as_expected() {
    let here = directory();
    let expecting = |file: &str, seeds: &str| {
        std::fs::write(here.path().join("mine.toml"), file).unwrap();
        let args =
            ["run", "--design", "single", "--scenario", "pause", "--seeds", seeds, "--expect", "mine.toml"];
        run_in(here.path(), &and(&args, &["--no-confirm"])).code
    };
    let found =
        "violated = ['mutual-exclusion']\nmay = {effective-exclusion = 4, no-lost-update = 4}\nwithin = 40";
    assert_eq!(expecting(&format!("[single.pause]\n{found}"), "40"), Some(0));
    assert_eq!(expecting("[single]\nholds = ['pause']", "40"), Some(1));
    assert_eq!(expecting("[single.pause]\nmay.mutual-exclusion = 4", "40"), Some(1));
    // An expected violation that is not found counts too, but only once there were enough runs to find it.
    let missing = format!(
        "[single.pause]\n{}",
        found.replace("['mutual-exclusion']", "['mutual-exclusion', 'ownership']")
    );
    assert_eq!(expecting(&missing, "40"), Some(1));
    assert_eq!(expecting(&missing, "39"), Some(0));
    // A cell that the file does not name has no expectation: what is violated there counts.
    assert_eq!(expecting("[redlock]\nholds = ['pause']", "40"), Some(1));
}

#[test]
fn fail_fast_stops_at_the_first_violation_and_is_1() {
    let here = directory();
    let args = ["run", "--design", "no-lock", "--scenario", "calm", "--seeds", "100000", "--expect", "none"];
    let ended = run_in(here.path(), &and(&args, &["--fail-fast", "--no-confirm", "--format", "json"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let results = json(&ended.stdout);
    assert!(results["cells"][0]["runs"].as_u64().unwrap() < 1_000);
}

#[test]
fn a_budget_ends_the_runs_but_is_no_interruption() {
    let args = ["run", "--design", "oracle", "--scenario", "calm", "--budget", "200ms", "--format", "json"];
    let ended = run(&and(&args, &["--expect", "none"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let results = json(&ended.stdout);
    assert_eq!(results["partial"], false);
    assert!(results["cells"][0]["runs"].as_u64().unwrap() > 0);
}

#[test]
fn a_scenario_file_is_never_held_against_the_expectations_of_its_namesake() {
    let here = directory();
    // Under the built-in scenario of this name the design may do what it does here.
    std::fs::write(here.path().join("long-work.toml"), "summary = 'calm'\n[contend]\nwork = '3 x ttl'\n")
        .unwrap();
    let file = ["run", "--design", "single", "--scenario", "long-work.toml", "--seeds", "8", "--no-confirm"];
    assert_eq!(run_in(here.path(), &file).code, Some(1));
    let both = ["run", "--design", "single", "--scenario", "long-work.toml,long-work", "--seeds", "8"];
    let ended = run_in(here.path(), &both);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("rename one"), "{}", ended.stderr);
    let twice =
        ["run", "--design", "oracle,oracle", "--scenario", "calm,calm", "--seeds", "2", "--format", "json"];
    assert_eq!(json(&run_in(here.path(), &twice).stdout)["cells"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_set_and_does_not_hold_for_a_design_is_said() {
    let args = ["compare", "--design", "single-fenced,redlock-fenced-quorum", "--seeds", "1"];
    let with = |value| run(&and(&args, &["--scenario", "node-restart", "--set", value]));
    let note = "`redlock-fenced-quorum` always runs with `redis.persistence=always`";
    let none = with("redis.persistence=none").stderr;
    assert!(none.contains(note) && !none.contains("`single-fenced` always"), "{none}");
    let same = with("redis.persistence=always").stderr;
    assert!(!same.contains(note), "{same}");
    for (version, is_replaced) in
        [("redis.version=7.0", true), ("version=8.4", true), ("version=valkey-9.0", false)]
    {
        for command in
            [&["run", "--no-confirm", "--expect", "none", "--seeds", "1"][..], &["compare", "--seeds", "1"]]
        {
            let design = ["--design", "single{compare=delifeq}", "--scenario", "calm", "--set", version];
            let said = run(&and(command, &design)).stderr;
            assert_eq!(
                said.contains("always runs with `redis.version=valkey-9.0`"),
                is_replaced,
                "{version}: {said}"
            );
        }
        let replayed = run(&["replay", "single{compare=delifeq}", "calm", "1", "--set", version]).stdout;
        assert_eq!(
            replayed.contains("always runs with `redis.version=valkey-9.0`"),
            is_replaced,
            "{replayed}"
        );
    }
}

#[test]
fn a_lease_that_is_longer_than_the_store_grants_is_said() {
    let lease = ["--design", "zookeeper,etcd", "--scenario", "calm", "--set", "ttl=60s", "--seeds", "1"];
    let said = run(&and(&["run", "--expect", "none"], &lease)).stderr;
    assert!(
        said.contains("the store of `zookeeper` grants a lease of 40s to a client that asks for 1m;"),
        "{said}"
    );
    assert!(!said.contains("`etcd` grants"), "{said}");
}

#[test]
fn compare_is_0_whatever_it_finds() {
    let here = directory();
    let args =
        ["compare", "--design", "single,redlock", "--scenario", "pause", "--seeds", "20", "--out", "out"];
    let ended = run_in(here.path(), &args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let compared = json(&text_of(&here.path().join("out/comparison.json")));
    assert_eq!(compared["paired"], true);
    let rates = compared["cells"][0]["rates"].as_array().unwrap();
    assert!(rates.iter().any(|rate| rate["runs"].as_u64() > Some(0)), "{rates:?}");
}

#[test]
fn compare_of_many_designs_fits_a_screen_and_verbose_prints_the_rest() {
    let args = ["compare", "--scenario", "calm,pause,stall", "--seeds", "4"];
    let short = run(&args).stdout;
    assert!(short.lines().count() <= 50, "{short}");
    assert!(short.contains("\n  1. ") && short.contains("more, in the order of the table\n"), "{short}");
    assert!(short.contains("add --verbose") && short.contains("\nnext: picklock replay "), "{short}");
    let verbose = run(&and(&args, &["--verbose"])).stdout;
    assert!(verbose.lines().count() > 200, "{verbose}");
    assert!(verbose.contains("% of the time, for up to "), "{verbose}");
}

#[test]
fn compare_ranks_a_fenced_lock_first_for_the_data_and_says_why() {
    let here = directory();
    let args = ["compare", "--design", "single,watchdog,redlock-naive,single-fenced", "--scenario", "pause"];
    let ended = run_in(here.path(), &and(&args, &["--seeds", "60", "--out", "out"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ranked = |place: &str| {
        let lines: Vec<&str> = ended.stdout.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| line.starts_with(place)).unwrap();
        lines[at..].join(" ")
    };
    assert!(ranked("1. ").starts_with("1. single-fenced: yes, in these runs: "), "{}", ended.stdout);
    assert!(ranked("1. ").contains("the resource refused what came late by its token"), "{}", ended.stdout);
    assert!(ranked("4. ").contains(": no: effective-exclusion broken in "), "{}", ended.stdout);
    assert!(ended.stdout.contains("single less single-fenced, "), "{}", ended.stdout);
    assert!(ended.stdout.contains("0 (<4.9%)"), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() <= 50, "{}", ended.stdout);
    assert!(ended.stdout.contains("measures: in out\nnext: picklock replay "), "{}", ended.stdout);
    let wide = ended.stdout.lines().skip(1).find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{}", ended.stdout);
    let whole = text_of(&here.path().join("out/comparison.txt"));
    assert!(whole.contains("% of the time, for up to "), "{whole}");

    let compared = json(&text_of(&here.path().join("out/comparison.json")));
    assert_eq!(keys(&compared["ranking"][0]), ["design", "protects_data", "why"].into());
    assert_eq!(compared["ranking"][0]["protects_data"], true);
    assert_eq!(compared["ranking"][3]["protects_data"], false);
    let differences = compared["differences"].as_array().unwrap();
    let fields = ["scenario", "invariant", "design", "against", "seeds", "difference", "low", "high"];
    for difference in differences {
        assert_eq!(keys(difference), fields.into());
        assert_eq!(difference["against"], "single-fenced");
        // Paired: what is said of both is counted over the seeds that both are conclusive.
        assert!((1..=60).contains(&difference["seeds"].as_u64().unwrap()), "{difference}");
    }
    let of = |design: &str| {
        differences.iter().find(|it| it["design"] == design && it["invariant"] == "no-lost-update").unwrap()
    };
    assert!(of("single")["low"].as_f64().unwrap() > 0.0, "{}", of("single"));
}

#[test]
fn replay_is_1_if_the_run_violates_and_0_if_not() {
    let found = json(&run(&and(&VIOLATING, &["--format", "json"])).stdout);
    let violations = &found["cells"][0]["violations"];
    let first = violations["mutual-exclusion"]["first_seed"].as_u64().unwrap();
    assert_eq!(run(&["replay", "single", "pause", &first.to_string()]).code, Some(1));
    let earliest =
        violations.as_object().unwrap().values().map(|it| it["first_seed"].as_u64().unwrap()).min();
    for seed in 0..earliest.unwrap() {
        assert_eq!(run(&["replay", "single", "pause", &seed.to_string()]).code, Some(0), "seed {seed}");
    }
}
