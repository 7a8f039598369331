//! The commands that reports print: each of them runs as it stands, and a replay command makes the run that it stands for.

use std::collections::BTreeSet;

use crate::binary::{Ended, directory, run_in};
use crate::support::{and, json, run, said, shell};

/// Settings of which each scenario below knows only some.
const SETTINGS: [&str; 6] =
    ["--set", "pause.for=1s..2s", "--set", "clock-step.by=2s..3s", "--set", "ttl=900ms"];

/// Designs and scenarios with violations, with and without faults.
const CELLS: [&str; 6] =
    ["--design", "single,redlock", "--scenario", "calm,pause,long-work,clock-step", "--seeds", "12"];

/// The commands of a page: those of markup without its escapes, each to the end of its line or of its box.
fn commands(page: &str) -> BTreeSet<String> {
    let escapes = ["&#39;", "&#x27;", "&quot;", "&lt;", "&gt;", "&amp;", "%0A"]
        .iter()
        .zip(["'", "'", "\"", "<", ">", "&", "\n"]);
    let page = page.replace(['<', '>'], "\n");
    let page = escapes.fold(page, |page, (escape, sign)| page.replace(escape, sign));
    let of_line = |line: &str| {
        let at = ["replay ", "run ", "compare ", "explore "]
            .iter()
            .find_map(|word| line.find(&format!("picklock {word}")));
        let line = line[at?..].split(['"', '`']).next().unwrap_or_default().trim_end();
        (!line.contains("DESIGN") && !line.contains("SEED")).then(|| line.to_owned())
    };
    page.lines().filter_map(of_line).collect()
}

/// The digest of the run of a replay command.
fn digest(ended: &Ended) -> &str {
    said(&ended.stdout, "digest")
}

#[test]
fn each_printed_command_runs_and_a_replay_command_makes_the_same_run_twice() {
    let here = directory();
    let campaign = and(&and(&["run"], &CELLS), &and(&["--no-confirm", "--expect", "none"], &SETTINGS));
    let comparison = and(&and(&["compare"], &CELLS), &SETTINGS);
    let pages = [
        ("a short page", campaign.clone()),
        ("text", and(&campaign, &["--verbose"])),
        ("html", and(&campaign, &["--format", "html"])),
        ("junit", and(&campaign, &["--format", "junit"])),
        ("github", and(&campaign, &["--format", "github"])),
        ("markdown", and(&campaign, &["--format", "markdown"])),
        ("a short comparison", comparison.clone()),
        ("a whole comparison", and(&comparison, &["--verbose"])),
        ("a comparison as html", and(&comparison, &["--format", "html"])),
    ];
    let mut all = BTreeSet::new();
    for (page, args) in pages {
        let printed = commands(&run_in(here.path(), &args).stdout);
        assert!(!printed.is_empty(), "{page} prints no command");
        all.extend(printed);
    }
    let replayed = |line: &&String| line.starts_with("picklock replay ");
    assert!(all.iter().filter(replayed).any(|line| line.contains("pause.for")), "{all:#?}");
    assert!(all.iter().filter(replayed).any(|line| !line.contains("pause.for")), "{all:#?}");
    assert!(all.iter().filter(replayed).any(|line| line.contains(" --shrink")), "{all:#?}");
    for line in &all {
        let ended = shell(here.path(), line);
        assert_ne!(ended.code, Some(2), "{line}: {}", ended.stderr);
        if line.starts_with("picklock replay ") {
            let again = shell(here.path(), &format!("{line} --format json"));
            assert_eq!(json(&again.stdout)["digest"], digest(&ended), "{line}");
        }
    }
}

#[test]
fn the_digest_of_each_story_is_that_of_its_command() {
    let here = directory();
    let args = and(&and(&["run", "--verbose", "--no-confirm", "--expect", "none"], &CELLS), &SETTINGS);
    let report = run_in(here.path(), &args).stdout;
    let stories = report.split("how it happened, in the reduced run").nth(1).expect("something is violated");
    let digests = stories.lines().filter_map(|line| line.strip_prefix("digest ")?.split(',').next());
    let digests: Vec<&str> = digests.collect();
    let lines: Vec<&str> = stories.lines().filter_map(|line| line.strip_prefix("replay: ")).collect();
    assert_eq!(digests.len(), lines.len());
    for (shown, line) in digests.into_iter().zip(lines) {
        assert_eq!(digest(&shell(here.path(), line)), shown, "{line}");
    }
}

#[test]
fn a_rebuilt_bug_shrinks_to_the_invariant_that_it_is_listed_for() {
    for (bug, invariant) in [("redisson-597", "continuity"), ("shedlock-2583", "ownership")] {
        let ended = run(&["replay", bug, "pause", "4", "--shrink"]);
        assert!(said(&ended.stdout, "violations").contains(invariant), "{}", ended.stdout);
        assert!(ended.stdout.contains(&format!("\n{invariant}: ")), "{}", ended.stdout);
        let named = run(&["replay", bug, "pause", "4", &format!("--shrink={invariant}")]);
        assert_eq!(digest(&named), digest(&ended), "{bug}");
    }
}

#[test]
fn a_story_recommends_no_design_that_is_no_advice() {
    for (run_of, no_advice) in [
        (["single", "pause", "4"], &["setnx", "oracle", "no-lock"][..]),
        (["row-lock", "failover", "4"], &["advisory-pooled", "advisory,", "unique-row"]),
    ] {
        let ended = run(&and(&and(&["replay"], &run_of), &["--shrink"]));
        let survives = ended.stdout.split("\nsurvives\n").nth(1).unwrap_or_default();
        let survives = survives.split("\n\n").next().unwrap_or_default();
        assert!(!survives.is_empty(), "{}", ended.stdout);
        for design in no_advice {
            assert!(!survives.contains(design), "{design} in:\n{survives}");
        }
    }
}
